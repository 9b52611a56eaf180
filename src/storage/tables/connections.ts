import type { Connection, SecretValues } from '../../connections/connection.js';
import { definitionOf } from '../../connections/types.js';
import { CachedLookup } from './cached-lookup.js';
import { type ConnectionRow, joinConnection } from './connection-rows.js';
import type { Database } from '../postgres/database.js';
import type { Keyring } from '../secrets/secrets.js';
import type { Connections } from '../storage.js';

export const SECRETS_TABLE = 'connection_secrets';

interface SecretColumns {
  readonly secret_name: string | null;
  readonly key_id: string;
  readonly wrapped_key: Buffer;
  readonly nonce: Buffer;
  readonly ciphertext: Buffer;
}

type ListedConnection = Awaited<ReturnType<Connections['list']>>[number];

export class ConnectionStore implements Connections {
  readonly #database: Database;
  readonly #keyring: Keyring;
  /** By account and id: another account's connection is looked for, and not found, like one that never was. */
  readonly #lookup = new CachedLookup<Connection>((key) => {
    const [accountId = '', id = ''] = JSON.parse(key) as string[];
    return this.#load(accountId, id);
  });

  constructor(database: Database, keyring: Keyring) {
    this.#database = database;
    this.#keyring = keyring;
  }

  async find(accountId: string, connectionId: string): Promise<Connection | undefined> {
    return this.#lookup.find(JSON.stringify([accountId, connectionId]));
  }

  async list(accountId: string): Promise<readonly ListedConnection[]> {
    return this.#database.run(
      (sql) => sql<ListedConnection[]>`
        select id, name, type, is_active as "isActive" from connections
        where account_id = ${accountId} order by ordinal`,
    );
  }

  async count(accountId: string): Promise<number> {
    const rows = await this.#database.run(
      (sql) => sql<{ count: number }[]>`select count(*) from connections where account_id = ${accountId}`,
    );
    return rows[0]?.count ?? 0;
  }

  async allowsPrivate(accountId: string): Promise<boolean | null> {
    const [row] = await this.#database.run(
      (sql) =>
        sql<{ allowed: boolean | null }[]>`select allow_private as allowed from accounts where id = ${accountId}`,
    );
    return row?.allowed ?? null;
  }

  async pinHostKey(connectionId: string, fingerprint: string): Promise<readonly string[]> {
    const pinned = await this.#database.run(async (sql) => {
      // One row, one statement: of two first logins at once the second one meets the first one's key.
      await sql`
        update connections set host_keys = array[${fingerprint}], host_keys_learned = true, updated_at = now()
        where id = ${connectionId} and host_keys = '{}'`;
      const [row] = await sql<{ host_keys: string[] }[]>`select host_keys from connections where id = ${connectionId}`;
      return row?.host_keys ?? [];
    });
    this.forgetAll();
    return pinned;
  }

  /** The next find of any connection asks the database. */
  forgetAll(): void {
    this.#lookup.clear();
  }

  async #load(accountId: string, id: string): Promise<Connection | undefined> {
    const rows = await this.#database.run(
      (sql) => sql<(ConnectionRow & SecretColumns)[]>`
        select c.id, c.account_id, c.name, c.type, c.is_active, c.settings, c.host_keys, c.configured, a.allow_private,
               s.name as secret_name, s.key_id, s.wrapped_key, s.nonce, s.ciphertext
        from connections c join accounts a on a.id = c.account_id left join connection_secrets s on s.connection_id = c.id
        where c.id = ${id} and c.account_id = ${accountId}`,
    );
    const [row] = rows;
    if (row === undefined) return undefined;
    const { secrets: own } = definitionOf(row.type);
    const secrets: Record<string, string> = {};
    for (const { secret_name: name, key_id: keyId, wrapped_key: wrappedKey, nonce, ciphertext } of rows) {
      if (name === null || !(name in own)) continue;
      const place = { table: SECRETS_TABLE, rowId: id, name };
      secrets[name] = this.#keyring.open({ keyId, wrappedKey, nonce, ciphertext }, place);
    }
    return joinConnection(row, secrets satisfies SecretValues);
  }
}
