/** What a pool reports about itself if threads share the limit of its login. */
import type { SessionNeeds } from '../shares/share-messages.js';
import type { PooledSession } from './open-sessions.js';
import type { Waiter } from './waiters.js';

/**
 * How long a thread keeps sessions that it has just opened and still uses: each login serves many leases. Also how long
 * a waiter waits for the sessions of its own thread only.
 */
const TURN_MS = 1_000;
/** A session returned a moment ago is about to be used again by a client that sends one request after the other. */
const REST_MS = 100;

interface PoolState {
  /** Sessions being opened. */
  readonly opening: number;
  /** When a session was last opened, by this thread's monotonic clock. */
  readonly openedAt: number;
  /** The most leases that one session may carry, regardless of its capacity. */
  readonly mostLeases: number;
  /** The leases that another session is expected to carry. */
  readonly leasesPerSession: number;
}

export function needsOf<T>(
  queue: readonly Waiter<T>[],
  entries: ReadonlySet<PooledSession<T>>,
  { opening, openedAt, mostLeases, leasesPerSession }: PoolState,
): SessionNeeds {
  const now = performance.now();
  const nowOfAll = Date.now();
  const isFresh = opening > 0 || now - openedAt < TURN_MS;
  const [head] = queue;
  if (head === undefined) {
    const used = [...entries].filter(({ used, idleSince = 0 }) => used > 0 || now - idleSince < REST_MS);
    return { sessions: opening + used.length, atOnce: 1, since: nowOfAll, isRequest: false, isFresh };
  }
  // The leases on its thread's sessions may run for hours: then sessions of other threads are owed to it.
  const isOverdue = nowOfAll - head.since >= TURN_MS;
  let free = 0;
  for (const { session, used } of entries) free += Math.min(session.capacity, mostLeases) - used;
  return {
    sessions: opening + entries.size,
    atOnce: isOverdue
      ? entries.size + Math.ceil(Math.max(0, head.count - free) / leasesPerSession)
      : Math.ceil(head.count / leasesPerSession),
    since: head.since,
    isRequest: head.priority === 'request',
    isFresh,
  };
}
