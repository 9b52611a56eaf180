/**
 * Connections: opened for operations, managed by their owners, set by the configuration. Only this module writes and
 * reads their secrets.
 */
import type { AccountConfig, ConnectionConfig } from '../../config/schema.js';
import type {
  Connection,
  References,
  SecretName,
  SecretValues,
  Settings,
  SftpConnection,
} from '../../connections/connection.js';
import { addressOf } from '../../contract/connection/definition.js';
import { connectionFields, hostKeyFields, MOST_HOPS } from '../../contract/connection/fields.js';
import { type ConnectionType, definitionOf } from '../../contract/connection/types.js';
import { hidden, type RowOf } from '../../contract/thing.js';
import { refusal } from '../../base/errors.js';
import { hasOperatorsLogin } from '../../connections/require.js';
import { refusingDuplicates } from '../postgres/errors.js';
import type { Database } from '../postgres/database.js';
import {
  columnsOf,
  fromExcluded,
  fromExcludedIfOther,
  type Queryable,
  rowOf,
  selecting,
  tableColumns,
  templateIn,
  type Transaction,
} from '../postgres/sql.js';
import { randomText } from '../secrets/hashes.js';
import { type NamedSecrets, sealedColumns } from '../secrets/sealed-rows.js';
import type { SealedSecret } from '../secrets/secrets.js';
import { StartupError } from '../startup.js';
import { acceptedKeys, followHostKeys, forgetAnnounced } from './announced-host-keys.js';
import { type ApiKeys, dropConnection } from './api-keys.js';
import { type Actor, type AuditChange, recordAudit } from './audit-log.js';
import { CachedLookup } from './cached-lookup.js';
import { completeSettings, type ConnectionRow, joinConnection, openedFields, splitConfig } from './connection-rows.js';
import type { KeyPairs } from './key-pairs.js';
import { hastenChecks, OTHER_HOURS_MS } from './watched-folders.js';

const rowFields = { ...connectionFields, ...hostKeyFields };

const listedFields = {
  id: rowFields.id,
  name: rowFields.name,
  type: hidden<Connection['type']>(),
  isActive: rowFields.isActive,
  createdAt: hidden<Date>(),
};
type ListedConnection = RowOf<typeof listedFields>;

export type ManagedConnection = Omit<RowOf<typeof rowFields>, 'accountId'> & {
  readonly type: ConnectionType;
  readonly settings: Settings;
  /** Names of the secrets that are set. */
  readonly secrets: readonly string[];
  readonly lastTest: LastTest | null;
};

const testFields = {
  testedAt: hidden<Date>(),
  isOk: hidden<boolean>(),
  failedStep: hidden<string | null>(),
  error: hidden<string | null>(),
  errorCode: hidden<string | null>(),
  card: hidden<unknown>(),
};
const { card: _card, ...plainTestFields } = testFields;
type LastTest = RowOf<typeof testFields>;

/** Absent = unchanged; null = deleted. */
export type SecretChanges = Readonly<Partial<Record<SecretName, string | null>>>;

export interface ConnectionDraft {
  readonly id?: string | undefined;
  readonly name: string;
  readonly type: ConnectionType;
  readonly isActive: boolean;
  readonly settings: Settings;
  readonly secrets: SecretChanges;
  /** undefined = unchanged. */
  readonly hostKeys: readonly string[] | undefined;
  readonly keyPairId: string | null;
}

interface Dependents {
  readonly apiKeys: readonly { readonly id: string; readonly name: string; readonly willBeRevoked: boolean }[];
  readonly watchedFolders: readonly { readonly id: string; readonly name: string }[];
  /** Those that lead through it. */
  readonly connections: readonly { readonly id: string; readonly name: string }[];
  readonly runningTransfers: number;
}

export class Connections {
  readonly #database: Database;
  readonly #secrets: NamedSecrets;
  /** By account and id: a connection of another account is not found, like an unknown one. */
  readonly #lookup = new CachedLookup<Connection>((key) => {
    const [accountId = '', id = ''] = JSON.parse(key) as string[];
    return this.#load(accountId, id, 0);
  });

  constructor(database: Database, secrets: NamedSecrets) {
    this.#database = database;
    this.#secrets = secrets;
  }

  /** With secrets; undefined if unknown or of another account. Cached for at most a second. */
  async find(accountId: string, connectionId: string): Promise<Connection | undefined> {
    return this.#lookup.find(JSON.stringify([accountId, connectionId]));
  }

  /** Without secrets, in order of creation. */
  async list(accountId: string): Promise<readonly ListedConnection[]> {
    return this.#database.all<ListedConnection>`
      select ${(sql) => columnsOf(sql, listedFields)} from connections
      where account_id = ${accountId} order by ordinal`;
  }

  async count(accountId: string): Promise<number> {
    return this.#database.run((sql) => countOf(sql, accountId));
  }

  async switchOff(id: string): Promise<void> {
    await this.#database.all`
      update connections set is_active = false, updated_at = now() where id = ${id} and is_active`;
    this.forgetAll();
  }

  /** Pins the first key seen unless another one is pinned already; resolves to the pinned keys. */
  async pinHostKey(connectionId: string, fingerprint: string): Promise<readonly string[]> {
    const pinned = await this.#database.run(async (sql) => {
      // One statement on one row: of two simultaneous first logins, the second one gets the first one's key.
      await sql`
        update connections set host_keys = array[${fingerprint}], host_keys_learned = true, updated_at = now()
        where id = ${connectionId} and host_keys = '{}'`;
      const [row] = await sql<{ hostKeys: string[] }[]>`select host_keys from connections where id = ${connectionId}`;
      return row?.hostKeys ?? [];
    });
    this.forgetAll();
    return pinned;
  }

  /** The next look-up of any connection asks the database. */
  forgetAll(): void {
    this.#lookup.clear();
  }

  /** `hops`: jump hosts between the gateway's client and this connection. */
  async #load(accountId: string, id: string, hops: number): Promise<Connection | undefined> {
    const rows = await this.#database.all<ConnectionRow & SealedSecret & { readonly secret: string | null }>`
      select ${(sql) => columnsOf(sql, openedFields, { table: 'c' })}, a.allow_private, a.digests,
             (select json_agg(json_build_object('fingerprint', fingerprint, 'isRejected', rejected_at is not null, 'lastSeenAt', last_seen_at))
              from announced_host_keys where connection_id = c.id) as announced_keys,
             s.name as secret, ${(sql) => sealedColumns(sql, 's')}
      from connections c join accounts a on a.id = c.account_id left join connection_secrets s on s.connection_id = c.id
      where c.id = ${id} and c.account_id = ${accountId}`;
    const [row] = rows;
    if (row === undefined) return undefined;
    const { secrets: own } = definitionOf(row);
    const known = rows.flatMap(({ secret, ...sealed }) =>
      secret !== null && secret in own ? [[secret, this.#secrets.open(id, secret, sealed)] as const] : [],
    );
    const connection = joinConnection(row, Object.fromEntries(known));
    const jump = await this.jumpOf(connection, hops);
    return jump === undefined ? connection : { ...connection, jump };
  }

  /** The connection that `via` names, if it may be the jump host. */
  async jumpOf(
    connection: Pick<Connection, 'accountId' | 'via' | 'isConfigured' | 'hasConfiguredSecrets'>,
    hops = 0,
  ): Promise<SftpConnection | undefined> {
    const { accountId, via } = connection;
    if (via === undefined || hops >= MOST_HOPS) return undefined;
    const jump = await this.#load(accountId, via, hops + 1);
    if (jump?.type !== 'sftp' || !jump.isActive || (jump.via !== undefined && jump.jump === undefined))
      return undefined;
    // The operator's login is only for its own server, unless the connection behind it is also the operator's.
    return hasOperatorsLogin(jump) && !hasOperatorsLogin(connection) ? undefined : jump;
  }
}

export class ConnectionEditor {
  readonly #database: Database;
  readonly #secrets: NamedSecrets;
  readonly #keyPairs: KeyPairs;
  readonly #connections: Pick<Connections, 'forgetAll'>;
  readonly #keys: Pick<ApiKeys, 'forgetAll'>;

  constructor(
    database: Database,
    secrets: NamedSecrets,
    keyPairs: KeyPairs,
    connections: Pick<Connections, 'forgetAll'>,
    keys: Pick<ApiKeys, 'forgetAll'>,
  ) {
    this.#database = database;
    this.#secrets = secrets;
    this.#keyPairs = keyPairs;
    this.#connections = connections;
    this.#keys = keys;
  }

  async list(accountId: string): Promise<readonly ManagedConnection[]> {
    return this.#database.run((sql) => managed(sql, accountId, undefined));
  }

  async find(accountId: string, id: string): Promise<ManagedConnection | undefined> {
    const [connection] = await this.#database.run((sql) => managed(sql, accountId, id));
    return connection;
  }

  /**
   * `limit`: connections of the account's plan, 0 = unlimited. @throws GatewayError plan_required, already_exists,
   * unknown_item (the key pair)
   */
  async create(actor: Actor, draft: ConnectionDraft, limit: number, copiedFrom?: string): Promise<string> {
    const id = draft.id ?? `conn_${randomText(16).toLowerCase()}`;
    await refusingDuplicates(`id: "${id}" is in use already; choose another one`, () =>
      this.#database.transaction(async (tx) => {
        await this.#requireRoom(tx, actor.accountId, limit);
        const secrets = await this.#secretsOf(tx, actor.accountId, draft);
        const { type, settings, hostKeys = [] } = draft;
        const row = rowOf(tx, rowFields, { ...draft, id, accountId: actor.accountId, hostKeys });
        await tx`insert into connections ${tx({ ...row, type, settings: tx.json({ ...settings }) })}`;
        await this.#putSecrets(tx, id, secrets);
        this.#database.notices.announce(tx, 'connections');
        const details = { type: draft.type, copiedFrom: copiedFrom ?? null };
        await recordAudit(tx, actor, { action: 'connection.create', target: target(id, draft.name), details });
      }),
    );
    this.#connections.forgetAll();
    return id;
  }

  /** Learned host keys belong to their server: a connection that now leads to another server starts without them. */
  async update(
    actor: Actor,
    before: ManagedConnection,
    draft: ConnectionDraft,
    fields: readonly string[],
  ): Promise<void> {
    const isSameServer = isSame(before, draft);
    const hostKeys = draft.hostKeys ?? (isSameServer ? before.hostKeys : []);
    const isLearned = draft.hostKeys === undefined && isSameServer && before.hostKeysLearned;
    const areConfigured = before.hasConfiguredSecrets && before.secrets.some((name) => !(name in draft.secrets));
    await this.#change(actor, before, { action: 'connection.update', details: { fields } }, async (tx) => {
      const secrets = await this.#secretsOf(tx, actor.accountId, draft);
      const changes = {
        ...draft,
        id: before.id,
        hostKeys,
        hostKeysLearned: isLearned,
        hasConfiguredSecrets: areConfigured,
      };
      const row = { ...rowOf(tx, rowFields, changes), settings: tx.json({ ...draft.settings }) };
      await tx`update connections set ${tx(row)}, updated_at = now() where id = ${before.id}`;
      if (isSameServer) await followHostKeys(tx, before.id, hostKeys, before.hostKeys);
      else await forgetAnnounced(tx, before.id);
      if (draft.settings.hours !== before.settings.hours) {
        await hastenChecks(tx, actor.accountId, before.id);
        this.#database.notices.announce(tx, 'folders', OTHER_HOURS_MS);
      }
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
      await followHostKeys(tx, connection.id, hostKeys, connection.hostKeys);
    });
  }

  async dependents(accountId: string, id: string): Promise<Dependents> {
    return this.#database.run(async (sql) => {
      const apiKeys = await sql<{ id: string; name: string; willBeRevoked: boolean }[]>`
        select id, name, cardinality(connection_ids) = 1 as will_be_revoked from api_keys
        where account_id = ${accountId} and revoked_at is null and ${id} = any(connection_ids) order by name`;
      const [running] = await sql<{ count: number }[]>`
        select count(*) from transfers
        where account_id = ${accountId} and status = 'pending' and connection_id = ${id}`;
      const watchedFolders = await sql<{ id: string; name: string }[]>`
        select id, name from watched_folders
        where account_id = ${accountId} and deleted_at is null
          and (connection_id = ${id} or copy_to ->> 'connectionId' = ${id})
        order by name`;
      const connections = await sql<{ id: string; name: string }[]>`
        select id, name from connections where account_id = ${accountId} and settings ->> 'via' = ${id} order by name`;
      return {
        apiKeys: [...apiKeys],
        watchedFolders: [...watchedFolders],
        connections: [...connections],
        runningTransfers: running?.count ?? 0,
      };
    });
  }

  async remove(actor: Actor, connection: ManagedConnection): Promise<void> {
    await this.#change(actor, connection, { action: 'connection.delete' }, async (tx) => {
      await dropConnection(tx, actor.accountId, connection.id);
      await tx`delete from connections where id = ${connection.id} and account_id = ${actor.accountId}`;
    });
    this.#keys.forgetAll();
  }

  /** The card of an earlier successful test stays if this one has none. */
  async saveTest(connectionId: string, test: LastTest): Promise<void> {
    await this.#database.run((sql) => {
      const row = rowOf(sql, testFields, test, { connectionId: sql`id` });
      return sql`
        insert into connection_tests ${selecting(sql, row)} from connections where id = ${connectionId}
        on conflict (connection_id) do update set ${sql(TESTED)}, card = coalesce(excluded.card, connection_tests.card)`;
    });
  }

  async #change(
    actor: Actor,
    connection: ManagedConnection,
    change: AuditChange,
    work: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    await this.#database.transaction(async (tx) => {
      await work(tx);
      this.#database.notices.announce(tx, 'connections');
      await recordAudit(tx, actor, { target: target(connection.id, connection.name), ...change });
    });
    this.#connections.forgetAll();
  }

  async #requireRoom(tx: Transaction, accountId: string, limit: number): Promise<void> {
    if (limit === 0) return;
    // The account's row is the lock: of two simultaneous creations, the second one counts the first.
    await tx`select from accounts where id = ${accountId} for no key update`;
    if ((await countOf(tx, accountId)) < limit) return;
    throw refusal(
      'plan_required',
      `the plan of this account has room for ${limit} ${limit === 1 ? 'connection' : 'connections'}, and there is no room left`,
    );
  }

  /** The draft's secrets, including the private key of its key pair. @throws GatewayError unknown_item */
  async #secretsOf(
    tx: Transaction,
    accountId: string,
    { secrets, keyPairId }: ConnectionDraft,
  ): Promise<SecretChanges> {
    if (keyPairId === null) return secrets;
    const privateKey = await this.#keyPairs.privateKeyIn(tx, accountId, keyPairId);
    if (privateKey !== undefined) return { ...secrets, privateKey, passphrase: null };
    throw refusal('unknown_item', `keyPairId: there is no key pair ${keyPairId}`);
  }

  async #putSecrets(tx: Transaction, id: string, secrets: SecretChanges): Promise<void> {
    for (const [name, value] of Object.entries(secrets)) await this.#secrets.put(tx, id, name, value);
    const names = tx.types.texts(Object.keys(secrets));
    await tx`
      update connections set secret_references = secret_references - ${names}
      where id = ${id} and secret_references ?| ${names}`;
  }
}

const TESTED = templateIn(fromExcluded(tableColumns(plainTestFields)));

/** For announced keys: `host_keys_learned` does not change. */
export async function setTrustedKeys(tx: Transaction, id: string, hostKeys: readonly string[]): Promise<void> {
  await tx`update connections set host_keys = ${tx.types.texts(hostKeys)}, updated_at = now() where id = ${id}`;
}

async function managed(sql: Queryable, accountId: string, id: string | undefined): Promise<ManagedConnection[]> {
  const names = sql`array(
    select s.name from connection_secrets s where s.connection_id = c.id
    union select jsonb_object_keys(c.secret_references))`;
  const rows = await sql<
    (Omit<ManagedConnection, 'lastTest'> & { readonly [K in keyof LastTest]: LastTest[K] | null })[]
  >`
    select ${columnsOf(sql, rowFields, { table: 'c', made: { type: sql`c.type`, settings: sql`c.settings`, secrets: names } })},
           ${columnsOf(sql, testFields, { table: 't' })}
    from connections c left join connection_tests t on t.connection_id = c.id
    where account_id = ${accountId} ${id === undefined ? sql`` : sql`and c.id = ${id}`} order by ordinal`;
  return rows.map(({ testedAt, isOk, failedStep, error, errorCode, card, ...connection }) => ({
    ...connection,
    settings: completeSettings(connection.settings, definitionOf(connection)),
    lastTest: testedAt === null || isOk === null ? null : { testedAt, isOk, failedStep, error, errorCode, card },
  }));
}

async function countOf(sql: Queryable, accountId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*) from connections where account_id = ${accountId}`;
  return row?.count ?? 0;
}

function target(id: string, name: string) {
  return { kind: 'connection', id, name };
}

/** Whether both lead to the same server, whose host keys are valid for both. */
function isSame(one: ServerOf, other: ServerOf): boolean {
  return addressOf(definitionOf(one), one.settings) === addressOf(definitionOf(other), other.settings);
}

type ServerOf = Pick<ConnectionDraft, 'type' | 'settings'>;

/** A configured connection after its files were read. */
interface PreparedConnection {
  readonly config: ConnectionConfig;
  readonly settings: Settings;
  readonly secrets: SecretValues;
  readonly references: References;
}

export async function prepareConnection(config: ConnectionConfig): Promise<PreparedConnection> {
  return { config, ...(await splitConfig(config)) };
}

/**
 * Creates or updates the account's configured connections; deletes none. Resolves to their ids. `sandboxId`: the
 * connection to the gateway's own sandbox, whose login opens nothing else, so that a copy may contain it.
 */
export async function provisionConnections(
  tx: Transaction,
  secrets: NamedSecrets,
  accountId: string,
  account: AccountConfig,
  connections: readonly PreparedConnection[],
  sandboxId: string | undefined,
): Promise<readonly string[]> {
  const applied = new Set<string>();
  for (const connection of connections) {
    const { config } = connection;
    const where = `accounts: connection "${config.id ?? config.name}" of ${account.email}`;
    const id = config.id ?? (await idByName(tx, accountId, config.name));
    if (applied.has(id)) throw new StartupError(`${where}: appears twice; give each connection an id of its own`);
    applied.add(id);
    const [owner] = await tx<{ accountId: string }[]>`select account_id from connections where id = ${id}`;
    if (owner !== undefined && owner.accountId !== accountId) {
      throw new StartupError(`${where}: the id is already in use by another account; choose another one`);
    }
    await upsertConnection(tx, accountId, id, connection, sandboxId);
    await secrets.replaceAll(tx, id, connection.secrets);
  }
  return [...applied];
}

async function idByName(tx: Transaction, accountId: string, name: string): Promise<string> {
  const [row] = await tx<{ id: string }[]>`
    select id from connections where account_id = ${accountId} and name = ${name} order by ordinal limit 1`;
  return row?.id ?? `conn_${randomText(16).toLowerCase()}`;
}

async function upsertConnection(
  tx: Transaction,
  accountId: string,
  id: string,
  { config, settings, references }: PreparedConnection,
  sandboxId: string | undefined,
): Promise<void> {
  const [found] = await tx<{ type: ConnectionType; settings: Settings; hostKeys: string[] }[]>`
    select type, settings, host_keys from connections where id = ${id} for no key update`;
  const given = 'hostKey' in config && config.hostKey !== undefined ? [config.hostKey].flat() : undefined;
  // Learned keys belong to their server.
  const sameServer = found !== undefined && isSame(found, { type: config.type, settings });
  if (!sameServer) await forgetAnnounced(tx, id);
  if (found !== undefined && found.settings.hours !== settings.hours) await hastenChecks(tx, accountId, id);
  const follows = given !== undefined && 'hostKeyRotation' in config && config.hostKeyRotation === 'accept';
  // With that rule, accepted keys come after the file's keys; the next start must not undo this.
  const accepted = follows ? await acceptedKeys(tx, id) : [];
  const hostKeys = given === undefined ? (sameServer ? found.hostKeys : []) : [...new Set([...given, ...accepted])];
  // Keys that the file does not set may be deleted by hand, even if they were pinned by hand or by an earlier file.
  const learned = given === undefined && hostKeys.length > 0;
  const row = {
    name: config.name,
    type: config.type,
    isActive: config.isActive,
    settings: tx.json({ ...settings }),
    hostKeys: tx.types.texts(hostKeys),
    hostKeysLearned: learned,
    secretsConfigured: id !== sandboxId,
    secretReferences: tx.json({ ...references }),
  };
  await tx`
    insert into connections ${tx({ id, accountId, ...row })}
    on conflict (id) do update set ${tx(templateIn(fromExcludedIfOther('connections', Object.keys(row))))}`;
}

/** Marks exactly the connections in the configuration: the next start would undo changes made to them by hand. */
export async function markConfiguredConnections(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx`
    update connections set configured = not configured where configured <> (id = any(${tx.types.texts(ids)}))`;
}

/** The row of a draft, for a test before it is stored. */
export function draftRow(
  draft: ConnectionDraft,
  accountId: string,
  hostKeys: readonly string[],
  allowPrivate: boolean | null,
  secretReferences: References = {},
): ConnectionRow {
  return {
    id: draft.id ?? 'draft',
    accountId,
    name: draft.name,
    type: draft.type,
    isActive: true,
    settings: draft.settings,
    secretReferences,
    hostKeys,
    configured: false,
    secretsConfigured: false,
    allowPrivate,
  };
}
