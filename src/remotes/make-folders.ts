import { parentOf, ROOT, type RemotePath } from './path.js';

/** How a protocol makes one folder. */
interface FolderMaker {
  /** `absent`: the folder above is missing, too, or the server's refusal says no more than that. */
  tryToMake(path: RemotePath): Promise<'made' | 'exists' | 'absent'>;
  /** The folder above stands. A race with another maker is no error. */
  make(path: RemotePath): Promise<unknown>;
}

/** Makes a folder and its missing parents; `created` is false when it stood there already. */
export async function makeFolders(path: RemotePath, maker: FolderMaker): Promise<{ readonly created: boolean }> {
  const chain: RemotePath[] = [];
  for (let at = path; at !== ROOT; at = parentOf(at)) chain.push(at);
  // Upwards in steps that grow: most often the parent is there, but a path may have a thousand levels.
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
