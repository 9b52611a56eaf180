/** Due times of checks, in milliseconds of the database's clock. */
import { createHash } from 'node:crypto';
import { retryDelay } from '../base/retry-schedule.js';
import { MINUTE_MS } from '../contract/units.js';

const LONGEST_DELAY_MS = 60 * MINUTE_MS;

/**
 * The next regular check after `afterMs`. Each folder has its own offset in the interval, so that checks are spread.
 */
export function nextRegular(folderId: string, scheduleMinutes: number, afterMs: number): number {
  const interval = scheduleMinutes * MINUTE_MS;
  const place = createHash('sha256').update(folderId).digest().readUInt32BE() / 2 ** 32;
  const offset = Math.floor(place * interval);
  return Math.floor((afterMs - offset) / interval + 1) * interval + offset;
}

/** The next check after `failures` consecutive failures: the delay grows up to an hour, or the interval if longer. */
export function nextAfterFailure(folderId: string, scheduleMinutes: number, failures: number, afterMs: number): number {
  const interval = scheduleMinutes * MINUTE_MS;
  const schedule = { firstMs: interval, longestMs: Math.max(interval, LONGEST_DELAY_MS) };
  return nextRegular(folderId, scheduleMinutes, afterMs + (retryDelay(schedule, failures) ?? interval) - interval);
}
