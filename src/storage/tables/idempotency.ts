/** Answers stored under an Idempotency-Key for 24 hours, available on any node. */
import { MINUTE_MS } from '../../contract/units.js';
import { uuidv7 } from '../../base/uuid.js';
import { GatewayError } from '../../base/errors.js';
import type { Database } from '../postgres/database.js';
import { hidden, type RowOf } from '../../contract/thing.js';
import {
  columnsOf,
  fromExcluded,
  type Queryable,
  rowOf,
  selecting,
  tableColumns,
  templateIn,
} from '../postgres/sql.js';
import type { NodeRegistry } from '../cluster/nodes.js';

/**
 * `begin` stores the transfer before any of its work; it rejects if the claim was lost. `complete` rejects if the
 * answer could not be stored; it is stored once the database is back, and a repeated request then gets it. `abandon`:
 * the result of the transfer is unknown. `abandon` and `release` never reject.
 */
export type IdempotencyClaim =
  | {
      readonly state: 'mine';
      begin(transferId: string): Promise<void>;
      complete(answer: StoredAnswer): Promise<void>;
      release(): Promise<void>;
      abandon(): Promise<void>;
    }
  | { readonly state: 'running' }
  | { readonly state: 'unknown'; readonly transferId: string }
  | { readonly state: 'mismatch' }
  | { readonly state: 'done'; readonly answer: StoredAnswer };

export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** SHA-256 of the request's body in hex, if it was hashed. */
  readonly requestDigest?: string;
}

const CLEAR_EVERY_MS = 15 * MINUTE_MS;
const CLEAR_BATCH = 5000;
/** The maximum number of batches of one clearing; the next one continues. */
const MOST_BATCHES = 200;
const COUNT_FRESH_MS = 30_000;
const MAX_TURNS = 10;

const answerFields = {
  status: hidden<number | null>(),
  headers: hidden<Record<string, string> | null>(),
  body: hidden<string | null>(),
  requestDigest: hidden<string | null>(),
  transferId: hidden<string | null>(),
};
const NO_ANSWER = templateIn(
  tableColumns(answerFields)
    .map((name) => `${name} = null`)
    .join(', '),
);

interface ClaimRow extends RowOf<typeof answerFields> {
  readonly fingerprint: string;
  /** The claiming node is dead, or has abandoned the claim. */
  readonly isLeft: boolean;
}

/** The id of no node: the owner of abandoned claims. */
const NO_NODE = '00000000-0000-0000-0000-000000000000';

export class IdempotencyKeys {
  readonly #database: Database;
  readonly #node: NodeRegistry;
  /** Keys of one account. */
  readonly #most: number;
  #clearedAt = -Infinity;
  /** Keys per account: the last count, and those claimed here since. */
  readonly #counts = new Map<string, { readonly at: number; keys: number }>();
  /**
   * By claim: writes that the database did not accept, or may not have accepted. Without them, the key of a finished
   * request would count as running for as long as this node lives.
   */
  readonly #unsettled = new Map<string, () => Promise<void>>();

  constructor(database: Database, node: NodeRegistry, most: number) {
    this.#database = database;
    this.#node = node;
    this.#most = most;

    node.afterBeat(() => this.#settleRest());
    node.afterBeat(() => this.#clearExpired());
  }

  /**
   * Claims the key for this request. `fingerprint` is a hash of method, path, query and the known part of the body.
   * running: another request still works on it; mismatch: stored under another fingerprint; unknown: the former request
   * had begun, and its result is unknown. The claim of a dead node that had not begun expires. @throws GatewayError
   * share_exceeded if the account has very many keys
   */
  async claim(accountId: string, key: string, fingerprint: string): Promise<IdempotencyClaim> {
    const count = await this.#countOf(accountId);
    // A repeated request still gets its answer.
    if (count.keys >= this.#most && !(await this.#isKnown(accountId, key))) {
      const text = `this account has used ${this.#most} Idempotency-Keys within 24 hours (limits.idempotencyKeys)`;
      throw new GatewayError('share_exceeded', text, { step: 'request', retryAfterMs: COUNT_FRESH_MS });
    }
    const claim = uuidv7();
    const release = (): Promise<void> => this.#release(accountId, key, claim);
    // The holder may release it between the two statements: then ask again.
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const isAsked = !this.#database.isAway;
      let answer: ClaimRow | 'mine' | undefined;
      try {
        answer = await this.#ask(accountId, key, fingerprint, claim);
      } catch (error) {
        // It may be claimed nevertheless: the answer was lost.
        if (isAsked) this.#unsettled.set(claim, release);
        throw error;
      }
      if (answer === 'mine') {
        count.keys += 1;
        return {
          state: 'mine',
          complete: (stored) => this.#settle(claim, () => this.#complete(accountId, key, claim, stored)),
          // A caller of `release` has its own failure to report.
          release: () => this.#settle(claim, release).catch(() => undefined),
          begin: (transferId) => this.#begin(accountId, key, claim, transferId),
          abandon: () => this.#settle(claim, () => this.#abandon(accountId, key, claim)).catch(() => undefined),
        };
      }
      if (answer === undefined) continue;
      if (answer.fingerprint !== fingerprint) return { state: 'mismatch' };
      const { status, headers, body, requestDigest: digest, transferId, isLeft } = answer;
      if (status === null)
        return isLeft && transferId !== null ? { state: 'unknown', transferId } : { state: 'running' };
      const requestDigest = digest === null ? {} : { requestDigest: digest };
      return { state: 'done', answer: { status, headers: headers ?? {}, body: body ?? '', ...requestDigest } };
    }
    return { state: 'running' };
  }

  async #settle(claim: string, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#unsettled.set(claim, write);
      throw error;
    }
  }

  async #settleRest(): Promise<void> {
    for (const [claim, write] of this.#unsettled) {
      await write();
      this.#unsettled.delete(claim);
    }
  }

  #ask(accountId: string, key: string, fingerprint: string, claim: string): Promise<ClaimRow | 'mine' | undefined> {
    return this.#database.run(async (sql) => {
      if (await this.#take(sql, accountId, key, fingerprint, claim)) return 'mine';
      const [row] = await sql<ClaimRow[]>`
        select fingerprint, ${columnsOf(sql, answerFields)},
          ${this.#node.isDead(sql, sql`k.node_id`)} as is_left
        from idempotency_keys k
        where account_id = ${accountId} and key = ${key}`;
      return row;
    });
  }

  async #take(sql: Queryable, accountId: string, key: string, fingerprint: string, claim: string): Promise<boolean> {
    const row = { claim, nodeId: this.#node.id, fingerprint, expiresAt: sql`now() + interval '24 hours'` };
    const rows = await sql`
      insert into idempotency_keys as k ${selecting(sql, { accountId, key, ...row })}
      on conflict (account_id, key) do update set ${sql(templateIn(fromExcluded(Object.keys(row))))}, ${sql(NO_ANSWER)}
      where k.expires_at <= now()
        or (k.status is null and k.transfer_id is null and ${this.#node.isDead(sql, sql`k.node_id`)})
      returning 1`;
    return rows.length > 0;
  }

  async #begin(accountId: string, key: string, claim: string, transferId: string): Promise<void> {
    const noted = await this.#database.all`
      update idempotency_keys set transfer_id = ${transferId}
      where account_id = ${accountId} and key = ${key} and claim = ${claim} returning 1`;
    if (noted.length > 0) return;
    // This node was considered dead, and another one runs the request now.
    throw new GatewayError('idempotency_in_progress', 'a request with this Idempotency-Key runs on another node', {
      step: 'request',
      retryAfterMs: 1_000,
    });
  }

  async #abandon(accountId: string, key: string, claim: string): Promise<void> {
    await this.#database.all`
      update idempotency_keys set node_id = ${NO_NODE}
      where account_id = ${accountId} and key = ${key} and claim = ${claim} and status is null`;
  }

  async #complete(accountId: string, key: string, claim: string, answer: StoredAnswer): Promise<void> {
    const { requestDigest = null, ...others } = answer;
    await this.#database.all`
      update idempotency_keys set ${(sql) => sql(rowOf(sql, answerFields, { ...others, requestDigest }))}
      where account_id = ${accountId} and key = ${key} and claim = ${claim}`;
  }

  async #release(accountId: string, key: string, claim: string): Promise<void> {
    await this.#database.all`
      delete from idempotency_keys
      where account_id = ${accountId} and key = ${key} and claim = ${claim} and status is null`;
  }

  async #clearExpired(): Promise<void> {
    if (performance.now() - this.#clearedAt < CLEAR_EVERY_MS) return;
    this.#clearedAt = performance.now();
    for (let batch = 0; batch < MOST_BATCHES; batch++) {
      const { count } = await this.#database.all`
        delete from idempotency_keys where (account_id, key) in (
          select account_id, key from idempotency_keys where expires_at <= now() limit ${CLEAR_BATCH})`;
      if (count < CLEAR_BATCH) return;
    }
  }

  async #isKnown(accountId: string, key: string): Promise<boolean> {
    const row = await this.#database.first`
      select 1 from idempotency_keys where account_id = ${accountId} and key = ${key}`;
    return row !== undefined;
  }

  async #countOf(accountId: string): Promise<{ keys: number }> {
    const now = performance.now();
    const known = this.#counts.get(accountId);
    if (known !== undefined && now - known.at < COUNT_FRESH_MS) return known;
    for (const [other, { at }] of this.#counts) if (now - at >= COUNT_FRESH_MS) this.#counts.delete(other);
    const row = await this.#database.first<{ keys: number }>`
      select count(*) as keys from (select from idempotency_keys where account_id = ${accountId} limit ${this.#most}) k`;
    const fresh = { at: now, keys: row?.keys ?? 0 };
    this.#counts.set(accountId, fresh);
    return fresh;
  }
}
