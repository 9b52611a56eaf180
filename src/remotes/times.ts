/** The time of a file, which copies keep. */
import type { FileInfo } from './remote.js';
import { SECOND_MS } from '../contract/units.js';

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
  Math.floor(actual.getTime() / SECOND_MS) === Math.floor(requested.getTime() / SECOND_MS);
