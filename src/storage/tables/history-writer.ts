import { within } from '../../base/deadline.js';
import { GatewayError, hasCode, toGatewayError } from '../../base/errors.js';
import { databaseAway, isConflict, WritesRefused } from '../postgres/errors.js';
import type { Database } from '../postgres/database.js';
import { correctFailed, writeBatch } from './history-statements.js';
import type { StorageOptions } from '../startup.js';
import type { TransferRow } from './history-statements.js';

const MAX_BATCH = 1000;
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

interface Entry {
  readonly row: TransferRow;
  /** Tells the waiting caller, once; undefined for pending rows, which nobody waits for. */
  readonly settle: ((error?: GatewayError) => void) | undefined;
}

/**
 * Group commit by back-pressure: a batch leaves as soon as the one before has committed, and takes along whatever came
 * meanwhile. One caller waits for one commit, a thousand callers share few. Rows wait here, in order, while the
 * database is away, and follow when it is back.
 */
export class HistoryWriter {
  #queue: Entry[] = [];
  #flights = 0;
  #rowsInFlight = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #scheduled = false;
  #closed = false;
  /** Of the last batch; until the same rows are written, it is the best witness that there is. */
  #refusal: WritesRefused | undefined;
  /** When the last batch was written, or since when there is one to write. */
  #waitingSince = 0;
  #idleListeners: (() => void)[] = [];

  constructor(
    private readonly database: Database,
    private readonly nodeId: string,
    private readonly options: Pick<StorageOptions, 'log' | 'onHistoryCommit'>,
  ) {
    database.onBack(() => this.#pump());
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
      this.options.log('error', 'a history item is lost: too many wait for the database', {
        id: row.id,
        status: row.status,
      });
      settle?.(databaseAway());
      return;
    }
    if (this.queuedRows === 0) this.#waitingSince = performance.now();
    this.#queue.push({ row, settle });
    // The rest of this turn of the event loop may have rows for the same batch.
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  /** Waits for what is queued; what the database does not take within five seconds is lost and said so. */
  async close(): Promise<void> {
    this.#pump();
    if (this.#queue.length > 0 || this.#flights > 0) {
      const idle = new Promise<void>((resolve) => this.#idleListeners.push(resolve));
      await within(idle, CLOSE_PATIENCE_MS, () => undefined);
    }
    this.#closed = true;
    clearTimeout(this.#retryTimer);
    if (this.#queue.length === 0) return;
    this.options.log('error', 'history items are lost: the database is away', { items: this.#queue.length });
    for (const entry of this.#queue.splice(0)) entry.settle?.(databaseAway());
  }

  #pump(): void {
    while (this.#queue.length > 0 && !this.#closed && this.#mayLeave()) {
      const batch = this.#queue.splice(0, MAX_BATCH);
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

  #mayLeave(): boolean {
    if (this.database.isAway) return false;
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
    const written = await this.database.run((sql) => writeBatch(sql, this.nodeId, rows), BATCH_SILENCE_MS);
    this.#refusal = undefined;
    this.#waitingSince = performance.now();
    this.options.onHistoryCommit?.(rows.length);
    if (written === rows.length) return;
    // A repeated batch, or rows that another node has declared failed while this one was cut off.
    await this.database.run((sql) => correctFailed(sql, rows));
  }

  #putBack(batch: Entry[]): void {
    this.#queue.unshift(...batch);
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
    this.options.log('error', 'a history item was refused by the database', {
      id: first.row.id,
      reason: reason.message,
    });
    first.settle?.(new GatewayError('internal', 'the history item was refused by the database', { cause: reason }));
  }
}
