import { within } from '../../base/deadline.js';
import { GatewayError, hasCode, toGatewayError } from '../../base/errors.js';
import { databaseAway, isConflict, WritesRefused } from '../postgres/errors.js';
import type { Database } from '../postgres/database.js';
import type { EventFeeds } from './event-feeds.js';
import { isReported } from './failed-transfers.js';
import { correctFailed, writeBatch } from './history-statements.js';
import { isReceipted, type ChainLinks, type Receipts } from './receipts.js';
import type { Queryable } from '../postgres/sql.js';
import type { StorageOptions } from '../startup.js';
import { RECORDS_FIRST } from './job-tree.js';
import type { TransferRow } from './transfer.js';

const MAX_BATCH = 1000;
/** Of rows with receipts, whose texts are long: more would hold the event loop as their statement is put together. */
const MAX_RECEIPTS = 250;
/** With so many rows waiting a second batch is prepared by the server while the first one commits. */
const SECOND_FLIGHT_ABOVE = 500;
const MAX_FLIGHTS = 2;
/** Rows kept for a database that is away, about 100 MB; beyond, new ones are refused. */
const MAX_QUEUED = 100_000;
const RETRY_MS = 500;
const BATCH_SILENCE_MS = 5000;
/** Rows that wait, and none written for so long: something is wrong. */
const STALLED_AFTER_MS = 3000;
const CLOSE_PATIENCE_MS = 5000;
const MAX_CONFLICTS = 5;
/** Rows that nobody waits for leave together: a commit each would be most of what their operations cost … */
const FOLLOW_WITHIN_MS = 200;
/** … but not so many that making their batch holds the event loop, and never more than memory should keep. */
const FULL_FOLLOWING = 100;
const MAX_FOLLOWING = 1000;
/** The files of jobs go on meanwhile: their rows wait a little for one another, and longer where many come. */
const GATHER_JOBS_MS = 10;
const GATHER_MANY_MS = 40;
/** Of the last batch. */
const MANY_ROWS = 4;

interface Entry {
  readonly row: TransferRow;
  /** Tells the waiting caller, once; undefined for rows that nobody waits for. */
  readonly settle: ((error?: GatewayError) => void) | undefined;
}

/**
 * Group commit by back-pressure: a batch leaves as soon as the one before has committed, and takes along whatever came
 * meanwhile. One caller waits for one commit, a thousand callers share few. Rows wait here, in order, while the
 * database is away, and follow when it is back.
 */
export class HistoryWriter {
  readonly #database: Database;
  readonly #nodeId: string;
  readonly #feeds: Pick<EventFeeds, 'written'>;
  readonly #receipts: Pick<Receipts, 'linked' | 'afterwards'>;
  readonly #options: Pick<StorageOptions, 'log' | 'onHistoryCommit'>;
  /** Whose batches go in turn with all else that locks the jobs of this account. */
  readonly #turnOf: string | undefined;
  #queue: Entry[] = [];
  #flights = 0;
  #rowsInFlight = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #scheduled = false;
  /** What is queued may not wait for more. */
  #isDue = false;
  #gatherMs = GATHER_JOBS_MS;
  #followTimer: NodeJS.Timeout | undefined;
  #gatherTimer: NodeJS.Timeout | undefined;
  #closed = false;
  /** Of the last batch; until the same rows are written, it is the best witness that there is. */
  #refusal: WritesRefused | undefined;
  /** When the last batch was written, or since when there is one to write. */
  #waitingSince = 0;
  #idleListeners: (() => void)[] = [];
  readonly #stopListening: () => void;

  constructor(
    database: Database,
    nodeId: string,
    feeds: Pick<EventFeeds, 'written'>,
    receipts: Pick<Receipts, 'linked' | 'afterwards'>,
    options: Pick<StorageOptions, 'log' | 'onHistoryCommit'>,
    turnOf?: string,
  ) {
    this.#database = database;
    this.#nodeId = nodeId;
    this.#feeds = feeds;
    this.#receipts = receipts;
    this.#options = options;
    this.#turnOf = turnOf;

    this.#stopListening = database.onBack(() => this.#pump());
  }

  /** Rows not yet durable, those under way included. */
  get queuedRows(): number {
    return this.#queue.length + this.#rowsInFlight;
  }

  /** Why the rows that wait are not written; undefined where the database has not refused them. */
  get refusal(): WritesRefused | undefined {
    return this.#refusal;
  }

  /** Rows wait, and none has been written for seconds. */
  get isStalled(): boolean {
    return this.queuedRows > 0 && performance.now() - this.#waitingSince > STALLED_AFTER_MS;
  }

  /** Queues a row; `settle` is called when it is durable, or with the reason why it never will be. */
  add(row: TransferRow, settle?: Entry['settle']): void {
    if (this.#closed || this.#queue.length >= MAX_QUEUED) {
      this.#options.log('error', 'a history item is lost: too many wait for the database', {
        id: row.id,
        status: row.status,
      });
      settle?.(databaseAway());
      return;
    }
    this.#enqueue({ row, settle });
    if (row.job === null) this.#pumpSoon();
    else this.#gatherTimer ??= setTimeout(() => this.#gathered(), this.#gatherMs);
  }

  /**
   * Queues a row whose caller does not wait: it goes with the next batch that leaves, or after a moment. False, and
   * nothing is queued, where it could not be sure to be written soon: then its caller has to wait for it.
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
    if (this.#closed || this.#database.isAway || this.#refusal !== undefined || this.#retryTimer !== undefined)
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

  /** The rest of this turn of the event loop may have rows for the same batch. */
  #pumpSoon(): void {
    this.#isDue = true;
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  /** Waits for what is queued; what the database does not take within five seconds is lost and said so. */
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
    this.#options.log('error', 'history items are lost: the database is away', { items: this.#queue.length });
    for (const entry of this.#queue.splice(0)) entry.settle?.(databaseAway());
  }

  /** Of one that has no rows, and gets no more. */
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
        this.#tellIdle();
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
    if (this.#database.isAway) return false;
    return this.#flights === 0 || (this.#flights < MAX_FLIGHTS && this.#queue.length > SECOND_FLIGHT_ABOVE);
  }

  #tellIdle(): void {
    if (this.#queue.length > 0 || this.#flights > 0) return;
    for (const listener of this.#idleListeners.splice(0)) listener();
  }

  /** Never rejects. */
  async #send(batch: Entry[], conflicts = 0): Promise<void> {
    try {
      // A pending row that waited as long as its own end is superseded by it.
      await this.#write([...new Map(batch.map((entry) => [entry.row.id, entry.row])).values()]);
    } catch (error) {
      this.#refusal = error instanceof WritesRefused ? error : undefined;
      if (hasCode(error, 'database_away')) return this.#putBack(batch);
      if (isConflict(error) && conflicts < MAX_CONFLICTS) return this.#send(batch, conflicts + 1);
      return this.#isolate(batch, error);
    }
    for (const entry of batch) entry.settle?.();
  }

  async #write(rows: readonly TransferRow[]): Promise<void> {
    const turnOf = this.#turnOf;
    const leave = (): Promise<ReadonlySet<string>> => this.#leave(rows);
    const written = await (turnOf === undefined ? leave() : this.#database.turns.run(turnOf, leave, RECORDS_FIRST));
    this.#refusal = undefined;
    this.#waitingSince = performance.now();
    this.#options.onHistoryCommit?.(rows.length);
    if (rows.some(isReported)) this.#feeds.written();
    if (written.size === rows.length) return;
    // A repeated batch, or rows that another node has declared failed while this one was cut off.
    const receipted = rows.filter(isReceipted);
    if (receipted.length === 0) await this.#database.run((sql) => correctFailed(sql, rows));
    else await this.#receipts.afterwards(receipted, (tx) => correctFailed(tx, rows));
  }

  #leave(rows: readonly TransferRow[]): Promise<ReadonlySet<string>> {
    const database = this.#database;
    const turnOf = this.#turnOf;
    const run = (work: (sql: Queryable) => Promise<ReadonlySet<string>>): Promise<ReadonlySet<string>> =>
      turnOf === undefined ? database.run(work, BATCH_SILENCE_MS) : database.apart(work, BATCH_SILENCE_MS);
    const write = (sql: Queryable, links?: ChainLinks): Promise<ReadonlySet<string>> =>
      writeBatch(sql, this.#nodeId, rows, links);
    const receipted = rows.filter(isReceipted);
    return receipted.length === 0 ? run(write) : this.#receipts.linked(receipted, run, write);
  }

  #putBack(batch: Entry[]): void {
    this.#queue.unshift(...batch);
    this.#isDue = true;
    this.#retryTimer ??= setTimeout(() => {
      this.#retryTimer = undefined;
      this.#pump();
    }, RETRY_MS).unref();
  }

  /** One row that the server refuses must not take its batch along. */
  async #isolate(batch: Entry[], error: unknown): Promise<void> {
    const [first] = batch;
    if (first === undefined) return;
    if (batch.length > 1) {
      const middle = batch.length >> 1;
      await this.#send(batch.slice(0, middle));
      return this.#send(batch.slice(middle));
    }
    const reason = toGatewayError(error);
    this.#options.log('error', 'a history item was refused by the database', {
      id: first.row.id,
      reason: reason.message,
    });
    first.settle?.(new GatewayError('internal', 'the history item was refused by the database', { cause: reason }));
  }
}
