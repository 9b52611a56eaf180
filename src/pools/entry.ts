import type { Occupant } from './places.js';
import type { Session } from './session.js';

/** How a session came to be, on the clock of performance.now(). */
export interface Opening {
  readonly startedAt: number;
  readonly connectedAt: number;
  readonly readyAt: number;
}

/** An open session in its pool. */
export interface Entry<T> {
  readonly session: Session<T>;
  /** Its place in the order of events, comparable with a waiter's. */
  readonly opened: number;
  /** Absent where nothing had to be opened. */
  readonly opening: Opening | undefined;
  used: number;
  /** When the last lease came back; undefined while one is out. */
  idleSince: number | undefined;
  /** The round trip under way that shows whether the session still lives. */
  proof: Promise<void> | undefined;
  /** Above a lowered limit: takes no further lease and leaves with its last one. */
  isSurplus: boolean;
}

/** A session that has just been opened, the opening begun at `startedAt`. */
export function newEntry<T>(session: Session<T>, opened: number, startedAt: number): Entry<T> {
  const { connectedAt } = session;
  return {
    session,
    opened,
    opening: connectedAt === undefined ? undefined : { startedAt, connectedAt, readyAt: performance.now() },
    used: 0,
    idleSince: performance.now(),
    proof: undefined,
    isSurplus: false,
  };
}

/** The session as whoever lacks a place sees it; `isWanted`: what idles is about to be used. */
export function occupantOf<T>(
  entry: Entry<T>,
  { isWanted, drop }: { readonly isWanted: () => boolean; readonly drop: () => void },
): Occupant {
  return {
    get idleSince() {
      return isWanted() || entry.used > 0 || entry.proof !== undefined ? undefined : entry.idleSince;
    },
    close: drop,
  };
}

/** The slot was none: a dead session, or one that admits less than it promised. Costs the waiter nothing, and ends by itself. */
export class TryNext extends Error {}

/** Takes `count` free slots, least loaded sessions first, or none. */
export function reserve<T>(
  entries: Iterable<Entry<T>>,
  count: number,
  capacityOf: (entry: Entry<T>) => number,
): Entry<T>[] | undefined {
  const slots: Entry<T>[] = [];
  for (let taken = 0; taken < count; taken++) {
    let best: Entry<T> | undefined;
    for (const entry of entries) {
      if (entry.isSurplus || !entry.session.alive || entry.used >= capacityOf(entry)) continue;
      if (best === undefined || entry.used < best.used) best = entry;
    }
    if (best === undefined) {
      for (const entry of slots) entry.used--;
      return undefined;
    }
    best.used++;
    slots.push(best);
  }
  return slots;
}

/** Idle longer than this, a session proves itself by one round trip before it is used. */
const CHECK_AFTER_IDLE_MS = 5_000;

/** One round trip on a session that idled long, shared by all who want it; it outlives a waiter that leaves. */
export function proveAlive<T>(
  entry: Entry<T>,
  always: boolean,
  signal: AbortSignal,
  died: () => void,
): Promise<void> | undefined {
  if (entry.proof !== undefined || entry.idleSince === undefined) return entry.proof;
  if (!always && performance.now() - entry.idleSince <= CHECK_AFTER_IDLE_MS) return undefined;
  entry.proof = entry.session
    .check(signal)
    .then(() => void (entry.idleSince = performance.now()))
    .catch((error: unknown) => {
      entry.session.close();
      died();
      throw new TryNext('an idle session did not answer', { cause: error });
    })
    .finally(() => (entry.proof = undefined));
  return entry.proof;
}
