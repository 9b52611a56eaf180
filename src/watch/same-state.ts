/** Compares the size and time of a file with its former ones; the precision of times depends on the server. */
import { type FileState, UNKNOWN_SIZE } from '../storage/storage.js';
import { mayBeOneTime } from '../remotes/times.js';

export interface TimeRules {
  /** The resolution of the server's times: that of this check or of the last one, whichever is coarser. */
  readonly resolutionMs: number;
  /** The difference between the listing and the stored times (see zone-shift.ts); absent = 0. */
  readonly zoneShiftMs?: number;
  /** The end of the listing: a new state counts from then on. */
  readonly endedMs: number;
}

/**
 * Whether two listings, `before` the earlier one, show the same state. Servers with local times in minutes show the
 * time of one file in three ways: to the minute; hours off after a shift of their zone; and as a day after half a year.
 */
export function isSameState(
  before: FileState,
  now: FileState,
  { resolutionMs, zoneShiftMs: shiftMs = 0, endedMs: nowMs }: TimeRules,
): boolean {
  if (before.size === UNKNOWN_SIZE) return true;
  return before.size === now.size && mayBeOneTime(before.modifiedMs, now.modifiedMs, { resolutionMs, shiftMs, nowMs });
}
