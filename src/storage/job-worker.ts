import PQueue from 'p-queue';
import { GatewayError } from '../errors.js';
import type { ClaimedJob, JobClaims, QueueName } from './jobs.js';
import type { StorageOptions } from './storage.js';

/** What became of a job: done, or to be run again at that time. */
export type JobOutcome = 'done' | { readonly again: Date };

export interface JobWorkerOptions {
  readonly claims: JobClaims;
  readonly queue: QueueName;
  /** Jobs that run at once on this node, and of those how many of one group. */
  readonly concurrency: number;
  readonly groupConcurrency: number;
  /** Runs one job. What it throws gives the job back: it runs again, here or elsewhere. */
  run(job: ClaimedJob, signal: AbortSignal): Promise<JobOutcome>;
  readonly log: StorageOptions['log'];
}

const POLL_MS = 500;
const RENEW_MS = 3000;
const RETRY_FAILED_MS = 2000;
/** Claimed ahead of their turn, so that a finished job is followed at once. */
const AHEAD = 2;

/**
 * Keeps one node busy with the jobs of one queue: claims as many as fit, never more of one group than it can run soon,
 * so that a slow host or receiver holds up nobody else; renews the claims while they run.
 */
export class JobWorker {
  readonly #options: JobWorkerOptions;
  readonly #turns: PQueue;
  readonly #groups = new Map<string, { readonly queue: PQueue; jobs: number }>();
  readonly #inHand = new Map<string, ClaimedJob>();
  readonly #finished: ClaimedJob[] = [];
  readonly #stopping = new AbortController();
  #finishing: Promise<void> | undefined;
  #loop: Promise<void> | undefined;
  #renewTimer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> | undefined;
  #isClosed = false;
  #isWoken = false;
  #wake: (() => void) | undefined;

  constructor(options: JobWorkerOptions) {
    this.#options = options;
    this.#turns = new PQueue({ concurrency: options.concurrency });
  }

  /** Jobs that are running, and claimed ones that wait for their turn. */
  get gauge(): { readonly running: number; readonly waiting: number } {
    const running = this.#turns.pending;
    return { running, waiting: this.#inHand.size - running };
  }

  start(): void {
    this.#loop = this.#work();
    this.#renewTimer = setInterval(() => {
      this.#renewing = this.#renew();
    }, RENEW_MS).unref();
  }

  /** There may be something to do: look at once instead of at the next turn. */
  wake(): void {
    this.#isWoken = true;
    this.#wake?.();
  }

  /** Takes nothing new, lets what runs go on for `graceMs`, then aborts it and gives back what is not done. */
  async stop(graceMs: number): Promise<void> {
    this.#isClosed = true;
    this.#wake?.();
    await this.#loop;
    // What waits for its turn leaves it at once, because the worker is closed.
    const idle = Promise.all([...this.#groups.values()].map(({ queue }) => queue.onIdle()));
    const timer = setTimeout(() => this.#stopping.abort(stopped()), graceMs);
    await idle;
    clearTimeout(timer);
    clearInterval(this.#renewTimer);
    await this.#renewing;
    await this.#finishing;
  }

  async #work(): Promise<void> {
    while (!this.#isClosed) {
      this.#isWoken = false;
      const full = await this.#claim().catch((error: unknown) => {
        this.#options.log('debug', 'no jobs could be claimed', { queue: this.#options.queue, reason: String(error) });
        return false;
      });
      if (!full) await this.#pause();
    }
  }

  /** Whether there may be more that could be taken now. */
  async #claim(): Promise<boolean> {
    const { claims, queue, concurrency, groupConcurrency } = this.#options;
    const free = concurrency * AHEAD - this.#inHand.size;
    if (free <= 0) return false;
    const busy = [...this.#groups].filter(([, { jobs }]) => jobs >= groupConcurrency * AHEAD).map(([group]) => group);
    const jobs = await claims.fetch(queue, free, busy);
    for (const job of jobs) this.#enter(job);
    return jobs.length === free;
  }

  #enter(job: ClaimedJob): void {
    const isRunning = this.#inHand.has(job.id);
    this.#inHand.set(job.id, job);
    // Its claim lapsed while the database was away, and came back to us: the run that goes on is taken for the new one.
    if (isRunning) return;
    const group = this.#groups.get(job.group) ?? {
      queue: new PQueue({ concurrency: this.#options.groupConcurrency }),
      jobs: 0,
    };
    this.#groups.set(job.group, group);
    group.jobs += 1;
    void group.queue.add(async () => {
      await this.#turns.add(() => this.#run(job.id));
      group.jobs -= 1;
      if (group.jobs === 0) this.#groups.delete(job.group);
      this.wake();
    });
  }

  /** Never rejects. */
  async #run(id: string): Promise<void> {
    const { queue, claims, log } = this.#options;
    const held = (): ClaimedJob => this.#inHand.get(id) as ClaimedJob;
    try {
      if (this.#isClosed) return await claims.giveBack(queue, [held()]);
      const outcome = await this.#options.run(held(), this.#stopping.signal);
      if (outcome === 'done') return this.#finish(held());
      await claims.postpone(queue, held(), outcome.again);
    } catch (error) {
      log('debug', 'a job is given back', { queue, key: held().key, reason: String(error) });
      const isOurs = this.#isClosed;
      // Where not even this can be said, the claim lapses by itself.
      await (
        isOurs
          ? claims.giveBack(queue, [held()])
          : claims.postpone(queue, held(), new Date(Date.now() + RETRY_FAILED_MS))
      ).catch(() => undefined);
    } finally {
      this.#inHand.delete(id);
    }
  }

  /** Many jobs end in one statement: what ends while one is under way waits for the next. */
  #finish(job: ClaimedJob): void {
    this.#finished.push(job);
    this.#finishing ??= this.#finishAll().finally(() => (this.#finishing = undefined));
  }

  async #finishAll(): Promise<void> {
    while (this.#finished.length > 0) {
      const batch = this.#finished.splice(0);
      await this.#options.claims.finish(this.#options.queue, batch).catch((error: unknown) => {
        // They run once more when their claims lapse, which does no harm.
        this.#options.log('debug', 'finished jobs could not be taken away', { reason: String(error) });
      });
    }
  }

  async #renew(): Promise<void> {
    await this.#options.claims.renew(this.#options.queue, [...this.#inHand.values()]).catch(() => undefined);
  }

  async #pause(): Promise<void> {
    if (this.#isWoken || this.#isClosed) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }
}

function stopped(): GatewayError {
  return new GatewayError('draining', 'the gateway is stopping', { retryAfterMs: 1000 });
}
