/**
 * API keys: looked up for requests, managed by their owners, set by the configuration. The keys themselves are never
 * stored.
 */
import { randomBytes } from 'node:crypto';
import { uuidv7 } from '../../base/uuid.js';
import type { AccountConfig, ApiKeyConfig } from '../../config/schema.js';
import { type ApiKey, apiKeyFields, type KeyRights } from '../../contract/api-key.js';
import { withDefaults } from '../../contract/thing.js';
import { refusingDuplicates } from '../postgres/errors.js';
import type { Database } from '../postgres/database.js';
import { columnsOf, type Queryable, rowOf, type Transaction } from '../postgres/sql.js';
import { generateApiKey, hashApiKey, isPlausibleKey } from '../secrets/hashes.js';
import type { NamedSecrets } from '../secrets/sealed-rows.js';
import { StartupError } from '../startup.js';
import { type Actor, recordAudit } from './audit-log.js';
import { handOverJobs } from './job-tree.js';
import { type ApiKeyRecord, type KeyUses, recordColumns } from './key-records.js';
import { handOverLinks } from './links.js';
import { dropOfRevoked, handOverPairs, pairsOf, provisionPair, type S3AccessKeys } from './s3-access-keys.js';
import { handOver } from './schedules.js';
import { CachedLookup } from './cached-lookup.js';

interface MadeKey {
  readonly id: string;
  readonly key: string;
}

/** How long revoked keys are listed. */
const SHOW_REVOKED_DAYS = 30;

export class ApiKeys {
  readonly #database: Database;
  readonly #lookup = new CachedLookup<ApiKeyRecord>((hash) => this.#load(hash));
  readonly #uses: KeyUses;
  readonly #s3: Pick<S3AccessKeys, 'forgetAll'>;

  constructor(database: Database, uses: KeyUses, s3: Pick<S3AccessKeys, 'forgetAll'>) {
    this.#database = database;
    this.#uses = uses;
    this.#s3 = s3;
  }

  /** The key's record, or undefined if it is unknown, expired or revoked. Cached for at most a second. */
  async findKey(key: string): Promise<ApiKeyRecord | undefined> {
    if (!isPlausibleKey(key)) return undefined;
    return this.#used(await this.#lookup.find(nameOf(key)));
  }

  /** The same for a key that was found within the last second, without a query. */
  recallKey(key: string): ApiKeyRecord | undefined {
    return this.#used(this.#lookup.recall(nameOf(key)));
  }

  #used(found: ApiKeyRecord | undefined): ApiKeyRecord | undefined {
    return found !== undefined && this.#uses.note(found) ? found : undefined;
  }

  /** The next look-up of any key asks the database; on other nodes within a second. */
  forgetAll(): void {
    this.#lookup.clear();
    this.#s3.forgetAll();
  }

  async list(accountId: string): Promise<readonly ApiKey[]> {
    return this.#database.run((sql) =>
      select(
        sql,
        sql`account_id = ${accountId}
          and (revoked_at is null or revoked_at > now() - make_interval(days => ${SHOW_REVOKED_DAYS}))`,
      ),
    );
  }

  /** Names by id; keys that are no longer valid are included. */
  async names(accountId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map();
    const rows = await this.#database.all<{ id: string; name: string }>`
      select id, name from api_keys where account_id = ${accountId} and id = any(${(sql) => sql.types.uuids(ids)})`;
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  async find(accountId: string, id: string): Promise<ApiKey | undefined> {
    const [key] = await this.#database.run((sql) => select(sql, sql`account_id = ${accountId} and id = ${id}`));
    return key;
  }

  /** Resolves to the id and the key, which cannot be read again. */
  async create(actor: Actor, rights: KeyRights): Promise<MadeKey> {
    return this.#change(rights.name, async (tx) => {
      const made = await insert(tx, actor.accountId, rights);
      const details = { scopes: rights.scopes, connections: rights.connections };
      await recordAudit(tx, actor, { action: 'api_key.create', target: target(made.id, rights.name), details });
      return made;
    });
  }

  async update(actor: Actor, id: string, rights: KeyRights, fields: readonly string[]): Promise<void> {
    await this.#change(rights.name, async (tx) => {
      await tx`
        update api_keys set ${tx(rowOf(tx, apiKeyFields, rights))}
        where id = ${id} and account_id = ${actor.accountId}`;
      const details = { fields, scopes: rights.scopes };
      await recordAudit(tx, actor, { action: 'api_key.update', target: target(id, rights.name), details });
    });
  }

  /**
   * Creates a second key with the rights and the name of `former`, which stays valid until `endsAt` with that time in
   * its name.
   */
  async rotate(actor: Actor, former: ApiKey, endsAt: Date): Promise<MadeKey> {
    const until = former.expiresAt !== null && former.expiresAt < endsAt ? former.expiresAt : endsAt;
    return this.#change(former.name, async (tx) => {
      await tx`
        update api_keys set name = ${`${former.name} (until ${until.toISOString()})`}, expires_at = ${until}
        where id = ${former.id} and account_id = ${actor.accountId}`;
      const next = await insert(tx, actor.accountId, former);
      await handOver(tx, former.id, next.id);
      await handOverJobs(tx, former.id, next.id);
      await handOverLinks(tx, former.id, next.id);
      await handOverPairs(tx, former.id, next.id);
      const details = { formerKeyId: former.id, formerKeyEndsAt: until.toISOString() };
      await recordAudit(tx, actor, { action: 'api_key.rotate', target: target(next.id, former.name), details });
      return next;
    });
  }

  async revoke(actor: Actor, { id, name }: ApiKey): Promise<void> {
    await this.#change(name, async (tx) => {
      await tx`
        update api_keys set revoked_at = coalesce(revoked_at, now())
        where id = ${id} and account_id = ${actor.accountId}`;
      await dropOfRevoked(tx, actor.accountId);
      await recordAudit(tx, actor, { action: 'api_key.revoke', target: target(id, name) });
    });
  }

  async close(): Promise<void> {
    await this.#uses.close();
  }

  async #change<T>(name: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const taken = `name: the account has an API key called "${name}" already`;
    const result = await refusingDuplicates(taken, () => this.#database.transaction(work));
    this.forgetAll();
    return result;
  }

  async #load(hash: string): Promise<ApiKeyRecord | undefined> {
    return this.#database.first<ApiKeyRecord>`
      select ${recordColumns}
      from api_keys k join accounts a on a.id = k.account_id
      where k.key_hash = ${Buffer.from(hash, 'base64')} and k.revoked_at is null`;
  }
}

/** The keys are used now. */
export async function touchKeys(database: Database, ids: readonly string[]): Promise<void> {
  // In the order of their ids, so that nodes that note the same keys do not wait for each other.
  await database.all`
    update api_keys set last_used_at = now() where id in (
      select id from api_keys where id = any(${(sql) => sql.types.uuids(ids)}) order by id for no key update)`;
}

/** In memory a key is identified only by its hash. */
const nameOf = (key: string): string => hashApiKey(key).toString('base64');

/** The connection is about to be deleted. A key for only this connection must not become one for all: it is revoked. */
export async function dropConnection(tx: Transaction, accountId: string, connectionId: string): Promise<void> {
  await tx`
    update api_keys set
      revoked_at = case when cardinality(connection_ids) = 1 then coalesce(revoked_at, now()) else revoked_at end,
      connection_ids = case when cardinality(connection_ids) = 1 then connection_ids
        else array_remove(connection_ids, ${connectionId}) end
    where account_id = ${accountId} and ${connectionId} = any(connection_ids)`;
  await dropOfRevoked(tx, accountId);
}

/**
 * Creates or updates the account's configured keys and their S3 access keys; deletes no key. StartupError names the key
 * that cannot be set.
 */
export async function provisionKeys(
  tx: Transaction,
  s3Secrets: NamedSecrets,
  accountId: string,
  account: AccountConfig,
): Promise<void> {
  const names = account.apiKeys.map((key) => key.name);
  for (const key of account.apiKeys) {
    const where = `accounts: API key "${key.name}" of ${account.email}`;
    if (!isPlausibleKey(key.key)) {
      throw new StartupError(
        `${where}: not a key; allowed: ftg_ and 24 to 200 printable characters in all (one that looks generated must have the right checksum)`,
      );
    }
    const hash = hashApiKey(key.key);
    const [holder] = await tx<{ id: string; accountId: string; name: string; revoked: boolean }[]>`
      select id, account_id, name, revoked_at is not null as revoked from api_keys where key_hash = ${hash}`;
    if (holder !== undefined && holder.accountId !== accountId) {
      throw new StartupError(`${where}: the same key is already in use by another account`);
    }
    if (holder !== undefined && (holder.name !== key.name || holder.revoked)) {
      // The key moved to another name. Its old row stays, with a hash that no key has.
      await tx`
        update api_keys set key_hash = ${randomBytes(32)},
          revoked_at = case when ${names.includes(holder.name)} then revoked_at else coalesce(revoked_at, now()) end
        where id = ${holder.id}`;
    }
    const expiresAt = key.expiresAt === undefined ? null : new Date(key.expiresAt);
    const rights = rowOf(tx, apiKeyFields, withDefaults(apiKeyFields, { ...key, expiresAt }));
    const row = { ...rights, keyHash: hash };
    const placed = await tx<{ id: string }[]>`
      insert into api_keys ${tx({ ...row, id: uuidv7(), accountId })}
      on conflict (account_id, name) where revoked_at is null do update set ${tx(row)} returning id`;
    for (const { id } of placed) await provisionPair(tx, s3Secrets, { id, accountId, where }, key.s3);
  }
  await dropOfRevoked(tx, accountId);
}

/** Marks exactly the keys in the configuration: the next start would undo changes made to them by hand. */
export async function markConfiguredKeys(tx: Transaction, keys: readonly ApiKeyConfig[]): Promise<void> {
  const hashes = keys.map(({ key }) => hashApiKey(key).toString('base64'));
  await tx`
    update api_keys set configured = not configured
    where configured <> (encode(key_hash, 'base64') = any(${tx.types.texts(hashes)}))`;
}

function select(sql: Queryable, condition: ReturnType<Queryable>) {
  return sql<ApiKey[]>`
    select ${columnsOf(sql, apiKeyFields, { table: 'api_keys', made: { s3: pairsOf(sql) } })} from api_keys where ${condition} order by id desc`;
}

async function insert(tx: Transaction, accountId: string, rights: KeyRights): Promise<MadeKey> {
  const [id, key] = [uuidv7(), generateApiKey()];
  const settings = withDefaults(apiKeyFields, rights);
  const row = rowOf(tx, apiKeyFields, { ...settings, id, hint: key.slice(-4) });
  await tx`insert into api_keys ${tx({ ...row, accountId, keyHash: hashApiKey(key) })}`;
  return { id, key };
}

function target(id: string, name: string) {
  return { kind: 'api_key', id, name };
}
