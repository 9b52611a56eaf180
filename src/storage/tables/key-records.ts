/** API keys as requests need them: their rights, and the time of their last use. */
import type { Caller } from '../../base/caller.js';
import { type Queryable, templateIn } from '../postgres/sql.js';

/** The rights of a request with this key. */
export interface ApiKeyRecord extends Caller {
  readonly allowedIps: readonly string[];
  readonly expiresAt: Date | null;
}

/** The current rights of the account `a` and the API key `k`. */
export const HOLDER = templateIn('a.email, a.plan, k.scopes, k.connection_ids as connections');

/** Joins both to the rows of `table`; a key that is no longer valid is missing. */
export const holdersOf = (table: string) =>
  templateIn(`join accounts a on a.id = ${table}.account_id left join api_keys k on k.id = ${table}.key_id
    and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`);

/** The columns of a record, of the API key `k` and its account `a`. */
export function recordColumns(sql: Queryable) {
  return sql`k.account_id, k.id as key_id, ${sql(HOLDER)}, k.allowed_ips, k.expires_at`;
}

const TOUCH_EVERY_MS = 60_000;
const TOUCH_DELAY_MS = 1000;

/** The uses of API keys, whichever secret a request came with. */
export class KeyUses {
  readonly #store: (keyIds: readonly string[]) => Promise<void>;
  readonly #touchedAt = new Map<string, number>();
  #toTouch = new Set<string>();
  #touchTimer: NodeJS.Timeout | undefined;

  /** `store` writes that these keys are used now. */
  constructor(store: (keyIds: readonly string[]) => Promise<void>) {
    this.#store = store;
  }

  /** Records a use; false for a key that has expired. */
  note({ keyId, expiresAt }: ApiKeyRecord): boolean {
    const now = Date.now();
    if (expiresAt !== null && expiresAt.getTime() <= now) return false;
    if (now - (this.#touchedAt.get(keyId) ?? 0) >= TOUCH_EVERY_MS) this.#touch(keyId, now);
    return true;
  }

  async close(): Promise<void> {
    clearTimeout(this.#touchTimer);
    await this.#writeTouches();
  }

  /**
   * Stores the last use without delaying the request: one write for all keys used within a second, at most once a
   * minute per key.
   */
  #touch(keyId: string, now: number): void {
    this.#touchedAt.set(keyId, now);
    this.#toTouch.add(keyId);
    this.#touchTimer ??= setTimeout(() => void this.#writeTouches(), TOUCH_DELAY_MS).unref();
  }

  async #writeTouches(): Promise<void> {
    this.#touchTimer = undefined;
    const ids = [...this.#toTouch];
    this.#toTouch = new Set();
    if (ids.length === 0) return;
    // The time of the last use must not fail a request: it is lost while the database is away, and written a minute
    // later.
    await this.#store(ids).catch(() => undefined);
  }
}
