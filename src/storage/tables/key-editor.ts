/** API keys as their owner sees and changes them. The keys themselves are stored nowhere. */
import { v7 as uuidv7 } from 'uuid';
import type { Scope } from '../../base/caller.js';
import { GatewayError } from '../../base/errors.js';
import { generateApiKey, hashApiKey } from './api-key.js';
import { errorCodeOf, UNIQUE_VIOLATION } from '../postgres/database-errors.js';
import type { Database, Queryable, Transaction } from '../postgres/database.js';
import { type Actor, record } from './audit-log.js';

export interface ManagedKey {
  readonly id: string;
  readonly name: string;
  /** The last four characters; null where the gateway did not make the key. */
  readonly hint: string | null;
  readonly scopes: readonly Scope[];
  readonly connections: readonly string[];
  readonly allowedIps: readonly string[];
  readonly expiresAt: Date | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
  /** Listed in the configuration file. */
  readonly isConfigured: boolean;
}

export type KeyRights = Pick<ManagedKey, 'name' | 'scopes' | 'connections' | 'allowedIps' | 'expiresAt'>;

/** Revoked ones are shown for so long. */
const SHOW_REVOKED_DAYS = 30;

export class KeyEditor {
  constructor(
    private readonly database: Database,
    /** Nothing cached of keys may be used any more. */
    private readonly keysChanged: () => void,
  ) {}

  async list(accountId: string): Promise<readonly ManagedKey[]> {
    return this.database.run((sql) =>
      select(
        sql,
        sql`account_id = ${accountId}
          and (revoked_at is null or revoked_at > now() - make_interval(days => ${SHOW_REVOKED_DAYS}))`,
      ),
    );
  }

  async find(accountId: string, id: string): Promise<ManagedKey | undefined> {
    const [key] = await this.database.run((sql) => select(sql, sql`account_id = ${accountId} and id = ${id}`));
    return key;
  }

  /** Resolves to the key, which is known nowhere afterwards, and its id. */
  async create(actor: Actor, rights: KeyRights): Promise<{ readonly id: string; readonly key: string }> {
    return this.#naming(rights.name, () =>
      this.database.transaction(async (tx) => {
        const made = await insert(tx, actor.accountId, rights);
        const details = { scopes: rights.scopes, connections: rights.connections };
        await record(tx, actor, { action: 'api_key.create', target: target(made.id, rights.name), details });
        return made;
      }),
    );
  }

  async update(actor: Actor, id: string, rights: KeyRights, fields: readonly string[]): Promise<void> {
    await this.#naming(rights.name, () =>
      this.database.transaction(async (tx) => {
        await tx`
          update api_keys set name = ${rights.name}, scopes = ${tx.types.texts(rights.scopes)},
            connection_ids = ${tx.types.texts(rights.connections)}, allowed_ips = ${tx.types.texts(rights.allowedIps)},
            expires_at = ${rights.expiresAt}
          where id = ${id} and account_id = ${actor.accountId}`;
        const details = { fields, scopes: rights.scopes };
        await record(tx, actor, { action: 'api_key.update', target: target(id, rights.name), details });
      }),
    );
    this.keysChanged();
  }

  /** A second key with the rights and the name of `former`, which keeps working until `endsAt` under a name that says so. */
  async rotate(actor: Actor, former: ManagedKey, endsAt: Date): Promise<{ readonly id: string; readonly key: string }> {
    const until = former.expiresAt !== null && former.expiresAt < endsAt ? former.expiresAt : endsAt;
    const made = await this.database.transaction(async (tx) => {
      await tx`
        update api_keys set name = ${`${former.name} (until ${until.toISOString()})`}, expires_at = ${until}
        where id = ${former.id} and account_id = ${actor.accountId}`;
      const next = await insert(tx, actor.accountId, former);
      const details = { formerKeyId: former.id, formerKeyEndsAt: until.toISOString() };
      await record(tx, actor, { action: 'api_key.rotate', target: target(next.id, former.name), details });
      return next;
    });
    this.keysChanged();
    return made;
  }

  async revoke(actor: Actor, { id, name }: ManagedKey): Promise<void> {
    await this.database.transaction(async (tx) => {
      await tx`
        update api_keys set revoked_at = coalesce(revoked_at, now())
        where id = ${id} and account_id = ${actor.accountId}`;
      await record(tx, actor, { action: 'api_key.revoke', target: target(id, name) });
    });
    this.keysChanged();
  }

  async #naming<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (errorCodeOf(error) !== UNIQUE_VIOLATION) throw error;
      throw new GatewayError('already_exists', `name: the account has an API key called "${name}" already`, {
        step: 'request',
      });
    }
  }
}

function select(sql: Queryable, condition: ReturnType<Queryable>) {
  return sql<ManagedKey[]>`
    select id, name, hint, scopes, connection_ids as connections, allowed_ips as "allowedIps",
           expires_at as "expiresAt", created_at as "createdAt", last_used_at as "lastUsedAt",
           revoked_at as "revokedAt", configured as "isConfigured"
    from api_keys where ${condition} order by id desc`;
}

async function insert(tx: Transaction, accountId: string, rights: KeyRights): Promise<{ id: string; key: string }> {
  const [id, key] = [uuidv7(), generateApiKey()];
  await tx`
    insert into api_keys (id, account_id, name, key_hash, hint, scopes, connection_ids, allowed_ips, expires_at)
    values (${id}, ${accountId}, ${rights.name}, ${hashApiKey(key)}, ${key.slice(-4)}, ${tx.types.texts(rights.scopes)},
            ${tx.types.texts(rights.connections)}, ${tx.types.texts(rights.allowedIps)}, ${rights.expiresAt})`;
  return { id, key };
}

function target(id: string, name: string): { kind: string; id: string; name: string } {
  return { kind: 'api_key', id, name };
}
