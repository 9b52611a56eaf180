/** The short operations: delete, move, make a folder, list, find, run a command. */
import type { Hold } from '../budgets/memory.js';
import { GatewayError, hasCode, refusal } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { definitionOf } from '../contract/connection/types.js';
import { LeftOutCount } from '../remotes/left-out.js';
import { refuseRoot } from '../remotes/obstacles.js';
import { baseName, ROOT, type RemotePath } from '../remotes/path.js';
import type {
  ExecOptions,
  ExecResult,
  FileInfo,
  LeftOut,
  MoveOptions,
  Remote,
  RemoveOptions,
} from '../remotes/remote.js';
import type { Attempt } from '../remotes/registry.js';
import type { Operation, Operations } from './operation.js';
import type { PathReference } from './path-reference.js';
import { underLocks } from './put.js';
import { deleteTree } from './tree/delete.js';
import type { ListedTree } from './tree/list-tree.js';
import { compareFiles, HeldListing, SortedListing } from './sorted-listing.js';

export async function deleteFile(
  operation: Operation,
  reference: PathReference,
  options?: RemoveOptions,
): Promise<RemotePath> {
  return operation.use(async (remote, attempt) => {
    const path = await reference(remote);
    operation.locate(path, baseName(path));
    attempt.committed();
    operation.mark('transfer');
    await remote.remove(path, options);
    return path;
  });
}

/** Gives a file another time, as far as its server keeps times. No byte of it moves through the gateway. */
export async function setFileTime(operation: Operation, reference: PathReference, modifiedAt: Date): Promise<FileInfo> {
  return operation.use(async (remote, attempt) => {
    const path = await reference(remote);
    operation.locate(path, baseName(path));
    operation.evidence.undigested('server_side_copy');
    attempt.committed();
    operation.mark('transfer');
    const info = await (remote.setTime?.(path, modifiedAt) ?? remote.stat(path));
    operation.fileSize = info.size;
    return info;
  });
}

/** Deletes an empty folder. */
export async function deleteFolder(operation: Operation, reference: PathReference): Promise<RemotePath> {
  return operation.use(async (remote, attempt) => {
    const path = await reference(remote);
    operation.locate(path, baseName(path));
    attempt.committed();
    operation.mark('transfer');
    await remote.removeFolder(path);
    return path;
  });
}

/** Deletes a file, or a folder with everything below it. */
export async function deleteAll(
  operation: Operation,
  reference: PathReference,
): Promise<{ readonly path: RemotePath; readonly deleted: number }> {
  if (reference.known !== undefined) refuseRoot(reference.known);
  const { signal } = operation;
  const work = async (remote: Remote, attempt: Attempt): Promise<{ path: RemotePath; deleted: number }> => {
    const path = await reference(remote);
    operation.locate(path, baseName(path));
    attempt.committed();
    operation.mark('transfer');
    const deleted = await deleteTree(remote, path, { signal });
    operation.evidence.deleted(deleted);
    return { path, deleted };
  };
  return operation.use(work, { endsBetween: true });
}

export interface MoveRequest extends MoveOptions {
  /** The operation's own connection. */
  readonly connection: Connection;
  readonly from: PathReference;
  readonly to: PathReference;
  /** The history keeps the path of the source. */
  readonly showsSource?: boolean;
}

export async function moveFile(
  operations: Operations,
  operation: Operation,
  { connection, from, to, showsSource = false, ...options }: MoveRequest,
): Promise<{ readonly from: RemotePath; readonly to: RemotePath }> {
  return operation.use(async (remote, attempt) => {
    const [source, target] = [await from(remote), await to(remote)];
    if (!showsSource) operation.locate(target, baseName(target));
    operation.evidence.moves(source, target);
    await refuseIntoItself(remote, source, target);
    attempt.committed();
    operation.mark('rename');
    const move = (): Promise<FileInfo> => remote.move(source, target, options);
    const moving = movesAlone(remote, options)
      ? move()
      : underLocks(operations, connection, [source, target], operation.signal, move);
    const moved = await moving.catch(sayHowToReplace);
    operation.fileSize = moved.size;
    return { from: source, to: target };
  });
}

/** Whether the server does the move in one step that refuses an existing target, or may replace it. */
function movesAlone(remote: Remote, { replace }: MoveOptions): boolean {
  // A store copies, then removes: two moves of one file would both succeed.
  if (remote.copyFrom !== undefined) return false;
  // An FTP server that has refused a target once may replace it in another folder.
  return replace || (remote.can.exclusiveCreate && remote.can.moveOnto === 'refuses');
}

/** Servers reply anything from success to 502. @throws GatewayError bad_path; not_a_folder below a file */
async function refuseIntoItself(remote: Remote, source: RemotePath, target: RemotePath): Promise<void> {
  const step = 'request';
  if (source === ROOT) throw new GatewayError('bad_path', 'the root folder / cannot be moved', { step });
  if (!target.startsWith(`${source}/`)) return;
  const { isDirectory } = await remote.stat(source);
  if (isDirectory) throw new GatewayError('bad_path', `${source} cannot be moved into itself`, { step });
  throw new GatewayError('not_a_folder', `${source} is a file, not a folder`, { step: 'open' });
}

/** The remotes report the obstacle; only this code knows which field would help. */
function sayHowToReplace(error: unknown): never {
  if (!hasCode(error, 'already_exists')) throw error;
  const { message, step, remote } = error;
  throw new GatewayError('already_exists', `${message}; overwrite: true replaces it`, {
    ...(step === undefined ? {} : { step }),
    remote,
    cause: error,
  });
}

export async function makeFolder(
  operation: Operation,
  reference: PathReference,
): Promise<{ readonly path: RemotePath; readonly created: boolean }> {
  return operation.use(async (remote) => {
    const path = await reference(remote);
    operation.locate(path, baseName(path));
    operation.mark('transfer');
    const { created } = await remote.makeFolder(path);
    return { path, created };
  });
}

/**
 * Folders first, then by name in code-point order; the listing may be read once. `memory` counts it. Errors include
 * share_exceeded and overloaded.
 */
export async function listFolder(
  operation: Operation,
  reference: PathReference,
  memory: Hold,
  mostEntries: number,
): Promise<ListedTree> {
  return operation.use(async (remote) => {
    const path = await reference(remote);
    operation.locate(path, baseName(path));
    operation.mark('transfer');
    const files = new SortedListing(compareFiles);
    const held = new HeldListing(path, memory, mostEntries);
    const omitted = new LeftOutCount();
    const leftOut = async (what: LeftOut): Promise<void> => omitted.add(path, what);
    for await (const batch of remote.list(path, { folderTimes: true, leftOut })) {
      operation.signal.throwIfAborted();
      for (const file of batch) {
        files.add(file);
        if (held.add(file.path.length)) await held.turn();
      }
    }
    return { path, files, incomplete: omitted.count };
  });
}

/** The facts of a file or folder; undefined if nothing exists there. */
export async function findFile(operation: Operation, reference: PathReference): Promise<FileInfo | undefined> {
  return operation.use(async (remote) => {
    const path = await reference(remote);
    operation.locate(path, baseName(path));
    operation.mark('transfer');
    try {
      const found = await remote.stat(path);
      // Only what a listing can show is returned here: the two must not contradict each other.
      const resolutionMs = found.timeResolutionMs ?? remote.can.timeResolutionMs;
      const shownMs = found.modifiedAt.getTime();
      const modifiedMs = Math.floor(shownMs / resolutionMs) * resolutionMs;
      return modifiedMs === shownMs ? found : { ...found, modifiedAt: new Date(modifiedMs) };
    } catch (error) {
      if (hasCode(error, 'not_found')) return undefined;
      throw error;
    }
  });
}

/** SSH connections only. @throws GatewayError unsupported_operation before anything runs */
export function requireShell(connection: Connection): void {
  if (!definitionOf(connection).can.exec)
    throw noShell(`a ${connection.type} server has no shell; exec needs an sftp connection`);
}

export async function runCommand(operation: Operation, command: string, options: ExecOptions): Promise<ExecResult> {
  return operation.use(async (remote, attempt) => {
    if (remote.exec === undefined) throw noShell('exec needs an sftp connection');
    attempt.committed();
    operation.mark('transfer');
    return remote.exec(command, options);
  });
}

function noShell(text: string): GatewayError {
  return refusal('unsupported_operation', `exec is not supported on this connection: ${text}`);
}
