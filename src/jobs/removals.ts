/** A slice of the folders that a job empties: each is removed if it is empty, the deepest ones first. */
import { entryKey } from '../base/entry-key.js';
import { type GatewayError, toGatewayError } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { find } from '../operations/conflicts.js';
import { pathBelow, type RemotePath } from '../remotes/path.js';
import type { Remotes } from '../remotes/registry.js';
import type { Leftovers } from '../remotes/leftovers.js';
import type { JobTree, RunningJob, WorkerSlot } from '../storage/storage.js';
import type { SliceEnd } from './file-slices.js';
import { hasComeSince, isWholeTree, keyBelow, OWN_TEMPORARY } from './entries.js';
import type { JobPlaces } from './file-work.js';
import { verdictOn } from './retry.js';
import type { ActiveRun } from './running-jobs.js';

interface RemovalsOptions {
  readonly tree: Pick<JobTree, 'claimFolders' | 'endRemovals' | 'retryFolder' | 'failFolder' | 'listAgain' | 'known'>;
  readonly remotes: Pick<Remotes, 'use'>;
  readonly leftovers: (connection: Connection) => Leftovers;
}

const SLICE_FOLDERS = 64;
/** How often a folder that should be empty but is not is listed again. */
const LIST_AGAIN = 3;
const KNOWN_AT_ONCE = 500;

export class Removals {
  readonly #options: RemovalsOptions;

  constructor(options: RemovalsOptions) {
    this.#options = options;
  }

  async run(job: RunningJob, slot: WorkerSlot, places: JobPlaces, { signal }: ActiveRun): Promise<SliceEnd> {
    const { tree, remotes, leftovers } = this.#options;
    const folders = await tree.claimFolders(job, slot, SLICE_FOLDERS);
    if (folders.length === 0) return { kind: 'nothing' };
    const [connection, root] =
      job.type === 'sync' ? [places.target, places.targetRoot] : [places.source, places.sourceRoot];
    const removed: Buffer[] = [];
    const kept: Buffer[] = [];
    const use = { signal, leftovers, priority: 'background' as const };
    let fatal: GatewayError | undefined;
    let gatewayFault: GatewayError | undefined;
    for (const { path, tries } of folders) {
      if (signal.aborted || fatal !== undefined || gatewayFault !== undefined) break;
      try {
        // In a mirror: a folder that the source has after all is kept.
        const inSource = pathBelow(places.sourceRoot, path);
        const isBack =
          job.type === 'sync' &&
          (await remotes.use(places.source, use, (remote) => find(remote, inSource))) !== undefined;
        if (isBack) {
          kept.push(path);
          continue;
        }
        await remotes.use(connection, use, (remote) => remote.removeFolder(pathBelow(root, path)));
        removed.push(path);
      } catch (thrown) {
        if (signal.aborted) break;
        const error = toGatewayError(thrown);
        if (error.code === 'not_empty' && isWholeTree(job)) {
          const isKnown = await this.#isKnownWhy(job, connection, pathBelow(root, path), path, signal);
          if (isKnown) kept.push(path);
          else if (tries < LIST_AGAIN) {
            // A listing ended early.
            await tree.listAgain(job.id, path);
            break;
          } else await tree.failFolder(job, path, error.code, `${error.clientText}: not all of it is listed`);
        } else if (error.code === 'not_empty' || mayStay(job, path, error)) kept.push(path);
        else if (error.code === 'not_found' || error.code === 'not_a_folder') removed.push(path);
        else {
          const verdict = verdictOn(error, tries);
          if (verdict.kind === 'again') await tree.retryFolder(job.id, path, verdict.afterMs);
          else if (verdict.kind === 'failed') await tree.failFolder(job, path, error.code, error.clientText);
          else if (verdict.isFatal) fatal = error;
          else gatewayFault = error;
        }
      }
    }
    if (gatewayFault === undefined) await tree.endRemovals(job.id, removed, kept);
    if (fatal !== undefined) return { kind: 'fatal', error: fatal };
    if (gatewayFault !== undefined) throw gatewayFault;
    return { kind: 'done', afterMs: 0 };
  }

  /** Whether everything that is left in a folder failed, was left out, or was created after the job began. */
  #isKnownWhy(
    job: RunningJob,
    connection: Connection,
    place: RemotePath,
    path: Buffer,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { tree, remotes, leftovers } = this.#options;
    const use = { signal, leftovers, priority: 'background' as const };
    return remotes.use(connection, use, async (remote) => {
      let isShown = false;
      const leftOut = async (): Promise<void> => void (isShown = true);
      let old: Buffer[] = [];
      for await (const info of remote.list(place, { followLinks: false, leftOut })) {
        isShown = true;
        const isNew = !info.isDirectory && hasComeSince(job, info.modifiedAt.getTime(), remote.can.timeResolutionMs);
        if (isNew || OWN_TEMPORARY.test(info.name)) continue;
        old.push(keyBelow(path, entryKey('', info)));
        if (old.length < KNOWN_AT_ONCE) continue;
        if ((await tree.known(job.id, old)).size < old.length) return false;
        old = [];
      }
      return isShown && (await tree.known(job.id, old)).size === old.length;
    });
  }
}

/** Only files had to be moved: the login may not be allowed to remove their folder. */
function mayStay({ type }: RunningJob, path: Buffer, { code }: GatewayError): boolean {
  return type === 'move' && path.length === 0 && code === 'permission_denied';
}
