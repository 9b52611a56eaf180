/** Local times of a zone of the IANA database, as moments and back. */
import { LRUCache } from 'lru-cache';
import { DAY_MS } from '../contract/units.js';

/** Local time minus UTC at a moment, in milliseconds. */
export type Offset = (moment: number) => number;

const MAX_DAYS = 1_000;

/** An offset is no zone: it has no summer time, and not every version of Node.js accepts it. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && offsetIn(name)(0) !== undefined;
  } catch {
    return false;
  }
}

/** @throws RangeError for an unknown zone */
export function offsetIn(timeZone: string): Offset {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (moment) => {
    const part = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
    const whole = Math.floor(moment / 1000) * 1000;
    return Date.UTC(year, month - 1, day, hour, minute, second) - whole;
  };
}

/**
 * The moment of a local time, which is given as if it were UTC. The first of two; if there is none, the moment at which
 * the clock was moved forward.
 */
export function momentOf(wall: number, offset: Offset): number {
  const moments = [wall - offset(wall - DAY_MS), wall - offset(wall + DAY_MS)].sort((one, other) => one - other);
  const found = moments.find((moment) => moment + offset(moment) === wall);
  if (found !== undefined) return found;
  let [before = wall, after = wall] = moments;
  const offsetAfter = offset(after);
  while (after - before > 1000) {
    const middle = Math.floor((before + after) / 2000) * 1000;
    if (offset(middle) === offsetAfter) after = middle;
    else before = middle;
  }
  return after;
}

/** The same for many times: the offset of a day in which it does not change is kept. */
export function momentsIn(timeZone: string): (wall: number) => number {
  const offset = offsetIn(timeZone);
  const days = new LRUCache<number, { readonly fixed: number | undefined }>({ max: MAX_DAYS });
  const fixedOn = (day: number): number | undefined => {
    const [first, last] = [offset((day - 1) * DAY_MS), offset((day + 2) * DAY_MS)];
    return first === last ? first : undefined;
  };
  return (wall) => {
    const day = Math.floor(wall / DAY_MS);
    const known = days.get(day) ?? { fixed: fixedOn(day) };
    days.set(day, known);
    return known.fixed === undefined ? momentOf(wall, offset) : wall - known.fixed;
  };
}
