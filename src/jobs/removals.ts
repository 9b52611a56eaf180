/** A slice of the folders that a job empties: each is removed if it is empty, those furthest down first. */
import { toGatewayError } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { pathBelow } from '../remotes/path.js';
import type { Remotes } from '../remotes/registry.js';
import type { Leftovers } from '../remotes/remote.js';
import type { JobTree, RunningJob, Seat } from '../storage/storage.js';
import type { SliceEnd } from './file-slices.js';
import type { JobPlaces } from './file-work.js';
import type { Stay } from './running-jobs.js';

export interface RemovalsOptions {
  readonly tree: Pick<JobTree, 'claimFolders' | 'endRemovals' | 'failFolder'>;
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
    for (const { path } of folders) {
      if (signal.aborted) break;
      try {
        await remotes.use(connection, use, (remote) => remote.removeFolder(pathBelow(root, path)));
        removed.push(path);
      } catch (thrown) {
        if (signal.aborted) break;
        const error = toGatewayError(thrown);
        // What is in it failed, or has come meanwhile.
        if (error.code === 'not_empty') kept.push(path);
        else if (error.code === 'not_found' || error.code === 'not_a_folder') removed.push(path);
        else await tree.failFolder(job, path, error.code, error.clientText);
      }
    }
    await tree.endRemovals(job.id, removed, kept);
    return { kind: 'done', afterMs: 0 };
  }
}
