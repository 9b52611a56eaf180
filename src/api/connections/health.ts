/** The health of connections: whether their servers are reachable, how fast they answer, and what expires soon. */
import { type TProperties, Type } from 'typebox';
import { unknown } from '../../base/errors.js';
import {
  component,
  count,
  dateTime,
  dateTimeOrNull,
  flag,
  group,
  listOf,
  object,
  oneOf,
  orNull,
  text,
  textOrNull,
  type TSchemaOf,
  withDefault,
} from '../../contract/schema.js';
import type { ConnectionState, WindowFigures } from '../../storage/storage.js';
import { HEALTH_DAYS } from '../../contract/figures.js';
import { lastDays, zoneField } from '../account/figures.js';
import { CLOSED, id } from '../fields.js';
import { FINGERPRINT_EXAMPLE, ID, LATER, TIME } from '../../contract/examples.js';
import { endpoints } from '../endpoint.js';
import { DAY_MS } from '../../contract/units.js';

const endpoint = endpoints('Connections');
export const healthEndpoints = endpoint.all;

const KEY_NOTICE_DAYS = 30;

const numberOrNull = (description: string): TSchemaOf<number | null> =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], minimum: 0, description });
const availability = (): TSchemaOf<number | null> =>
  numberOrNull('Part of the time in which it was not down, 0 to 1; null = not checked yet.');

const stateFields = {
  id: id(),
  name: text('Shown to people.'),
  type: text('Protocol.'),
  isActive: flag('Whether it is switched on; others are not checked.'),
  state: oneOf(['up', 'down', 'unknown'], '`unknown` = not checked yet, or switched off.'),
  downSince: dateTimeOrNull('When it went down; null = it is not.'),
  watchedSince: dateTimeOrNull('Since when it is checked; null = it is not (`health.everySeconds`).'),
  checkedAt: dateTimeOrNull('The last look.'),
  reachedAt: dateTimeOrNull('The last look that found it.'),
  error: textOrNull('Why the last look failed.'),
  errorCode: textOrNull('Its slug, as in `X-Error-Code`.'),
  certificate: orNull(
    Type.Object({
      subject: text('Whose it is.'),
      issuer: text('Who signed it.'),
      validTo: dateTimeOrNull('When it expires.'),
      fingerprint: text('SHA-256 in hexadecimal.'),
    }),
    'The TLS certificate that the server showed last; null where there is none.',
  ),
  hostKey: orNull(
    Type.Object({
      fingerprint: text('SHA-256 fingerprint, as OpenSSH shows it.'),
      algorithm: text('What kind of key it is.'),
      since: dateTime('When a check first found it.'),
    }),
    'The host key that the server showed last; null where there is none.',
  ),
} satisfies TProperties;

const windowOf = (words: string) =>
  group(
    {
      availability: availability(),
      checks: count('Checks with a result.'),
      failedChecks: count('Those that could not reach it, or were not let in.'),
      connectMs: numberOrNull(
        'Time to a session that is ready for work: 95 of 100 took no longer. null = none was opened.',
      ),
      firstByteMs: numberOrNull('Time to the answer to one small request: 95 of 100 took no longer.'),
    },
    words,
  );

const outage = Type.Object({
  from: dateTime('When it went down.'),
  to: dateTimeOrNull('When it was there again; null = it is still down.'),
  error: textOrNull('What was met first.'),
  errorCode: textOrNull('Its slug.'),
});

const health = object('ConnectionHealth', {
  ...stateFields,
  last24Hours: windowOf('The last 24 hours.'),
  last7Days: windowOf('The last seven days.'),
  last90Days: windowOf('The last 90 days.'),
  outages: listOf(outage, 'Those of the last 90 days, newest first, 200 at most.'),
  expiringKeys: listOf(
    Type.Object({ id: id(), name: text('Shown to people.'), expiresAt: dateTime('When it ends.') }),
    `API keys that may use it and end within ${KEY_NOTICE_DAYS} days.`,
  ),
});

const summary = component(
  'ConnectionHealthSummary',
  Type.Object({
    ...stateFields,
    availability: group(
      { last24Hours: availability(), last7Days: availability(), last90Days: availability() },
      'The shares for the last 24 hours, seven days and 90 days.',
    ),
    days: listOf(
      Type.Object({
        from: dateTime('When the day began.'),
        availability: availability(),
        downSeconds: count('For how long it was down.'),
      }),
      'As many as were asked for, oldest first; today is the last.',
    ),
  }),
);

const sampleState = {
  id: 'warehouse',
  name: 'Warehouse',
  type: 'sftp',
  isActive: true,
  state: 'up',
  downSince: null,
  watchedSince: TIME,
  checkedAt: LATER,
  reachedAt: LATER,
  error: null,
  errorCode: null,
  certificate: null,
  hostKey: { fingerprint: FINGERPRINT_EXAMPLE, algorithm: 'ssh-ed25519', since: TIME },
} as const;
const sampleWindow = { availability: 0.98, checks: 1440, failedChecks: 29, connectMs: 84.2, firstByteMs: 3.1 };

endpoint('GET /manage/connections/:id/health', {
  operationId: 'showConnectionHealth',
  summary: 'Show the health of a connection',
  description:
    'Availability, times and outages of the last 90 days, and what is about to expire. Checks run every `health.everySeconds`; operations count for outages too.',
  answer: {
    schema: health,
    example: {
      ...sampleState,
      last24Hours: sampleWindow,
      last7Days: sampleWindow,
      last90Days: sampleWindow,
      outages: [
        { from: TIME, to: LATER, error: 'sftp.example.com:22 refused the connection', errorCode: 'unreachable' },
      ],
      expiringKeys: [{ id: ID, name: 'ci', expiresAt: LATER }],
    },
  },
  errors: ['unknown_connection'],
}).handle(async ({ caller, params }, { storage }) => {
  const keysUntil = new Date(Date.now() + KEY_NOTICE_DAYS * DAY_MS);
  const facts = await storage.management.health.find(caller.accountId, params.id, keysUntil);
  if (facts === undefined) throw unknown('connection', params.id);
  const [day, week, quarter] = facts.windows.map(({ days: _, ...figures }) => figures) as [Figures, Figures, Figures];
  return {
    ...stateOf(facts.state),
    last24Hours: day,
    last7Days: week,
    last90Days: quarter,
    outages: facts.outages,
    expiringKeys: facts.expiringKeys,
  };
});

endpoint('GET /manage/health', {
  operationId: 'listConnectionHealth',
  summary: 'List the health of all connections',
  description:
    'The state and the availability of each, day by day where that is asked for, and what its server showed of itself.',
  query: Type.Object(
    {
      days: withDefault(
        Type.Integer({ minimum: 0, maximum: HEALTH_DAYS, description: 'How many of the last days.', examples: [90] }),
        0,
      ),
      timeZone: zoneField,
    },
    CLOSED,
  ),
  answer: {
    schema: object('ConnectionHealthList', { connections: listOf(summary, 'In the order in which they were made.') }),
    example: {
      connections: [
        {
          ...sampleState,
          availability: { last24Hours: 0.98, last7Days: 0.997, last90Days: 0.9998 },
          days: [{ from: TIME, availability: 0.98, downSeconds: 144 }],
        },
      ],
    },
  },
}).handle(async ({ caller, query: { days, timeZone } }, { storage }) => {
  const { health: kept } = storage.management;
  const now = new Date();
  const starts = days === 0 ? [] : lastDays(now, days, timeZone);
  const [states, down] = await Promise.all([
    kept.list(caller.accountId),
    days === 0 ? undefined : kept.downSeconds(caller.accountId, [...starts, now]),
  ]);
  return {
    connections: states.map((state) => {
      const [last24Hours = null, last7Days = null, last90Days = null] = state.availability;
      return {
        ...stateOf(state),
        availability: { last24Hours, last7Days, last90Days },
        days: starts.map((from, index) =>
          dayOf(state, from, starts[index + 1] ?? now, down?.get(state.id)?.[index] ?? 0),
        ),
      };
    }),
  };
});

/** If the connection was watched for only a part of the day, that part is the measure. */
function dayOf({ watchedSince, checkedAt }: ConnectionState, from: Date, until: Date, down: number) {
  const watchedFrom = Math.max(from.getTime(), watchedSince?.getTime() ?? Infinity);
  const seconds = (until.getTime() - watchedFrom) / 1000;
  const part = checkedAt === null || seconds <= 0 ? null : Math.max(0, 1 - Math.min(down, seconds) / seconds);
  return { from, availability: part, downSeconds: Math.round(down) };
}

type Figures = Omit<WindowFigures, 'days'>;

function stateOf({ availability: _, ...state }: ConnectionState) {
  const { isActive, downSince, checkedAt } = state;
  const word = downSince !== null ? 'down' : isActive && checkedAt !== null ? 'up' : 'unknown';
  return { ...state, state: word } as const;
}
