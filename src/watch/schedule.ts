/** When folders are due. Times are milliseconds of the database's clock. */
import { createHash } from 'node:crypto';
import { retryDelay } from '../base/retry-schedule.js';
import { MINUTE_MS } from '../contract/units.js';

const LONGEST_DELAY_MS = 60 * MINUTE_MS;

/** The folder's next regular check after `afterMs`: each folder has its own place in the interval, so that checks spread. */
export function nextRegular(folderId: string, scheduleMinutes: number, afterMs: number): number {
  const interval = scheduleMinutes * MINUTE_MS;
  const place = createHash('sha256').update(folderId).digest().readUInt32BE() / 2 ** 32;
  const offset = Math.floor(place * interval);
  return Math.floor((afterMs - offset) / interval + 1) * interval + offset;
}

/** After `failures` checks that failed in a row: the regular time, then ever longer, up to an hour or the interval. */
export function nextAfterFailure(folderId: string, scheduleMinutes: number, failures: number, afterMs: number): number {
  const interval = scheduleMinutes * MINUTE_MS;
  const schedule = { firstMs: interval, longestMs: Math.max(interval, LONGEST_DELAY_MS) };
  return nextRegular(folderId, scheduleMinutes, afterMs + (retryDelay(schedule, failures) ?? interval) - interval);
}
