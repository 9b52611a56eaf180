/** When folders are due. Times are milliseconds of the database's clock. */
import { createHash } from 'node:crypto';

const MINUTE_MS = 60_000;
const MAX_BACKOFF_MS = 60 * MINUTE_MS;
const MAX_DOUBLINGS = 10;

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
  const pause = Math.min(interval * 2 ** Math.min(failures - 1, MAX_DOUBLINGS), Math.max(interval, MAX_BACKOFF_MS));
  return nextRegular(folderId, scheduleMinutes, afterMs + pause - interval);
}
