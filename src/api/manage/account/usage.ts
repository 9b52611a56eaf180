/** The month against the plan and where it is heading; today, and what needs a person. */
import { type Static, Type } from 'typebox';
import type { Caller } from '../../../base/caller.js';
import { count, dateTime, dateTimeOrNull, group, listOf, object, oneOf, text } from '../../../base/schema.js';
import type { DayFigures } from '../../../storage/storage.js';
import { LATER, TIME } from '../fields.js';
import { type ManageServices, ownerEndpoints } from '../services.js';

const endpoint = ownerEndpoints('Account');

const DAY_MS = 86_400_000;
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

async function usageOf(
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

function startOfDay(time: Date): number {
  return Math.floor(time.getTime() / DAY_MS) * DAY_MS;
}

const EXPIRY_WARNING_DAYS = 7;
const QUOTA_WARNING = 0.8;

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
          kind: oneOf(
            [
              'connection_failing',
              'watched_folder_failing',
              'schedule_stopped',
              'dead_letters',
              'copies_failed',
              'key_expiring',
              'quota',
            ],
            'What it is about.',
          ),
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
}).handle(async ({ caller }, services) => {
  const { figures } = services.storage.management;
  const now = new Date();
  const [hours, pending, failing, expiring, usage, watch, stopped] = await Promise.all([
    figures.hours(caller.accountId, now),
    figures.pending(caller.accountId),
    figures.failingConnections(caller.accountId, now),
    figures.expiringKeys(caller.accountId, new Date(now.getTime() + EXPIRY_WARNING_DAYS * DAY_MS)),
    usageOf(services, caller, now),
    figures.watchTrouble(caller.accountId, now),
    figures.stoppedSchedules(caller.accountId),
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
    attention: [
      ...failing.map(({ connectionId, name, error }) => ({
        kind: 'connection_failing' as const,
        text: `Connection "${name}" fails: ${error ?? 'no reason is known'}`,
        connectionId,
      })),
      ...watch.failing.map(({ id, name, error }) => ({
        kind: 'watched_folder_failing' as const,
        text: `Checks of the watched folder "${name}" fail: ${error ?? 'no reason is known'}`,
        watchedFolderId: id,
      })),
      ...stopped.map(({ id, name, error }) => ({
        kind: 'schedule_stopped' as const,
        text: `The schedule "${name}" has stopped: ${error}`,
        scheduleId: id,
      })),
      ...(watch.deadLetters === 0 ? [] : [{ kind: 'dead_letters' as const, text: deadLettersText(watch.deadLetters) }]),
      ...(watch.failedCopies === 0 ? [] : [{ kind: 'copies_failed' as const, text: copiesText(watch.failedCopies) }]),
      ...expiring.map(({ id, name, expiresAt }) => ({
        kind: 'key_expiring' as const,
        text: `API key "${name}" expires at ${expiresAt.toISOString()}`,
        apiKeyId: id,
      })),
      ...(isShort(usage)
        ? [{ kind: 'quota' as const, text: `${usage.used} of the ${usage.limit} actions of this month are used` }]
        : []),
    ],
  };
});

function deadLettersText(count: number): string {
  return `${count} webhook ${count === 1 ? 'event' : 'events'} could not be delivered`;
}

function copiesText(count: number): string {
  return `${count} ${count === 1 ? 'file' : 'files'} of watched folders could not be copied`;
}

function isShort({ used, limit, runsOutAt }: Awaited<ReturnType<typeof usageOf>>): boolean {
  return limit > 0 && (used >= limit * QUOTA_WARNING || runsOutAt !== null);
}
