/**
 * Deletes a folder with everything below it, from its leaves up.
 * Every entry is first removed as if it were a file: only what the server then calls a folder is listed. So a link is
 * removed as a link even if a listing hides that it is one, and nothing leads out of the tree. No listing is read
 * further while its folder changes: a limited number of its names is kept, the listing is ended, and once those are
 * gone the folder is listed again.
 */
import { GatewayError, hasCode, toGatewayError } from '../../base/errors.js';
import { refuseRoot } from '../../remotes/obstacles.js';
import { withRawName, type RemotePath } from '../../remotes/path.js';
import { labelOf } from '../../remotes/left-out.js';
import type { FileInfo, LeftOut, Remote } from '../../remotes/remote.js';
import { listOneFolder } from './folder.js';

/** For all folders on the way down together: each takes half of what the others leave. */
const MOST_NAMES = 50_000;
const LEAST_NAMES = 100;
/** How often a folder may be found filled again, or with entries that no listing shows, before that is an error. */
const MOST_SURPRISES = 5;

interface Progress {
  readonly signal: AbortSignal;
  /** Gets the number of entries that are gone so far. */
  readonly onDeleted?: (total: number) => void;
}

/**
 * Resolves with the number of entries that are gone. not_found; bad_path for the root; otherwise the error that stopped
 * it, with the path and how many were deleted before.
 */
export async function deleteTree(remote: Remote, path: RemotePath, progress: Progress): Promise<number> {
  refuseRoot(path);
  const deletion = new Deletion(remote, path, progress);
  await deletion.run();
  return deletion.deleted;
}

class Deletion {
  readonly #remote: Remote;
  readonly #root: RemotePath;
  readonly #progress: Progress;
  deleted = 0;
  #names = 0;
  /** Calls that may run in addition to those that go down the tree. */
  #spareHands: number;
  #failure: GatewayError | undefined;

  constructor(remote: Remote, root: RemotePath, progress: Progress) {
    this.#remote = remote;
    this.#root = root;
    this.#progress = progress;

    this.#spareHands = remote.can.callsAtOnce - 1;
  }

  async run(): Promise<void> {
    try {
      await this.#remote.remove(this.#root);
      this.#count(1);
    } catch (error) {
      if (!hasCode(error, 'is_a_folder')) throw error;
      await this.#folder(this.#root);
    }
  }

  async #folder(folder: RemotePath): Promise<void> {
    if (this.#remote.removeTree !== undefined) {
      return this.#unlessGone(
        folder,
        this.#remote.removeTree(folder, (entries) => this.#count(entries)),
      );
    }
    for (let surprises = 0; ;) {
      const { isAll, removed, omitted } = await this.#emptySome(folder);
      if (!isAll && removed > 0) continue;
      try {
        await this.#remote.removeFolder(folder);
        this.#count(1);
        return;
      } catch (error) {
        if (hasCode(error, 'not_found')) return;
        surprises += 1;
        if (hasCode(error, 'not_empty') && omitted !== undefined)
          throw this.#failed(folder, notReadable(folder, omitted));
        if (!hasCode(error, 'not_empty') || surprises === MOST_SURPRISES) throw this.#failed(folder, error);
      }
    }
  }

  /** Removes the entries of a listing, up to the number that may be kept. */
  async #emptySome(
    folder: RemotePath,
  ): Promise<{ readonly isAll: boolean; readonly removed: number; readonly omitted: LeftOut | undefined }> {
    const most = Math.max(LEAST_NAMES, Math.floor((MOST_NAMES - this.#names) / 2));
    const entries: RemotePath[] = [];
    let isAll = true;
    let omitted: LeftOut | undefined;
    const leftOut = async (what: LeftOut): Promise<void> => void (omitted ??= what);
    const mayBeGone = folder !== this.#root;
    const listing = async (): Promise<void> => {
      for await (const entry of listOneFolder(this.#remote, folder, { followLinks: false, leftOut, mayBeGone })) {
        if (entries.length < most) entries.push(pathOf(entry));
        else isAll = false;
        if (!isAll && this.#remote.can.callsAtOnce > 1) break;
      }
    };
    await this.#unlessGone(folder, listing());
    this.#names += entries.length;
    const removed = await this.#removeAll(entries);
    this.#names -= entries.length;
    return { isAll, removed, omitted };
  }

  /** Uses all spare calls; the first failure ends it, once nothing is under way any more. */
  async #removeAll(entries: readonly RemotePath[]): Promise<number> {
    const hands: Promise<void>[] = [];
    let next = 0;
    let removed = 0;
    const work = async (): Promise<void> => {
      for (let entry = entries[next]; entry !== undefined && this.#failure === undefined; entry = entries[next]) {
        next += 1;
        while (this.#spareHands > 0 && next < entries.length) {
          this.#spareHands -= 1;
          hands.push(work().finally(() => (this.#spareHands += 1)));
        }
        try {
          if (await this.#entry(entry)) removed += 1;
        } catch (error) {
          this.#failure ??= toGatewayError(error);
        }
      }
    };
    await work();
    for (const hand of hands) await hand;
    if (this.#failure !== undefined) throw this.#failure;
    return removed;
  }

  /** False if another client was faster. */
  async #entry(path: RemotePath): Promise<boolean> {
    try {
      this.#progress.signal.throwIfAborted();
      await this.#remote.remove(path);
      this.#count(1);
    } catch (error) {
      if (hasCode(error, 'not_found')) return false;
      if (!hasCode(error, 'is_a_folder')) throw this.#failed(path, error);
      await this.#folder(path);
    }
    return true;
  }

  /** Another client may remove the folder meanwhile. */
  async #unlessGone(folder: RemotePath, work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (hasCode(error, 'not_found') && folder !== this.#root) return;
      throw this.#failed(folder, error);
    }
  }

  #count(entries: number): void {
    this.deleted += entries;
    this.#progress.onDeleted?.(this.deleted);
  }

  #failed(path: RemotePath, thrown: unknown): GatewayError {
    const error = toGatewayError(thrown);
    if (this.#failure !== undefined || error.code === 'internal') return error;
    const { code, message, step = 'publish', remote } = error;
    const where = message.includes(path) ? message : `${path}: ${message}`;
    const text = `${where}; ${this.deleted} entries of ${this.#root} had been deleted before`;
    return (this.#failure = new GatewayError(code, text, { step, remote, cause: error }));
  }
}

function notReadable(folder: RemotePath, what: LeftOut): GatewayError {
  const text = `${folder} is not empty: the server lists an entry in it that cannot be read or addressed: ${JSON.stringify(labelOf(what))}`;
  return new GatewayError('not_empty', text, { step: 'publish' });
}

/** With the exact bytes of its last name; those of its folder are in the path already. */
const pathOf = ({ path, rawName }: FileInfo): RemotePath =>
  rawName === undefined ? path : withRawName(path, rawName, 'rawName');
