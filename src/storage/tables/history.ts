import { PassingSet } from '../../base/passing-set.js';
import { Periodic } from '../../base/periodic.js';
import { uuidv7 } from '../../base/uuid.js';
import { GatewayError } from '../../base/errors.js';
import type { ListedTransfer, TransferType } from '../../contract/transfer.js';
import type { NewTransfer, OpenTransfer, TransferFilter, TransferOutcome, TransferRow } from './transfer.js';
import { countItems, findTransfer, listItems, type StoredTransfer } from './history-queries.js';
import { findRequest, type Repetition } from './transfer-repetitions.js';
import { type HistoryDeps, HistoryWriter } from './history-writer.js';
import { isPart, noteRepetition, pendingRow, URL_NAME } from './history-statements.js';
import { storable } from '../postgres/sql.js';
import { timeOfId } from '../postgres/clock.js';

/** A transfer that runs longer gets a pending row; a shorter one needs only its final row. */
const PENDING_AFTER_MS = 250;
/** How long a caller waits for a database that is away. */
const FINISH_PATIENCE_MS = 5000;
const TICK_MS = 100;
/** Rows of read-only operations may be written after the answer. All others are durable before it. */
const FOLLOWING: ReadonlySet<TransferType> = new Set(['list', 'exists']);

interface Waiting {
  readonly since: number;
  readonly giveUp: () => void;
}

export class TransferHistory {
  readonly #deps: HistoryDeps;
  readonly #writer: HistoryWriter;
  /**
   * By account. The rows of jobs wait for other writers of the same jobs; rows of other accounts do not wait with them.
   */
  readonly #jobWriters = new Map<string, HistoryWriter>();
  /** By account. Rows with receipts wait for the chain of their account, and no other account waits with them. */
  readonly #receiptWriters = new Map<string, HistoryWriter>();
  /** Running transfers without a pending row, oldest first. */
  readonly #fresh = new Map<string, { readonly since: number; readonly row: TransferRow }>();
  /** Rows with a caller that waits until they are durable. */
  readonly #finishing = new PassingSet<Waiting>();
  /** One timer for all transfers; it stops when there are none. */
  readonly #watching = new Periodic(() => this.#tick(), TICK_MS);

  constructor(deps: HistoryDeps) {
    this.#deps = deps;
    this.#writer = new HistoryWriter(deps);
  }

  /** Rejects with database_away while it is known that no item can be written: then nothing may begin. */
  async admit(): Promise<void> {
    await this.#deps.database.admitWrites(this.isStalled);
    if (this.refusal !== undefined) throw this.refusal;
  }

  /**
   * Starts an item without waiting. The pending row is written only if the transfer still runs after a moment, so that
   * a short operation costs one row in one shared commit.
   */
  begin(item: NewTransfer): OpenTransfer {
    const id = uuidv7();
    // Taken from the id, so that the order by id, the creation time and `since` always agree.
    const startedAt = timeOfId(id);
    const since = performance.now();
    let row = pendingRow(id, startedAt, item);
    // Only the end of a job's file is written: the job itself shows that it is not done. A route's copy is the same.
    const isEndOnly = isPart(row);
    let isHidden = isEndOnly || item.isTentative === true;
    const show = (): void => {
      this.#fresh.set(id, { since: performance.now(), row });
      this.#watching.start();
    };
    if (!isHidden) show();
    return {
      id,
      startedAt,
      locate: (path, filename) => {
        if (row.path === path && row.filename === filename) return;
        row = { ...row, path: storable(path), filename: storable(filename) };
        if (this.#fresh.has(id)) this.#fresh.set(id, { since, row });
        else if (!isHidden) this.#writer.add(row);
      },
      confirm: () => {
        isHidden = isEndOnly;
        if (!isHidden) show();
      },
      recordPending: () => {
        this.#fresh.delete(id);
        return this.#durable(row);
      },
      finish: (outcome) => this.#finish(row, since, outcome),
      drop: () => void this.#fresh.delete(id),
    };
  }

  /** undefined if unknown or of another account. */
  async find(accountId: string, id: string): Promise<StoredTransfer | undefined> {
    return this.#deps.database.run((sql) => findTransfer(sql, accountId, id));
  }

  /** What repeats a transfer; undefined if unknown or of another account. */
  async repetition(accountId: string, id: string): Promise<Repetition | undefined> {
    return this.#deps.database.run(async (sql) => {
      const kept = await findRequest(sql, accountId, id);
      return kept && { ...kept, url: await this.#deps.urls.find(sql, id, URL_NAME) };
    });
  }

  /** Notes the repetition. False: another one was noted since `former` was read. */
  async repeat(id: string, former: string | null, againId: string): Promise<boolean> {
    return this.#deps.database.run((sql) => noteRepetition(sql, id, former, againId));
  }

  async list(
    accountId: string,
    filter: TransferFilter,
  ): Promise<{ readonly transfers: readonly ListedTransfer[]; readonly total: number }> {
    return this.#deps.database.run((sql) => listItems(sql, accountId, filter));
  }

  /** All items of the account; fast with millions of rows. */
  async count(accountId: string): Promise<number> {
    return this.#deps.database.run((sql) => countItems(sql, accountId));
  }

  /** Rows that are not yet durable, including those of the current commit. */
  get queuedRows(): number {
    return this.#writers.reduce((sum, { queuedRows }) => sum + queuedRows, 0);
  }

  /** Rows wait, and none was written for seconds. A job whose rows wait does not count: it delays no one else. */
  get isStalled(): boolean {
    return this.#writer.isStalled || [...this.#receiptWriters.values()].some(({ isStalled }) => isStalled);
  }

  /** The reason why waiting rows are not written; undefined if the database has not refused them. */
  get refusal(): GatewayError | undefined {
    return this.#writers.find(({ refusal }) => refusal !== undefined)?.refusal;
  }

  /** Unfinished transfers stay pending: the next sweep marks them as failed. */
  async close(): Promise<void> {
    for (const { row } of this.#fresh.values()) this.#writer.add(row);
    this.#fresh.clear();
    await Promise.all(this.#writers.map((writer) => writer.close()));
    void this.#watching.stop();
  }

  async #finish(begun: TransferRow, since: number, outcome: TransferOutcome): Promise<{ readonly durationMs: number }> {
    const now = performance.now();
    const durationMs = Math.round(now - since);
    this.#fresh.delete(begun.id);
    const row: TransferRow = {
      ...begun,
      status: outcome.status,
      filename: outcome.filename === undefined ? begun.filename : storable(outcome.filename),
      path: outcome.path === undefined ? begun.path : storable(outcome.path),
      fileSize: outcome.fileSize,
      errorMessage: storable(outcome.errorMessage),
      errorCode: outcome.errorCode,
      digest: outcome.digest?.toString('hex') ?? null,
      noDigest: outcome.noDigest ?? null,
      unverified: outcome.unverified ?? null,
      digestReadBytes: outcome.digestReadBytes ?? null,
      stages: outcome.stages === undefined ? null : JSON.stringify(outcome.stages),
      durationMs,
      request: outcome.status === 'success' ? null : begun.request,
      receipt: outcome.receipt ?? null,
    };
    if (!FOLLOWING.has(row.type) || !this.#writer.follow(row)) await this.#durable(row);
    return { durationMs };
  }

  get #writers(): readonly HistoryWriter[] {
    return [this.#writer, ...this.#receiptWriters.values(), ...this.#jobWriters.values()];
  }

  #writerOf(row: TransferRow): HistoryWriter {
    const { accountId } = row;
    if (row.job !== null) return this.#ownWriter(this.#jobWriters, accountId, accountId);
    return row.receipt === null ? this.#writer : this.#ownWriter(this.#receiptWriters, accountId);
  }

  #durable(row: TransferRow): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const leave = this.#finishing.add({
        since: performance.now(),
        // The row stays queued and is written when the database is back.
        giveUp: () => {
          leave();
          reject(new GatewayError('database_away', LATE_TEXT, { step: 'history', retryAfterMs: 5000 }));
        },
      });
      this.#watching.start();
      this.#writerOf(row).add(row, (error) => {
        leave();
        if (error === undefined) resolve();
        else reject(error);
      });
    });
  }

  #ownWriter(writers: Map<string, HistoryWriter>, accountId: string, turnOf?: string): HistoryWriter {
    const writer = writers.get(accountId) ?? new HistoryWriter(this.#deps, turnOf);
    writers.set(accountId, writer);
    return writer;
  }

  #tick(): void {
    const now = performance.now();
    for (const [id, { since, row }] of this.#fresh) {
      if (now - since < PENDING_AFTER_MS) break;
      this.#fresh.delete(id);
      this.#writer.add(row);
    }
    for (const { since, giveUp } of this.#finishing.items()) if (now - since >= FINISH_PATIENCE_MS) giveUp();
    for (const writers of [this.#jobWriters, this.#receiptWriters]) {
      for (const [accountId, writer] of writers) {
        if (writer.queuedRows > 0) continue;
        writer.forget();
        writers.delete(accountId);
      }
    }
    if (this.#fresh.size === 0 && this.#finishing.size === 0) void this.#watching.stop();
  }
}

const LATE_TEXT =
  'the history item could not be written: the database of the gateway is not reachable or has no room left';
