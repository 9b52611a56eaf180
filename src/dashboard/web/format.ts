/** Numbers and times for people, in the language and time zone chosen in this browser. */
import { sizeFormat } from '../../contract/units.ts';
import { locale, timeZone } from './preferences.ts';

const number = new Intl.NumberFormat(locale);
const compact = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 2 });
const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', timeZone });
const shortTime = new Intl.DateTimeFormat(locale, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone,
});
const secondsTime = new Intl.DateTimeFormat(locale, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZone,
});
const shortDay = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone });
/** The Swedish format is ISO 8601. */
const isoTime = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone });
const shortTimeOfYear = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone });
const hour = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', timeZone });
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });

export function formatNumber(value: number): string {
  return number.format(value);
}

/** A share below 1 is never shown as 100 %. */
export function formatPercent(part: number): string {
  return percent.format(Math.floor(part * 10_000) / 10_000);
}

export const formatBytes = sizeFormat(locale);

export function formatSpeed(bytesPerSecond: number): string {
  return `${formatBytes(bytesPerSecond)}/s`;
}

export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${ms < 10 ? compact.format(ms) : Math.round(ms)} ms`;
  if (ms < 60_000) return `${compact.format(ms / 1_000)} s`;
  const seconds = Math.round(ms / 1_000);
  const parts = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60];
  return parts[0] === 0 ? `${parts[1]} min ${parts[2]} s` : `${parts[0]} h ${parts[1]} min`;
}

export function formatDateTime(iso: string): string {
  return dateTime.format(new Date(iso));
}

/** A short date with time. It contains the year only if that is not the current year. */
export function formatShortTime(iso: string): string {
  const date = new Date(iso);
  return date.getFullYear() === new Date().getFullYear() ? shortTime.format(date) : shortTimeOfYear.format(date);
}

/** The same with seconds. */
export function formatSeconds(iso: string): string {
  const date = new Date(iso);
  return date.getFullYear() === new Date().getFullYear() ? secondsTime.format(date) : dateTime.format(date);
}

/** A short date without the year. */
export function formatShortDay(iso: string): string {
  return shortDay.format(new Date(iso));
}

/** The wall clock in the chosen zone as YYYY-MM-DDTHH:MM:SS, the format of time inputs. */
function wallTime(time: Date): string {
  return isoTime.format(time).replace(' ', 'T');
}

/** The moment at which the wall clock in the chosen zone shows `text`. */
function fromWallTime(text: string): Date {
  const wanted = Date.parse(`${text}Z`);
  // A second step is needed if the clocks change in between.
  let time = wanted;
  for (let step = 0; step < 2; step++) time += wanted - Date.parse(`${wallTime(new Date(time))}Z`);
  return new Date(time);
}

/** The value of a `datetime-local` input in the chosen zone; "" if `iso` is not a time. */
export function inputTime(iso: string, size: 'minute' | 'second'): string {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? '' : wallTime(time).slice(0, size === 'minute' ? 16 : 19);
}

/** The time in a `datetime-local` input. Browsers omit seconds of zero. */
export function timeOfInput(text: string): string {
  return fromWallTime(text.length === 16 ? `${text}:00` : text).toISOString();
}

/** Midnight in the chosen zone, of today or some days ago. */
export function startOfDay(daysAgo = 0): Date {
  const date = new Date(`${wallTime(new Date()).slice(0, 10)}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - daysAgo);
  return fromWallTime(date.toISOString().slice(0, 19));
}

export function formatHour(iso: string): string {
  return hour.format(new Date(iso));
}

export function formatDay(iso: string): string {
  return day.format(new Date(iso));
}

export function formatAgo(iso: string): string {
  const seconds = (Date.parse(iso) - Date.now()) / 1_000;
  const size = Math.abs(seconds);
  if (size < 60) return relative.format(Math.round(seconds), 'second');
  if (size < 3_600) return relative.format(Math.round(seconds / 60), 'minute');
  if (size < 86_400) return relative.format(Math.round(seconds / 3_600), 'hour');
  return relative.format(Math.round(seconds / 86_400), 'day');
}

/** Time for the remaining bytes at this speed; undefined if it cannot be known. */
export function secondsLeft(done: number, total: number | null, bytesPerSecond: number): number | undefined {
  return total === null || bytesPerSecond <= 0 ? undefined : Math.max(0, total - done) / bytesPerSecond;
}

/** A time with its weekday in `timeZone`, or in UTC if the browser does not know the zone. */
export function formatIn(iso: string, timeZone: string): string {
  return inZone(iso, timeZone, { hour: '2-digit', minute: '2-digit' });
}

export function dayIn(iso: string, timeZone: string): string {
  return inZone(iso, timeZone, {});
}

function inZone(iso: string, timeZone: string, time: Intl.DateTimeFormatOptions): string {
  const day = { weekday: 'short', year: 'numeric', month: 'short', day: 'numeric' } as const;
  try {
    return new Intl.DateTimeFormat(locale, { ...day, ...time, timeZone }).format(new Date(iso));
  } catch {
    return iso;
  }
}

/** The gateway's `since` is exclusive, so this is a millisecond before `from`. */
export function sinceOf(from: string | Date): string {
  return new Date(new Date(from).getTime() - 1).toISOString();
}
