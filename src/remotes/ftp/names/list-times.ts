/** The times of LIST lines: no zone, minutes at best, and made for people. */

export interface ListTime {
  /** As if the server's clock showed UTC. */
  readonly time: Date;
  /** A minute where the line has a clock time, else a day. */
  readonly resolutionMs: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const QUARTER_HOUR_MS = 900_000;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Reads `Nov 20 10:15`, `20 Nov 2024`, `2026-11-20 10:15`, `11-20-26  10:15AM`. `now`: the server's clock, as UTC. */
export function parseListTime(text: string, now: Date): ListTime | undefined {
  return parseUnixTime(text, now) ?? parseNumericTime(text);
}

/** What LIST is ahead of UTC, from one file's two times. Zones are whole quarters of an hour. */
export function offsetBetween(listed: Date, exact: Date): number {
  const difference = listed.getTime() - Math.floor(exact.getTime() / MINUTE_MS) * MINUTE_MS;
  return Math.round(difference / QUARTER_HOUR_MS) * QUARTER_HOUR_MS;
}

function parseUnixTime(text: string, now: Date): ListTime | undefined {
  const parts = /^(?:([a-z]{3})\s+(\d{1,2})|(\d{1,2})\s+([a-z]{3}))\s+(?:(\d{4})|(\d{1,2}):(\d\d))$/i.exec(text);
  if (parts === null) return undefined;
  const month = MONTHS.indexOf((parts[1] ?? parts[4] ?? '').toLowerCase());
  const day = Number(parts[2] ?? parts[3]);
  if (month < 0) return undefined;
  if (parts[5] !== undefined) return timeOf(Number(parts[5]), month, day, 0, 0, DAY_MS);
  const [hour, minute] = [Number(parts[6]), Number(parts[7])];
  const thisYear = timeOf(now.getUTCFullYear(), month, day, hour, minute, MINUTE_MS);
  // Without a year the time lies within the past months; a day's grace, because the clocks' zones may not be known yet.
  const isPast = thisYear !== undefined && thisYear.time.getTime() <= now.getTime() + DAY_MS;
  return isPast ? thisYear : timeOf(now.getUTCFullYear() - 1, month, day, hour, minute, MINUTE_MS);
}

function parseNumericTime(text: string): ListTime | undefined {
  const parts = /^(\d{1,4})[-/](\d{1,2})[-/](\d{1,4})\s+(\d{1,2}):(\d\d)\s*([ap])?m?$/i.exec(text);
  if (parts === null) return undefined;
  const [, first = '', second = '', third = '', clock = '', minutes = '', half] = parts;
  const isYearFirst = first.length === 4;
  const year = Number(isYearFirst ? first : third);
  const month = Number(isYearFirst ? second : first) - 1;
  const day = Number(isYearFirst ? third : second);
  let hour = Number(clock);
  if (half !== undefined) hour = (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  return timeOf(
    year < 70 ? 2000 + year : year < 100 ? 1900 + year : year,
    month,
    day,
    hour,
    Number(minutes),
    MINUTE_MS,
  );
}

function timeOf(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  resolutionMs: number,
): ListTime | undefined {
  const time = new Date(Date.UTC(year, month, day, hour, minute));
  // Feb 30 would roll over into March.
  return time.getUTCMonth() === month && time.getUTCDate() === day ? { time, resolutionMs } : undefined;
}
