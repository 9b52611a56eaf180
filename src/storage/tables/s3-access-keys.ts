/**
 * Access key pairs for the S3 front: each acts with the rights of its API key, and ends with it. Their secrets are
 * sealed: signatures are checked with them.
 */
import { randomBytes } from 'node:crypto';
import { refusal } from '../../base/errors.js';
import type { ApiKeyConfig } from '../../config/schema.js';
import type { ApiKey } from '../../contract/api-key.js';
import { hidden, type RowOf } from '../../contract/thing.js';
import type { Database } from '../postgres/database.js';
import { columnsOf, type Queryable, type Transaction } from '../postgres/sql.js';
import { randomText } from '../secrets/hashes.js';
import type { NamedSecrets } from '../secrets/sealed-rows.js';
import { sealedFields } from '../secrets/secrets.js';
import { StartupError } from '../startup.js';
import { type Actor, recordAudit } from './audit-log.js';
import { CachedLookup } from './cached-lookup.js';
import { type ApiKeyRecord, type KeyUses, recordColumns } from './key-records.js';

/** An access key that was found. */
interface S3Access {
  readonly record: ApiKeyRecord;
  readonly secretAccessKey: string;
}

/** An access key with its secret. */
interface S3Pair {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const MOST_PAIRS_PER_KEY = 5;
/** Others are not looked up. */
const PLAUSIBLE = /^[A-Za-z0-9_]{16,128}$/;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const ID_MARK = 'FTGA';
const ID_RANDOM_CHARS = 16;
/** As many as the secrets of AWS have. */
const SECRET_CHARS = 40;
/** The name of the secret among those of its access key. */
const SECRET = 'secret';

const { keyId: _keyId, ...sealedBytes } = sealedFields;
/** A sealed secret; the record of its API key has a `keyId` too. */
const pairFields = { ...sealedBytes, masterKeyId: hidden<string>({ column: 'keyId' }) };

export class S3AccessKeys {
  readonly #database: Database;
  readonly #secrets: NamedSecrets;
  readonly #uses: Pick<KeyUses, 'note'>;
  /** With opened secrets: a request opens none. */
  readonly #lookup = new CachedLookup<S3Access>((accessKeyId) => this.#load(accessKeyId));

  constructor(database: Database, secrets: NamedSecrets, uses: Pick<KeyUses, 'note'>) {
    this.#database = database;
    this.#secrets = secrets;
    this.#uses = uses;
  }

  /**
   * The secret, and the record of its API key; undefined if the id is unknown or its API key is expired or revoked.
   * Cached for at most a second.
   */
  async find(accessKeyId: string): Promise<S3Access | undefined> {
    if (!PLAUSIBLE.test(accessKeyId)) return undefined;
    return this.#used(await this.#lookup.find(accessKeyId));
  }

  /** The same for an access key that was found within the last second, without a query. */
  recall(accessKeyId: string): S3Access | undefined {
    return this.#used(this.#lookup.recall(accessKeyId));
  }

  #used(found: S3Access | undefined): S3Access | undefined {
    return found !== undefined && this.#uses.note(found.record) ? found : undefined;
  }

  /** The next look-up of any access key asks the database; on other nodes within a second. */
  forgetAll(): void {
    this.#lookup.clear();
  }

  /** Resolves to the pair, whose secret is not shown again. @throws GatewayError share_exceeded; not_running */
  async create(actor: Actor, { id, name }: Pick<ApiKey, 'id' | 'name'>): Promise<S3Pair> {
    const pair = generatePair();
    const { accountId } = actor;
    await this.#database.transaction(async (tx) => {
      // The key's row is the lock: of two simultaneous creations, the second one counts the first.
      const [living] = await tx`
        select 1 from api_keys where id = ${id} and account_id = ${accountId} and revoked_at is null for update`;
      if (living === undefined) throw refusal('not_running', `API key "${name}" was revoked; make a new one`);
      const [row] = await tx<
        { count: number }[]
      >`select count(*) as count from s3_access_keys where api_key_id = ${id}`;
      if ((row?.count ?? 0) >= MOST_PAIRS_PER_KEY) {
        throw refusal(
          'share_exceeded',
          `API key "${name}" has ${MOST_PAIRS_PER_KEY} S3 access keys already; delete one first`,
        );
      }
      await tx`insert into s3_access_keys ${tx({ accessKeyId: pair.accessKeyId, apiKeyId: id, accountId })}`;
      await this.#secrets.put(tx, pair.accessKeyId, SECRET, pair.secretAccessKey);
      await recordAudit(tx, actor, {
        action: 'api_key.s3_create',
        target: { kind: 'api_key', id, name },
        details: { accessKeyId: pair.accessKeyId },
      });
    });
    this.forgetAll();
    return pair;
  }

  /** False = the API key has no such access key. */
  async remove(actor: Actor, { id, name }: Pick<ApiKey, 'id' | 'name'>, accessKeyId: string): Promise<boolean> {
    const isRemoved = await this.#database.transaction(async (tx) => {
      const [removed] = await tx`
        delete from s3_access_keys
        where access_key_id = ${accessKeyId} and api_key_id = ${id} and account_id = ${actor.accountId} returning 1`;
      if (removed === undefined) return false;
      await recordAudit(tx, actor, {
        action: 'api_key.s3_delete',
        target: { kind: 'api_key', id, name },
        details: { accessKeyId },
      });
      return true;
    });
    this.forgetAll();
    return isRemoved;
  }

  async #load(accessKeyId: string): Promise<S3Access | undefined> {
    const found = await this.#database.first<ApiKeyRecord & RowOf<typeof pairFields>>`
      select ${recordColumns}, ${(sql) => columnsOf(sql, pairFields, { table: 's' })}
      from s3_access_keys x
        join s3_access_key_secrets s on s.access_key_id = x.access_key_id and s.name = ${SECRET}
        join api_keys k on k.id = x.api_key_id
        join accounts a on a.id = k.account_id
      where x.access_key_id = ${accessKeyId} and k.revoked_at is null`;
    if (found === undefined) return undefined;
    const { masterKeyId: keyId, wrappedKey, nonce, ciphertext, ...rights } = found;
    const secretAccessKey = this.#secrets.open(accessKeyId, SECRET, { keyId, wrappedKey, nonce, ciphertext });
    return { record: rights, secretAccessKey };
  }
}

/** The access keys of an API key in its view, the newest first. */
export function pairsOf(sql: Queryable) {
  return sql`coalesce((
    select json_agg(json_build_object('accessKeyId', x.access_key_id,
      'createdAt', to_char(x.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      order by x.created_at desc, x.access_key_id)
    from s3_access_keys x where x.api_key_id = api_keys.id), '[]')`;
}

/** Access keys of a replaced API key continue with the next one. */
export async function handOverPairs(tx: Transaction, formerKeyId: string, nextKeyId: string): Promise<void> {
  await tx`update s3_access_keys set api_key_id = ${nextKeyId} where api_key_id = ${formerKeyId}`;
}

/** Deletes the access keys of the account's revoked API keys, with their secrets. */
export async function dropOfRevoked(tx: Transaction, accountId: string): Promise<void> {
  await tx`
    delete from s3_access_keys where account_id = ${accountId}
      and api_key_id in (select id from api_keys where account_id = ${accountId} and revoked_at is not null)`;
}

/**
 * Gives a configured API key exactly the pair of the configuration. `where` names the key.
 * @throws StartupError if another account has the id
 */
export async function provisionPair(
  tx: Transaction,
  secrets: NamedSecrets,
  { id, accountId, where }: { readonly id: string; readonly accountId: string; readonly where: string },
  pair: ApiKeyConfig['s3'],
): Promise<void> {
  await tx`delete from s3_access_keys where api_key_id = ${id} and access_key_id <> ${pair?.accessKeyId ?? ''}`;
  if (pair === undefined) return;
  const { accessKeyId, secretAccessKey } = pair;
  const [placed] = await tx`
    insert into s3_access_keys ${tx({ accessKeyId, apiKeyId: id, accountId })}
    on conflict (access_key_id) do update set api_key_id = excluded.api_key_id
      where s3_access_keys.account_id = excluded.account_id returning 1`;
  if (placed === undefined) {
    throw new StartupError(`${where}: its s3.accessKeyId ${accessKeyId} is already in use by another account`);
  }
  await secrets.replaceAll(tx, accessKeyId, { [SECRET]: secretAccessKey });
}

function generatePair(): S3Pair {
  const random = Array.from(randomBytes(ID_RANDOM_CHARS), (byte) => BASE32.charAt(byte % BASE32.length)).join('');
  return { accessKeyId: `${ID_MARK}${random}`, secretAccessKey: randomText(SECRET_CHARS) };
}
