/** Due folders on their way to a check: rows → job engine → this node's workers. */
import { toGatewayError } from '../base/errors.js';
import {
  type CheckKind,
  type ClaimedJob,
  type JobOutcome,
  type JobQueue,
  JobWorker,
  type StorageOptions,
  type WatchedFolders,
} from '../storage/storage.js';
import type { CheckOutcome, FolderChecks } from './check.js';
import { nextRegular } from './schedule.js';

export interface SchedulerOptions {
  readonly folders: WatchedFolders;
  readonly jobs: JobQueue;
  readonly checks: Pick<FolderChecks, 'run'>;
  readonly concurrency: number;
  readonly perHostConcurrency: number;
  readonly log: StorageOptions['log'];
  /** Events wait for delivery. */
  onEvents(): void;
  onCheck(facts: CheckFacts): void;
}

/** For the log and the metrics. */
export interface CheckFacts {
  readonly outcome: CheckOutcome;
  readonly kind: CheckKind;
  /** From the due time to the start of the check. */
  readonly lagMs: number;
}

const TICK_MS = 500;
const DUE_AT_ONCE = 500;
const PURGE_EVERY_TICKS = 20;

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #worker: JobWorker;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | undefined;
  #ticks = 0;
  #isStopped = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#worker = new JobWorker({
      claims: options.jobs,
      queue: 'watch-check',
      concurrency: options.concurrency,
      groupConcurrency: options.perHostConcurrency,
      run: (job, signal) => this.#check(job, signal),
      log: options.log,
    });
  }

  get gauge(): JobWorker['gauge'] {
    return this.#worker.gauge;
  }

  start(): void {
    this.#worker.start();
    this.#again(0);
  }

  /** There are due folders, or checks out of turn. */
  wake(): void {
    this.#worker.wake();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#ticking;
    await this.#worker.stop(0);
  }

  #again(ms: number): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#ticking = this.#tick().then(
        (more) => this.#again(more ? 0 : TICK_MS),
        (error: unknown) => {
          this.#options.log('debug', 'due folders could not be looked up', { reason: toGatewayError(error).message });
          this.#again(TICK_MS * 2);
        },
      );
    }, ms);
  }

  /** Whether there may be more folders due. */
  async #tick(): Promise<boolean> {
    const { folders, log } = this.#options;
    const { due, skipped } = await folders.claimDue(DUE_AT_ONCE, ({ id, scheduleMinutes, now }) => {
      return new Date(nextRegular(id, scheduleMinutes, now.getTime()));
    });
    if (due > 0) this.#worker.wake();
    if (skipped > 0) log('warn', 'checks of watched folders are skipped: the ones before are not done', { skipped });
    if (this.#ticks++ % PURGE_EVERY_TICKS === 0) while (!this.#isStopped && (await folders.purgeDeleted()));
    return due === DUE_AT_ONCE;
  }

  async #check(job: ClaimedJob, signal: AbortSignal): Promise<JobOutcome> {
    const { kind, dueAt } = job.data as { readonly kind: CheckKind; readonly dueAt: string };
    const outcome = await this.#options.checks.run(job.key, kind, signal);
    if (outcome === undefined) return 'done';
    const lagMs = Math.max(0, outcome.check.startedAt.getTime() - Date.parse(dueAt));
    if (outcome.events > 0) this.#options.onEvents();
    this.#options.onCheck({ outcome, kind, lagMs });
    return 'done';
  }
}
