/**
 * The database's time, and ids that carry a time. It is the one clock that all nodes share. It is read once for a piece
 * of work and continues by this machine's monotonic clock, so that no wall clock of a node matters.
 */
import { uuidv7At } from '../../base/uuid.js';
import type { Database } from './database.js';

export interface Clock {
  /** The time is this, or later by at most the round trip of one question. */
  earliestMs(): number;
  /** The time is this, or earlier. */
  latestMs(): number;
  now(): Date;
}

export async function readClock(database: Database): Promise<Clock> {
  const askedAt = performance.now();
  const rows = await database.run((sql) => sql<{ now: Date }[]>`select clock_timestamp() as now`);
  return clockAt(rows[0]?.now ?? new Date(), askedAt);
}

/** `time` was read at some moment after `askedAt` and before this call. */
export function clockAt(time: Date, askedAt = performance.now()): Clock {
  const answeredAt = performance.now();
  const since = (moment: number): number => Math.floor(time.getTime() + performance.now() - moment);
  return {
    earliestMs: () => since(answeredAt),
    latestMs: () => since(askedAt),
    now: () => new Date(since(answeredAt)),
  };
}

/** Ids of things that happened at that time, in the order of the calls. */
export function idsAt(time: Date): () => string {
  let seq = 0;
  return () => uuidv7At(time.getTime(), seq++);
}

/** The time inside a UUIDv7. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

/** The smallest id that a transfer of this moment or later can have. */
export function firstIdAt(time: Date): string {
  const hex = Math.max(0, time.getTime()).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`;
}
