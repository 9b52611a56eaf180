/** The actions of the month compared with the plan, and their forecast. */
import { Type } from 'typebox';
import { monthOf } from '../../attention/month.js';
import { count, dateTimeOrNull, group, listOf, object, text } from '../../contract/schema.js';
import { LATER } from '../../contract/examples.js';
import { endpoints } from '../endpoint.js';

const endpoint = endpoints('Account');
export const usageEndpoints = endpoint.all;

const usage = object('Usage', {
  plan: text('Name of the plan.'),
  month: text('YYYY-MM, UTC.', { pattern: '^\\d{4}-\\d{2}$' }),
  used: count('Actions of this month.'),
  limit: count('Actions of the plan a month; 0 = unlimited.'),
  forecast: count('The total of the month if it continues like the last seven days.'),
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

endpoint('GET /manage/usage', {
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
}).handle(async ({ caller }, { storage, operations }) => {
  const limits = operations.planOf(caller);
  const [month, connections] = await Promise.all([
    monthOf(storage, caller.accountId, limits.monthlyActions, new Date()),
    storage.connections.count(caller.accountId),
  ]);
  return { plan: caller.plan, ...month, connections: { used: connections, limit: limits.connections } };
});
