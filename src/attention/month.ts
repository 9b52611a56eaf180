/** The actions of an account in this month, compared with its plan, and their forecast. */
import type { DayFigures, Figures, Quota } from '../storage/storage.js';
import { DAY_MS } from '../contract/units.js';

/** The forecast uses the mean of this many days. */
const TREND_DAYS = 7;

export interface Month {
  /** YYYY-MM, UTC. */
  readonly month: string;
  readonly used: number;
  /** 0 = unlimited. */
  readonly limit: number;
  readonly forecast: number;
  readonly runsOutAt: Date | null;
  readonly days: readonly DayFigures[];
}

export interface MonthStorage {
  readonly quota: Pick<Quota, 'used'>;
  readonly management: { readonly figures: Pick<Figures, 'days'> };
}

export async function monthOf(
  { quota, management }: MonthStorage,
  accountId: string,
  limit: number,
  now: Date,
): Promise<Month> {
  const month = now.toISOString().slice(0, 7);
  const [used, days] = await Promise.all([quota.used(accountId), management.figures.days(accountId, month)]);
  return { month, used, limit, ...forecast(used, limit, days, now), days };
}

/**
 * The total of the month if it continues as in the last days: used + their mean × the days left. On the first day only
 * the day itself is known.
 */
function forecast(
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

/** In UTC, in milliseconds. */
function startOfDay(time: Date): number {
  return Math.floor(time.getTime() / DAY_MS) * DAY_MS;
}
