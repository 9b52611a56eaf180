/** The times of a cron expression, in the local time of a zone. croner reads the fields and finds the local times. */
import { Cron } from 'croner';
import { refusal } from '../base/errors.js';
import { isTimeZone, momentOf, offsetIn, type Offset } from '../base/time-zone.js';

interface Recurrence {
  /** The first time after the given one; null = never again. */
  nextAfter(time: Date): Date | null;
}

const FIVE_FIELDS = /^[\w*?,/#+-]+( +[\w*?,/#+-]+){4}$/;
const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/**
 * If the hour is `*`, it runs in every hour that passes. Any other cron names local times: a time that occurs twice,
 * when summer time ends, counts the first time; times that are skipped when it begins run once, right after. @throws
 * GatewayError bad_request
 */
export function recurrenceOf(cron: string, timeZone: string): Recurrence {
  const fields = NICKNAMES[cron.trim().toLowerCase()] ?? cron.trim();
  const zone = zoneOf(timeZone);
  if (!FIVE_FIELDS.test(fields)) throw refusal('bad_request', `cron must be five fields, such as "30 2 * * 1-5"`);
  const isEveryHour = /^[^ ]+ +[*?] /.test(fields);
  try {
    const times = new Cron(fields, { timezone: isEveryHour ? timeZone : 'UTC', paused: true, mode: '5-part' });
    const recurrence = {
      nextAfter: (time: Date) => (isEveryHour ? times.nextRun(time) : nextOnWall(times, zone, time)),
    };
    if (recurrence.nextAfter(new Date(0)) !== null) return recurrence;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error);
    throw refusal('bad_request', `cron: ${reason}`);
  }
  throw refusal('bad_request', `cron "${cron}" never comes`);
}

/** The next `count` times, including the first one if it is known. */
export function timesFrom(recurrence: Recurrence, first: Date, count: number): Date[] {
  const times = [first];
  for (let time = recurrence.nextAfter(first); time !== null && times.length < count;) {
    times.push(time);
    time = recurrence.nextAfter(time);
  }
  return times;
}

function zoneOf(timeZone: string): Offset {
  if (isTimeZone(timeZone)) return offsetIn(timeZone);
  throw refusal('bad_request', `timeZone must be a name of the IANA database, such as "Europe/Berlin"`);
}

/** `times` are local times, read as if they were UTC. */
function nextOnWall(times: Cron, offset: Offset, after: Date): Date | null {
  const from = after.getTime();
  for (let wall = times.nextRun(new Date(from + offset(from))); wall !== null; wall = times.nextRun(wall)) {
    const moment = momentOf(wall.getTime(), offset);
    if (moment > from) return new Date(moment);
  }
  return null;
}
