/** Connections as their owner sees and changes them. Secrets go in and never come out. */
import type { ConnectionType, SecretName, Settings } from '../../connections/connection.js';
import { addressOf } from '../../connections/definition.js';
import { definitionOf } from '../../connections/types.js';
import { GatewayError } from '../../base/errors.js';
import { randomText } from './api-key.js';
import type { ConnectionRow } from './connection-rows.js';
import { errorCodeOf, UNIQUE_VIOLATION } from '../postgres/database-errors.js';
import type { Database, Queryable, Transaction } from '../postgres/database.js';
import type { Keyring } from '../secrets/secrets.js';
import { type Actor, type AuditChange, record } from './audit-log.js';
import { accountSecret, putConnectionSecret } from '../secrets/sealed-secrets.js';
import { keyPairSecret } from './key-pairs.js';

export interface ManagedConnection {
  readonly id: string;
  readonly name: string;
  readonly type: ConnectionType;
  readonly isActive: boolean;
  /** Listed in the configuration file. */
  readonly isConfigured: boolean;
  /** Its secrets came from there, and are the operator's. */
  readonly hasConfiguredSecrets: boolean;
  readonly settings: Settings;
  readonly hostKeys: readonly string[];
  readonly hostKeysLearned: boolean;
  readonly keyPairId: string | null;
  /** Names of those that are set. */
  readonly secrets: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastTest: LastTest | null;
}

export interface LastTest {
  readonly testedAt: Date;
  readonly isOk: boolean;
  readonly failedStep: string | null;
  readonly error: string | null;
  readonly card: unknown;
}

/** Absent = as it is; null = taken away. */
export type SecretChanges = Readonly<Partial<Record<SecretName, string | null>>>;

export interface ConnectionDraft {
  readonly id?: string | undefined;
  readonly name: string;
  readonly type: ConnectionType;
  readonly isActive: boolean;
  readonly settings: Settings;
  readonly secrets: SecretChanges;
  /** undefined = as they are. */
  readonly hostKeys: readonly string[] | undefined;
  readonly keyPairId: string | null;
}

export interface Dependents {
  readonly apiKeys: readonly { readonly id: string; readonly name: string; readonly willBeRevoked: boolean }[];
  readonly watchedFolders: readonly { readonly id: string; readonly name: string }[];
  readonly runningTransfers: number;
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly type: ConnectionType;
  readonly is_active: boolean;
  readonly configured: boolean;
  readonly secrets_configured: boolean;
  readonly settings: Settings;
  readonly host_keys: readonly string[];
  readonly host_keys_learned: boolean;
  readonly key_pair_id: string | null;
  readonly secrets: readonly string[] | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly tested_at: Date | null;
  readonly is_ok: boolean | null;
  readonly failed_step: string | null;
  readonly error: string | null;
  readonly card: unknown;
}

export interface ConnectionEditorHooks {
  /** The connection has changed: nothing cached of it may be used. */
  connectionChanged(id: string): void;
  /** So have API keys. */
  keysChanged(): void;
}

export class ConnectionEditor {
  constructor(
    private readonly database: Database,
    private readonly keyring: Keyring,
    private readonly hooks: ConnectionEditorHooks,
  ) {}

  async list(accountId: string): Promise<readonly ManagedConnection[]> {
    return this.database.run(async (sql) => (await this.#select(sql, accountId, undefined)).map(fromRow));
  }

  async find(accountId: string, id: string): Promise<ManagedConnection | undefined> {
    const [row] = await this.database.run((sql) => this.#select(sql, accountId, id));
    return row === undefined ? undefined : fromRow(row);
  }

  /** `limit`: of the account's plan, 0 = none. plan_required, already_exists, unknown_item (the key pair). */
  async create(actor: Actor, draft: ConnectionDraft, limit: number, copiedFrom?: string): Promise<string> {
    const id = draft.id ?? `conn_${randomText(16).toLowerCase()}`;
    try {
      await this.database.transaction(async (tx) => {
        await this.#requireRoom(tx, actor.accountId, limit);
        const secrets = await this.#secretsOf(tx, actor.accountId, draft);
        await tx`
          insert into connections (id, account_id, name, type, is_active, settings, host_keys, key_pair_id)
          values (${id}, ${actor.accountId}, ${draft.name}, ${draft.type}, ${draft.isActive},
                  ${tx.json({ ...draft.settings })}, ${tx.types.texts(draft.hostKeys ?? [])}, ${draft.keyPairId})`;
        await this.#putSecrets(tx, id, secrets);
        const details = { type: draft.type, copiedFrom: copiedFrom ?? null };
        await record(tx, actor, { action: 'connection.create', target: target(id, draft.name), details });
      });
    } catch (error) {
      if (errorCodeOf(error) !== UNIQUE_VIOLATION) throw error;
      throw new GatewayError('already_exists', `id: "${id}" is in use already; choose another one`, {
        step: 'request',
      });
    }
    this.hooks.connectionChanged(id);
    return id;
  }

  /** Learned host keys belong to the server they came from: another one starts without. */
  async update(
    actor: Actor,
    before: ManagedConnection,
    draft: ConnectionDraft,
    fields: readonly string[],
  ): Promise<void> {
    const definition = definitionOf(before.type);
    const isSameServer = addressOf(definition, before.settings) === addressOf(definition, draft.settings);
    const hostKeys = draft.hostKeys ?? (isSameServer ? before.hostKeys : []);
    const isLearned = draft.hostKeys === undefined && isSameServer && before.hostKeysLearned;
    const areConfigured = before.hasConfiguredSecrets && before.secrets.some((name) => !(name in draft.secrets));
    await this.#change(actor, before, { action: 'connection.update', details: { fields } }, async (tx) => {
      const secrets = await this.#secretsOf(tx, actor.accountId, draft);
      await tx`
        update connections set name = ${draft.name}, is_active = ${draft.isActive},
          settings = ${tx.json({ ...draft.settings })}, host_keys = ${tx.types.texts(hostKeys)},
          host_keys_learned = ${isLearned}, secrets_configured = ${areConfigured}, key_pair_id = ${draft.keyPairId}, updated_at = now()
        where id = ${before.id}`;
      await this.#putSecrets(tx, before.id, secrets);
    });
  }

  async setActive(actor: Actor, connection: ManagedConnection, isActive: boolean): Promise<void> {
    const action = isActive ? 'connection.activate' : 'connection.deactivate';
    await this.#change(actor, connection, { action }, async (tx) => {
      await tx`update connections set is_active = ${isActive}, updated_at = now() where id = ${connection.id}`;
    });
  }

  async setHostKeys(
    actor: Actor,
    connection: ManagedConnection,
    hostKeys: readonly string[],
    change: AuditChange,
  ): Promise<void> {
    await this.#change(actor, connection, change, async (tx) => {
      await tx`
        update connections set host_keys = ${tx.types.texts(hostKeys)}, host_keys_learned = false, updated_at = now()
        where id = ${connection.id}`;
    });
  }

  async dependents(accountId: string, id: string): Promise<Dependents> {
    return this.database.run(async (sql) => {
      const apiKeys = await sql<{ id: string; name: string; willBeRevoked: boolean }[]>`
        select id, name, cardinality(connection_ids) = 1 as "willBeRevoked" from api_keys
        where account_id = ${accountId} and revoked_at is null and ${id} = any(connection_ids) order by name`;
      const [running] = await sql<{ count: number }[]>`
        select count(*) from transfers
        where account_id = ${accountId} and status = 'pending' and connection_id = ${id}`;
      const watchedFolders = await sql<{ id: string; name: string }[]>`
        select id, name from watched_folders where account_id = ${accountId} and connection_id = ${id} order by name`;
      return { apiKeys: [...apiKeys], watchedFolders: [...watchedFolders], runningTransfers: running?.count ?? 0 };
    });
  }

  /** A key for this connection alone must not become one for all: it is revoked. */
  async remove(actor: Actor, connection: ManagedConnection): Promise<void> {
    await this.#change(actor, connection, { action: 'connection.delete' }, async (tx) => {
      await tx`
        update api_keys set
          revoked_at = case when cardinality(connection_ids) = 1 then coalesce(revoked_at, now()) else revoked_at end,
          connection_ids = case when cardinality(connection_ids) = 1 then connection_ids
            else array_remove(connection_ids, ${connection.id}) end
        where account_id = ${actor.accountId} and ${connection.id} = any(connection_ids)`;
      await tx`delete from connections where id = ${connection.id} and account_id = ${actor.accountId}`;
    });
    this.hooks.keysChanged();
  }

  /** The card of an earlier good test stays when this one has none. */
  async saveTest(connectionId: string, test: LastTest): Promise<void> {
    const card = test.card === null ? null : JSON.stringify(test.card);
    await this.database.run(
      (sql) => sql`
        insert into connection_tests (connection_id, tested_at, is_ok, failed_step, error, card)
        select id, ${test.testedAt}, ${test.isOk}, ${test.failedStep}, ${test.error}, ${card}::text::jsonb
        from connections where id = ${connectionId}
        on conflict (connection_id) do update set tested_at = excluded.tested_at, is_ok = excluded.is_ok,
          failed_step = excluded.failed_step, error = excluded.error,
          card = coalesce(excluded.card, connection_tests.card)`,
    );
  }

  async #change(
    actor: Actor,
    connection: ManagedConnection,
    change: AuditChange,
    work: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    await this.database.transaction(async (tx) => {
      await work(tx);
      await record(tx, actor, { target: target(connection.id, connection.name), ...change });
    });
    this.hooks.connectionChanged(connection.id);
  }

  async #requireRoom(tx: Transaction, accountId: string, limit: number): Promise<void> {
    if (limit === 0) return;
    // The account's row is the lock: of two that are made at once the second one counts the first.
    await tx`select from accounts where id = ${accountId} for update`;
    const [row] = await tx<{ count: number }[]>`select count(*) from connections where account_id = ${accountId}`;
    if ((row?.count ?? 0) < limit) return;
    throw new GatewayError(
      'plan_required',
      `the plan of this account has room for ${limit} ${limit === 1 ? 'connection' : 'connections'}, and there is no room left`,
      { step: 'request' },
    );
  }

  /** The draft's secrets, with the private key of its key pair. @throws GatewayError unknown_item */
  async #secretsOf(
    tx: Transaction,
    accountId: string,
    { secrets, keyPairId }: ConnectionDraft,
  ): Promise<SecretChanges> {
    if (keyPairId === null) return secrets;
    const privateKey = await accountSecret(tx, this.keyring, accountId, keyPairSecret(keyPairId));
    if (privateKey !== undefined) return { ...secrets, privateKey, passphrase: null };
    throw new GatewayError('unknown_item', `keyPairId: there is no key pair ${keyPairId}`, { step: 'request' });
  }

  async #putSecrets(tx: Transaction, id: string, secrets: SecretChanges): Promise<void> {
    for (const [name, value] of Object.entries(secrets)) await putConnectionSecret(tx, this.keyring, id, name, value);
  }

  #select(sql: Queryable, accountId: string, id: string | undefined) {
    return sql<Row[]>`
      select c.*, t.tested_at, t.is_ok, t.failed_step, t.error, t.card,
             (select array_agg(name) from connection_secrets s where s.connection_id = c.id) as secrets
      from connections c left join connection_tests t on t.connection_id = c.id
      where c.account_id = ${accountId} ${id === undefined ? sql`` : sql`and c.id = ${id}`} order by c.ordinal`;
  }
}

function fromRow(row: Row): ManagedConnection {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    isActive: row.is_active,
    isConfigured: row.configured,
    hasConfiguredSecrets: row.secrets_configured,
    settings: row.settings,
    hostKeys: row.host_keys,
    hostKeysLearned: row.host_keys_learned,
    keyPairId: row.key_pair_id,
    secrets: row.secrets ?? [],
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    lastTest:
      row.tested_at === null || row.is_ok === null
        ? null
        : { testedAt: row.tested_at, isOk: row.is_ok, failedStep: row.failed_step, error: row.error, card: row.card },
  };
}

function target(id: string, name: string): { kind: string; id: string; name: string } {
  return { kind: 'connection', id, name };
}

/** For a test of what is not stored: the row that it would be. */
export function draftRow(
  draft: ConnectionDraft,
  accountId: string,
  hostKeys: readonly string[],
  allowPrivate: boolean | null,
): ConnectionRow {
  return {
    id: draft.id ?? 'draft',
    account_id: accountId,
    name: draft.name,
    type: draft.type,
    is_active: true,
    settings: draft.settings,
    host_keys: hostKeys,
    configured: false,
    allow_private: allowPrivate,
  };
}
