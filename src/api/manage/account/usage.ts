/** The month against the plan, and where it is heading. */
import { Type, type Static } from 'typebox';
import type { Caller } from '../../../base/caller.js';
import { count, dateTimeOrNull, group, listOf, object, text } from '../../../base/schema.js';
import type { DayFigures } from '../../../storage/storage.js';
import { LATER } from '../fields.js';
import { type ManageServices, ownerEndpoints } from '../services.js';

const endpoint = ownerEndpoints('Account');

export const DAY_MS = 86_400_000;
/** The forecast goes by the mean of so many days. */
const TREND_DAYS = 7;

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
}).handle(async ({ caller }, services) => {
  return usageOf(services, caller, new Date());
});

export async function usageOf(
  { storage, planOf }: ManageServices,
  { accountId, plan }: Pick<Caller, 'accountId' | 'plan'>,
  now: Date,
): Promise<Static<typeof usage>> {
  const month = now.toISOString().slice(0, 7);
  const limits = planOf(plan);
  const [used, days, connections] = await Promise.all([
    storage.quota.used(accountId),
    storage.management.figures.days(accountId, month),
    storage.connections.count(accountId),
  ]);
  return {
    plan,
    month,
    used,
    limit: limits.monthlyActions,
    ...forecast(used, limits.monthlyActions, days, now),
    days,
    connections: { used: connections, limit: limits.connections },
  };
}

/**
 * What the month comes to when it goes on as in the last days: used + their mean × the days left. On the first day the
 * day itself is all there is to go by.
 */
export function forecast(
  used: number,
  limit: number,
  days: readonly DayFigures[],
  now: Date,
): { readonly forecast: number; readonly runsOutAt: Date | null } {
  const [monthStart, monthEnd] = [
    Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1),
    Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1),
  ];
  const from = Math.max(monthStart, startOfDay(now) - (TREND_DAYS - 1) * DAY_MS);
  const firstDay = new Date(from).toISOString().slice(0, 10);
  const recent = days.filter(({ day }) => day >= firstDay).reduce((sum, { actions }) => sum + actions, 0);
  const perMs = recent / Math.max(now.getTime() - from, DAY_MS / 24);
  const total = Math.round(used + perMs * (monthEnd - now.getTime()));
  if (limit === 0 || perMs === 0) return { forecast: total, runsOutAt: null };
  const runsOut = used >= limit ? now.getTime() : now.getTime() + (limit - used) / perMs;
  return { forecast: total, runsOutAt: runsOut < monthEnd ? new Date(runsOut) : null };
}

export function startOfDay(time: Date): number {
  return Math.floor(time.getTime() / DAY_MS) * DAY_MS;
}
