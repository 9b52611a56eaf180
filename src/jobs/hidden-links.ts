/**
 * Folders of a listing that are links: a link to a folder above ends a job's way down, and a deletion removes the link.
 */
import type { Connection } from '../connections/connection.js';
import type { EndSignal } from '../base/ending.js';
import { hasCode } from '../base/errors.js';
import type { LoopCheck } from '../operations/tree/folder.js';
import { pathBelow } from '../remotes/path.js';
import type { Remotes } from '../remotes/registry.js';
import type { Leftovers } from '../remotes/leftovers.js';
import type { JobFolder, NewJobFile, RunningJob } from '../storage/storage.js';
import type { FileWork, JobPlaces } from './file-work.js';
import type { OpenFolder } from './findings-batch.js';

interface Listed {
  readonly job: RunningJob;
  readonly places: JobPlaces;
  readonly folder: JobFolder;
  readonly signal: EndSignal;
}

export class HiddenLinks {
  readonly #remotes: Pick<Remotes, 'use'>;
  readonly #leftovers: (connection: Connection) => Leftovers;
  readonly #work: Pick<FileWork, 'removeLink'>;

  constructor(
    remotes: Pick<Remotes, 'use'>,
    leftovers: (connection: Connection) => Leftovers,
    work: Pick<FileWork, 'removeLink'>,
  ) {
    this.#remotes = remotes;
    this.#leftovers = leftovers;
    this.#work = work;
  }

  /**
   * Whether the folder was a link, and is removed. A deletion first removes it as if it were a file, which servers do
   * only for links: so nothing leads it out of its tree.
   */
  async wasOne({ job, places, folder, signal }: Listed): Promise<boolean> {
    if (job.type !== 'delete' || folder.depth === 0 || job.definition.dryRun) return false;
    const use = { signal, leftovers: this.#leftovers, priority: 'background' as const };
    const mayBe = await this.#remotes.use(places.source, use, (remote) => Promise.resolve(remote.can.mayHideLinks));
    if (mayBe !== true) return false;
    try {
      await this.#work.removeLink(job, places.source, pathBelow(places.sourceRoot, folder.path), folder.path, signal);
      return true;
    } catch (error) {
      if (hasCode(error, 'is_a_folder')) return false;
      throw error;
    }
  }
}

/** Compares a folder with those above it, before any of its entries is recorded. */
export function loopsIn({
  folder: { above },
  openFolder,
}: {
  readonly folder: JobFolder;
  readonly openFolder: OpenFolder;
}): LoopCheck {
  return { above, isHeld: true, marked: (below) => (openFolder.below = below) };
}

export function repeated(path: Buffer): NewJobFile {
  const errorMessage = 'lists the same as folders above it: a link seems to lead back';
  return {
    path,
    action: 'list',
    phase: 1,
    size: 0,
    modifiedMs: 0,
    state: 'failed',
    errorCode: 'bad_path',
    errorMessage,
  };
}

export function removedLink(path: Buffer): NewJobFile {
  return { path, action: 'delete', phase: 1, size: 0, modifiedMs: 0, state: 'done' };
}
