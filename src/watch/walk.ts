/** A watched folder's files as one stream, sub-folders included where the folder asks for them. */
import { GatewayError, hasCode } from '../base/errors.js';
import { Turns } from '../base/turns.js';
import { joinPath, type RemotePath } from '../remotes/path.js';
import type { FileInfo, LeftOut, Remote } from '../remotes/remote.js';

interface WalkOptions {
  readonly isDeep: boolean;
  /** Whether a sub-folder (its path below the watched one, its own path) is not looked into. */
  skipsFolder(below: string, path: RemotePath): boolean;
  /** Called for each folder (its path below the watched one) before it is listed. */
  listing(below: string): void;
  /** Called for what the listing of a folder leaves out. */
  leftOut(below: string, what: LeftOut): void;
}

interface WalkedFile {
  /** The path of its folder below the watched one; "" for that itself. */
  readonly folder: string;
  readonly file: FileInfo;
}

/** Links may lead back up: the walk must end. */
const MAX_DEPTH = 32;
const MAX_FOLDERS = 100_000;

/** Files only. Errors of the watched folder and of its sub-folders, but for one that went meanwhile. */
export async function* walk(remote: Remote, root: RemotePath, options: WalkOptions): AsyncGenerator<WalkedFile> {
  const folders: { readonly path: RemotePath; readonly below: string; readonly depth: number }[] = [
    { path: root, below: '', depth: 0 },
  ];
  let seen = 1;
  const turns = new Turns();
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const { path, below, depth } = folder;
    options.listing(below);
    const leftOut = async (what: LeftOut): Promise<void> => options.leftOut(below, what);
    try {
      for await (const file of remote.list(path, { leftOut })) {
        if (!file.isDirectory) {
          yield { folder: below, file };
          continue;
        }
        // A folder whose name is not UTF-8 cannot be addressed.
        if (!options.isDeep || file.rawName !== undefined) continue;
        const inside = below === '' ? file.name : `${below}/${file.name}`;
        const insidePath = joinPath(path, file.name);
        if (turns.isOver()) await turns.next();
        if (options.skipsFolder(inside, insidePath)) continue;
        seen += 1;
        if (depth === MAX_DEPTH || seen > MAX_FOLDERS) throw tooMany(root);
        folders.push({ path: insidePath, below: inside, depth: depth + 1 });
      }
    } catch (error) {
      if (depth === 0 || !hasCode(error, 'not_found', 'not_a_folder')) throw error;
    }
  }
}

function tooMany(root: RemotePath): GatewayError {
  return new GatewayError(
    'remote_failure',
    `${root} holds more than ${MAX_FOLDERS} folders, or folders more than ${MAX_DEPTH} levels deep; does a link lead back into it?`,
    { step: 'open' },
  );
}
