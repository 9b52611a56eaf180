/** The account at a glance: itself, today, the month against the plan, its sessions, the audit log. */
import { ACCOUNT_BUDGETS } from '../../budgets/budgets.js';
import { json } from '../../http/answer.js';
import type { HttpAnswer, RequestContext } from '../../http/types.js';
import type { DayFigures } from '../../storage/tables/figures.js';
import { cursorOf, type ManageServices, unknownItem } from './services.js';

const DAY_MS = 86_400_000;
/** The forecast goes by the mean of so many days. */
const TREND_DAYS = 7;
const EXPIRY_WARNING_DAYS = 7;
const QUOTA_WARNING = 0.8;

export async function showAccount(services: ManageServices, { caller }: RequestContext): Promise<HttpAnswer> {
  const { storage } = services;
  const [owner, connections, transfers] = await Promise.all([
    storage.management.credentials.find(caller.accountId),
    storage.connections.count(caller.accountId),
    storage.history.count(caller.accountId),
  ]);
  if (owner === undefined) throw unknownItem('account', caller.accountId);
  return json(200, {
    id: owner.accountId,
    email: owner.email,
    plan: owner.plan,
    createdAt: owner.createdAt,
    limits: services.planOf(owner.plan),
    connections,
    transfers,
    hasPassword: owner.hasPassword,
    totp: { isEnabled: owner.isTotpEnabled, recoveryCodesLeft: owner.recoveryCodesLeft },
  });
}

export async function showOverview(services: ManageServices, { caller }: RequestContext): Promise<HttpAnswer> {
  const { figures } = services.storage.management;
  const now = new Date();
  const [hours, pending, failing, expiring, usage, watch] = await Promise.all([
    figures.hours(caller.accountId, now),
    figures.pending(caller.accountId),
    figures.failingConnections(caller.accountId, now),
    figures.expiringKeys(caller.accountId, new Date(now.getTime() + EXPIRY_WARNING_DAYS * DAY_MS)),
    usageOf(services, caller.accountId, caller.plan, now),
    figures.watchTrouble(caller.accountId),
  ]);
  const midnight = startOfDay(now);
  const today = hours.filter(({ from }) => from.getTime() >= midnight);
  const sum = (pick: (hour: (typeof hours)[number]) => number): number =>
    today.reduce((total, hour) => total + pick(hour), 0);
  return json(200, {
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
        kind: 'connection_failing',
        text: `Connection "${name}" fails: ${error ?? 'no reason is known'}`,
        connectionId,
      })),
      ...watch.failing.map(({ id, name, error }) => ({
        kind: 'watched_folder_failing',
        text: `Checks of the watched folder "${name}" fail: ${error ?? 'no reason is known'}`,
        watchedFolderId: id,
      })),
      ...(watch.deadLetters === 0 ? [] : [{ kind: 'dead_letters', text: deadLettersText(watch.deadLetters) }]),
      ...expiring.map(({ id, name, expiresAt }) => ({
        kind: 'key_expiring',
        text: `API key "${name}" expires at ${expiresAt.toISOString()}`,
        apiKeyId: id,
      })),
      ...(isShort(usage)
        ? [{ kind: 'quota', text: `${usage.used} of the ${usage.limit} actions of this month are used` }]
        : []),
    ],
  });
}

export async function showUsage(services: ManageServices, { caller }: RequestContext): Promise<HttpAnswer> {
  return json(200, await usageOf(services, caller.accountId, caller.plan, new Date()));
}

export async function showPools(services: ManageServices, { caller }: RequestContext): Promise<HttpAnswer> {
  const { storage, remotes } = services;
  const listed = await storage.connections.list(caller.accountId);
  const opened = await Promise.all(listed.map(({ id }) => storage.connections.find(caller.accountId, id)));
  const pools = new Map<string, { gauge: object; connectionIds: string[] }>();
  for (const connection of opened) {
    const found = connection === undefined ? undefined : remotes.gaugeOf(connection);
    if (connection === undefined || found === undefined) continue;
    const { key, ...gauge } = found;
    const pool = pools.get(key) ?? { gauge, connectionIds: [] };
    pool.connectionIds.push(connection.id);
    pools.set(key, pool);
  }
  return json(200, {
    pools: [...pools.values()].map(({ gauge, connectionIds }) => ({ ...gauge, connectionIds })),
    shares: ACCOUNT_BUDGETS.map((name) => {
      const budget = services.budgets[name];
      return { name, capacity: budget.gauge.capacity, ...budget.of(caller.accountId) };
    }),
  });
}

export async function listAudit({ storage }: ManageServices, { caller, query }: RequestContext): Promise<HttpAnswer> {
  const { limit, action } = query as { readonly limit: number; readonly action?: string };
  const cursor = cursorOf(query);
  const entries = await storage.management.audit.list(caller.accountId, {
    limit,
    ...(cursor === undefined ? {} : { cursor }),
    ...(action === undefined ? {} : { action }),
  });
  return json(200, { entries, nextCursor: entries.length === limit ? (entries.at(-1)?.id ?? null) : null });
}

interface Usage {
  readonly plan: string;
  readonly month: string;
  readonly used: number;
  readonly limit: number;
  readonly forecast: number;
  readonly runsOutAt: Date | null;
  readonly days: readonly DayFigures[];
  readonly connections: { readonly used: number; readonly limit: number };
}

async function usageOf(
  { storage, planOf }: ManageServices,
  accountId: string,
  plan: string,
  now: Date,
): Promise<Usage> {
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

function deadLettersText(count: number): string {
  return `${count} webhook ${count === 1 ? 'event' : 'events'} could not be delivered`;
}

function isShort({ used, limit, runsOutAt }: Usage): boolean {
  return limit > 0 && (used >= limit * QUOTA_WARNING || runsOutAt !== null);
}

function startOfDay(time: Date): number {
  return Math.floor(time.getTime() / DAY_MS) * DAY_MS;
}
