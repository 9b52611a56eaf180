/** What a pool tells of itself where threads share the limit of its login. */
import type { SessionNeeds } from '../shares/share-messages.js';
import type { Entry } from './open-sessions.js';
import type { Waiter } from './waiters.js';

/**
 * For so long a thread keeps what it has just opened and still uses: each login serves many. For so long somebody waits
 * for the sessions of its own thread alone.
 */
const TURN_MS = 1_000;
/** A session given back a moment ago is about to be used again, by a client that sends one request after the other. */
const REST_MS = 100;

interface PoolState {
  /** Sessions being opened. */
  readonly opening: number;
  /** When a session was last opened, by this thread's monotonic clock. */
  readonly openedAt: number;
  /** That a session may carry, whatever it can. */
  readonly mostLeases: number;
  /** That a further session is expected to carry. */
  readonly leasesPerSession: number;
}

export function needsOf<T>(
  queue: readonly Waiter<T>[],
  entries: ReadonlySet<Entry<T>>,
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
  // The leases that keep its thread's sessions may run for hours: then others are owed.
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
