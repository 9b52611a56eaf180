/** Login sessions: a random token in a cookie, its hash in a row. */
import { createHash, randomBytes } from 'node:crypto';
import { DAY_MS, HOUR_MS } from '../../contract/units.js';
import { uuidv7 } from '../../base/uuid.js';
import type { EarlyEnd, SessionEnd } from '../../contract/login.js';
import { CachedLookup } from './cached-lookup.js';
import type { Database } from '../postgres/database.js';
import { hidden, type RowOf } from '../../contract/thing.js';
import { columnsOf, type Queryable, rowOf, type Transaction } from '../postgres/sql.js';

const rowFields = {
  id: hidden<string>(),
  accountId: hidden<string>(),
  createdAt: hidden<Date>(),
  lastSeenAt: hidden<Date>(),
  expiresAt: hidden<Date>(),
  address: hidden<string>(),
  userAgent: hidden<string>(),
};

/** A session, with data of its account. */
export interface LoginSession extends RowOf<typeof rowFields> {
  readonly email: string;
  readonly plan: string;
}

/** A session without a request ends after this time. */
const IDLE_MS = 2 * HOUR_MS;
/** A session ends this long after the login, even if it is used. */
const ABSOLUTE_MS = DAY_MS;

/** Requests within this time update the session only once. */
const SEEN_EVERY_MS = 60_000;
/** How long ended sessions are kept; they show from which addresses an account logged in. */
const KEEP_ENDED_DAYS = 30;
const TOKEN_BYTES = 32;
const MAX_USER_AGENT = 300;

export class LoginSessions {
  readonly #database: Database;
  // At most a second old, so that a session that ends on another node ends here within a second.
  readonly #lookup = new CachedLookup<LoginSession>((hash) => this.#load(hash));
  readonly #hashes = new Map<string, string>();

  constructor(database: Database) {
    this.#database = database;
  }

  async create(
    accountId: string,
    client: { readonly address: string; readonly userAgent: string },
  ): Promise<{ readonly token: string; readonly session: LoginSession }> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const { address } = client;
    const userAgent = client.userAgent.toWellFormed().slice(0, MAX_USER_AGENT);
    const expiresAt = new Date(Date.now() + ABSOLUTE_MS);
    await this.#database.run((sql) => {
      const row = rowOf(sql, rowFields, { id: uuidv7(), accountId, address, userAgent, expiresAt });
      return sql`insert into login_sessions ${sql({ ...row, tokenHash: hashOf(token) })}`;
    });
    await this.#database.all`
      delete from login_sessions
      where account_id = ${accountId} and expires_at < now() - make_interval(days => ${KEEP_ENDED_DAYS})`;
    const session = await this.#lookup.find(hashOf(token).toString('base64'));
    if (session === undefined) throw new Error('a new login session cannot be found');
    return { token, session };
  }

  /** The valid session of a token. `touch`: this call comes from a request, which keeps the session from idling out. */
  async find(token: string, touch = true): Promise<LoginSession | undefined> {
    const hash = hashOf(token).toString('base64');
    const session = await this.#lookup.find(hash);
    const now = Date.now();
    if (session === undefined || session.expiresAt.getTime() <= now) return undefined;
    if (now - session.lastSeenAt.getTime() >= IDLE_MS) return undefined;
    if (touch && now - session.lastSeenAt.getTime() >= SEEN_EVERY_MS) {
      await this.#database.all`update login_sessions set last_seen_at = now() where id = ${session.id}`;
      this.#lookup.forget(hash);
    }
    return session;
  }

  /** Valid sessions, newest first. */
  async list(accountId: string): Promise<readonly LoginSession[]> {
    return this.#database.run((sql) => this.#select(sql, sql`s.account_id = ${accountId}`));
  }

  /** Whether the account had such a session. */
  async end(accountId: string, id: string, why: EarlyEnd): Promise<boolean> {
    const ended = await this.#end(why, (sql) => sql`account_id = ${accountId} and id = ${id}`);
    return ended > 0;
  }

  /** Ends all sessions of the account but `except`; resolves to their number. */
  async endOthers(accountId: string, except: string | undefined, why: EarlyEnd): Promise<number> {
    return this.#end(why, (sql) =>
      except === undefined ? sql`account_id = ${accountId}` : sql`account_id = ${accountId} and id <> ${except}`,
    );
  }

  /** Whether the account has logged in from there within the last 30 days. */
  async knowsAddress(accountId: string, address: string): Promise<boolean> {
    const rows = await this.#database
      .all`select from login_sessions where account_id = ${accountId} and address = ${address} limit 1`;
    return rows.length > 0;
  }

  /** Why a session has ended, if it is still known. */
  async whyEnded(token: string): Promise<SessionEnd | undefined> {
    const [session] = await this.#database.all<{ reason: EarlyEnd | null; isEnded: boolean; isExpired: boolean }>`
      select end_reason as reason, ended_at is not null as is_ended, expires_at <= now() as is_expired
      from login_sessions where token_hash = ${hashOf(token)}`;
    if (session === undefined) return undefined;
    if (session.isEnded) return session.reason ?? undefined;
    return session.isExpired ? 'expired' : 'idle';
  }

  async #end(why: EarlyEnd, condition: (sql: Queryable) => ReturnType<Queryable>): Promise<number> {
    const ended = await this.#database.all<{ id: string }>`
      update login_sessions set ended_at = now(), end_reason = ${why} where ended_at is null and ${condition} returning id`;
    for (const { id } of ended) this.#lookup.forget(this.#hashes.get(id) ?? '');
    return ended.length;
  }

  async #load(hash: string): Promise<LoginSession | undefined> {
    const [session] = await this.#database.run((sql) =>
      this.#select(sql, sql`s.token_hash = ${Buffer.from(hash, 'base64')}`),
    );
    if (session !== undefined) this.#remember(session.id, hash);
    return session;
  }

  #select(sql: Queryable, condition: ReturnType<Queryable>) {
    return sql<LoginSession[]>`
      select ${columnsOf(sql, rowFields, { table: 's' })}, a.email, a.plan
      from login_sessions s join accounts a on a.id = s.account_id
      where ${condition} and s.ended_at is null and s.expires_at > now()
        and s.last_seen_at > now() - make_interval(secs => ${IDLE_MS / 1000})
      order by s.id desc`;
  }

  /** So that ending a session by its id also ends its cached copy. */
  #remember(id: string, hash: string): void {
    this.#hashes.delete(id);
    this.#hashes.set(id, hash);
    const [oldest] = this.#hashes.keys();
    if (this.#hashes.size > 20_000 && oldest !== undefined) this.#hashes.delete(oldest);
  }
}

/** Ends the sessions that were made with the old password. Other nodes notice within a second. */
export async function endAllSessions(tx: Transaction, accountId: string): Promise<void> {
  await tx`
    update login_sessions set ended_at = now(), end_reason = 'password_changed'
    where account_id = ${accountId} and ended_at is null`;
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
