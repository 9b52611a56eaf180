/** The time of a file, which copies keep, and whether two times that servers show may be one. */
import type { FileInfo } from './remote.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../contract/units.js';

/** Seconds that SFTP can write: 32 bits, up to the year 2106. */
const MAX_SECONDS = 2 ** 32 - 1;

/** Whether every protocol can send it to a server. The epoch itself means no time. */
export function isWritableTime(time: Date): boolean {
  const seconds = Math.floor(time.getTime() / SECOND_MS);
  return seconds > 0 && seconds <= MAX_SECONDS;
}

/** The time that clients see for a file that was given a time. */
export const shownTime = ({ keptModifiedAt, modifiedAt }: FileInfo): Date => keptModifiedAt ?? modifiedAt;

/** The time for a copy of the file; undefined if its server keeps no time. */
export function ownTimeOf(info: FileInfo): Date | undefined {
  const time = shownTime(info);
  return isWritableTime(time) ? time : undefined;
}

/** Servers count in seconds at best. */
export const isSameTime = (actual: Date, requested: Date): boolean =>
  unitsApart(actual.getTime(), requested.getTime(), SECOND_MS) === 0;

interface Showing {
  /** The resolution of the two times, the coarser of both. */
  readonly resolutionMs: number;
  /** By how much all later times differ from the earlier ones, as after a change of a server's zone; absent = 0. */
  readonly shiftMs?: number;
  /** When the later one was shown. */
  readonly nowMs: number;
}

/** Listings in minutes show the time of day for about half a year, then only the day; also of a time to come. */
export const LOSES_CLOCK_AFTER_MS = 150 * DAY_MS;

/**
 * Whether two times in milliseconds, `earlier` shown first or by the source, may be one time of a file. A time means
 * its second or minute, and in listings with minutes also its day if it is old or to come: the hour of its zone is not
 * certain there.
 */
export function mayBeOneTime(earlier: number, later: number, { resolutionMs, shiftMs = 0, nowMs }: Showing): boolean {
  // The epoch is no time: the server keeps none, has left it out, or shows it in an unreadable form.
  if (earlier === 0 || later === 0) return true;
  const apartMs = unitsApart(earlier, later, resolutionMs) * resolutionMs;
  if (apartMs === shiftMs) return true;
  const ageMs = nowMs - Math.max(earlier, later);
  const showsDay = resolutionMs >= MINUTE_MS && (ageMs > LOSES_CLOCK_AFTER_MS || ageMs < -DAY_MS);
  return showsDay && Math.abs(apartMs) <= DAY_MS + HOUR_MS;
}

function unitsApart(earlier: number, later: number, unitMs: number): number {
  return Math.floor(later / unitMs) - Math.floor(earlier / unitMs);
}
