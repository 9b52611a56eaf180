/** Compares the size and time of a file with its former ones; the precision of times depends on the server. */
import { type FileState, UNKNOWN_SIZE } from '../storage/storage.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../contract/units.js';

export interface TimeRules {
  /** The resolution of the server's times: that of this check or of the last one, whichever is coarser. */
  readonly resolutionMs: number;
  /** The difference between the listing and the stored times (see zone-shift.ts); absent = 0. */
  readonly zoneShiftMs?: number;
  /** The end of the listing: a new state counts from then on. */
  readonly endedMs: number;
}

/** LIST shows the time of day for about half a year, then only the day. */
export const LOSES_CLOCK_AFTER_MS = 150 * DAY_MS;

/**
 * Whether two listings, `before` the earlier one, show the same state. Servers with local times in minutes show the
 * time of one file in three ways: to the minute; hours off after a shift of their zone; and as a day after half a year.
 */
export function isSame(
  before: FileState,
  now: FileState,
  { resolutionMs, zoneShiftMs = 0, endedMs }: TimeRules,
): boolean {
  if (before.size === UNKNOWN_SIZE) return true;
  if (before.size !== now.size) return false;
  // The epoch is no time: the server keeps none, or has left it out in this listing.
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
