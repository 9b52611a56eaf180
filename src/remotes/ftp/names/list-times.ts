/** The times in most LIST lines have no zone and at best minutes, and are made for people. */
import { monthNumberOf } from './months.js';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../contract/units.js';

export interface ListTime {
  /** Read as if the server's clock showed UTC; `isExact`: it is UTC. A number: a date takes five times the memory. */
  readonly ms: number;
  /** A minute if the line has a clock time, otherwise a day; a second if it is exact. */
  readonly resolutionMs: number;
}

/** Whether the line gave the time with its zone, or as UTC. */
export const isExactTime = ({ resolutionMs }: ListTime): boolean => resolutionMs <= SECOND_MS;

/**
 * Parses `Nov 20 10:15`, `20 Nov 2024`, `2026-11-20 10:15`, `11-20-26  10:15AM`, `2026-11-20 10:15:30.5 +0100`. `now`:
 * the server's clock, as UTC.
 */
export function parseListTime(text: string, now: Date): ListTime | undefined {
  return parseUnixTime(text, now) ?? parseNumericTime(text) ?? parseExactTime(text);
}

const EXACT_TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.\d+)? ([+-]\d\d)(\d\d)$/;

function parseExactTime(text: string): ListTime | undefined {
  const [whole, date = '', clock = '', hours = '', minutes = ''] = EXACT_TIME.exec(text) ?? [];
  // JavaScript takes Feb 30 for Mar 1.
  const isDate = !Number.isNaN(Date.parse(date)) && new Date(date).toISOString().startsWith(date);
  return whole === undefined || !isDate ? undefined : exactTime(Date.parse(`${date}T${clock}${hours}:${minutes}`));
}

/** Undefined for a time that does not exist. */
export function exactTime(ms: number): ListTime | undefined {
  return Math.abs(ms) <= MOST_MS ? { ms, resolutionMs: SECOND_MS } : undefined;
}

/** The range of dates of JavaScript. */
const MOST_MS = 8.64e15;

const UNIX_TIME = /^(?:(\S+?)\s+(\d{1,2})|(\d{1,2})\s+(\S+?))\s+(?:(\d{4})|(\d{1,2}):(\d\d)(?::\d\d)?)$/u;

function parseUnixTime(text: string, now: Date): ListTime | undefined {
  const parts = UNIX_TIME.exec(text) ?? UNIX_TIME.exec(text.replace(/(\d)[.日일年년](?=\s|$)/gu, '$1'));
  if (parts === null) return undefined;
  const month = monthNumberOf(parts[1] ?? parts[4] ?? '');
  const day = Number(parts[2] ?? parts[3]);
  if (month === undefined) return undefined;
  const year = parts[5];
  return year === undefined
    ? timeInPast(month, day, Number(parts[6]), Number(parts[7]), now)
    : timeOf(Number(year), month, day, 0, 0, DAY_MS);
}

/**
 * A time without a year lies within the past months, with a day of tolerance, because the clocks' zones may not be known
 * yet.
 */
function timeInPast(month: number, day: number, hour: number, minute: number, now: Date): ListTime | undefined {
  const year = now.getUTCFullYear();
  const thisYear = timeOf(year, month, day, hour, minute, MINUTE_MS);
  const isPast = thisYear !== undefined && thisYear.ms <= now.getTime() + DAY_MS;
  return isPast ? thisYear : timeOf(year - 1, month, day, hour, minute, MINUTE_MS);
}

/** The time of a month, 0 to 11, and a day with a clock time or a year: `10:15`, `10:15:30` or `2024`. */
export function unixTime(month: number, day: string, clockOrYear: string, now: Date): ListTime | undefined {
  const colon = clockOrYear.indexOf(':');
  // A dot or a word follows some days and years.
  if (colon < 0) return timeOf(parseInt(clockOrYear, 10), month, parseInt(day, 10), 0, 0, DAY_MS);
  const minute = parseInt(clockOrYear.slice(colon + 1), 10);
  return timeInPast(month, parseInt(day, 10), parseInt(clockOrYear, 10), minute, now);
}

const NUMERIC_TIME = /^(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})\s+(\d{1,2}):(\d\d)(?::\d\d(?:\.\d+)?)?\s*(?:([ap])m?)?$/i;

function parseNumericTime(text: string): ListTime | undefined {
  const parts = NUMERIC_TIME.exec(text);
  if (parts === null) return undefined;
  const [, first = '', mark = '', second = '', third = '', clock = '', minutes = '', half] = parts;
  const date =
    first.length === 4
      ? [first, second, third].map(Number)
      : inOrder(Number(first), Number(second), Number(third), mark);
  if (date === undefined) return undefined;
  const [year = 0, month = 0, day = 0] = date;
  let hour = Number(clock);
  if (half !== undefined && (hour < 1 || hour > 12)) return undefined;
  if (half !== undefined) hour = (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  const fullYear = year < 70 ? 2000 + year : year < 100 ? 1900 + year : year;
  return timeOf(fullYear, month - 1, day, hour, Number(minutes), MINUTE_MS);
}

/** Year, month and day; undefined if day and month could be either: no date is better than a wrong one. */
function inOrder(first: number, second: number, year: number, mark: string): readonly number[] | undefined {
  if (mark === '.' || first > 12) return [year, second, first];
  // IIS writes month, day and year with dashes in every country.
  if (mark === '-' || second > 12 || first === second) return [year, first, second];
  return undefined;
}

/** Every month has these. */
const FEWEST_DAYS = 28;

function timeOf(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  resolutionMs: number,
): ListTime | undefined {
  if (hour > 23 || minute > 59 || month < 0 || month > 11 || day < 1) return undefined;
  // Feb 30 would roll over into March.
  if (day > FEWEST_DAYS && Date.UTC(year, month, day) >= Date.UTC(year, month + 1)) return undefined;
  return { ms: Date.UTC(year, month, day, hour, minute), resolutionMs };
}
