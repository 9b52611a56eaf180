/** Answers stored under an Idempotency-Key for 24 hours, on any node. */
import { uuidv7 } from '../../base/uuid.js';
import { GatewayError } from '../../base/errors.js';
import type { Database } from '../postgres/database.js';
import type { Queryable } from '../postgres/sql.js';
import type { NodeRegistry } from '../cluster/nodes.js';

/**
 * `begin` notes the transfer before anything is done for it; it rejects when the claim was lost meanwhile. `complete`
 * rejects when the answer could not be stored; it is stored once the database is back, and the answer then given to
 * whoever repeats the request. `abandon`: nobody knows how the transfer ended. Neither it nor `release` ever rejects.
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
  /** SHA-256 of the request's body, hex, where it was hashed. */
  readonly requestDigest?: string;
}

const CLEAR_EVERY_MS = 15 * 60_000;
const CLEAR_BATCH = 5000;
/** Batches of one clearing at most: the next one goes on. */
const MOST_BATCHES = 200;
const COUNT_FRESH_MS = 30_000;
const MAX_TURNS = 10;

interface ClaimRow {
  readonly fingerprint: string;
  readonly status: number | null;
  readonly headers: Record<string, string> | null;
  readonly body: string | null;
  readonly requestDigest: string | null;
  readonly transferId: string | null;
  /** Whoever claimed it is dead, or has abandoned it. */
  readonly isLeft: boolean;
}

/** No node has it: a claim that is abandoned belongs to nobody. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

export class IdempotencyKeys {
  readonly #database: Database;
  readonly #node: NodeRegistry;
  /** Of one account. */
  readonly #most: number;
  #clearedAt = -Infinity;
  /** Keys of accounts, counted a moment ago, and those that were claimed here since. */
  readonly #counts = new Map<string, { readonly at: number; keys: number }>();
  /**
   * By claim, what the database did not take, or may not have taken: left alone, the key of a request that is over
   * would stand as running for as long as this node lives.
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
   * Claims the key for this request. `fingerprint` is a hash of method, path, query and what is known of the body.
   * running: another one still works on it; mismatch: stored under another fingerprint; unknown: whoever worked on it
   * had begun, and nobody can tell how it ended. The claim of a dead node that had not begun lapses.
   * @throws GatewayError share_exceeded where the account has very many keys
   */
  async claim(accountId: string, key: string, fingerprint: string): Promise<IdempotencyClaim> {
    const count = await this.#countOf(accountId);
    // What is repeated gets its answer all the same.
    if (count.keys >= this.#most && !(await this.#isKnown(accountId, key))) {
      const text = `this account has used ${this.#most} Idempotency-Keys within 24 hours (limits.idempotencyKeys)`;
      throw new GatewayError('share_exceeded', text, { step: 'request', retryAfterMs: COUNT_FRESH_MS });
    }
    const claim = uuidv7();
    const release = (): Promise<void> => this.#release(accountId, key, claim);
    // A holder may release between the two statements: ask again then.
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const isAsked = !this.#database.isAway;
      let answer: ClaimRow | 'mine' | undefined;
      try {
        answer = await this.#ask(accountId, key, fingerprint, claim);
      } catch (error) {
        // It may be claimed all the same: the answer was lost.
        if (isAsked) this.#unsettled.set(claim, release);
        throw error;
      }
      if (answer === 'mine') {
        count.keys += 1;
        return {
          state: 'mine',
          complete: (stored) => this.#settle(claim, () => this.#complete(accountId, key, claim, stored)),
          // Whoever releases has a failure of its own to tell.
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
        select fingerprint, status, headers, body, request_digest, transfer_id,
          ${this.#node.isDead(sql, sql`k.node_id`)} as is_left
        from idempotency_keys k
        where account_id = ${accountId} and key = ${key}`;
      return row;
    });
  }

  async #take(sql: Queryable, accountId: string, key: string, fingerprint: string, claim: string): Promise<boolean> {
    const rows = await sql`
      insert into idempotency_keys as k (account_id, key, claim, node_id, fingerprint, expires_at)
      values (${accountId}, ${key}, ${claim}, ${this.#node.id}, ${fingerprint}, now() + interval '24 hours')
      on conflict (account_id, key) do update set claim = excluded.claim, node_id = excluded.node_id,
        fingerprint = excluded.fingerprint, status = null, headers = null, body = null, request_digest = null,
        transfer_id = null, expires_at = excluded.expires_at
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
    // This node was taken for dead, and another one has the request now.
    throw new GatewayError('idempotency_in_progress', 'a request with this Idempotency-Key runs on another node', {
      step: 'request',
      retryAfterMs: 1_000,
    });
  }

  async #abandon(accountId: string, key: string, claim: string): Promise<void> {
    await this.#database.all`
      update idempotency_keys set node_id = ${NOBODY}
      where account_id = ${accountId} and key = ${key} and claim = ${claim} and status is null`;
  }

  async #complete(accountId: string, key: string, claim: string, answer: StoredAnswer): Promise<void> {
    await this.#database.all`
      update idempotency_keys set status = ${answer.status}, headers = ${(sql) => sql.json({ ...answer.headers })},
        body = ${answer.body}, request_digest = ${answer.requestDigest ?? null}
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
