import { v7 as uuidv7 } from 'uuid';
import type { AccountConfig } from '../../config/config.js';
import { GatewayError } from '../../base/errors.js';
import type { Scope } from '../../base/caller.js';
import { generateApiKey, hashApiKey, isPlausibleKey } from './api-key.js';
import { CachedLookup } from './cached-lookup.js';
import { errorCodeOf, UNIQUE_VIOLATION } from '../postgres/database-errors.js';
import type { Database } from '../postgres/database.js';
import type { Accounts, ApiKeyRecord } from '../storage.js';

const TOUCH_EVERY_MS = 60_000;
const TOUCH_DELAY_MS = 1000;

interface KeyRow {
  readonly id: string;
  readonly account_id: string;
  readonly email: string;
  readonly plan: string;
  readonly scopes: Scope[];
  readonly connection_ids: string[];
  readonly allowed_ips: string[];
  readonly expires_at: Date | null;
}

export class AccountStore implements Accounts {
  readonly #database: Database;
  readonly #provision: Accounts['provision'];
  readonly #lookup = new CachedLookup<ApiKeyRecord>((hash) => this.#load(hash));
  readonly #touchedAt = new Map<string, number>();
  #toTouch = new Set<string>();
  #touchTimer: NodeJS.Timeout | undefined;

  constructor(database: Database, provision: Accounts['provision']) {
    this.#database = database;
    this.#provision = provision;
  }

  async findKey(key: string): Promise<ApiKeyRecord | undefined> {
    if (!isPlausibleKey(key)) return undefined;
    const record = await this.#lookup.find(hashApiKey(key).toString('base64'));
    if (record === undefined) return undefined;
    const now = Date.now();
    if (record.expiresAt !== null && record.expiresAt.getTime() <= now) return undefined;
    if (now - (this.#touchedAt.get(record.keyId) ?? 0) >= TOUCH_EVERY_MS) this.#touch(record.keyId, now);
    return record;
  }

  async provision(accounts: readonly AccountConfig[], sandboxId?: string): Promise<void> {
    await this.#provision(accounts, sandboxId);
    this.forgetKeys();
  }

  /** The next find of any key asks the database; other nodes do within a second. */
  forgetKeys(): void {
    this.#lookup.clear();
  }

  async createKey(accountId: string, key: Parameters<Accounts['createKey']>[1]): Promise<string> {
    const text = generateApiKey();
    try {
      await this.#database.run(
        (sql) => sql`
          insert into api_keys (id, account_id, name, key_hash, scopes, connection_ids, allowed_ips, expires_at)
          values (${uuidv7()}, ${accountId}, ${key.name}, ${hashApiKey(text)}, ${sql.types.texts(key.scopes)},
                  ${sql.types.texts(key.connections)}, ${sql.types.texts(key.allowedIps)}, ${key.expiresAt})`,
      );
    } catch (error) {
      if (errorCodeOf(error) !== UNIQUE_VIOLATION) throw error;
      throw new GatewayError('already_exists', `name: the account has an API key called "${key.name}" already`);
    }
    return text;
  }

  async count(): Promise<number> {
    const rows = await this.#database.run((sql) => sql<{ count: number }[]>`select count(*) from accounts`);
    return rows[0]?.count ?? 0;
  }

  async has(email: string): Promise<boolean> {
    const rows = await this.#database.run((sql) => sql`select 1 from accounts where lower(email) = lower(${email})`);
    return rows.length > 0;
  }

  async close(): Promise<void> {
    clearTimeout(this.#touchTimer);
    await this.#writeTouches();
  }

  async #load(hash: string): Promise<ApiKeyRecord | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<KeyRow[]>`
        select k.id, k.account_id, a.email, a.plan, k.scopes, k.connection_ids, k.allowed_ips, k.expires_at
        from api_keys k join accounts a on a.id = k.account_id
        where k.key_hash = ${Buffer.from(hash, 'base64')} and k.revoked_at is null`,
    );
    if (row === undefined) return undefined;
    return {
      accountId: row.account_id,
      email: row.email,
      plan: row.plan,
      keyId: row.id,
      scopes: row.scopes,
      connections: row.connection_ids,
      allowedIps: row.allowed_ips,
      expiresAt: row.expires_at,
    };
  }

  /** Notes the use without keeping the request: one write for all keys used within a second, once a minute each. */
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
    // When a key was last used is worth no failed request: lost while the database is away, written a minute later.
    await this.#database
      .run((sql) => sql`update api_keys set last_used_at = now() where id = any(${sql.types.uuids(ids)})`)
      .catch(() => undefined);
  }
}
