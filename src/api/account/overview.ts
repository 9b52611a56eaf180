/** Today, and what needs attention, worst first. */
import { Type } from 'typebox';
import { findAttention } from '../../attention/find.js';
import { factsOf, idsOf, isUrgent, wordsOf } from '../../attention/items.js';
import { ATTENTION_KINDS, type AttentionItem } from '../../contract/attention.js';
import { attentionIds } from '../../contract/event.js';
import {
  count,
  countOrNull,
  dateTime,
  dateTimeOrNull,
  group,
  listOf,
  object,
  oneOf,
  text,
  textOrNull,
} from '../../contract/schema.js';
import { CLOSED } from '../fields.js';
import { TIME } from '../../contract/examples.js';
import { DAY_HOURS, lastDays, lastHours, sums, zoneField } from './figures.js';
import { endpoints } from '../endpoint.js';

const endpoint = endpoints('Account');
export const overviewEndpoints = endpoint.all;

const trouble = group(
  {
    kind: oneOf(ATTENTION_KINDS, 'What it is about.'),
    severity: oneOf(['bad', 'warn'], '`bad` = something does not work now; `warn` = it soon will not.'),
    text: text('In words.'),
    name: textOrNull('Name of what it is about; null where it is about none.'),
    error: textOrNull('The error that was met.'),
    errorCode: textOrNull('The code of the error; null where none is known.'),
    count: countOrNull('How many there are, or actions that are used; null where nothing is counted.'),
    limit: countOrNull('Actions of the plan a month; null where it is about something else.'),
    at: dateTimeOrNull('When it was due, or when it ends; null where it has no time.'),
    ...attentionIds,
  },
  'One thing.',
);

endpoint('GET /manage/overview', {
  operationId: 'showOverview',
  summary: 'Show today',
  description: 'Sums of today, the last 24 hours, oldest first, and what needs attention, worst first.',
  query: Type.Object({ timeZone: zoneField }, CLOSED),
  answer: {
    schema: object('Overview', {
      today: group(
        {
          transfers: count('Operations, those that run included.'),
          failed: sums.failed,
          pending: count('Those that run now.'),
          lookups: sums.lookups,
          failedLookups: sums.failedLookups,
          bytesIn: sums.bytesIn,
          bytesOut: sums.bytesOut,
          from: dateTime('When the day began.'),
        },
        'Sums of today, by the clocks of the zone.',
      ),
      hours: listOf(
        Type.Object({
          from: dateTime('Begin of the hour.'),
          transfers: count('Operations that have ended.'),
          failed: sums.failed,
          bytes: count('Bytes moved.'),
        }),
        'The last 24 hours, oldest first.',
      ),
      attention: listOf(trouble, 'What needs attention, worst first.'),
    }),
    example: {
      today: {
        transfers: 120,
        failed: 2,
        pending: 1,
        lookups: 20,
        failedLookups: 0,
        bytesIn: 1024,
        bytesOut: 4096,
        from: TIME,
      },
      hours: [{ from: TIME, transfers: 5, failed: 0, bytes: 1024 }],
      attention: [
        {
          kind: 'connection_failing',
          severity: 'bad',
          text: 'Connection "Warehouse" fails: login refused',
          name: 'Warehouse',
          error: 'login refused',
          errorCode: 'login_refused',
          count: null,
          limit: null,
          at: null,
          connectionId: 'warehouse',
        },
      ],
    },
  },
}).handle(async ({ caller, query: { timeZone } }, { storage, operations }) => {
  const { figures } = storage.management;
  const { accountId, plan } = caller;
  const now = new Date();
  const hourStarts = lastHours(now, DAY_HOURS);
  const [midnight = now] = lastDays(now, 1, timeZone);
  const [hours, [sums = NOTHING], pending, attention] = await Promise.all([
    figures.sums(accountId, hourStarts),
    figures.sums(accountId, [midnight]),
    figures.pending(accountId, midnight),
    findAttention(storage, { accountId, monthlyActions: operations.planOf({ plan }).monthlyActions }, now),
  ]);
  return {
    today: {
      transfers: sums.transfers + pending.today,
      failed: sums.failed,
      pending: pending.all,
      lookups: sums.lookups,
      failedLookups: sums.failedLookups,
      bytesIn: sums.bytesIn,
      bytesOut: sums.bytesOut,
      from: midnight,
    },
    hours: hours.map(({ transfers, failed, bytesIn, bytesOut }, index) => ({
      from: hourStarts[index] ?? now,
      transfers,
      failed,
      bytes: bytesIn + bytesOut,
    })),
    attention: attention.map(troubleOf),
  };
});

const NOTHING = { transfers: 0, failed: 0, lookups: 0, failedLookups: 0, bytesIn: 0, bytesOut: 0 };

function troubleOf(item: AttentionItem) {
  const severity = isUrgent(item) ? 'bad' : 'warn';
  return { kind: item.kind, severity, text: wordsOf(item), ...factsOf(item), ...idsOf(item) } as const;
}
