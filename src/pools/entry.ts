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
