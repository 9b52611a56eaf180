/** The jobs that this node has slices of: whether they are still wanted, which any node may have changed. */
import { onAbort, within } from '../base/deadline.js';
import { Ending, type EndSignal } from '../base/ending.js';
import { type ErrorCode, GatewayError } from '../base/errors.js';
import { Periodic } from '../base/periodic.js';
import type { JobState } from '../contract/job.js';
import type { JobNow, Jobs } from '../storage/storage.js';

/** One slice's part in a job. */
export interface ActiveRun {
  /** Aborts when the job is cancelled, or the gateway stops. */
  readonly signal: EndSignal;
  /** Whether more may be begun. */
  readonly isWanted: boolean;
  leave(): void;
}

interface Present {
  readonly activeRuns: Set<Ending>;
  /** Resolved when all slices have left. */
  readonly waiting: (() => void)[];
  state: JobState;
}

const CHECK_EVERY_MS = 300;
/** A job that ends with one of these must not do even one more file. */
const LOST_RIGHTS: ReadonlySet<ErrorCode> = new Set(['unauthenticated', 'scope_missing']);
const GONE: JobNow = { state: 'cancelled', errorCode: null, errorMessage: null };
const LEAVE_PATIENCE_MS = 5000;
const SAMPLE_EVERY_CHECKS = 10;

export class RunningJobs {
  readonly #rows: Pick<Jobs, 'states' | 'sample'>;
  readonly #jobs = new Map<string, Present>();
  /** Jobs being cancelled, which the database has not stored yet. */
  readonly #ending = new Set<string>();
  readonly #checking = new Periodic(() => this.#check(), CHECK_EVERY_MS);
  #checks = 0;

  constructor(rows: Pick<Jobs, 'states' | 'sample'>) {
    this.#rows = rows;
  }

  enter(jobId: string, stopping: AbortSignal): ActiveRun {
    const job = this.#jobs.get(jobId) ?? { activeRuns: new Set(), waiting: [], state: 'running' };
    this.#jobs.set(jobId, job);
    this.#checking.start();
    // No AbortSignal: it chains the listeners of all files that have ended, until the next full garbage collection.
    const ending = new Ending();
    if (this.#ending.has(jobId)) ending.abort(onItsWay());
    const stopListening = onAbort(stopping, (reason) => ending.abort(reason));
    job.activeRuns.add(ending);
    return {
      signal: ending,
      get isWanted() {
        return job.state === 'running' && !ending.aborted;
      },
      leave: () => {
        stopListening();
        job.activeRuns.delete(ending);
        if (job.activeRuns.size > 0) return;
        this.#jobs.delete(jobId);
        for (const go of job.waiting) go();
        if (this.#jobs.size === 0) void this.#checking.stop();
      },
    };
  }

  /** The job was changed on this node: the next check is not waited for. */
  noteChange(jobId: string, { state, errorCode, errorMessage }: JobNow): void {
    const job = this.#jobs.get(jobId);
    if (job === undefined) return;
    job.state = state;
    // If a job ends in another way, files under way may finish.
    const why =
      state === 'cancelled'
        ? 'the job was cancelled'
        : errorCode !== null && LOST_RIGHTS.has(errorCode)
          ? `the job was ended: ${errorMessage}`
          : undefined;
    if (why === undefined) return;
    for (const run of job.activeRuns) run.abort(new GatewayError('cancelled', why, { step: 'transfer' }));
  }

  /** Resolves once its files here have ended and are recorded, at the latest after a while. */
  async hasLeft(jobId: string): Promise<void> {
    const job = this.#jobs.get(jobId);
    if (job === undefined) return;
    await within(new Promise<void>((go) => job.waiting.push(go)), LEAVE_PATIENCE_MS, () => undefined);
  }

  /**
   * It is being cancelled here, and the database is slow: files under way end now, as if they had not begun. Returns a
   * function to call once it is cancelled, or continues.
   */
  ending(jobId: string): () => void {
    this.#ending.add(jobId);
    for (const run of this.#jobs.get(jobId)?.activeRuns ?? []) run.abort(onItsWay());
    return () => this.#ending.delete(jobId);
  }

  async #check(): Promise<void> {
    try {
      const ids = [...this.#jobs.keys()];
      const states = await this.#rows.states(ids);
      // A missing job was deleted with its account.
      for (const id of ids) this.noteChange(id, states.get(id) ?? GONE);
      if (++this.#checks % SAMPLE_EVERY_CHECKS === 0) await this.#rows.sample(ids);
    } catch {
      // The database is away: no other node can have changed anything either.
    }
  }
}

/** A failure of the gateway: it says nothing about the files. */
function onItsWay(): GatewayError {
  return new GatewayError('draining', 'the job is being cancelled', { step: 'transfer' });
}
