/**
 * Gives a file its final name on a server that knows files and folders (S3 has neither: it completes an object in one
 * request). The policy is here, above five calls that a protocol provides: lookUp, rename, replace, remove, makeFolder.
 * The old file is never gone before the new one is complete under some name.
 */
import { randomBytes } from 'node:crypto';
import { GatewayError, hasCode, toGatewayError } from '../base/errors.js';
import { MAX_NAME_BYTES, nameStart } from '../base/file-name.js';
import { alreadyExists, folderExistsAt, moveObstacle } from './obstacles.js';
import { baseName, joinPath, parentOf, type RemotePath } from './path.js';
import type { Leftovers } from './leftovers.js';
import type { RemoteContext, WriteOptions } from './remote.js';

export interface EntryFacts {
  readonly isFolder: boolean;
  readonly size: number | undefined;
}

/** A name on a server, as its protocol represents it. */
export interface Place {
  readonly path: RemotePath;
}

/** Every error of a call is a GatewayError; one that keeps the session is a refusal of the server. */
export interface Places<P extends Place> {
  /** What exists there; undefined if nothing does, or nothing can be learned. */
  lookUp(place: P): Promise<EntryFacts | undefined>;
  rename(from: P, to: P): Promise<void>;
  /** Replaces any file at the target in one step; false if the server turns out to have no such call. */
  readonly replace?: ((from: P, to: P) => Promise<boolean>) | undefined;
  /** Rejects with is_a_folder if a link to a folder is at the target, which rename() would replace; absent: it would not. */
  refuseFolder?(to: P): Promise<void>;
  remove(place: P): Promise<void>;
  /**
   * Makes the folder and its parents; `created` is false if it existed already, even if another client was faster.
   * not_a_folder.
   */
  makeFolder(path: RemotePath): Promise<{ readonly created: boolean }>;
  /** Another name in the same folder. */
  beside(place: P, name: string): P;
  /** rename() is certainly refused if the target exists: no lookup is needed before it. */
  readonly refusesToReplace: boolean;
  /** Call after rename() was refused because the target exists. */
  learnRefusal(): void;
  /** Does `work` with the same calls on a new session, after the current one was lost; absent if there is none. */
  afresh?<R>(work: (places: Places<P>) => Promise<R>): Promise<R>;
}

/** The server refused, and the session is as good as before. */
export const isRefusal = (error: unknown): error is GatewayError => error instanceof GatewayError && error.keepsSession;

/** The session was lost, and perhaps only the answer with it: the request may have been executed. */
export const isAnswerLost = (error: unknown): boolean => hasCode(error, 'connection_lost', 'stall_timeout');

/** Whether the bytes go to a hidden name first. A name that may still change cannot be written in place. */
export const isWrittenBeside = (atomicUploads: boolean, { isHidden, provisional }: WriteOptions): boolean =>
  (atomicUploads && isHidden !== true) || provisional === true;

/** A hidden name beside `path`; write to it only after `noted` has resolved. */
export function hiddenBeside(path: RemotePath, leftovers: Leftovers): { path: RemotePath; noted: Promise<void> } {
  const folder = parentOf(path);
  const noted = leftovers.expect(folder);
  noted.catch(() => undefined);
  return { path: joinPath(folder, leftovers.temporaryName(baseName(path))), noted };
}

/**
 * Gives a complete upload its name. Errors: already_exists (with `exclusive`), is_a_folder, not_a_folder, no_space,
 * connection_lost, remote_failure. After any of them the former file is still there.
 */
export async function publishUpload<P extends Place>(
  places: Places<P>,
  from: P,
  to: P,
  { exclusive, size, context }: { exclusive: boolean; size: number; context: RemoteContext },
): Promise<void> {
  context.mark?.('rename');
  if (exclusive && !places.refusesToReplace && (await places.lookUp(to)) !== undefined) throw alreadyExists(to.path);
  if (!exclusive) await places.refuseFolder?.(to);
  context.irrevocable?.();
  try {
    await put(places, from, to, !exclusive, context.leftovers);
  } catch (error) {
    if (await wasDone(places, error, from, to, (found) => found.size === size)) return;
    if (!hasCode(error, 'remote_failure', 'permission_denied', 'not_found')) throw error;
    throw new GatewayError('remote_failure', `${error.message}; ${await renameAdvice(places, from)}`, {
      step: 'publish',
      remote: error.remote,
      cause: error,
    });
  }
}

/** A file that was taken away is no reason to advise writing without a rename. */
async function renameAdvice<P extends Place>(places: Places<P>, from: P): Promise<string> {
  const isThere = await places.lookUp(from).then(
    (found) => found !== undefined,
    () => true,
  );
  return isThere
    ? 'a connection with "atomicUploads: false" writes without a rename'
    : `something removed ${from.path}, which held the upload until then, from the server`;
}

/**
 * `existing`: the entry at `to`, just looked up like the one at `from`. Errors: those of moveObstacle, and the server's
 * refusal.
 */
export async function movePlace<P extends Place>(
  places: Places<P>,
  from: P,
  to: P,
  what: EntryFacts & { replace: boolean; existing: EntryFacts | undefined; context: RemoteContext },
): Promise<void> {
  const { existing, size, context } = what;
  const obstacle = moveObstacle(what, to.path, existing);
  if (obstacle !== undefined) throw obstacle;
  context.irrevocable?.();
  try {
    await put(places, from, to, what.replace, context.leftovers);
  } catch (error) {
    // A file of the size of the former one may be the former one: another client may have taken the source away.
    const isMoved = (found: EntryFacts): boolean =>
      existing === undefined || (found.size === size && found.size !== existing.size);
    if (!(await wasDone(places, error, from, to, isMoved))) throw error;
  }
}

/** Does `work`, again if its refusal turns out to come from a missing folder above `path`. */
export async function inFolder<T>(
  calls: Pick<Places<Place>, 'makeFolder'>,
  path: RemotePath,
  work: () => Promise<T>,
  mayHaveBeenMissing: (error: GatewayError) => Promise<boolean> = async () => false,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isRefusal(error) || hasCode(error, 'already_exists', 'is_a_folder')) throw error;
    const { created } = await calls.makeFolder(parentOf(path)).catch((second: unknown) => {
      // If the server did not report a missing folder, only a file in the folder's place explains more than the
      // refusal.
      const saysMore = !isRefusal(second) || hasCode(second, 'not_a_folder') || hasCode(error, 'not_found');
      throw saysMore ? second : error;
    });
    // Another client may have made the folder first.
    if (!created && !hasCode(error, 'not_found') && !(await mayHaveBeenMissing(error))) throw error;
    return work();
  }
}

function put<P extends Place>(
  places: Places<P>,
  from: P,
  to: P,
  replace: boolean,
  leftovers: Leftovers,
): Promise<void> {
  return inFolder(
    places,
    to.path,
    () => (replace ? renameOver(places, from, to, leftovers) : renameNew(places, from, to)),
    // FTP gives no reason; if a file exists at the target, the folder was not the cause.
    async (error) => hasCode(error, 'remote_failure') && (await places.lookUp(to)) === undefined,
  );
}

/** Free of races if the server refuses existing names itself. */
async function renameNew<P extends Place>(places: Places<P>, from: P, to: P): Promise<void> {
  try {
    await places.rename(from, to);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const exists = hasCode(error, 'already_exists') || (await places.lookUp(to)) !== undefined;
    // Without its source, it was refused for another reason, or was done in spite of the error.
    if (!exists || (await places.lookUp(from)) === undefined) throw error;
    places.learnRefusal();
    throw alreadyExists(to.path, error);
  }
}

async function renameOver<P extends Place>(places: Places<P>, from: P, to: P, leftovers: Leftovers): Promise<void> {
  let inOneStep = true;
  try {
    if ((await places.replace?.(from, to)) === true) return;
    inOneStep = false;
    await places.rename(from, to);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const existing = await places.lookUp(to);
    if (existing?.isFolder === true) throw folderExistsAt(to.path, error);
    if (inOneStep || existing === undefined) throw error;
    await replaceInTwoSteps(places, from, to, leftovers);
  }
}

/**
 * For a server that does not rename onto a file: the former file is renamed aside, and restored if the new one cannot
 * take its place. A note of it survives this process.
 */
async function replaceInTwoSteps<P extends Place>(
  places: Places<P>,
  from: P,
  to: P,
  leftovers: Leftovers,
): Promise<void> {
  const aside = places.beside(to, asideName(baseName(to.path)));
  const note = await leftovers.expectAside(aside.path, to.path);
  try {
    await swap(places, from, to, aside);
  } catch (error) {
    // After a refusal the former file is back; a lost session may have left anything.
    if (isRefusal(error)) note.done();
    else note.settleLater();
    throw error;
  }
  places.learnRefusal();
  await places.remove(aside).then(
    () => note.done(),
    () => note.settleLater(),
  );
}

async function swap<P extends Place>(places: Places<P>, from: P, to: P, aside: P): Promise<void> {
  try {
    await places.rename(to, aside);
  } catch (error) {
    if (!isRefusal(error)) {
      // Its answer may be lost, although the request was executed.
      if (places.afresh !== undefined) await restore(places, aside, to, error);
      throw error;
    }
    if (!(await wasDone(places, error, to, aside))) throw error;
  }
  try {
    await places.rename(from, to);
  } catch (error) {
    if (!isRefusal(error) || !(await wasDone(places, error, from, to))) {
      await restore(places, aside, to, error);
      throw error;
    }
  }
}

/** The former file has its hidden name: unlike after a refusal, no other way is tried. */
class FormerFileAside extends GatewayError {
  override get keepsSession(): boolean {
    return false;
  }
}

/** Afterwards a file exists at `to`: the former one, or the new one if the rename was done after all. */
async function restore<P extends Place>(places: Places<P>, aside: P, to: P, reason: unknown): Promise<void> {
  try {
    if (isRefusal(reason)) return await places.rename(aside, to);
    const settle = async (calls: Places<P>): Promise<void> => {
      if ((await calls.lookUp(to)) === undefined) await calls.rename(aside, to);
      else await calls.remove(aside).catch(() => undefined);
    };
    await (places.afresh === undefined ? settle(places) : places.afresh(settle));
  } catch (error) {
    throw new FormerFileAside(
      'remote_failure',
      `${to.path} could not be replaced, and the former file could not be moved back: it is ${aside.path} now, until the gateway can do so`,
      { step: 'publish', cause: error, remote: toGatewayError(error).remote },
    );
  }
}

/**
 * Whether a rename that failed was done in spite of it: its answer was lost, or the server refused something that
 * followed it. Then the source is gone and `isIt` is true of the entry at the target.
 */
async function wasDone<P extends Place>(
  places: Places<P>,
  error: unknown,
  from: P,
  to: P,
  isIt: (found: EntryFacts) => boolean = () => true,
): Promise<boolean> {
  const look = async (calls: Places<P>): Promise<boolean> => {
    if ((await calls.lookUp(from)) !== undefined) return false;
    const found = await calls.lookUp(to);
    return found !== undefined && isIt(found);
  };
  try {
    if (isRefusal(error)) return await look(places);
    return isAnswerLost(error) && (await places.afresh?.(look)) === true;
  } catch {
    return false;
  }
}

/**
 * The hidden name of a former file that is renamed aside, cut to the limit of file systems. The sweep after a crash
 * must not delete it: for a moment it is the only copy of the old file.
 */
function asideName(name: string): string {
  const suffix = `.ftg-old-${randomBytes(8).toString('hex')}`;
  return `.${nameStart(name, MAX_NAME_BYTES - suffix.length - 1)}${suffix}`;
}
