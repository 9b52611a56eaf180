/** A slice of the folders that a job empties: each is removed if it is empty, those furthest down first. */
import { type GatewayError, toGatewayError } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { pathBelow } from '../remotes/path.js';
import type { Remotes } from '../remotes/registry.js';
import type { Leftovers } from '../remotes/leftovers.js';
import type { JobTree, RunningJob, Seat } from '../storage/storage.js';
import type { SliceEnd } from './file-slices.js';
import type { JobPlaces } from './file-work.js';
import { verdictOn } from './retry.js';
import type { Stay } from './running-jobs.js';

export interface RemovalsOptions {
  readonly tree: Pick<JobTree, 'claimFolders' | 'endRemovals' | 'retryFolder' | 'failFolder'>;
  readonly remotes: Pick<Remotes, 'use'>;
  readonly leftovers: (connection: Connection) => Leftovers;
}

const SLICE_FOLDERS = 64;

export class Removals {
  constructor(private readonly options: RemovalsOptions) {}

  async run(job: RunningJob, seat: Seat, places: JobPlaces, { signal }: Stay): Promise<SliceEnd> {
    const { tree, remotes, leftovers } = this.options;
    const folders = await tree.claimFolders(job, seat, SLICE_FOLDERS);
    if (folders.length === 0) return { kind: 'nothing' };
    const [connection, root] =
      job.type === 'sync' ? [places.target, places.targetRoot] : [places.source, places.sourceRoot];
    const removed: Buffer[] = [];
    const kept: Buffer[] = [];
    const use = { signal, leftovers, priority: 'background' as const };
    let fatal: GatewayError | undefined;
    let ours: GatewayError | undefined;
    for (const { path, tries } of folders) {
      if (signal.aborted || fatal !== undefined || ours !== undefined) break;
      try {
        await remotes.use(connection, use, (remote) => remote.removeFolder(pathBelow(root, path)));
        removed.push(path);
      } catch (thrown) {
        if (signal.aborted) break;
        const error = toGatewayError(thrown);
        // What is in it failed, or has come meanwhile.
        if (error.code === 'not_empty' || staysAnyway(job, path, error)) kept.push(path);
        else if (error.code === 'not_found' || error.code === 'not_a_folder') removed.push(path);
        else {
          const verdict = verdictOn(error, tries);
          if (verdict.kind === 'again') await tree.retryFolder(job.id, path, verdict.afterMs);
          else if (verdict.kind === 'failed') await tree.failFolder(job, path, error.code, error.clientText);
          else if (verdict.isFatal) fatal = error;
          else ours = error;
        }
      }
    }
    if (ours === undefined) await tree.endRemovals(job.id, removed, kept);
    if (fatal !== undefined) return { kind: 'fatal', error: fatal };
    if (ours !== undefined) throw ours;
    return { kind: 'done', afterMs: 0 };
  }
}

/** Files were to be moved: the folder that held them may be no one's to remove. */
function staysAnyway({ type }: RunningJob, path: Buffer, { code }: GatewayError): boolean {
  return type === 'move' && path.length === 0 && code === 'permission_denied';
}
