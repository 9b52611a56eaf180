/** Runs jobs on this node: slices of listings and of files, taken from the queues that all nodes share. */
import { GatewayError, hasCode, toGatewayError } from '../base/errors.js';
import { Periodic } from '../base/periodic.js';
import type { Connection } from '../connections/connection.js';
import { WokenWork } from '../base/woken-work.js';
import { closedUntil, nextLookMs, requireActive, requireConnection } from '../connections/require.js';
import { parseRemotePath, ROOT, withRawName } from '../remotes/path.js';
import {
  type ClaimedTask,
  type Connections,
  type TaskOutcome,
  type JobStorage,
  type Job,
  type JobEnding,
  type JobHolder,
  QueueWorker,
  POLL_MS,
  type RunningJob,
  type WorkerSlot,
  type WorkerSlotKind,
  type StorageOptions,
} from '../storage/storage.js';
import type { SliceEnd } from './file-slices.js';
import type { JobPlaces } from './file-work.js';
import type { RunningJobs, ActiveRun } from './running-jobs.js';

interface JobEngineOptions {
  readonly storage: JobStorage;
  readonly connections: Pick<Connections, 'find'>;
  readonly running: RunningJobs;
  readonly limits: JobEnding;
  /** Concurrent slices on this node. */
  readonly concurrency: number;
  /** Slices of the folders that a job lists, of its files, and of the folders that it empties. */
  readonly list: Slices;
  readonly files: Slices;
  readonly remove: Slices;
  readonly retentionDays: number;
  /** @throws GatewayError if the job's owner would be refused now */
  readonly checkHolder: (holder: JobHolder, ends: Job['definition']) => void;
  readonly log: StorageOptions['log'];
}

interface Slices {
  /** `findPlaces`: returns where the job leads now, or the reason why it no longer leads anywhere. */
  run(
    job: RunningJob,
    slot: WorkerSlot,
    places: JobPlaces,
    activeRun: ActiveRun,
    findPlaces: () => Promise<JobPlaces | GatewayError>,
  ): Promise<SliceEnd>;
}

/** For one job, and one kind of slice. */
const SLICES_OF_A_JOB = 4;
/** Until then, a slice is followed by another one in the same slot. */
const TURN_MS = 2000;
const PURGE_EVERY_MS = 60_000;
const CHECK_KEYS_EVERY_MS = 1_000;
const FORSAKEN_AT_ONCE = 50;

export class JobEngine {
  readonly #options: JobEngineOptions;
  readonly #workers: Readonly<Record<WorkerSlotKind, QueueWorker>>;
  readonly #purging = new Periodic(() => this.#purge(), PURGE_EVERY_MS);
  /** Never rejects. */
  readonly #checkKeys = new WokenWork(
    () => this.#endWithoutKey(),
    () => undefined,
    { restMs: CHECK_KEYS_EVERY_MS },
  );
  #stopListening = (): void => undefined;
  /** Until this time there may be jobs that have not ended. */
  #openUntil = -Infinity;
  #isStopped = false;

  constructor(options: JobEngineOptions) {
    this.#options = options;

    this.#workers = { 'job-list': this.#worker('job-list'), 'job-files': this.#worker('job-files') };
  }

  start(): void {
    for (const worker of Object.values(this.#workers)) worker.start();
    this.#purging.start();
    this.#stopListening = this.#options.storage.agenda.on('jobs', () => {
      this.#openUntil = performance.now() + 2 * POLL_MS;
      this.#checkKeys.wake();
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopListening();
    const purged = this.#purging.stop();
    await Promise.all(Object.values(this.#workers).map((worker) => worker.stop(0)));
    await Promise.all([purged, this.#checkKeys.stop()]);
  }

  #worker(queue: WorkerSlotKind): QueueWorker {
    const { storage, concurrency, log } = this.#options;
    return new QueueWorker({
      claims: storage.queue,
      queue,
      concurrency,
      groupConcurrency: SLICES_OF_A_JOB,
      log,
      run: (claimed, signal) => this.#run(queue, claimed, signal),
    });
  }

  async #run(kind: WorkerSlotKind, claimed: ClaimedTask, signal: AbortSignal): Promise<TaskOutcome> {
    const { storage, running, limits } = this.#options;
    const { jobId, seat: number } = claimed.data as { readonly jobId: string; readonly seat: number };
    const slot = { kind, number };
    const job = await storage.rows.running(jobId);
    const end = job === undefined ? NOTHING : await this.#slice(job, slot, signal);
    if (end.kind === 'done') return { again: end.afterMs };
    if (end.kind === 'fatal' && job !== undefined) {
      const { code, clientText: message } = end.error;
      await storage.rows.fail(job, { code, message }, limits);
      running.noteChange(jobId, { state: 'failed', errorCode: code, errorMessage: message });
    }
    return storage.rows.leave(claimed, jobId, slot, limits);
  }

  async #slice(job: RunningJob, slot: WorkerSlot, signal: AbortSignal): Promise<SliceEnd> {
    const activeRun = this.#options.running.enter(job.id, signal);
    try {
      const places = await this.#placesOf(job);
      if (places instanceof GatewayError) return { kind: 'fatal', error: places };
      const until = closedUntil(places.source, places.target);
      await this.#noteWait(job, until);
      if (until !== undefined) return { kind: 'done', afterMs: nextLookMs(until) };
      const { list, files, remove } = this.#options;
      const slices = slot.kind === 'job-files' ? files : job.phase === 3 ? remove : list;
      const endOfTurn = performance.now() + TURN_MS;
      for (;;) {
        const end = await slices.run(job, slot, places, activeRun, () => this.#placesOf(job));
        // The rest of its turn is used without asking for another one.
        const hasMore = end.kind === 'done' && end.afterMs === 0;
        if (!hasMore || !activeRun.isWanted || performance.now() > endOfTurn) return end;
      }
    } catch (error) {
      // The job was cancelled, or has lost its rights: its next slice finds nothing to do.
      if (activeRun.signal.aborted && hasCode(error, 'cancelled')) return { kind: 'done', afterMs: 0 };
      if (!hasCode(error, 'draining', 'database_away', 'outcome_unrecorded', 'outside_hours')) {
        this.#options.log('error', 'a slice of a job failed', { jobId: job.id, reason: String(error) });
      }
      throw error;
    } finally {
      activeRun.leave();
    }
  }

  /** Shown until the job continues. */
  async #noteWait({ id, waitsUntil }: RunningJob, until: Date | undefined): Promise<void> {
    if (until?.getTime() !== waitsUntil?.getTime()) await this.#options.storage.rows.noteWait(id, until ?? null);
  }

  async #placesOf({ accountId, definition }: RunningJob): Promise<JobPlaces | GatewayError> {
    const { source, destination } = definition;
    const active = async (id: string): Promise<Connection> => {
      const connection = await requireConnection(this.#options.connections, accountId, id);
      requireActive(connection);
      return connection;
    };
    try {
      const from = await active(source.connectionId);
      const shown = parseRemotePath(source.path, ROOT, 'source.path');
      const sourceRoot = source.rawName === undefined ? shown : withRawName(shown, source.rawName, 'source.rawName');
      if (destination === null) return { source: from, sourceRoot, target: from, targetRoot: sourceRoot };
      return {
        source: from,
        sourceRoot,
        target: await active(destination.connectionId),
        targetRoot: parseRemotePath(destination.path, ROOT, 'destination.path'),
      };
    } catch (error) {
      if (hasCode(error, 'unknown_connection', 'connection_inactive')) return error;
      throw error;
    }
  }

  /** Ends jobs whose key was revoked or narrowed, as any request with it would be refused. Never rejects. */
  async #endWithoutKey(): Promise<void> {
    const { storage, running, limits, checkHolder, log } = this.#options;
    try {
      for (const job of await storage.rows.forsaken(FORSAKEN_AT_ONCE)) {
        const error = thrownBy(() => checkHolder(job, job.definition));
        if (error === undefined) continue;
        const { code, clientText: message } = error;
        await storage.rows.stop(job, { code, message }, limits);
        running.noteChange(job.id, { state: 'failed', errorCode: code, errorMessage: message });
      }
    } catch (error) {
      log('debug', 'jobs whose key is gone could not be ended', { reason: String(error) });
    }
    if (performance.now() < this.#openUntil) this.#checkKeys.wake();
  }

  /** Never rejects. */
  async #purge(): Promise<void> {
    const { storage, retentionDays, log } = this.#options;
    try {
      while (retentionDays > 0 && !this.#isStopped && (await storage.rows.purge(retentionDays)));
    } catch (error) {
      log('debug', 'jobs that ended long ago could not be removed', { reason: String(error) });
    }
  }
}

const NOTHING: SliceEnd = { kind: 'nothing' };

function thrownBy(check: () => void): GatewayError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return toGatewayError(error);
  }
}
