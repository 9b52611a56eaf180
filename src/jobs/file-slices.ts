/** A slot's slices of a job's files, and how long its next one waits if none was successful. */
import { GatewayError } from '../base/errors.js';
import { retryDelay } from '../base/retry-schedule.js';
import { isLeftAlone, OntoItself } from '../operations/conflicts.js';
import type { JobFile, JobTree, RunningJob, WorkerSlot } from '../storage/storage.js';
import { type FileList, type FileVerdict, runSlice } from './file-list.js';
import { FileQueue } from './file-queue.js';
import { type FileWork, type JobPlaces, requireOpenPlaces, ruleOf } from './file-work.js';
import { createPace } from './pace.js';
import { JOB_RETRIES, verdictOn } from './retry.js';
import type { ActiveRun } from './running-jobs.js';

interface FileSlicesOptions {
  readonly tree: Pick<JobTree, 'claimFiles' | 'end' | 'retryFile'>;
  readonly work: Pick<FileWork, 'run'>;
  /** Concurrent files of one slice. */
  readonly parallelFiles: number;
}

/** Then the slot is released: others wait for their turn. */
const TURN_MS = 2000;

/** The result of a slice. */
export type SliceEnd =
  /** There was nothing to do. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'done'; readonly afterMs: number }
  /** The whole job ends. */
  | { readonly kind: 'fatal'; readonly error: GatewayError };

type Pace = ReturnType<typeof createPace>;

export class FileSlices {
  readonly #options: FileSlicesOptions;
  /** Consecutive slices without success, by slot: a server that is away is not tried for every file in turn. */
  readonly #consecutiveFailures = new Map<string, number>();
  readonly #paces = new Map<string, Pace>();

  constructor(options: FileSlicesOptions) {
    this.#options = options;
  }

  /** Rejects with the gateway's own failures: the rest of the slice is left to the next owner of the slot. */
  async run(
    job: RunningJob,
    slot: WorkerSlot,
    places: JobPlaces,
    activeRun: ActiveRun,
    findPlaces: () => Promise<JobPlaces | GatewayError>,
  ): Promise<SliceEnd> {
    const { tree, parallelFiles } = this.#options;
    const queue = new FileQueue((limit, bytes) => tree.claimFiles(job, slot, limit, bytes));
    await queue.refill();
    const name = `${job.id} ${slot.number}`;
    if (queue.isEmpty) {
      this.#consecutiveFailures.delete(name);
      this.#paces.delete(job.id);
      return { kind: 'nothing' };
    }
    let recheckAt = performance.now() + TURN_MS;
    const { isUnsuccessful, passing, fatal } = await runSlice(this.#list(job, places, queue, activeRun), {
      parallelFiles,
      signal: activeRun.signal,
      turnMs: TURN_MS,
      isWanted: () => activeRun.isWanted,
      // Claimed files may take long; a connection that was deleted or has closed meanwhile must not be used any more.
      recheck: async () => {
        requireOpenPlaces(places);
        if (performance.now() < recheckAt) return undefined;
        recheckAt = performance.now() + TURN_MS;
        const found = await findPlaces();
        if (found instanceof GatewayError) return found;
        requireOpenPlaces(found);
        return undefined;
      },
    });
    if (fatal !== undefined) return { kind: 'fatal', error: fatal };
    if (!isUnsuccessful) {
      this.#consecutiveFailures.delete(name);
      // No more files can be found: another slice is not needed to learn that all are done.
      return queue.isExhausted && job.isListed ? { kind: 'nothing' } : { kind: 'done', afterMs: 0 };
    }
    const times = (this.#consecutiveFailures.get(name) ?? 0) + 1;
    const afterMs = retryDelay(JOB_RETRIES, times);
    this.#consecutiveFailures.set(name, times);
    if (afterMs !== undefined) return { kind: 'done', afterMs };
    this.#consecutiveFailures.delete(name);
    return { kind: 'fatal', error: passing as GatewayError };
  }

  #list(job: RunningJob, places: JobPlaces, queue: FileQueue, activeRun: ActiveRun): FileList<JobFile> {
    const { tree, work } = this.#options;
    const { signal } = activeRun;
    return {
      next: (mayClaim) => queue.next(mayClaim),
      done: (file) => queue.done(file),
      run: (file, { passesOver, worked }) => {
        const reference = { id: job.id, path: file.path.toString('hex') };
        const part = { reference, passesOver, worked };
        return work.run({ job, places, file, signal, pace: this.#paceOf(job, activeRun), part });
      },
      verdictOn: (error, file) => verdictOnFile(job, file, error),
      skip: ({ path }, { clientText }) =>
        tree.end(job, [{ path, state: 'skipped', errorCode: null, errorMessage: clientText }]),
      retry: ({ path }, { code, clientText: message }, afterMs) =>
        tree.retryFile(job.id, path, afterMs, { code, message }),
      fail: ({ path }, { code, clientText }) =>
        tree.end(job, [{ path, state: 'failed', errorCode: code, errorMessage: clientText }]),
    };
  }

  /** One for all files of a job on this node: with a limit there is only one slot. */
  #paceOf(job: RunningJob, { signal }: ActiveRun): ((bytes: number) => Promise<void>) | undefined {
    const { bytesPerSecond } = job.definition;
    if (bytesPerSecond === 0) return undefined;
    const pace = this.#paces.get(job.id) ?? createPace(bytesPerSecond);
    this.#paces.set(job.id, pace);
    return (bytes) => pace(bytes, signal);
  }
}

function verdictOnFile(job: RunningJob, file: JobFile, error: GatewayError): FileVerdict {
  // The error would also hit its other files.
  if (error instanceof OntoItself) return { kind: 'stop', isFatal: true };
  if (isLeftAlone(ruleOf(job), error)) return { kind: 'skipped' };
  // A refused address may be that of the file's url, and is recorded in the history like that of any upload.
  if (file.action === 'upload' && error.code === 'address_denied') return { kind: 'failed' };
  return verdictOn(error, file.tries);
}
