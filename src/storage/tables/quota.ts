import { GatewayError } from '../../base/errors.js';
import type { Database } from '../postgres/database.js';
import { exchangeActions } from './history-statements.js';

interface Waiter {
  readonly resolve: (granted: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** The state of one account under one limit, while it is busy. */
interface Busy {
  readonly accountId: string;
  readonly limit: number;
  waiters: Waiter[];
  isAsking: boolean;
  /** Actions taken since the last statement began, at `askedAt`. */
  taken: number;
  askedAt: number;
  /** Actions of this month held in advance, and until when. */
  unspent: number;
  month: string;
  goodUntil: number;
  /** Set after the last statement, while none runs. */
  timer?: NodeJS.Timeout;
}

/**
 * How long actions held in advance stay valid. Unspent ones are given back soon, and long before a node that is cut off
 * counts as dead and the account gets its actions back.
 */
const AHEAD_MS = 250;

/**
 * Monthly actions of limited plans, exact over all nodes. The actions that nodes hold and those that the history has
 * recorded together never exceed the limit; a batch of the history turns held actions into recorded ones. Simultaneous
 * callers of one account share a statement. A busy node takes in advance what it will need in the next moment, while
 * there are plenty.
 */
export class MonthlyQuota {
  readonly #database: Database;
  readonly #nodeId: string;
  readonly #busy = new Map<string, Busy>();

  constructor(database: Database, nodeId: string) {
    this.#database = database;
    this.#nodeId = nodeId;
  }

  /**
   * Takes one action of the account's month (UTC). limit 0 = unlimited, answered without a round trip (the history row
   * counts it). quota_exceeded with retryAfterMs until the next month.
   */
  async take(accountId: string, limit: number): Promise<void> {
    if (limit === 0) return;
    const busy = this.#busyOf(accountId, limit);
    if (this.#spend(busy)) return;
    if (await this.#ask(busy)) return;
    const now = new Date();
    const days = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 0)).getUTCDate();
    throw new GatewayError('quota_exceeded', `the ${limit} actions of this month are used up`, {
      retryAfterMs: msToNextMonth(now),
      limit: { name: 'month', quota: limit, windowSeconds: days * 24 * 60 * 60 },
    });
  }

  /** Returns an action that was taken but is not recorded. */
  giveBack(accountId: string, limit: number): void {
    if (limit === 0) return;
    const busy = this.#busyOf(accountId, limit);
    const month = monthOf(new Date());
    // An action of a past month is dropped.
    if (busy.month !== '' && busy.month !== month) return;
    Object.assign(busy, { month, unspent: busy.unspent + 1, goodUntil: performance.now() + AHEAD_MS });
    if (!busy.isAsking) busy.timer ??= setTimeout(() => this.#rest(busy), AHEAD_MS).unref();
  }

  async used(accountId: string): Promise<number> {
    const month = monthOf(new Date());
    const row = await this.#database.first<{ used: number }>`
      select greatest(actions_taken, actions_recorded
        + (select coalesce(sum(value::bigint), 0) from jsonb_each_text(held)))::bigint as used
      from monthly_usage where account_id = ${accountId} and month = ${month}`;
    let unspent = 0;
    for (const busy of this.#busy.values()) {
      if (busy.accountId === accountId && busy.month === month) unspent += busy.unspent;
    }
    return Math.max(0, (row?.used ?? 0) - unspent);
  }

  #busyOf(accountId: string, limit: number): Busy {
    const key = `${accountId} ${limit}`;
    let busy = this.#busy.get(key);
    if (busy === undefined) {
      busy = {
        accountId,
        limit,
        waiters: [],
        isAsking: false,
        taken: 0,
        askedAt: 0,
        unspent: 0,
        month: '',
        goodUntil: 0,
      };
      this.#busy.set(key, busy);
    }
    return busy;
  }

  #spend(busy: Busy): boolean {
    if (busy.unspent === 0 || performance.now() > busy.goodUntil || busy.month !== monthOf(new Date())) return false;
    busy.unspent--;
    busy.taken++;
    return true;
  }

  #ask(busy: Busy): Promise<boolean> {
    return new Promise((resolve, reject) => {
      busy.waiters.push({ resolve, reject });
      if (!busy.isAsking) void this.#serve(busy);
    });
  }

  /** Never rejects. */
  async #serve(busy: Busy): Promise<void> {
    busy.isAsking = true;
    clearTimeout(busy.timer);
    do {
      const batch = busy.waiters;
      busy.waiters = [];
      try {
        const granted = await this.#exchange(busy, batch.length);
        batch.forEach((waiter, index) => waiter.resolve(index < granted));
      } catch (error) {
        for (const waiter of batch) waiter.reject(error);
      }
    } while (busy.waiters.length > 0);
    busy.isAsking = false;
    busy.timer = setTimeout(() => this.#rest(busy), AHEAD_MS).unref();
  }

  /** Returns unspent actions; forgets an idle account. */
  #rest(busy: Busy): void {
    if (busy.unspent > 0) void this.#serve(busy);
    else this.#busy.delete(`${busy.accountId} ${busy.limit}`);
  }

  /** Resolves to the number of granted actions. */
  async #exchange(busy: Busy, wanted: number): Promise<number> {
    const { accountId, limit, nodeId } = { ...busy, nodeId: this.#nodeId };
    const month = monthOf(new Date());
    // Actions of a past month are dropped.
    const returned = busy.month === month ? busy.unspent : 0;
    const now = performance.now();
    const ahead = wanted === 0 ? 0 : Math.ceil((busy.taken * AHEAD_MS) / Math.max(AHEAD_MS, now - busy.askedAt));
    Object.assign(busy, { month, unspent: 0, taken: 0, askedAt: now });
    const asked = { accountId, month, nodeId, limit, returned, wanted, ahead };
    const granted = await this.#database.run((sql) => exchangeActions(sql, asked));
    busy.taken += Math.min(granted, wanted);
    // Actions may have been given back meanwhile.
    busy.unspent += Math.max(0, granted - wanted);
    busy.goodUntil = performance.now() + AHEAD_MS;
    return granted;
  }
}

function monthOf(time: Date): string {
  return `${time.toISOString().slice(0, 7)}-01`;
}

function msToNextMonth(time: Date): number {
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1, 1) - time.getTime();
}
