/** Accounts, and the credentials of their owners: password, one-time passwords, recovery codes; and failed logins. */
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { RateLimiterPostgres } from 'rate-limiter-flexible';
import { uuidv7 } from '../../base/uuid.js';
import { type Account, accountFields } from '../../contract/account.js';
import { type Brand, brandFields } from '../../contract/brand.js';
import { withDefaults } from '../../contract/thing.js';
import type { AccountConfig } from '../../config/schema.js';
import type { Database } from '../postgres/database.js';
import { SharedQuestion } from '../postgres/shared-question.js';
import { itemsOf } from './history-queries.js';
import {
  columnsOf,
  fromExcludedIfOther,
  type Queryable,
  rowOf,
  templateIn,
  type Transaction,
} from '../postgres/sql.js';
import { hashPassword, verifyPassword } from '../secrets/hashes.js';
import type { NamedSecrets } from '../secrets/sealed-rows.js';
import { type Actor, recordAudit } from './audit-log.js';
import { endAllSessions } from './login-sessions.js';

interface Holdings {
  readonly connections: number;
  readonly transfers: number;
}

interface FailureLimit {
  readonly name: string;
  readonly points: number;
  readonly windowSeconds: number;
}

const TOTP_SECRET = 'totp';
const RECOVERY_CODES = 10;
/** 80 bits. */
const RECOVERY_CODE_BYTES = 10;

export class Accounts {
  readonly #database: Database;
  readonly #secrets: NamedSecrets;
  /** Compared if there is no hash, so that an unknown address takes as long as a wrong password. */
  #decoy: Promise<string> | undefined;

  readonly #holdings = new SharedQuestion((accountId) => this.#holdingsOf(accountId));

  constructor(database: Database, secrets: NamedSecrets) {
    this.#database = database;
    this.#secrets = secrets;
  }

  async count(): Promise<number> {
    const row = await this.#database.first<{ count: number }>`select count(*) from accounts`;
    return row?.count ?? 0;
  }

  /** The number of its connections and history items; fast even with millions of them. */
  async holdings(accountId: string): Promise<Holdings> {
    return this.#holdings.answer(accountId);
  }

  async #holdingsOf(accountId: string): Promise<Holdings> {
    const [row] = await this.#database.run(
      (sql) => sql<Holdings[]>`
        select (select count(*) from connections where account_id = ${accountId}) as connections,
               ${itemsOf(sql, accountId)} as transfers`,
    );
    return row ?? { connections: 0, transfers: 0 };
  }

  /** The configuration's setting on private addresses for the account's connections; null = no setting. */
  async allowsPrivate(accountId: string): Promise<boolean | null> {
    const row = await this.#database.first<{ allowed: boolean | null }>`
      select allow_private as allowed from accounts where id = ${accountId}`;
    return row?.allowed ?? null;
  }

  async find(accountId: string): Promise<Account | undefined> {
    return this.#owner('id', accountId);
  }

  async findByEmail(email: string): Promise<Account | undefined> {
    return this.#owner('email', email);
  }

  /** The owner of this connection, if it leads to that host with that user. */
  async findByConnection(id: string, host: string, username: string): Promise<Account | undefined> {
    const [found] = await this.#database.all<{ accountId: string }>`
      select account_id from connections
      where id = ${id} and settings->>'host' = ${host} and settings->>'username' = ${username}`;
    return found === undefined ? undefined : this.#owner('id', found.accountId);
  }

  /** What the pages of its links show; undefined = there is no such account. */
  async brand(accountId: string): Promise<Brand | undefined> {
    return this.#database.first<Brand>`
      select ${brandColumns} from accounts where id = ${accountId}`;
  }

  async changeBrand(actor: Actor, changes: Partial<Brand>): Promise<void> {
    await this.#database.transaction(async (tx) => {
      if (Object.keys(changes).length === 0) return;
      await writeBrand(tx, actor.accountId, changes);
      await recordAudit(tx, actor, { action: 'account.change_brand', details: { fields: Object.keys(changes) } });
    });
  }

  /** Takes equally long for an account that does not exist. */
  async verifyPassword(accountId: string | undefined, password: string): Promise<boolean> {
    const [row] =
      accountId === undefined
        ? []
        : await this.#database.all<{ passwordHash: string | null }>`
            select password_hash from accounts where id = ${accountId}`;
    const stored = row?.passwordHash ?? null;
    const matches = await verifyPassword(password, stored ?? (await this.#decoyHash()));
    return matches && stored !== null;
  }

  async setPassword(actor: Actor, password: string): Promise<void> {
    const hash = await hashPassword(password);
    await this.#database.transaction(async (tx) => {
      await tx`update accounts set password_hash = ${hash}, updated_at = now() where id = ${actor.accountId}`;
      await recordAudit(tx, actor, { action: 'account.change_password' });
    });
  }

  /** Stores a secret that takes effect only when its first code was verified. */
  async beginTotp(actor: Actor, secret: string): Promise<void> {
    await this.#database.transaction((tx) => this.#secrets.put(tx, actor.accountId, TOTP_SECRET, secret));
  }

  async totpSecret(accountId: string): Promise<string | undefined> {
    return this.#database.run((sql) => this.#secrets.find(sql, accountId, TOTP_SECRET));
  }

  /** Whether the step's code may still be used: each code allows one login, on any node. */
  async takeTotpStep(accountId: string, step: number): Promise<boolean> {
    const rows = await this.#database.all`
      update accounts set totp_last_step = ${step}
      where id = ${accountId} and (totp_last_step is null or totp_last_step < ${step}) returning id`;
    return rows.length > 0;
  }

  /** Turns one-time passwords on; resolves to the recovery codes. */
  async confirmTotp(actor: Actor): Promise<readonly string[]> {
    return this.#database.transaction(async (tx) => {
      await tx`update accounts set totp_confirmed_at = now() where id = ${actor.accountId}`;
      await recordAudit(tx, actor, { action: 'account.enable_totp' });
      return this.#replaceCodes(tx, actor.accountId);
    });
  }

  async renewRecoveryCodes(actor: Actor): Promise<readonly string[]> {
    return this.#database.transaction(async (tx) => {
      await recordAudit(tx, actor, { action: 'account.renew_recovery_codes' });
      return this.#replaceCodes(tx, actor.accountId);
    });
  }

  async disableTotp(actor: Actor): Promise<void> {
    await this.#database.transaction(async (tx) => {
      await tx`
        update accounts set totp_confirmed_at = null, totp_last_step = null where id = ${actor.accountId}`;
      await tx`delete from recovery_codes where account_id = ${actor.accountId}`;
      await this.#secrets.put(tx, actor.accountId, TOTP_SECRET, null);
      await recordAudit(tx, actor, { action: 'account.disable_totp' });
    });
  }

  /** Whether the code belongs to the account and was not used before. */
  async takeRecoveryCode(accountId: string, code: string): Promise<boolean> {
    const rows = await this.#database.all`
      update recovery_codes set used_at = now()
      where account_id = ${accountId} and code_hash = ${hashOf(code)} and used_at is null returning code_hash`;
    return rows.length > 0;
  }

  /** Failures are counted in the database, so guesses spread over nodes and threads are counted together. */
  failureLimiter({ name, points, windowSeconds }: FailureLimit): RateLimiterPostgres {
    return new RateLimiterPostgres({
      storeClient: { query: (statement: Statement) => this.#query(statement) },
      storeType: 'client',
      tableName: 'login_failures',
      tableCreated: true,
      clearExpiredByTimeout: false,
      keyPrefix: name,
      points,
      duration: windowSeconds,
    });
  }

  async #query({ text, values }: Statement): Promise<{ rows: readonly object[]; rowCount: number }> {
    const rows = await this.#database.run((sql) => sql.unsafe<object[]>(text, [...values]));
    return { rows: [...rows], rowCount: rows.count };
  }

  async #owner(by: 'id' | 'email', value: string): Promise<Account | undefined> {
    const [owner] = await this.#database.run(
      (sql) => sql<Account[]>`
        select ${columnsOf(sql, accountFields, {
          made: {
            hasPassword: sql`password_hash is not null`,
            isTotpEnabled: sql`totp_confirmed_at is not null`,
            recoveryCodesLeft: sql`
              (select count(*) from recovery_codes where account_id = a.id and used_at is null)`,
          },
        })}
        from accounts a where ${by === 'id' ? sql`id = ${value}` : sql`lower(email) = lower(${value})`}`,
    );
    return owner;
  }

  async #replaceCodes(tx: Transaction, accountId: string): Promise<string[]> {
    const codes = Array.from({ length: RECOVERY_CODES }, makeRecoveryCode);
    await tx`delete from recovery_codes where account_id = ${accountId}`;
    for (const code of codes) {
      await tx`insert into recovery_codes ${tx({ accountId, codeHash: hashOf(code) })}`;
    }
    return codes;
  }

  #decoyHash(): Promise<string> {
    return (this.#decoy ??= hashPassword(randomBytes(18).toString('base64')));
  }
}

/** Deletes failed logins that do not count any more. */
export async function forgetFailures(sql: Queryable): Promise<void> {
  await sql`delete from login_failures where expire < ${Date.now()}`;
}

/** Creates or updates a configured account; resolves to its id. */
export async function provisionAccount(tx: Transaction, account: AccountConfig): Promise<string> {
  const [found] = await tx<{ id: string; current: string | null; configured: string | null }[]>`
    select id, password_hash as current, configured_password_hash as configured
    from accounts where lower(email) = lower(${account.email})`;
  const id = found?.id ?? uuidv7();
  const { email, plan, allowPrivate = null, digests = 'asked', password } = account;
  const { current, configured } = await nextPasswords(password, found ?? { current: null, configured: null });
  const row = { email, plan, allowPrivate, digests, passwordHash: current, configuredPasswordHash: configured };
  await tx`
    insert into accounts ${tx({ id, ...row })}
    on conflict (id) do update set ${tx(templateIn(fromExcludedIfOther('accounts', Object.keys(row))))}`;
  if (account.brand !== undefined) await writeBrand(tx, id, await configuredBrand(account.brand));
  if (found !== undefined && found.current !== current) {
    await endAllSessions(tx, id);
  }
  return id;
}

const brandColumns = (sql: Queryable) => columnsOf(sql, brandFields);

async function writeBrand(tx: Transaction, accountId: string, brand: Partial<Brand>): Promise<void> {
  await tx`update accounts set ${tx(rowOf(tx, brandFields, brand))}, updated_at = now() where id = ${accountId}`;
}

async function configuredBrand(brand: NonNullable<AccountConfig['brand']>): Promise<Brand> {
  const { logoFile = '', ...others } = brand;
  return withDefaults(brandFields, { ...others, logo: logoFile === '' ? null : await readFile(logoFile) });
}

interface PasswordHashes {
  /** In effect. */
  readonly current: string | null;
  /** The hash of the password that the configuration gave last. */
  readonly configured: string | null;
}

/** A password changed by hand stays until the configuration gives another one than before. */
async function nextPasswords(password: string | undefined, stored: PasswordHashes): Promise<PasswordHashes> {
  if (password === undefined || password === '') return stored;
  const last = stored.configured ?? stored.current;
  if (last !== null && (await verifyPassword(password, last))) return { current: stored.current, configured: last };
  const hash = await hashPassword(password);
  return { current: hash, configured: hash };
}

interface Statement {
  readonly text: string;
  readonly values: readonly (string | number | null)[];
}

/** `abcd-efgh-ijkm-npqr`: copied by hand, so without letters that look alike. */
function makeRecoveryCode(): string {
  const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';
  const letters = Array.from(randomBytes(RECOVERY_CODE_BYTES * 2), (byte) => alphabet.charAt(byte % 32)).slice(0, 16);
  return (letters.join('').match(/.{4}/g) ?? []).join('-');
}

function hashOf(code: string): Buffer {
  return createHash('sha256').update(code.toLowerCase().replaceAll(/[\s-]/g, '')).digest();
}
