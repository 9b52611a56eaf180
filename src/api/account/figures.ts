/** Data for charts: operations, bytes, times and deliveries of a span, by hour or by day. */
import { Type } from 'typebox';
import {
  count,
  countOrNull,
  dateTime,
  group,
  listOf,
  object,
  oneOf,
  text,
  withDefault,
} from '../../contract/schema.js';
import { DEFAULT_RANGE, RANGE_DAYS, RANGES } from '../../contract/figures.js';
import { recurrenceOf } from '../../jobs/cron.js';
import { CLOSED } from '../fields.js';
import { TIME } from '../../contract/examples.js';
import { endpoints } from '../endpoint.js';
import { DAY_MS, HOUR_MS } from '../../contract/units.js';

const endpoint = endpoints('Account');
export const figureEndpoints = endpoint.all;

export const DAY_HOURS = 24;

export const zoneField = withDefault(
  text('The time zone of the days: a name of the IANA database.', {
    minLength: 1,
    maxLength: 64,
    examples: ['Europe/Berlin'],
  }),
  'UTC',
);

export const sums = {
  transfers: count('Operations that have ended; they count where they began.'),
  failed: count('Those that failed.'),
  lookups: count('Operations that are lists, look-ups and polls.'),
  failedLookups: count('Those of them that failed.'),
  bytesIn: count('Bytes read from remote servers.'),
  bytesOut: count('Bytes sent to remote servers.'),
  delivered: count('Webhook events that were delivered.'),
  undelivered: count('Webhook events that no receiver accepted.'),
};
const times = {
  p50Ms: countOrNull('Half of the operations that succeeded took no longer, lists, look-ups and polls left out.'),
  p95Ms: countOrNull('95 of 100 took no longer.'),
};

const figures = object('Figures', {
  range: oneOf(RANGES, 'As asked.'),
  timeZone: text('As asked.'),
  points: listOf(
    group(
      { from: dateTime('Begin of the hour or the day.'), until: dateTime('Its end, or now.'), ...sums, ...times },
      'An hour or a day.',
    ),
    'Oldest first.',
  ),
});

const sample = {
  transfers: 120,
  failed: 2,
  lookups: 20,
  failedLookups: 0,
  bytesIn: 1024,
  bytesOut: 4096,
  delivered: 7,
  undelivered: 0,
  p50Ms: 84,
  p95Ms: 410,
};

endpoint('GET /manage/figures', {
  operationId: 'showFigures',
  summary: 'Show figures over time',
  description:
    '24 hours, or the last days, today included. Sums are kept by the hour (UTC): where a zone is not a whole number of hours away, its days begin up to an hour late.',
  query: Type.Object(
    {
      range: withDefault(oneOf(RANGES, 'How far back.', { examples: [DEFAULT_RANGE] }), DEFAULT_RANGE),
      timeZone: zoneField,
    },
    CLOSED,
  ),
  answer: {
    schema: figures,
    example: {
      range: DEFAULT_RANGE,
      timeZone: 'UTC',
      points: [{ from: TIME, until: new Date(Date.parse(TIME) + HOUR_MS).toISOString(), ...sample }],
    },
  },
}).handle(async ({ caller, query: { range, timeZone } }, { storage }) => {
  const now = new Date();
  const days = lastDays(now, RANGE_DAYS[range], timeZone);
  const starts = range === '24h' ? lastHours(now, DAY_HOURS) : days;
  const { figures: stored } = storage.management;
  const [moved, deliveries] = await Promise.all([
    stored.sums(caller.accountId, starts),
    stored.deliveries(caller.accountId, starts),
  ]);
  const points = starts.map((from, index) => {
    const { p50Ms, p95Ms, ...others } = moved[index] ?? NOTHING;
    const { delivered, dead } = deliveries[index] ?? { delivered: 0, dead: 0 };
    const until = starts[index + 1] ?? now;
    return { from, until, ...others, delivered, undelivered: dead, p50Ms: whole(p50Ms), p95Ms: whole(p95Ms) };
  });
  return { range, timeZone, points };
});

const NOTHING = {
  transfers: 0,
  failed: 0,
  lookups: 0,
  failedLookups: 0,
  bytesIn: 0,
  bytesOut: 0,
  p50Ms: null,
  p95Ms: null,
};

const whole = (ms: number | null): number | null => (ms === null ? null : Math.round(ms));

/** The current hour is the last. */
export function lastHours(now: Date, hours: number): readonly Date[] {
  const last = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS;
  return Array.from({ length: hours }, (_, index) => new Date(last - (hours - 1 - index) * HOUR_MS));
}

/** Midnights of a zone, ending with today's. @throws GatewayError bad_request for an unknown zone */
export function lastDays(now: Date, days: number, timeZone: string): readonly Date[] {
  const midnights = recurrenceOf('0 0 * * *', timeZone);
  const starts: Date[] = [];
  // One day more, because the days of a clock change are shorter or longer.
  let at = midnights.nextAfter(new Date(now.getTime() - (days + 1) * DAY_MS));
  while (at !== null && at <= now) {
    starts.push(at);
    at = midnights.nextAfter(at);
  }
  return starts.slice(-days);
}
