import { within } from '../../base/deadline.js';
import { GatewayError, hasCode, toGatewayError } from '../../base/errors.js';
import { databaseAway, WritesRefused } from '../postgres/errors.js';
import type { Database } from '../postgres/database.js';
import type { Outbox } from './outbox.js';
import { correctFailed, writeBatch } from './history-statements.js';
import { isReceipted, type ChainLinks, type Receipts } from './receipts.js';
import type { NamedSecrets } from '../secrets/sealed-rows.js';
import type { Queryable } from '../postgres/sql.js';
import type { StorageOptions } from '../startup.js';
import { RECORDS_FIRST } from './job-tree.js';
import type { TransferRow } from './transfer.js';
import { hasEvent, type SuccessSubscriptions, type Wanted } from './transfer-events.js';

const MAX_BATCH = 1000;
/** The limit for rows with receipts, whose texts are long: building a larger statement would block the event loop. */
const MAX_RECEIPTS = 250;
/** With more waiting rows than this, the server prepares a second batch while the first one commits. */
const SECOND_FLIGHT_ABOVE = 500;
const MAX_FLIGHTS = 2;
/** Rows kept while the database is away, about 100 MB; further ones are refused. */
const MAX_QUEUED = 100_000;
const RETRY_MS = 500;
const BATCH_SILENCE_MS = 5000;
/** If no row is written for this long while rows wait, the writer counts as stalled. */
const STALLED_AFTER_MS = 3000;
const CLOSE_PATIENCE_MS = 5000;
/**
 * Rows without a waiting caller are written together: a commit for each would be most of the cost of their operations …
 */
const FOLLOW_WITHIN_MS = 200;
/** … but so few that building their batch does not block the event loop, and never more than fit in memory. */
const FULL_FOLLOWING = 100;
const MAX_FOLLOWING = 1000;
/** Rows of job files wait a little for each other, and longer when many come; the job continues meanwhile. */
const GATHER_JOBS_MS = 10;
const GATHER_MANY_MS = 100;
/** The size of the last batch from which on the longer time applies. */
const MANY_ROWS = 4;
/** Then they wait no longer: what waits while the young generation fills twice stays in the old one as garbage. */
const FULL_JOBS = 50;

interface Entry {
  readonly row: TransferRow;
  /** Settles the waiting caller, once; undefined if there is none. */
  readonly settle: ((error?: GatewayError) => void) | undefined;
}

export interface HistoryDeps {
  readonly database: Database;
  readonly nodeId: string;
  readonly outbox: Pick<Outbox, 'announce'>;
  readonly receipts: Pick<Receipts, 'linked' | 'afterwards'>;
  readonly subscriptions: Pick<SuccessSubscriptions, 'wantedOf'>;
  readonly urls: Pick<NamedSecrets, 'sealingWritten' | 'find'>;
  readonly options: Pick<StorageOptions, 'log' | 'onHistoryCommit'>;
}

/**
 * Group commit by back-pressure: a batch starts as soon as the previous one has committed, and takes all rows that have
 * arrived meanwhile. One caller waits for one commit; a thousand callers share few. While the database is away, rows
 * wait here in order; they are written when it is back.
 */
export class HistoryWriter {
  readonly #deps: HistoryDeps;
  /** The account whose job locks these batches share; its turns order them. */
  readonly #turnOf: string | undefined;
  #queue: Entry[] = [];
  #flights = 0;
  #rowsInFlight = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #scheduled = false;
  /** The queued rows must not wait any longer. */
  #isDue = false;
  #gatherMs = GATHER_JOBS_MS;
  #followTimer: NodeJS.Timeout | undefined;
  #gatherTimer: NodeJS.Timeout | undefined;
  #closed = false;
  /** The result of the last batch; until the same rows are written, it shows best whether writes are accepted. */
  #refusal: WritesRefused | undefined;
  /** The time of the last written batch, or of the first waiting row. */
  #waitingSince = 0;
  #idleListeners: (() => void)[] = [];
  readonly #stopListening: () => void;

  constructor(deps: HistoryDeps, turnOf?: string) {
    this.#deps = deps;
    this.#turnOf = turnOf;
    this.#stopListening = deps.database.onBack(() => this.#pump());
  }

  /** Rows not yet durable, including those being written. */
  get queuedRows(): number {
    return this.#queue.length + this.#rowsInFlight;
  }

  /** The reason why waiting rows are not written; undefined if the database has not refused them. */
  get refusal(): WritesRefused | undefined {
    return this.#refusal;
  }

  /** Rows wait, and none was written for seconds. */
  get isStalled(): boolean {
    return this.queuedRows > 0 && performance.now() - this.#waitingSince > STALLED_AFTER_MS;
  }

  /** Queues a row; `settle` is called when it is durable, or with the reason why it never will be. */
  add(row: TransferRow, settle?: Entry['settle']): void {
    if (this.#closed || this.#queue.length >= MAX_QUEUED) {
      this.#deps.options.log('error', 'a history item is lost: too many wait for the database', {
        id: row.id,
        status: row.status,
      });
      settle?.(databaseAway());
      return;
    }
    this.#enqueue({ row, settle });
    if (row.job === null || this.#queue.length >= FULL_JOBS) this.#pumpSoon();
    else this.#gatherTimer ??= setTimeout(() => this.#gathered(), this.#gatherMs);
  }

  /**
   * Queues a row whose caller does not wait: it is written with the next batch, or after a moment. False, with nothing
   * queued, if an early write is not certain: then the caller has to wait.
   */
  follow(row: TransferRow): boolean {
    if (!this.#mayFollow()) return false;
    this.#enqueue({ row, settle: undefined });
    if (this.#queue.length >= FULL_FOLLOWING) this.#pumpSoon();
    else {
      this.#followTimer ??= setTimeout(() => {
        this.#followTimer = undefined;
        this.#isDue = true;
        this.#pump();
      }, FOLLOW_WITHIN_MS).unref();
    }
    return true;
  }

  #mayFollow(): boolean {
    if (this.#closed || this.#deps.database.isAway || this.#refusal !== undefined || this.#retryTimer !== undefined)
      return false;
    return this.queuedRows < MAX_FOLLOWING && !this.isStalled;
  }

  #enqueue(entry: Entry): void {
    if (this.queuedRows === 0) this.#waitingSince = performance.now();
    this.#queue.push(entry);
  }

  #gathered(): void {
    this.#gatherTimer = undefined;
    this.#isDue = true;
    this.#pump();
  }

  /** The rest of this turn of the event loop may add rows to the same batch. */
  #pumpSoon(): void {
    this.#isDue = true;
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  /**
   * Waits for the queued rows. Rows that the database does not accept within five seconds are lost, and logged as lost.
   */
  async close(): Promise<void> {
    clearTimeout(this.#followTimer);
    clearTimeout(this.#gatherTimer);
    this.#isDue = true;
    this.#pump();
    if (this.#queue.length > 0 || this.#flights > 0) {
      const idle = new Promise<void>((resolve) => this.#idleListeners.push(resolve));
      await within(idle, CLOSE_PATIENCE_MS, () => undefined);
    }
    this.#closed = true;
    clearTimeout(this.#retryTimer);
    if (this.#queue.length === 0) return;
    this.#deps.options.log('error', 'history items are lost: the database is away', { items: this.#queue.length });
    for (const entry of this.#queue.splice(0)) entry.settle?.(databaseAway());
  }

  /** For a writer without rows that gets no more. */
  forget(): void {
    this.#stopListening();
  }

  #pump(): void {
    while (this.#isDue && this.#queue.length > 0 && !this.#closed && this.#mayLeave()) {
      const batch = this.#take();
      this.#gatherMs = batch.length < MANY_ROWS ? GATHER_JOBS_MS : GATHER_MANY_MS;
      this.#isDue = this.#queue.length > 0;
      this.#flights += 1;
      this.#rowsInFlight += batch.length;
      void this.#send(batch).finally(() => {
        this.#flights -= 1;
        this.#rowsInFlight -= batch.length;
        if (this.#retryTimer === undefined) this.#pump();
        this.#notifyIdle();
      });
    }
  }

  #take(): Entry[] {
    let receipts = 0;
    const isBeyond = ({ row }: Entry, index: number): boolean => {
      if (row.receipt !== null) receipts += 1;
      return index === MAX_BATCH || receipts > MAX_RECEIPTS;
    };
    const end = this.#queue.findIndex(isBeyond);
    return this.#queue.splice(0, end === -1 ? MAX_BATCH : end);
  }

  #mayLeave(): boolean {
    if (this.#deps.database.isAway) return false;
    return this.#flights === 0 || (this.#flights < MAX_FLIGHTS && this.#queue.length > SECOND_FLIGHT_ABOVE);
  }

  #notifyIdle(): void {
    if (this.#queue.length > 0 || this.#flights > 0) return;
    for (const listener of this.#idleListeners.splice(0)) listener();
  }

  /** Never rejects. */
  async #send(batch: Entry[]): Promise<void> {
    try {
      // A pending row that is still queued is replaced by its final row.
      await this.#write([...new Map(batch.map((entry) => [entry.row.id, entry.row])).values()]);
    } catch (error) {
      this.#refusal = error instanceof WritesRefused ? error : undefined;
      if (hasCode(error, 'database_away')) return this.#putBack(batch);
      return this.#isolate(batch, error);
    }
    for (const entry of batch) entry.settle?.();
  }

  async #write(rows: readonly TransferRow[]): Promise<void> {
    const turnOf = this.#turnOf;
    // A question without an answer must lose no rows: they are written once it has one.
    const wanted = await this.#deps.subscriptions.wantedOf(rows).catch((error: unknown) => {
      throw hasCode(error, 'database_away') ? error : databaseAway(error);
    });
    const leave = (): Promise<ReadonlySet<string>> => this.#leave(rows, wanted);
    const written = await (turnOf === undefined
      ? leave()
      : this.#deps.database.turns.run(turnOf, leave, RECORDS_FIRST));
    this.#refusal = undefined;
    this.#waitingSince = performance.now();
    this.#deps.options.onHistoryCommit?.(rows.length);
    if (rows.some((row) => hasEvent(row, wanted))) this.#deps.outbox.announce(undefined);
    if (written.size === rows.length) return;
    // A repeated batch, or rows that another node has marked as failed while this one was cut off.
    const receipted = rows.filter(isReceipted);
    const corrected = (sql: Queryable) => correctFailed(sql, rows, { wanted, urls: this.#deps.urls });
    if (receipted.length === 0) await this.#deps.database.run(corrected);
    else await this.#deps.receipts.afterwards(receipted, corrected);
  }

  #leave(rows: readonly TransferRow[], wanted: Wanted): Promise<ReadonlySet<string>> {
    const database = this.#deps.database;
    const turnOf = this.#turnOf;
    const run = (work: (sql: Queryable) => Promise<ReadonlySet<string>>): Promise<ReadonlySet<string>> =>
      turnOf === undefined ? database.run(work, BATCH_SILENCE_MS) : database.apart(work, BATCH_SILENCE_MS);
    const write = (sql: Queryable, links?: ChainLinks): Promise<ReadonlySet<string>> =>
      writeBatch(sql, this.#deps.nodeId, rows, { links, wanted, urls: this.#deps.urls });
    const receipted = rows.filter(isReceipted);
    return receipted.length === 0 ? run(write) : this.#deps.receipts.linked(receipted, run, write);
  }

  #putBack(batch: Entry[]): void {
    this.#queue.unshift(...batch);
    this.#isDue = true;
    this.#retryTimer ??= setTimeout(() => {
      this.#retryTimer = undefined;
      this.#pump();
    }, RETRY_MS).unref();
  }

  /** A row that the server refuses must not fail its whole batch. */
  async #isolate(batch: Entry[], error: unknown): Promise<void> {
    const [first] = batch;
    if (first === undefined) return;
    if (batch.length > 1) {
      const middle = batch.length >> 1;
      await this.#send(batch.slice(0, middle));
      return this.#send(batch.slice(middle));
    }
    const reason = toGatewayError(error);
    this.#deps.options.log('error', 'a history item was refused by the database', {
      id: first.row.id,
      reason: reason.message,
    });
    first.settle?.(new GatewayError('internal', 'the history item was refused by the database', { cause: reason }));
  }
}
