import { GatewayError } from '../../base/errors.js';
import { isConflict } from '../postgres/errors.js';
import type { Database } from '../postgres/database.js';
import { takeActions } from './history-statements.js';

interface Waiter {
  readonly resolve: (granted: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** The takers of one account while a statement of theirs is under way. */
interface Queue {
  waiters: Waiter[];
}

const MAX_CONFLICTS = 5;

/** Monthly actions of limited plans. Takers of one account that meet share a statement, as in the history. */
export class MonthlyQuota {
  readonly #queues = new Map<string, Queue>();

  constructor(private readonly database: Database) {}

  /**
   * Takes one action of the account's month (UTC). limit 0 = unlimited, answered without a round trip (the history row
   * counts it). quota_exceeded with retryAfterMs until the next month.
   */
  async take(accountId: string, limit: number): Promise<void> {
    if (limit === 0) return;
    if (await this.#taken(accountId, limit)) return;
    const now = new Date();
    const days = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 0)).getUTCDate();
    throw new GatewayError('quota_exceeded', `the ${limit} actions of this month are used up`, {
      retryAfterMs: msToNextMonth(now),
      limit: { name: 'month', quota: limit, windowSeconds: days * 24 * 60 * 60 },
    });
  }

  async used(accountId: string): Promise<number> {
    const row = await this.database.first<{ used: number }>`
      select greatest(actions_taken, actions_recorded) as used from monthly_usage
      where account_id = ${accountId} and month = ${monthOf(new Date())}`;
    return row?.used ?? 0;
  }

  #taken(accountId: string, limit: number): Promise<boolean> {
    const key = `${accountId} ${limit}`;
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(key);
      if (queue !== undefined) {
        queue.waiters.push({ resolve, reject });
        return;
      }
      const fresh: Queue = { waiters: [{ resolve, reject }] };
      this.#queues.set(key, fresh);
      void this.#serve(key, fresh, accountId, limit);
    });
  }

  /** Never rejects. */
  async #serve(key: string, queue: Queue, accountId: string, limit: number): Promise<void> {
    while (queue.waiters.length > 0) {
      const batch = queue.waiters;
      queue.waiters = [];
      try {
        const granted = await this.#grant(accountId, batch.length, limit);
        batch.forEach((waiter, index) => waiter.resolve(index < granted));
      } catch (error) {
        for (const waiter of batch) waiter.reject(error);
      }
    }
    this.#queues.delete(key);
  }

  async #grant(accountId: string, wanted: number, limit: number, conflicts = 0): Promise<number> {
    try {
      return await this.database.run((sql) => takeActions(sql, accountId, monthOf(new Date()), wanted, limit));
    } catch (error) {
      if (!isConflict(error) || conflicts === MAX_CONFLICTS) throw error;
      return this.#grant(accountId, wanted, limit, conflicts + 1);
    }
  }
}

function monthOf(time: Date): string {
  return `${time.toISOString().slice(0, 7)}-01`;
}

function msToNextMonth(time: Date): number {
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1, 1) - time.getTime();
}
