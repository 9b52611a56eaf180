import PQueue from 'p-queue';
import { Periodic } from '../../base/periodic.js';
import type { Grant } from '../../budgets/budget.js';
import { NestedBudget } from '../../budgets/nested-budget.js';
import { pause, within } from '../../base/deadline.js';
import { GatewayError } from '../../base/errors.js';
import { HEARD_MS } from '../postgres/notices.js';
import type { QueueName } from '../postgres/notices.js';
import type { ClaimedTask, QueueClaims } from './queue.js';
import type { StorageOptions } from '../startup.js';

/**
 * The outcome of a task: done, or to run again at a time of the database's clock, or after a number of milliseconds.
 */
export type TaskOutcome = 'done' | { readonly again: Date | number };

interface QueueWorkerOptions<Q extends string> {
  readonly claims: QueueClaims<Q>;
  readonly queue: Q;
  /** Tasks that run at once on this node, shared by account and then by group, and the maximum of one group. */
  readonly concurrency: number;
  readonly groupConcurrency: number;
  /**
   * Runs one task. After an error the task is given back: it runs again, on this node or another. `worked`: only the
   * record of its result is still under way, so another task may have its turn.
   */
  run(task: ClaimedTask, signal: AbortSignal, worked: () => void): Promise<TaskOutcome>;
  readonly log: StorageOptions['log'];
}

/** The interval of polls after recent tasks; later the worker sleeps until it is woken. */
const POLL_MS = 500;
const RENEW_MS = 3000;
const RETRY_FAILED_MS = 2000;
/** Tasks that end within this time are taken away together, and share a claim while others wait for their turn. */
const GATHER_MS = 5;
/** Tasks are claimed in advance by this factor, so that the next one starts as soon as one ends. */
const AHEAD = 2;

/** Tasks of one account that share a host or receiver. */
interface Group {
  readonly account: string;
  readonly group: string;
  readonly queue: PQueue;
  tasks: number;
}

/** What a claim left to others: all, or the tasks of some accounts and groups. */
type Refused = 'all' | { readonly accounts: readonly string[]; readonly groups: readonly Group[] };

interface InHand {
  task: ClaimedTask;
  /**
   * Its place among the claimed tasks. Undefined if one claim brought more than can run soon; then it blocks no other
   * task.
   */
  readonly place: Grant | undefined;
}

/**
 * Keeps one node busy with the tasks of one queue. Claims as many as fit, and of no account or group more than its
 * share, so that neither a slow host or receiver nor an account with many of them delays others. Renews the claims
 * while the tasks run.
 */
export class QueueWorker<Q extends string = QueueName> {
  readonly #options: QueueWorkerOptions<Q>;
  readonly #turns: NestedBudget;
  readonly #places: NestedBudget;
  readonly #groups = new Map<string, Group>();
  readonly #inHand = new Map<string, InHand>();
  readonly #runs = new Set<Promise<void>>();
  /** Tasks without a turn whose results are being recorded. */
  #records = 0;
  readonly #finished: ClaimedTask[] = [];
  readonly #closing = new AbortController();
  readonly #stopping = new AbortController();
  #finishing: Promise<void> | undefined;
  #loop: Promise<void> | undefined;
  readonly #renewing = new Periodic(() => this.#renew(), RENEW_MS);
  #refused: Refused = 'all';
  #gathering: NodeJS.Timeout | undefined;
  #isClosed = false;
  #isWoken = false;
  #wake: (() => void) | undefined;
  /** When tasks were last found, or might have been. */
  #newsAt = -Infinity;
  #stopListening = (): void => undefined;

  constructor(options: QueueWorkerOptions<Q>) {
    this.#options = options;
    const { queue: name, concurrency } = options;
    this.#turns = new NestedBudget({ name, unit: 'tasks', capacity: concurrency });
    this.#places = new NestedBudget({ name, unit: 'claimed tasks', capacity: concurrency * AHEAD });
  }

  /** Running tasks, and claimed ones that wait. */
  get gauge(): { readonly running: number; readonly waiting: number } {
    const running = this.#turns.used + this.#records;
    return { running, waiting: this.#inHand.size - running };
  }

  start(): void {
    const { claims, queue } = this.#options;
    this.#stopListening = claims.onDue(queue, () => this.wake());
    this.#loop = this.#work();
  }

  /** There may be tasks: checks now instead of at the next poll. */
  wake(): void {
    this.#isWoken = true;
    this.#newsAt = performance.now();
    this.#wake?.();
  }

  /**
   * Claims nothing new, lets running tasks continue for `graceMs`, then aborts them and gives back those that are not
   * done.
   */
  async stop(graceMs: number): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#gathering);
    this.#stopListening();
    this.#wake?.();
    await this.#loop;
    // Waiting tasks leave the budget at once.
    this.#closing.abort(stopped());
    const idle = Promise.all([...this.#groups.values()].map(({ queue }) => queue.onIdle()));
    const timer = setTimeout(() => this.#stopping.abort(stopped()), graceMs);
    await idle;
    await Promise.all(this.#runs);
    clearTimeout(timer);
    await this.#renewing.stop();
    await this.#finishing;
  }

  async #work(): Promise<void> {
    while (!this.#isClosed) {
      this.#isWoken = false;
      const full = await this.#claim().catch((error: unknown) => {
        this.#options.log('debug', 'no tasks could be claimed', { queue: this.#options.queue, reason: String(error) });
        this.#newsAt = performance.now();
        return false;
      });
      if (!full) await this.#pause();
    }
  }

  /** Whether more tasks may be available now. */
  async #claim(): Promise<boolean> {
    const { claims, queue } = this.#options;
    const limit = this.#places.room;
    this.#refused = 'all';
    if (limit === 0) return false;
    const held = [...this.#groups.values()];
    const accounts = [...new Set(held.map(({ account }) => account))].filter((one) => !this.#places.mayTake(one));
    const groups = held.filter((one) => this.#isBusy(one));
    this.#refused = { accounts, groups };
    const tasks = await claims.fetch(queue, limit, this.#refused);
    if (tasks.length > 0) this.#newsAt = performance.now();
    for (const task of tasks) this.#enter(task);
    return tasks.length === limit;
  }

  #isBusy({ account, group, tasks }: Group): boolean {
    return tasks >= this.#options.groupConcurrency * AHEAD || !this.#places.mayTakePart(account, group);
  }

  /** A task has ended: claims again if there may be tasks that the last claim had to leave. */
  #claimAfterEnd(): void {
    this.#newsAt = performance.now();
    const refused = this.#refused;
    const isFree =
      refused === 'all'
        ? this.#places.room > 0
        : refused.accounts.some((account) => this.#places.mayTake(account)) ||
          refused.groups.some((group) => !this.#isBusy(group));
    if (!isFree || this.#isClosed) return;
    if (this.gauge.waiting === 0) return this.wake();
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.wake();
    }, GATHER_MS);
  }

  #enter(task: ClaimedTask): void {
    const held = this.#inHand.get(task.id);
    if (held !== undefined) {
      // Its claim expired while the database was away, and this node got it again: the current run continues under the
      // new claim.
      held.task = task;
      return;
    }
    const { account } = task;
    const { groupConcurrency } = this.#options;
    const name = `${account} ${task.group}`;
    const group = this.#groups.get(name) ?? {
      account,
      group: task.group,
      tasks: 0,
      queue: new PQueue({ concurrency: groupConcurrency }),
    };
    this.#groups.set(name, group);
    const isSoon = group.tasks < groupConcurrency * AHEAD;
    const place = isSoon ? this.#places.tryTake(account, task.group) : undefined;
    this.#inHand.set(task.id, { task, place });
    this.#renewing.start();
    group.tasks += 1;
    void group.queue.add(async () => {
      // On close the wait rejects; the run then gives the task back.
      const turn = await this.#turns.wait(account, task.group, this.#closing.signal).catch(() => undefined);
      await this.#untilWorked(task.id);
      turn?.release();
      group.tasks -= 1;
      if (group.tasks === 0) this.#groups.delete(name);
      this.#claimAfterEnd();
    });
  }

  /** Until the task has worked, or has ended. No more results are recorded at once than tasks run. */
  #untilWorked(id: string): Promise<void> {
    return new Promise((resolve) => {
      let isRecorded = false;
      const worked = (): void => {
        if (isRecorded || this.#records >= this.#options.concurrency) return;
        isRecorded = true;
        this.#records += 1;
        resolve();
      };
      const run = this.#run(id, worked).finally(() => {
        this.#runs.delete(run);
        if (!isRecorded) return resolve();
        this.#records -= 1;
        this.#claimAfterEnd();
      });
      this.#runs.add(run);
    });
  }

  /** Never rejects. */
  async #run(id: string, worked: () => void): Promise<void> {
    const { queue, claims, log } = this.#options;
    const held = (): ClaimedTask => (this.#inHand.get(id) as InHand).task;
    try {
      if (this.#isClosed) return await claims.giveBack(queue, [held()]);
      const outcome = await this.#options.run(held(), this.#stopping.signal, worked);
      if (outcome === 'done') return this.#finish(held());
      await claims.postpone(queue, held(), outcome.again);
    } catch (error) {
      log('debug', 'a task is given back', { queue, key: held().key, reason: String(error) });
      const isOurs = this.#isClosed;
      // If even this fails, the claim expires.
      await (isOurs ? claims.giveBack(queue, [held()]) : claims.postpone(queue, held(), RETRY_FAILED_MS)).catch(
        () => undefined,
      );
    } finally {
      this.#inHand.get(id)?.place?.release();
      this.#inHand.delete(id);
      if (this.#inHand.size === 0) void this.#renewing.stop();
    }
  }

  /** Many tasks are taken away in one statement: those that end soon after, or while one runs, share the next. */
  #finish(task: ClaimedTask): void {
    this.#finished.push(task);
    this.#finishing ??= this.#finishAll().finally(() => (this.#finishing = undefined));
  }

  async #finishAll(): Promise<void> {
    while (this.#finished.length > 0) {
      if (!this.#isClosed) await pause(GATHER_MS);
      const batch = this.#finished.splice(0);
      await this.#options.claims.finish(this.#options.queue, batch).catch((error: unknown) => {
        // They run again when their claims expire, which is harmless.
        this.#options.log('debug', 'finished tasks could not be taken away', { reason: String(error) });
      });
    }
  }

  async #renew(): Promise<void> {
    await this.#options.claims
      .renew(
        this.#options.queue,
        [...this.#inHand.values()].map(({ task }) => task),
      )
      .catch(() => undefined);
  }

  async #pause(): Promise<void> {
    if (this.#isWoken || this.#isClosed) return;
    const woken = new Promise<void>((resolve) => (this.#wake = resolve));
    const hasNews = performance.now() - this.#newsAt < HEARD_MS;
    await (hasNews ? within(woken, POLL_MS, () => undefined) : woken);
    this.#wake = undefined;
  }
}

function stopped(): GatewayError {
  return new GatewayError('draining', 'the gateway is stopping', { retryAfterMs: 1000 });
}
