/** Quiet hours: by the clock of a zone; they may span midnight. */
import type { QuietHours } from '../contract/alarm.js';
import { DAY_MINUTES, MINUTE_MS } from '../contract/units.js';

/** No clock is changed by less. */
const STEP_MINUTES = 15;

/** When the quiet hours at `now` end; undefined = it is not quiet. Two equal times mean no quiet hours. */
export function quietUntil({ from, to, timeZone }: QuietHours, now: Date): Date | undefined {
  const [begin, end] = [minutesOf(from), minutesOf(to)];
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const left = (at: Date): number => {
    const local = minutesOf(clock.format(at));
    const isQuiet = begin <= end ? local >= begin && local < end : local >= begin || local < end;
    return isQuiet ? (end - local + DAY_MINUTES) % DAY_MINUTES : 0;
  };
  let until = new Date(Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS);
  // Step by step: clocks that are changed in the meantime make it longer or shorter.
  for (let minutes = left(until); minutes > 0; minutes = left(until)) {
    until = new Date(until.getTime() + Math.min(minutes, STEP_MINUTES) * MINUTE_MS);
  }
  return until > now ? until : undefined;
}

/** Parses `HH:MM`. */
function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}
