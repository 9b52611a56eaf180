import { parentOf, ROOT, type RemotePath } from './path.js';

/** How a protocol makes one folder. */
interface FolderMaker {
  /** `absent`: the parent is also missing, or the server's refusal gives no clearer reason. */
  tryToMake(path: RemotePath): Promise<'made' | 'exists' | 'absent'>;
  /** Makes a folder whose parent exists. A race with another client is no error. */
  make(path: RemotePath): Promise<unknown>;
}

/** Makes a folder and its missing parents; `created` is false if it existed already. */
export async function makeFolders(path: RemotePath, maker: FolderMaker): Promise<{ readonly created: boolean }> {
  const chain: RemotePath[] = [];
  for (let at = path; at !== ROOT; at = parentOf(at)) chain.push(at);
  // Searches upwards in growing steps: usually the parent exists, but a path may have a thousand levels.
  let missing = chain.length;
  for (let level = 0, step = 1; level < chain.length; level += step, step *= 2) {
    const outcome = await maker.tryToMake(chain[level] ?? ROOT);
    if (outcome === 'exists' && level === 0) return { created: false };
    if (outcome === 'absent') continue;
    missing = level;
    break;
  }
  for (const at of chain.slice(0, missing).reverse()) await maker.make(at);
  return { created: path !== ROOT };
}
