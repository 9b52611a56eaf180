/** The month against the plan and where it is heading; today, and what needs a person. */
import { Type } from 'typebox';
import { findAttention } from '../../../attention/find.js';
import { ATTENTION_KINDS, idsOf } from '../../../attention/items.js';
import { monthOf, startOfDay } from '../../../attention/month.js';
import { wordsOf } from '../../../attention/words.js';
import { count, dateTime, dateTimeOrNull, group, listOf, object, oneOf, text } from '../../../base/schema.js';
import { LATER, TIME } from '../fields.js';
import { ownerEndpoints } from '../services.js';

const endpoint = ownerEndpoints('Account');

const usage = object('Usage', {
  plan: text('Name of the plan.'),
  month: text('YYYY-MM, UTC.', { pattern: '^\\d{4}-\\d{2}$' }),
  used: count('Actions of this month.'),
  limit: count('Actions of the plan a month; 0 = unlimited.'),
  forecast: count('What the month comes to when it goes on like the last seven days.'),
  runsOutAt: dateTimeOrNull('When the actions will be used up; null = not this month.'),
  days: listOf(
    Type.Object({
      day: text('YYYY-MM-DD, UTC.', { format: 'date' }),
      actions: count('Actions of the day.'),
      failed: count('Operations that failed.'),
    }),
    'Days of the month that have any, in order.',
  ),
  connections: group(
    { used: count('Connections of the account.'), limit: count('Connections of the plan; 0 = unlimited.') },
    'Connections against the plan.',
  ),
});

export const showUsage = endpoint('GET /manage/usage', {
  operationId: 'showUsage',
  summary: 'Show the month',
  description: 'Actions of this month (UTC) against the plan, and where the month is heading. `limit` 0 is unlimited.',
  answer: {
    schema: usage,
    example: {
      plan: 'free',
      month: '2026-01',
      used: 640,
      limit: 1000,
      forecast: 1210,
      runsOutAt: LATER,
      days: [{ day: '2026-01-31', actions: 20, failed: 1 }],
      connections: { used: 1, limit: 1 },
    },
  },
}).handle(async ({ caller }, { storage, planOf }) => {
  const limits = planOf(caller.plan);
  const [month, connections] = await Promise.all([
    monthOf(storage, caller.accountId, limits.monthlyActions, new Date()),
    storage.connections.count(caller.accountId),
  ]);
  return { plan: caller.plan, ...month, connections: { used: connections, limit: limits.connections } };
});

export const showOverview = endpoint('GET /manage/overview', {
  operationId: 'showOverview',
  summary: 'Show today',
  description: 'Sums of today (UTC), the last 24 hours, oldest first, and what needs a person.',
  answer: {
    schema: object('Overview', {
      today: group(
        {
          transfers: count('Operations.'),
          failed: count('Those that failed.'),
          pending: count('Those that run now.'),
          bytesIn: count('Bytes read from remote servers.'),
          bytesOut: count('Bytes sent to remote servers.'),
        },
        'Sums of today, UTC.',
      ),
      hours: listOf(
        Type.Object({
          from: dateTime('Begin of the hour.'),
          transfers: count('Operations.'),
          failed: count('Those that failed.'),
          bytes: count('Bytes moved.'),
        }),
        'The last 24 hours, oldest first.',
      ),
      attention: listOf(
        Type.Object({
          kind: oneOf(ATTENTION_KINDS, 'What it is about.'),
          text: text('In words.'),
          connectionId: Type.Optional(text('The connection, where it is about one.')),
          watchedFolderId: Type.Optional(text('The watched folder, where it is about one.')),
          scheduleId: Type.Optional(text('The schedule, where it is about one.')),
          apiKeyId: Type.Optional(text('The API key, where it is about one.')),
        }),
        'What needs a person.',
      ),
    }),
    example: {
      today: { transfers: 120, failed: 2, pending: 1, bytesIn: 1024, bytesOut: 4096 },
      hours: [{ from: TIME, transfers: 5, failed: 0, bytes: 1024 }],
      attention: [
        { kind: 'connection_failing', text: 'Connection "Warehouse" fails: login refused', connectionId: 'warehouse' },
      ],
    },
  },
}).handle(async ({ caller }, { storage, planOf }) => {
  const { figures } = storage.management;
  const now = new Date();
  const { monthlyActions } = planOf(caller.plan);
  const [hours, pending, attention] = await Promise.all([
    figures.hours(caller.accountId, now),
    figures.pending(caller.accountId),
    findAttention(storage, { accountId: caller.accountId, monthlyActions }, now),
  ]);
  const midnight = startOfDay(now);
  const today = hours.filter(({ from }) => from.getTime() >= midnight);
  const sum = (pick: (hour: (typeof hours)[number]) => number): number =>
    today.reduce((total, hour) => total + pick(hour), 0);
  return {
    today: {
      transfers: sum((hour) => hour.transfers),
      failed: sum((hour) => hour.failed),
      pending,
      bytesIn: sum((hour) => hour.bytesIn),
      bytesOut: sum((hour) => hour.bytesOut),
    },
    hours: hours.map(({ from, transfers, failed, bytesIn, bytesOut }) => ({
      from,
      transfers,
      failed,
      bytes: bytesIn + bytesOut,
    })),
    attention: attention.map((item) => ({ kind: item.kind, text: wordsOf(item), ...idsOf(item) })),
  };
});
