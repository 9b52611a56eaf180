/**
 * Receipts: signed records of an account's transfers, each with the hash of the previous one. A node that adds to a
 * chain claims it, signs, and writes rows and receipts in one statement, which fails if the claim was lost. So no node
 * adds to receipts that another one has not committed, and nothing is locked meanwhile.
 */
import { createHash, randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { retryingUntil } from '../../base/retry.js';
import { type Receipt, receiptFields } from '../../contract/receipt.js';
import { viewOf } from '../../contract/thing.js';
import { receiptedFields, type ReceiptedTransfer } from '../../contract/transfer.js';
import type { Database } from '../postgres/database.js';
import { systemCodeOf } from '../../base/errors.js';
import { OwnerTurns } from '../postgres/owner-turns.js';
import { columnsOf, listed, type Queryable, tableOf, takeRows, templateIn } from '../postgres/sql.js';
import type { ReceiptKey, ReceiptKeys, Signer } from '../secrets/receipt-keys.js';
import { itemsOfIds, stagesOf } from './history-queries.js';
import type { ReceiptFacts, TransferRow } from './transfer.js';

/** Signed in one turn of the event loop: about 60 µs each. */
const SLICE = 64;
/** A claim that is older has stalled: another node may take the chain. */
const CLAIM_SECONDS = 2;
/** For a transaction that updates the totals, because others wait for it. */
const PATIENCE = '2s';
/** The delays between attempts to get a chain that another node has claimed. */
const CLAIM_ATTEMPTS = { firstMs: 3, longestMs: 50, spread: [0.5, 1.5] } as const;
/** Raised by require_link. */
const NOT_AS_SIGNED = 'RC001';

/** A receipt and the current history item; null if that was deleted. */
export interface ReceiptLine extends Receipt {
  readonly transfer: ReceiptedTransfer | null;
}

type ReceiptedRow = TransferRow & { readonly receipt: ReceiptFacts };

export const isReceipted = (row: TransferRow): row is ReceiptedRow => row.receipt !== null && row.status === 'success';

/** The right to add the next receipts to the chain of an account. */
interface Claim {
  readonly accountId: string;
  readonly token: string;
  /** The number of the newest receipt. */
  readonly sequence: number;
  readonly head: string | null;
  /** The time of all receipts made with this claim: later than that of the former claim. */
  readonly at: Date;
  readonly sign: Signer;
  /** Those of the given rows that have already ended. */
  readonly ended: ReadonlySet<string>;
}

/** What a batch adds to a chain. */
export interface ChainLinks extends Pick<Claim, 'accountId' | 'token' | 'at'> {
  readonly made: readonly Receipt[];
  /** The chain before the batch. */
  readonly since: number;
  readonly head: string | null;
}

/** Writes rows and, in the same statement, `links`. Resolves to the ids of the written rows. */
type Write = (sql: Queryable, links?: ChainLinks) => Promise<ReadonlySet<string>>;

export class Receipts {
  readonly #database: Database;
  readonly #keyring: ReceiptKeys;
  /** Orders the writes of each account whose chain this process adds to. */
  readonly #turns = new OwnerTurns();

  constructor(database: Database, keyring: ReceiptKeys) {
    this.#database = database;
    this.#keyring = keyring;
  }

  keys(): Promise<readonly ReceiptKey[]> {
    return this.#keyring.all();
  }

  async find(accountId: string, transferId: string): Promise<Receipt | undefined> {
    return this.#database.first<Receipt>`
      select ${columns} from receipts
      where transfer_id = ${transferId} and account_id = ${accountId}`;
  }

  /** Receipts after the number `after`, in order. */
  async list(accountId: string, after: number, limit: number): Promise<readonly ReceiptLine[]> {
    return this.#database.run(async (sql) => {
      const found = await sql<Receipt[]>`
        select ${columns(sql)} from receipts
        where account_id = ${accountId} and sequence > ${after} order by sequence limit ${limit}`;
      const rows = takeRows(found);
      const items = await itemsOfIds(
        sql,
        accountId,
        rows.map(({ transferId }) => transferId),
      );
      return rows.map((row) => ({ ...row, transfer: items.get(row.transferId) ?? null }));
    });
  }

  /** The number of the last receipt, even if it was deleted; 0 = there was none. */
  async lastOf(accountId: string): Promise<number> {
    const row = await this.#database.first<{ last: number }>`
      select sequence as last from receipt_chains where account_id = ${accountId}`;
    return row?.last ?? 0;
  }

  /** Runs `write` through `run`, so that each of these rows of one account that is written gets its receipt. */
  async linked(
    rows: readonly ReceiptedRow[],
    run: (work: (sql: Queryable) => Promise<ReadonlySet<string>>) => Promise<ReadonlySet<string>>,
    write: Write,
  ): Promise<ReadonlySet<string>> {
    try {
      return await this.#claimed(rows, async (claim) => {
        const links = await linksOf(
          claim,
          rows.filter(({ id }) => !claim.ended.has(id)),
        );
        return run((sql) => write(sql, links));
      });
    } catch (error) {
      // The claim was lost, or another node has already ended one of the rows.
      if (isNotAsSigned(error)) return this.afterwards(rows, write);
      throw error;
    }
  }

  /**
   * The same if only `write` knows which rows it writes, in a transaction: the account's totals are locked meanwhile.
   */
  async afterwards(rows: readonly ReceiptedRow[], write: Write): Promise<ReadonlySet<string>> {
    for (;;) {
      try {
        return await this.#claimed(rows, (claim) =>
          this.#database.transaction(async (tx) => {
            await tx`select set_config('idle_in_transaction_session_timeout', ${PATIENCE}, true)`;
            const written = await write(tx);
            const links = await linksOf(
              claim,
              rows.filter(({ id }) => written.has(id)),
            );
            await tx`with ${linking(tx, links)} select require_link((select count(*) from moved) = 1)`;
            return written;
          }),
        );
      } catch (error) {
        if (!isNotAsSigned(error)) throw error;
      }
    }
  }

  /** Waits while another node has the claim. A failed caller releases it. */
  async #claimed<T>(rows: readonly ReceiptedRow[], work: (claim: Claim) => Promise<T>): Promise<T> {
    const [first] = rows;
    if (first === undefined) throw new Error('there is nothing to be receipted');
    const { accountId } = first;
    return this.#turns.run(accountId, async () => {
      const claim = await this.#claim(
        accountId,
        rows.map(({ id }) => id),
      );
      try {
        return await work(claim);
      } catch (error) {
        await this.#release(claim).catch(() => undefined);
        throw error;
      }
    });
  }

  async #claim(accountId: string, ids: readonly string[]): Promise<Claim> {
    const token = randomUUID();
    const attempt = async (): Promise<Claim | undefined> => {
      // Never waits for a batch that is being written, or for the disk; the batch itself will wait for the disk.
      const claimed = await this.#database.first<
        Omit<Claim, 'ended' | 'sign'> & { key: string; ended: string[] | null }
      >`
        with free as (
          select account_id from receipt_chains
          where account_id = ${accountId} and (claim is null or claimed_until < clock_timestamp())
          for update skip locked
        ),
        claimed as (
          update receipt_chains c
          set claim = ${token}, claimed_until = clock_timestamp() + make_interval(secs => ${CLAIM_SECONDS})
          from free where c.account_id = free.account_id returning c.sequence, c.head
        )
        select ${accountId}::uuid as account_id, ${token}::uuid as token, sequence, head, clock_timestamp() as at,
          (select id from receipt_keys where is_active) as key,
          (select array_agg(id) from transfers
           where id = any(${(sql) => sql.types.uuids(ids)}) and status <> 'pending') as ended,
          set_config('synchronous_commit', 'off', true)
        from claimed`;
      if (claimed === undefined) return undefined;
      const { key, ended, ...claim } = claimed;
      const sign = await this.#database.run((sql) => this.#keyring.signer(sql, key));
      return { ...claim, ended: new Set(ended), sign };
    };
    const claim = await attempt();
    if (claim !== undefined) return claim;
    await this.#begin(accountId);
    return retryingUntil(CLAIM_ATTEMPTS, attempt);
  }

  /** Creates an empty chain if there is none. */
  async #begin(accountId: string): Promise<void> {
    await this.#database
      .all`insert into receipt_chains (account_id) values (${accountId}) on conflict (account_id) do nothing`;
  }

  async #release({ accountId, token }: Claim): Promise<void> {
    await this.#database.all`
      update receipt_chains set claim = null, claimed_until = null where account_id = ${accountId} and claim = ${token}`;
  }

  /** Deletes the oldest receipts of each chain, in steps; resolves to their number. */
  async deleteOlder(before: Date, limit: number): Promise<number> {
    const rows = await this.#database.all`
      delete from receipts r using (
        select o.account_id, o.sequence from receipt_chains c cross join lateral (
          select account_id, sequence, recorded_at from receipts where account_id = c.account_id
          order by sequence limit ${limit}) o
        where o.recorded_at < ${before}) old
      where r.account_id = old.account_id and r.sequence = old.sequence returning 1 as gone`;
    return rows.length;
  }
}

function columns(sql: Queryable) {
  return columnsOf(sql, receiptFields);
}

const isNotAsSigned = (error: unknown): boolean => systemCodeOf(error) === NOT_AS_SIGNED;

/** In the order in which the transfers began, with turns of the event loop for other work. */
async function linksOf(claim: Claim, rows: readonly ReceiptedRow[]): Promise<ChainLinks> {
  const { accountId, token, at, sign, sequence: since } = claim;
  const made: Receipt[] = [];
  let { head } = claim;
  const ordered = [...rows].sort((one, other) => (one.id < other.id ? -1 : 1));
  for (const [index, row] of ordered.entries()) {
    if (index % SLICE === SLICE - 1) await turn();
    const sequence = since + index + 1;
    const receipt = sign(payloadOf(row, { sequence, head }, at));
    head = hashOf(receipt);
    made.push({ sequence, transferId: row.id, receipt });
  }
  return { accountId, token, at, since, made, head };
}

const RECEIPT_TYPES = { sequence: 'bigints', transferId: 'uuids', receipt: 'texts' } as const satisfies {
  readonly [N in keyof Receipt]: string;
};
const RECEIPT = templateIn(listed(Object.keys(RECEIPT_TYPES)));

/** CTEs that add to a chain; `moved` has a row if the claim is still valid. */
function linking(sql: Queryable, { accountId, token, at, since, made, head }: ChainLinks) {
  return sql`
    moved as (
      update receipt_chains set sequence = ${since + made.length}, head = ${head}, claim = null, claimed_until = null
      where account_id = ${accountId} and claim = ${token} and sequence = ${since} returning 1
    ),
    receipted as (
      insert into receipts (account_id, recorded_at, ${sql(RECEIPT)}) select ${accountId}::uuid, ${at}::timestamptz, t.*
      from ${tableOf(sql, made, RECEIPT_TYPES)}
    )`;
}

/**
 * The same in the statement of the CTE `written`, with a check that it selects: the statement fails unless all rows
 * were written.
 */
export function linkingWritten(sql: Queryable, links: ChainLinks) {
  const ids = sql.types.uuids(links.made.map(({ transferId }) => transferId));
  return {
    with: sql`${linking(sql, links)},`,
    required: sql`, require_link((select count(*) from moved) = 1
      and (select count(*) from written where id = any(${ids})) = ${links.made.length})`,
  };
}

function hashOf(receipt: string): string {
  return `sha-256:${createHash('sha256').update(receipt).digest('hex')}`;
}

function payloadOf(
  row: ReceiptedRow,
  { sequence, head }: { readonly sequence: number; readonly head: string | null },
  at: Date,
): object {
  const { source, verified, deleted, movedTo, paths, ...server } = row.receipt;
  return {
    sequence,
    previous: head,
    recordedAt: at.toISOString(),
    account: row.accountId,
    server,
    // JSON leaves out absent fields.
    source,
    verified,
    deleted,
    movedTo,
    paths,
    transfer: recordOf(row),
  };
}

/** In the form in which the history shows it from now on. */
function recordOf(row: TransferRow): object {
  const digest = row.digest === null ? null : `sha-256:${row.digest}`;
  const values = { ...row, digest, stages: stagesOf(row.stages), jobId: row.job?.id ?? null };
  return { ...viewOf(receiptedFields, values, 'key'), keyId: row.keyId };
}
