/** A slice of the folders that a job empties: each is removed if it is empty, the deepest ones first. */
import { entryKey } from '../base/entry-key.js';
import type { EndSignal } from '../base/ending.js';
import { type GatewayError, hasCode, toGatewayError } from '../base/errors.js';
import { OWN_TEMPORARY } from '../base/file-name.js';
import { retryDelay } from '../base/retry-schedule.js';
import type { Connection } from '../connections/connection.js';
import { find } from '../operations/conflicts.js';
import { pathBelow, type RemotePath } from '../remotes/path.js';
import type { Remotes } from '../remotes/registry.js';
import type { Leftovers } from '../remotes/leftovers.js';
import type { Remote } from '../remotes/remote.js';
import type { JobTree, RunningJob, WorkerSlot } from '../storage/storage.js';
import type { SliceEnd } from './file-slices.js';
import { hasComeSince, isWholeTree, keyBelow } from './entries.js';
import { type JobPlaces, requireOpenPlaces } from './file-work.js';
import { JOB_RETRIES, verdictOn } from './retry.js';
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

/**
 * What keeps a folder. `temporary`: only hidden files of uploads under way or of dead nodes, which go soon. `known`:
 * entries that failed, were left out, or were created after the job began; in a job that does not take the whole tree,
 * any entry. `unlisted`: some that no listing has shown.
 */
type Content = 'temporary' | 'known' | 'unlisted';

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
        requireOpenPlaces(places);
        // In a mirror: a folder that the source has after all is kept.
        const inSource = pathBelow(places.sourceRoot, path);
        const isBack =
          job.type === 'sync' &&
          (await remotes.use(places.source, use, (remote) => find(remote, inSource))) !== undefined;
        if (isBack) {
          kept.push(path);
          continue;
        }
        const content = await this.#remove(job, connection, pathBelow(root, path), path, signal);
        // One whose listing shows nothing has just become empty, or hides its content.
        const mayPass = content === 'temporary' || (content === 'unlisted' && !isWholeTree(job) && tries === 0);
        const afterMs = mayPass ? retryDelay(JOB_RETRIES, tries + 1) : undefined;
        if (content === undefined) removed.push(path);
        else if (afterMs !== undefined) await tree.retryFolder(job.id, path, afterMs);
        else if (content !== 'unlisted' || !isWholeTree(job)) kept.push(path);
        else if (tries < LIST_AGAIN) {
          // A listing ended early.
          await tree.listAgain(job.id, path);
          break;
        } else await tree.failFolder(job, path, 'not_empty', 'the folder is not empty: not all of it is listed');
      } catch (thrown) {
        if (signal.aborted) break;
        const error = toGatewayError(thrown);
        if (mayStay(job, path, error)) kept.push(path);
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

  /** Removes a folder; resolves to its content if it has any, and is therefore still there. */
  async #remove(
    job: RunningJob,
    connection: Connection,
    place: RemotePath,
    path: Buffer,
    signal: EndSignal,
  ): Promise<Content | undefined> {
    const { remotes, leftovers } = this.#options;
    const use = { signal, leftovers, priority: 'background' as const };
    return remotes.use(connection, use, async (remote) => {
      try {
        await remote.removeFolder(place);
        return undefined;
      } catch (error) {
        if (!hasCode(error, 'not_empty')) throw error;
        return this.#contentOf(job, remote, place, path);
      }
    });
  }

  async #contentOf(job: RunningJob, remote: Remote, place: RemotePath, path: Buffer): Promise<Content> {
    const { tree } = this.#options;
    let content: Content | undefined;
    const leftOut = async (): Promise<void> => void (content = 'known');
    let old: Buffer[] = [];
    for await (const batch of remote.list(place, { followLinks: false, leftOut })) {
      for (const info of batch) {
        if (OWN_TEMPORARY.test(info.name)) {
          content ??= 'temporary';
          continue;
        }
        content = 'known';
        // The others keep a folder with any entry.
        if (!isWholeTree(job)) continue;
        if (!info.isDirectory && hasComeSince(job, info.modifiedAt.getTime(), remote.can.timeResolutionMs)) continue;
        old.push(keyBelow(path, entryKey('', info)));
        if (old.length < KNOWN_AT_ONCE) continue;
        if ((await tree.known(job.id, old)).size < old.length) return 'unlisted';
        old = [];
      }
    }
    return (await tree.known(job.id, old)).size === old.length ? (content ?? 'unlisted') : 'unlisted';
  }
}

/** Only files had to be moved: the login may not be allowed to remove their folder. */
function mayStay({ type }: RunningJob, path: Buffer, { code }: GatewayError): boolean {
  return type === 'move' && path.length === 0 && code === 'permission_denied';
}
