/** Moves due folders to their checks: rows → queue → workers of this node. */
import { toGatewayError } from '../base/errors.js';
import type { CheckKind } from '../contract/watch-check.js';
import { WokenWork } from '../base/woken-work.js';
import {
  type Agenda,
  type ClaimedTask,
  type TaskOutcome,
  type Queue,
  QueueWorker,
  type StorageOptions,
  type WatchedFolders,
} from '../storage/storage.js';
import type { CheckOutcome, FolderChecks } from './check.js';
import { nextRegular } from './schedule.js';

interface SchedulerOptions {
  readonly folders: WatchedFolders;
  readonly queue: Queue;
  readonly agenda: Agenda;
  readonly checks: Pick<FolderChecks, 'run'>;
  readonly concurrency: number;
  readonly perHostConcurrency: number;
  readonly log: StorageOptions['log'];
  onCheck(facts: CheckFacts): void;
}

/** For the log and the metrics. */
export interface CheckFacts {
  readonly outcome: CheckOutcome;
  readonly kind: CheckKind;
  /** The time from the due time to the start of the check. */
  readonly lagMs: number;
}

const DUE_AT_ONCE = 500;

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #worker: QueueWorker;
  readonly #due: WokenWork;
  readonly #purge: WokenWork;
  #stopListening: readonly (() => void)[] = [];

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#worker = new QueueWorker({
      claims: options.queue,
      queue: 'watch-check',
      concurrency: options.concurrency,
      groupConcurrency: options.perHostConcurrency,
      run: (task, signal) => this.#check(task, signal),
      log: options.log,
    });
    const failed = (what: string) => (error: unknown) =>
      options.log('debug', `${what} could not be looked up`, { reason: toGatewayError(error).message });
    this.#due = new WokenWork(() => this.#claimDue(), failed('due folders'));
    this.#purge = new WokenWork(() => this.#purgeDeleted(), failed('deleted folders'));
  }

  get gauge(): QueueWorker['gauge'] {
    return this.#worker.gauge;
  }

  start(): void {
    const { agenda } = this.#options;
    this.#worker.start();
    this.#stopListening = [
      agenda.on('folders', () => this.#due.wake()),
      agenda.on('deleted-folders', () => this.#purge.wake()),
    ];
    this.#due.wake();
  }

  async stop(): Promise<void> {
    for (const stop of this.#stopListening) stop();
    await Promise.all([this.#due.stop(), this.#purge.stop()]);
    await this.#worker.stop(0);
  }

  async #claimDue(): Promise<void> {
    const { folders, log } = this.#options;
    const { due, skipped } = await folders.claimDue(DUE_AT_ONCE, ({ id, scheduleMinutes, now }) => {
      return new Date(nextRegular(id, scheduleMinutes, now.getTime()));
    });
    if (skipped > 0) log('warn', 'checks of watched folders are skipped: the ones before are not done', { skipped });
    // More folders may be due.
    if (due === DUE_AT_ONCE) this.#due.wake();
  }

  async #purgeDeleted(): Promise<void> {
    while (!this.#purge.isStopped && (await this.#options.folders.purgeDeleted()));
  }

  async #check(task: ClaimedTask, signal: AbortSignal): Promise<TaskOutcome> {
    const { kind, dueAt } = task.data as { readonly kind: CheckKind; readonly dueAt: string };
    const outcome = await this.#options.checks.run(task.key, kind, signal);
    if (outcome === undefined) return 'done';
    const lagMs = Math.max(0, outcome.check.startedAt.getTime() - Date.parse(dueAt));
    this.#options.onCheck({ outcome, kind, lagMs });
    return 'done';
  }
}
