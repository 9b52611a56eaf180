/** When one file may use several sessions, and how many were useful before. */

/** From this round trip on, a transfer waits for its windows, not for the line. */
export const LONG_LINE_MS = 20;
/** With fewer bytes to come, a file is done before another session could pay off. */
export const WORTH_A_SESSION_BYTES = 16 * 1024 * 1024;
/** A session must make the file faster by this factor to stay. */
export const WORTHWHILE_GAIN = 1.1;
/** For this long, a session that brought nothing is not tried again. */
const TRUST_MS = 60_000;

/** Whether more sessions may pay off for this many bytes on such a line. */
export function isWorthMore(bytes: number, roundTripMs: number): boolean {
  return bytes >= WORTH_A_SESSION_BYTES && roundTripMs >= LONG_LINE_MS;
}

/** How many sessions besides its own made a large file faster, and when that was measured (performance.now()). */
export interface UsefulSessions {
  readonly count: number;
  /** One more was tried, and brought nothing. */
  readonly isMost: boolean;
  readonly at: number;
}

/** The sessions that the next file begins with; `isMost`: further ones are not tried. */
export function firstSessions(
  known: UsefulSessions = { count: 0, isMost: false, at: 0 },
  most: number,
  now: number,
): Pick<UsefulSessions, 'count' | 'isMost'> {
  const isTrusted = now - known.at < TRUST_MS;
  // What was useful long ago has to show it again.
  const count = Math.min(most, isTrusted ? known.count : Math.max(0, known.count - 1));
  return { count, isMost: count === most || (isTrusted && known.isMost) };
}
