/** The queue of a pool. */
import type { EndSignal } from '../base/ending.js';
import type { GatewayError } from '../base/errors.js';
import type { Opening } from './open-sessions.js';
import type { Yielding } from './slow-leases.js';

export interface Lease<T> {
  readonly item: T;
  /** The session was open before this lease was requested: it may have died unnoticed, so one retry is fair. */
  readonly reused: boolean;
  /** When the session was opened, even if it was for another waiter. */
  readonly opening: Opening | undefined;
  /** Call exactly once. `discard` closes what was leased. */
  release(fate: 'keep' | 'discard'): void;
}

/**
 * `spare` and `probe` take what is free now, and wait only for a session that is opened for them. `spare`: for more
 * speed, on a session that no other lease uses.
 */
export type Priority = 'request' | 'background' | 'spare' | 'probe';
const PRIORITIES: readonly Priority[] = ['request', 'background', 'spare', 'probe'];

/** Whether others are asked to give something up for it. */
export const mustBeServed = ({ priority }: Pick<Waiter<unknown>, 'priority'>): boolean =>
  priority === 'request' || priority === 'background';

export interface AcquireOptions {
  /** Removes the waiter from the queue; acquire rejects with its reason. */
  readonly signal: EndSignal;
  /** The account that it is for. */
  readonly owner?: string;
  /** Leases wanted at once. */
  readonly count?: number;
  readonly priority?: Priority;
  /** The session is checked by a round trip first, idle or in use: one like it has just been found dead. */
  readonly prove?: boolean;
  /** Absent: the lease is never ended for waiters. */
  readonly yielding?: Yielding | undefined;
  /** For a spare lease: called once others wait for a session. The lease is then returned soon. */
  readonly recall?: (() => void) | undefined;
}

export interface Waiter<T> {
  readonly owner: string;
  readonly count: number;
  readonly priority: Priority;
  readonly signal: EndSignal;
  readonly prove: boolean;
  readonly yielding: Yielding | undefined;
  readonly recall: (() => void) | undefined;
  readonly arrived: number;
  /** The same in ms since 1970, for comparison with those of other threads. */
  readonly since: number;
  /** Why an attempt that should have served it failed; counts once no other attempt is under way. */
  loginFailure: GatewayError | undefined;
  attempts: number;
  settled: boolean;
  grant(leases: Lease<T>[]): void;
  fail(error: Error): void;
}

interface Outcome<T> {
  readonly grant: (leases: Lease<T>[]) => void;
  readonly fail: (error: Error) => void;
  /** Called before either of them. */
  readonly settled: () => void;
}

export function newWaiter<T>(options: AcquireOptions, arrived: number, outcome: Outcome<T>): Waiter<T> {
  const { signal, owner = '', count = 1, priority = 'request', prove = false, yielding, recall } = options;
  const settle = (): boolean => {
    if (waiter.settled) return false;
    waiter.settled = true;
    outcome.settled();
    return true;
  };
  const waiter: Waiter<T> = {
    owner,
    count,
    priority,
    signal,
    prove,
    yielding,
    recall,
    arrived,
    since: Date.now(),
    loginFailure: undefined,
    attempts: 0,
    settled: false,
    grant: (leases) => {
      if (settle()) outcome.grant(leases);
      else for (const lease of leases) lease.release('keep');
    },
    fail: (error) => {
      if (settle()) outcome.fail(error);
    },
  };
  return waiter;
}

/**
 * Requests before background work, then spare leases, probes last, each in order of arrival; a waiter that returns finds its old place.
 */
export function enqueue<T>(queue: Waiter<T>[], waiter: Waiter<T>): void {
  // From the end, where nearly all of them belong.
  const before = queue.findLastIndex((other) =>
    other.priority === waiter.priority
      ? other.arrived <= waiter.arrived
      : PRIORITIES.indexOf(other.priority) < PRIORITIES.indexOf(waiter.priority),
  );
  queue.splice(before + 1, 0, waiter);
}
