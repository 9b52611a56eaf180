/** Whether a file is what it was, by its size and its time, which servers show more or less exactly. */
import { type FileState, UNKNOWN_SIZE } from '../storage/storage.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../contract/units.js';

export interface TimeRules {
  /** The resolution of the server's times; the coarser one of this check's and the last one's. */
  readonly resolutionMs: number;
  /** By what the whole listing differs from the stored times (see zone-shift.ts); absent = 0. */
  readonly zoneShiftMs?: number;
  /** When the listing ended: what is new is seen since then. */
  readonly endedMs: number;
}

/** LIST shows a clock time for about half a year, then only the day. */
export const LOSES_CLOCK_AFTER_MS = 150 * DAY_MS;

/**
 * Whether two listings, `before` the earlier one, show the same state. Servers with minutes in their own zone show a
 * file's time in three ways: to the minute, hours off when their zone has shifted, and to the day when it is half a year old.
 */
export function isSame(
  before: FileState,
  now: FileState,
  { resolutionMs, zoneShiftMs = 0, endedMs }: TimeRules,
): boolean {
  if (before.size === UNKNOWN_SIZE) return true;
  if (before.size !== now.size) return false;
  // The epoch is no time: the server keeps none, or has left it out this once.
  if (before.modifiedMs === 0 || now.modifiedMs === 0) return true;
  if (before.modifiedMs === now.modifiedMs && zoneShiftMs === 0) return true;
  if (resolutionMs < MINUTE_MS) {
    return Math.floor(before.modifiedMs / resolutionMs) === Math.floor(now.modifiedMs / resolutionMs);
  }
  const minutesApart = Math.floor(now.modifiedMs / MINUTE_MS) - Math.floor(before.modifiedMs / MINUTE_MS);
  if (minutesApart * MINUTE_MS === zoneShiftMs) return true;
  const isOld = endedMs - Math.max(before.modifiedMs, now.modifiedMs) > LOSES_CLOCK_AFTER_MS;
  return isOld && Math.abs(minutesApart) * MINUTE_MS <= DAY_MS + HOUR_MS;
}
