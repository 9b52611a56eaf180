import PQueue from 'p-queue';
import { Periodic } from '../../base/periodic.js';
import type { Grant } from '../../budgets/budget.js';
import { NestedBudget } from '../../budgets/nested-budget.js';
import { within } from '../../base/deadline.js';
import { GatewayError } from '../../base/errors.js';
import { HEARD_MS } from '../postgres/notices.js';
import type { ClaimedTask, QueueClaims, QueueName } from './queue.js';
import type { StorageOptions } from '../startup.js';

/** The outcome of a task: done, or to be run again at a time of the database's clock, or after a number of milliseconds. */
export type TaskOutcome = 'done' | { readonly again: Date | number };

interface QueueWorkerOptions<Q extends string> {
  readonly claims: QueueClaims<Q>;
  readonly queue: Q;
  /** Jobs that run at once on this node, shared by account and then by group, and at most how many of one group. */
  readonly concurrency: number;
  readonly groupConcurrency: number;
  /** Runs one task. What it throws gives the task back: it runs again, here or elsewhere. */
  run(task: ClaimedTask, signal: AbortSignal): Promise<TaskOutcome>;
  readonly log: StorageOptions['log'];
}

/** Between two looks while there is news; then it sleeps until it is woken. */
const POLL_MS = 500;
const RENEW_MS = 3000;
const RETRY_FAILED_MS = 2000;
/** Claimed ahead of their turn, so that a finished task is followed at once. */
const AHEAD = 2;

/** Jobs of one account that share a host or receiver. */
interface Group {
  readonly account: string;
  readonly group: string;
  readonly queue: PQueue;
  tasks: number;
}

interface InHand {
  task: ClaimedTask;
  /** Its place among the claimed ones; none where one claim brought more than can run soon, which then keeps nobody out. */
  readonly place: Grant | undefined;
}

/**
 * Keeps one node busy with the tasks of one queue: claims as many as fit, of no account and group more than its share,
 * so that neither a slow host or receiver nor an account with many of them holds up anybody else; renews the claims
 * while they run.
 */
export class QueueWorker<Q extends string = QueueName> {
  readonly #options: QueueWorkerOptions<Q>;
  readonly #turns: NestedBudget;
  readonly #places: NestedBudget;
  readonly #groups = new Map<string, Group>();
  readonly #inHand = new Map<string, InHand>();
  readonly #finished: ClaimedTask[] = [];
  readonly #closing = new AbortController();
  readonly #stopping = new AbortController();
  #finishing: Promise<void> | undefined;
  #loop: Promise<void> | undefined;
  readonly #renewing = new Periodic(() => this.#renew(), RENEW_MS);
  #isClosed = false;
  #isWoken = false;
  #wake: (() => void) | undefined;
  /** When tasks were last found, or might have been. */
  #newsAt = -Infinity;
  #stopListening = (): void => undefined;

  constructor(options: QueueWorkerOptions<Q>) {
    this.#options = options;
    const { queue: name, concurrency } = options;
    this.#turns = new NestedBudget({ name, unit: 'jobs', capacity: concurrency });
    this.#places = new NestedBudget({ name, unit: 'claimed jobs', capacity: concurrency * AHEAD });
  }

  /** Jobs that are running, and claimed ones that wait for their turn. */
  get gauge(): { readonly running: number; readonly waiting: number } {
    const running = this.#turns.used;
    return { running, waiting: this.#inHand.size - running };
  }

  start(): void {
    const { claims, queue } = this.#options;
    this.#stopListening = claims.onDue(queue, () => this.wake());
    this.#loop = this.#work();
  }

  /** There may be something to do: look at once instead of at the next turn. */
  wake(): void {
    this.#isWoken = true;
    this.#newsAt = performance.now();
    this.#wake?.();
  }

  /** Takes nothing new, lets what runs go on for `graceMs`, then aborts it and gives back what is not done. */
  async stop(graceMs: number): Promise<void> {
    this.#isClosed = true;
    this.#stopListening();
    this.#wake?.();
    await this.#loop;
    // What waits for its turn leaves it at once.
    this.#closing.abort(stopped());
    const idle = Promise.all([...this.#groups.values()].map(({ queue }) => queue.onIdle()));
    const timer = setTimeout(() => this.#stopping.abort(stopped()), graceMs);
    await idle;
    clearTimeout(timer);
    await this.#renewing.stop();
    await this.#finishing;
  }

  async #work(): Promise<void> {
    while (!this.#isClosed) {
      this.#isWoken = false;
      const full = await this.#claim().catch((error: unknown) => {
        this.#options.log('debug', 'no jobs could be claimed', { queue: this.#options.queue, reason: String(error) });
        this.#newsAt = performance.now();
        return false;
      });
      if (!full) await this.#pause();
    }
  }

  /** Whether there may be more that could be taken now. */
  async #claim(): Promise<boolean> {
    const { claims, queue, groupConcurrency } = this.#options;
    const limit = this.#places.room;
    if (limit === 0) return false;
    const accounts = new Set<string>();
    const groups: Group[] = [];
    for (const one of this.#groups.values()) {
      if (!this.#places.mayTake(one.account)) accounts.add(one.account);
      const isBusy = one.tasks >= groupConcurrency * AHEAD || !this.#places.mayTakePart(one.account, one.group);
      if (isBusy) groups.push(one);
    }
    const tasks = await claims.fetch(queue, limit, { accounts: [...accounts], groups });
    if (tasks.length > 0) this.#newsAt = performance.now();
    for (const task of tasks) this.#enter(task);
    return tasks.length === limit;
  }

  #enter(task: ClaimedTask): void {
    const held = this.#inHand.get(task.id);
    if (held !== undefined) {
      // Its claim lapsed while the database was away, and came back to us: the run that goes on is taken for the new one.
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
      // Closed meanwhile: the run gives the task back.
      const turn = await this.#turns.wait(account, task.group, this.#closing.signal).catch(() => undefined);
      await this.#run(task.id);
      turn?.release();
      group.tasks -= 1;
      if (group.tasks === 0) this.#groups.delete(name);
      this.wake();
    });
  }

  /** Never rejects. */
  async #run(id: string): Promise<void> {
    const { queue, claims, log } = this.#options;
    const held = (): ClaimedTask => (this.#inHand.get(id) as InHand).task;
    try {
      if (this.#isClosed) return await claims.giveBack(queue, [held()]);
      const outcome = await this.#options.run(held(), this.#stopping.signal);
      if (outcome === 'done') return this.#finish(held());
      await claims.postpone(queue, held(), outcome.again);
    } catch (error) {
      log('debug', 'a task is given back', { queue, key: held().key, reason: String(error) });
      const isOurs = this.#isClosed;
      // Where not even this can be said, the claim lapses by itself.
      await (isOurs ? claims.giveBack(queue, [held()]) : claims.postpone(queue, held(), RETRY_FAILED_MS)).catch(
        () => undefined,
      );
    } finally {
      this.#inHand.get(id)?.place?.release();
      this.#inHand.delete(id);
      if (this.#inHand.size === 0) void this.#renewing.stop();
    }
  }

  /** Many tasks end in one statement: what ends while one is under way waits for the next. */
  #finish(task: ClaimedTask): void {
    this.#finished.push(task);
    this.#finishing ??= this.#finishAll().finally(() => (this.#finishing = undefined));
  }

  async #finishAll(): Promise<void> {
    while (this.#finished.length > 0) {
      const batch = this.#finished.splice(0);
      await this.#options.claims.finish(this.#options.queue, batch).catch((error: unknown) => {
        // They run once more when their claims lapse, which does no harm.
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
