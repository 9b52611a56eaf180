/**
 * Hours of the week in which something may be done, as text: `Mo-Fr 20:00-06:00; Sa,Su 00:00-24:00 Europe/Berlin`. The
 * form of a part is that of opening hours in OpenStreetMap. A time is allowed if any part allows it.
 */
import { LRUCache } from 'lru-cache';
import { DAY_MINUTES, DAY_MS, MINUTE_MS } from '../contract/units.js';
import { isTimeZone, momentOf, type Offset, offsetIn } from './time-zone.js';

interface Hours {
  readonly windows: readonly Window[];
  readonly offset: Offset;
}

interface Window {
  /** 0 is Monday. */
  readonly day: number;
  /** Since midnight of that day. */
  readonly from: number;
  /** Beyond a day's minutes if it ends on the next day. */
  readonly to: number;
}

const DAYS = ['mo', 'tu', 'we', 'th', 'fr', 'sa', 'su'];
const EVERY_DAY = DAYS.map((_, day) => day);
/** 1970-01-01 was a Thursday. */
const DAY_OF_EPOCH = 3;
/** Windows that a change of the clock leaves out are passed over: the next ones are looked for in two weeks. */
const LOOK_AHEAD_DAYS = 15;

const FORM =
  'days and times, several separated by ";", then a name of the IANA database, such as "Mo-Fr 20:00-06:00; Sa,Su 00:00-24:00 Europe/Berlin"';
const TIME = /^(\d{2}):(\d{2})-(\d{2}):(\d{2})$/;

const known = new LRUCache<string, Hours>({ max: 1000 });

/** Why the text does not name hours; undefined = it does. */
export function hoursRefusal(text: string): string | undefined {
  const read = readHours(text);
  return typeof read === 'string' ? read : undefined;
}

/** When the hours begin next, in milliseconds since 1970; undefined = they are now. */
export function hoursBegin(text: string, now: number): number | undefined {
  const hours = hoursOf(text);
  const today = dayOf(hours, now);
  let next = Infinity;
  // Yesterday's may not have ended.
  for (let day = today - 1; day <= today + LOOK_AHEAD_DAYS && next === Infinity; day++) {
    for (const { begin, end } of spansOn(hours, day)) {
      if (end <= now) continue;
      if (begin <= now) return undefined;
      next = Math.min(next, begin);
    }
  }
  return next;
}

/** Whether all of these hours are at once at some time of the next two weeks. */
export function hoursMeet(all: readonly string[], now: number): boolean {
  for (let at = now; at <= now + LOOK_AHEAD_DAYS * DAY_MS;) {
    const next = Math.max(...all.map((hours) => hoursBegin(hours, at) ?? at));
    if (next === at) return true;
    at = next;
  }
  return false;
}

/** When the hours that are now end, with those that follow at once; undefined = not within two weeks. */
function hoursEnd(text: string, now: number): number | undefined {
  const hours = hoursOf(text);
  const today = dayOf(hours, now);
  let last = now;
  for (let day = today - 1; day <= today + LOOK_AHEAD_DAYS; day++) {
    const spans = [...spansOn(hours, day)].sort((one, other) => one.begin - other.begin);
    for (const { begin, end } of spans) if (begin <= last) last = Math.max(last, end);
    // What begins on a later day follows at midnight, if at all.
    if (day > today && dayOf(hours, last) < day) return last;
  }
  return undefined;
}

/** Whether the hours are open now: when they close, or else when they open; neither = open for two weeks and more. */
export function hoursState(text: string, now: number): { readonly opensAt?: Date; readonly closesAt?: Date } {
  const begin = hoursBegin(text, now);
  if (begin !== undefined) return { opensAt: new Date(begin) };
  const end = hoursEnd(text, now);
  return end === undefined ? {} : { closesAt: new Date(end) };
}

const dayOf = ({ offset }: Hours, at: number): number => Math.floor((at + offset(at)) / DAY_MS);

/** The windows that begin on that day, in milliseconds since 1970; not those that a change of the clock leaves out. */
function* spansOn(
  { windows, offset }: Hours,
  day: number,
): Generator<{ readonly begin: number; readonly end: number }> {
  for (const window of windows) {
    if (window.day !== (((day + DAY_OF_EPOCH) % 7) + 7) % 7) continue;
    const [begin, end] = [window.from, window.to].map((at) => momentOf(day * DAY_MS + at * MINUTE_MS, offset));
    if (begin !== undefined && end !== undefined && end > begin) yield { begin, end };
  }
}

function hoursOf(text: string): Hours {
  const kept = known.get(text);
  if (kept !== undefined) return kept;
  const read = readHours(text);
  if (typeof read === 'string') throw new RangeError(`${text}: ${read}`);
  known.set(text, read);
  return read;
}

/** Returns the reason if the text does not name hours. */
function readHours(text: string): Hours | string {
  const [, parts, zone] = /^(.*\S)\s+(\S+)$/s.exec(text.trim()) ?? [];
  if (parts === undefined || zone === undefined) return `must be ${FORM}`;
  if (!isTimeZone(zone)) return `must end with a name of the IANA database, such as "Europe/Berlin": ${FORM}`;
  const windows: Window[] = [];
  for (const part of parts.split(';')) {
    const read = readPart(part.trim());
    if (typeof read === 'string') return read;
    windows.push(...read);
  }
  return { windows, offset: offsetIn(zone) };
}

function readPart(part: string): readonly Window[] | string {
  const words = part.split(/\s+/);
  const [first = '', second] = words;
  const days = second === undefined ? EVERY_DAY : readDays(first);
  const times = readTimes(second ?? first);
  if (days === undefined || times === undefined || words.length > 2) return `has "${part}"; it must be ${FORM}`;
  if (times.some(({ from, to }) => from === to)) return `has "${part}", which begins when it ends: it never occurs`;
  return days.flatMap((day) => times.map(({ from, to }) => ({ day, from, to: to < from ? to + DAY_MINUTES : to })));
}

function readDays(text: string): readonly number[] | undefined {
  const days = text
    .toLowerCase()
    .split(',')
    .flatMap((range) => {
      const [first = -1, last = first, ...more] = range.split('-').map((name) => DAYS.indexOf(name));
      if (first < 0 || last < 0 || more.length > 0) return [undefined];
      return EVERY_DAY.filter((day) => (day - first + 7) % 7 <= (last - first + 7) % 7);
    });
  return days.every((day) => day !== undefined) ? [...new Set(days)] : undefined;
}

function readTimes(text: string): readonly { readonly from: number; readonly to: number }[] | undefined {
  const times = text.split(',').map((time) => {
    const numbers = TIME.exec(time)?.slice(1).map(Number);
    if (numbers === undefined) return undefined;
    const [fromHour = 0, fromMinute = 0, toHour = 0, toMinute = 0] = numbers;
    const [from, to] = [fromHour * 60 + fromMinute, toHour * 60 + toMinute];
    const isTime = fromMinute < 60 && toMinute < 60 && from < DAY_MINUTES && to <= DAY_MINUTES;
    return isTime ? { from, to } : undefined;
  });
  return times.every((time) => time !== undefined) ? times : undefined;
}
