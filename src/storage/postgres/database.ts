import postgres from 'postgres';
import { GatewayError, systemCodeOf } from '../../base/errors.js';
import { PassingSet } from '../../base/passing-set.js';
import { within } from '../../base/deadline.js';
import { retrying } from '../../base/retry.js';
import {
  answerWithin,
  databaseAway,
  isCancelled,
  isConflict,
  isConnectionLoss,
  isRefusedState,
  Silence,
  slimCause,
  StatementError,
  TOO_MANY_CONNECTIONS,
  WritesRefused,
  writesRefused,
} from './errors.js';
import type { DatabaseTarget } from './target.js';
import { columnOf } from './column-names.js';
import { driverTypes, type Queryable, type Sql, type Transaction } from './sql.js';
import { type Log, StartupError, type StorageOptions } from '../startup.js';
import { OwnerTurns } from './owner-turns.js';
import { Line } from './line.js';
import { CHANNEL, Notices } from './notices.js';
import { WriteProbe } from './write-probe.js';

type RowList<Rows extends readonly object[]> = postgres.RowList<Rows>;
type Part = postgres.ParameterOrFragment<never>;
/** A part that only the driver can make, such as a list of columns, is a function of the driver. */
type Value = Part | ((sql: Sql) => Part);
/** The driver's own types lack `onnotify`, on which its `listen` is built. */
type LineOptions = postgres.Options<typeof driverTypes> & { onnotify?: (channel: string, payload: string) => void };

/** The server itself ends a statement after this time … */
const STATEMENT_TIMEOUT_MS = 10_000;
/** … so a longer silence means a dead connection, even if TCP reports none. */
const SILENCE_MS = 13_000;
/** Sent as statements on each new connection: poolers such as PgBouncer refuse them as startup parameters. */
const SETTINGS = `set statement_timeout = ${STATEMENT_TIMEOUT_MS}; set idle_in_transaction_session_timeout = 60000`;
/** The server drops a gateway that vanished silently, and its locks, within half a minute. */
const KEEPALIVES = 'set tcp_keepalives_idle = 15; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3';
/** After this time without an answer, a probe checks that the server responds. */
const DOUBT_MS = 2000;
const PROBE_MS = 2000;
const PROBE_EVERY_MS = 250;
const START_RETRIES = { delaysMs: [100], isEndless: true } as const;
const MAX_CONNECT_TIMEOUT_MS = 5000;
/** One for locks, one for probes, and those for transactions. */
const TRANSACTION_CONNECTIONS = 2;
export const SEPARATE_CONNECTIONS = 2 + TRANSACTION_CONNECTIONS;
export const END_TIMEOUT_SECONDS = 0.5;
/** A transaction that writes very many rows counts as this many short ones. */
const BULK_LOAD = 1000;
/** PostgreSQL ends one of two that wait for each other's locks, and that one has changed nothing. */
const CONFLICT_RETRIES = { firstMs: 20, longestMs: 500, spread: [0.5, 1.5] } as const;
const MOST_CONFLICTS = 4;
const REFUSED_LOG_EVERY_MS = 60_000;
const SESSION_ROUNDS = 10;
/** One transaction. A new table needs new space; a new row might reuse the space of an older one. */
const WRITE_PROBE = `
  create temporary table ftg_write_probe (filler text) on commit drop;
  insert into ftg_write_probe values (repeat('x', 1000))`;

/**
 * The connections to the database, and whether it is available. While it is away, every call fails at once with
 * database_away and a probe looks for it; callers never queue for a server that does not answer.
 */
export class Database {
  /** The order of the writes of each owner, for accounts that write much at once. */
  readonly turns = new OwnerTurns();
  /** Sent with the commit of transactions; received on a session that requests them. */
  readonly notices = new Notices();
  readonly #target: DatabaseTarget;
  readonly #connectTimeoutMs: number;
  readonly #poolSize: number;
  readonly #settings: string;
  readonly #log: Log;
  readonly #backListeners = new Set<() => void>();
  /** Rejects the callers that wait for an answer, when none will come. */
  readonly #unanswered = new PassingSet<(cause: Error) => void>();
  /** The connections for single statements. */
  #pool: readonly Line[];
  /** Separate from the pool: statements that wait for slow ones must not look like a server that is away. */
  #probeLine: Line;
  /** The connections for transactions. */
  #lines: readonly Line[];
  #awayCause: Error | undefined;
  #isProbing = false;
  #wake: (() => void) | undefined;
  #closed = false;
  #refusedLoggedAt = -Infinity;
  #tooManyLoggedAt = -Infinity;
  readonly #writes = new WriteProbe(() => this.#tryWrite());

  constructor(target: DatabaseTarget, options: Pick<StorageOptions, 'poolSize' | 'connectTimeoutMs' | 'log'>) {
    this.#target = target;
    this.#connectTimeoutMs = options.connectTimeoutMs;
    this.#poolSize = Math.max(1, options.poolSize - SEPARATE_CONNECTIONS);
    this.#log = options.log;
    this.#settings = target.url === undefined ? SETTINGS : `${SETTINGS}; ${KEEPALIVES}`;
    this.#pool = this.#openLines(this.#poolSize);
    this.#probeLine = this.#openProbe();
    this.#lines = this.#openLines(TRANSACTION_CONNECTIONS);
  }

  /**
   * A separate connection for what lives and dies with it (session locks). It is never closed for being idle or old.
   * `onClose` is called each time it is lost; the next statement connects again. The caller ends it. With
   * `hearsNotices` it receives the notices of all nodes while it is open.
   */
  openSession(onClose: () => void, { hearsNotices = false } = {}): Line {
    if (!hearsNotices) return this.#openLine({ max_lifetime: null }, onClose);
    const hears = { max_lifetime: null, onnotify: (_channel: string, text: string) => this.notices.receive(text) };
    return this.#openLine(hears, onClose, `${this.#settings}; listen ${CHANNEL}`);
  }

  #openLines(count: number): readonly Line[] {
    return Array.from({ length: count }, () => this.#openLine({ idle_timeout: 300 }));
  }

  #openProbe(): Line {
    // Kept open, because the server may refuse a new connection when its connections are used up.
    return this.#openLine({ max_lifetime: null });
  }

  #openLine(changes: LineOptions, onClose = (): void => undefined, settings = this.#settings): Line {
    const open = (onLoss: () => void): Sql =>
      this.#open({
        ...changes,
        max: 1,
        onclose: () => {
          onLoss();
          onClose();
        },
      });
    return new Line(open, settings);
  }

  #open(changes: LineOptions): Sql {
    const options: postgres.Options<typeof driverTypes> = {
      ...this.#target.options,
      types: driverTypes,
      transform: { column: { from: postgres.toCamel, to: columnOf } },
      fetch_types: false,
      connect_timeout: Math.min(this.#connectTimeoutMs, MAX_CONNECT_TIMEOUT_MS) / 1000,
      keep_alive: 30,
      // The probe below sets the pace of reconnecting; the driver's own pause would delay callers after the server is
      // back.
      backoff: () => 0,
      onnotice: () => undefined,
      connection: {
        application_name: 'file-transfer-gateway',
        TimeZone: 'UTC',
      },
      ...changes,
    };
    return this.#target.url === undefined ? postgres(options) : postgres(this.#target.url, options);
  }

  /** Waits at most connectTimeoutMs for an answer of the server; then throws a StartupError. */
  async connect(): Promise<void> {
    const deadline = performance.now() + this.#connectTimeoutMs;
    const ask = (): Promise<unknown> =>
      answerWithin(this.#probeLine.sql`select 1`, Math.max(PROBE_MS, deadline - performance.now()));
    const isPassing = (error: unknown): boolean =>
      !isRefusedState(error) && performance.now() + START_RETRIES.delaysMs[0] < deadline && isTransient(error);
    await retrying(START_RETRIES, ask, isPassing).catch((error: unknown) => {
      throw new StartupError(`the database ${this.#target.label} cannot be used: ${textOf(error)}`);
    });
  }

  /** Its name in messages. */
  get label(): string {
    return this.#target.label;
  }

  /**
   * Whether each connection has a session of its own: a session lock is still held in a later statement, and two
   * connections that work at once each stay with their own backend.
   */
  async keepsSessions(key: number, withinMs: number): Promise<boolean> {
    const lines = [this.openSession(() => undefined), this.openSession(() => undefined)] as const;
    const [one, other] = lines.map((line) => line.sql) as [Sql, Sql];
    // Plain text: poolers may mix up prepared statements.
    const ask = async (sql: Sql, question: string): Promise<unknown> =>
      (await sql.unsafe<{ answer: unknown }[]>(`select ${question} as answer`))[0]?.answer;
    const check = async (): Promise<boolean> => {
      if ((await ask(one, `pg_try_advisory_lock(${key})`)) !== true) return false;
      const [mine, theirs] = [new Set<unknown>(), new Set<unknown>()];
      // A pooler assigns its sessions in some order, which changes when two connections want one at once.
      for (let round = 0; round < SESSION_ROUNDS; round++) {
        const pids = [ask(one, 'pg_backend_pid()'), ask(other, 'pg_backend_pid()')];
        const [first, second] = await Promise.all(round % 2 === 0 ? pids : pids.reverse());
        mine.add(round % 2 === 0 ? first : second);
        theirs.add(round % 2 === 0 ? second : first);
      }
      const isHeld = (await ask(one, `pg_advisory_unlock(${key})`)) === true;
      return isHeld && mine.size === 1 && theirs.size === 1 && ![...mine].some((pid) => theirs.has(pid));
    };
    try {
      return await answerWithin(check(), withinMs);
    } catch (error) {
      // All connections of the server are in use, so the answer is unknown.
      if (systemCodeOf(error) === TOO_MANY_CONNECTIONS) return true;
      throw error;
    } finally {
      await Promise.all(lines.map((line) => line.end(END_TIMEOUT_SECONDS)));
    }
  }

  get isAway(): boolean {
    return this.#awayCause !== undefined;
  }

  /** Calls `listener` each time the database is available again; returns a function that stops this. */
  onBack(listener: () => void): () => void {
    this.#backListeners.add(listener);
    return () => this.#backListeners.delete(listener);
  }

  /**
   * Runs statements on the pool. Connection trouble becomes database_away, even if it is unknown whether the statement
   * was executed; an error from the server becomes a StatementError. After a conflict `work` runs again: each of its
   * statements commits on its own, so all of them must be repeatable.
   */
  run<T>(work: (sql: Sql) => PromiseLike<T>, silenceMs = SILENCE_MS): Promise<T> {
    return repeated(() => this.#on(quietest(this.#pool), 1, work, silenceMs));
  }

  async #on<T>(line: Line, load: number, work: (sql: Sql) => PromiseLike<T>, silenceMs: number): Promise<T> {
    this.#refuseWhileAway();
    const pool = this.#pool;
    let answered = (): void => undefined;
    const doubt = setTimeout(() => this.#suspect(), DOUBT_MS);
    line.load += load;
    try {
      const given = new Promise<never>((_, reject) => (answered = this.#unanswered.add(reject)));
      return await answerWithin(Promise.race([work(line.sql), given]), silenceMs);
    } catch (error) {
      throw this.#translate(error, pool);
    } finally {
      line.load -= load;
      clearTimeout(doubt);
      answered();
    }
  }

  /** The rows of one statement on the pool: `all<Row>`select …``; errors as in `run`. */
  async all<Row extends object>(text: TemplateStringsArray, ...values: readonly Value[]): Promise<RowList<Row[]>> {
    return this.run((sql) =>
      sql<Row[]>(text, ...values.map((value) => (typeof value === 'function' ? value(sql) : value))),
    );
  }

  /** The first of those rows. */
  async first<Row extends object>(text: TemplateStringsArray, ...values: readonly Value[]): Promise<Row | undefined> {
    const [row] = await this.all<Row>(text, ...values);
    return row;
  }

  /**
   * The same for one statement that may wait for a lock. It has a connection of the pool to itself, because other
   * statements on that connection would also wait.
   */
  async apart<T>(work: (sql: Queryable) => PromiseLike<T>, silenceMs = SILENCE_MS): Promise<T> {
    const reserved = async (sql: Sql): Promise<T> => {
      const connection = await sql.reserve();
      try {
        const result = await work(connection);
        connection.release();
        return result;
      } catch (error) {
        // A lost connection must not return to the pool as an open one.
        if (!isConnectionLoss(error)) connection.release();
        throw error;
      }
    };
    return repeated(() => this.#on(quietest(this.#pool), BULK_LOAD, reserved, silenceMs));
  }

  /**
   * Runs `work` in one transaction; errors as in `run`. After a conflict it runs again in a new one, so it must have no
   * effects outside of its transaction.
   */
  transaction<T>(
    work: (tx: Transaction) => Promise<T>,
    silenceMs = SILENCE_MS,
    mostConflicts = MOST_CONFLICTS,
  ): Promise<T> {
    const attempt = (): Promise<T> => {
      const line = quietest(this.#lines);
      return this.#on(line, 1, () => this.#begin(line, work), silenceMs);
    };
    return repeated(attempt, mostConflicts);
  }

  /**
   * The same for transactions that write very many rows. All of them use one connection, so that other transactions do
   * not wait for them.
   */
  bulk<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return repeated(() => {
      const line = this.#lines.at(-1) as Line;
      return this.#on(line, BULK_LOAD, () => this.#begin(line, work), SILENCE_MS);
    });
  }

  #begin<T>(line: Line, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.notices.within((inside) => line.begin(inside), work);
  }

  /**
   * Resolves when the database answers within two seconds, statements get through and writes are accepted; rejects with
   * the reason. Writes are tried after a refused one, or with `writesDoubted`.
   */
  async ready(writesDoubted = false): Promise<void> {
    this.#refuseWhileAway();
    try {
      await this.#ask();
    } catch (error) {
      this.#suspect();
      throw databaseAway(error);
    }
    this.#refuseWhileAway();
    await this.#writes.check(writesDoubted);
  }

  /**
   * Rejects with database_away while the database is away or refuses writes; costs nothing while they succeed.
   * `doubted`: see `ready`.
   */
  async admitWrites(doubted: boolean): Promise<void> {
    this.#refuseWhileAway();
    await this.#writes.check(doubted);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#wake?.();
    this.#backListeners.clear();
    this.#writes.close();
    // Everything important was awaited before; a connection lost in mid-statement would never report its end.
    const lines = [...this.#pool, this.#probeLine, ...this.#lines];
    await Promise.all(lines.map((line) => line.end(END_TIMEOUT_SECONDS)));
  }

  #refuseWhileAway(): void {
    if (this.#awayCause !== undefined) throw databaseAway(this.#awayCause);
  }

  #translate(error: unknown, pool: readonly Line[]): unknown {
    if (error instanceof GatewayError) return error;
    if (error instanceof ConnectionLost) return databaseAway(error.cause);
    if (error instanceof Silence) {
      // Other statements on the same pool may still get their answers.
      this.#renew(pool, SILENCE_MS);
      this.#suspect();
      return databaseAway(error);
    }
    const refusal = writesRefused(error);
    if (refusal !== undefined) {
      this.#writes.refused(refusal);
      this.#logRefused(refusal, error);
      return refusal;
    }
    if (isConnectionLoss(error)) {
      if (systemCodeOf(error) === TOO_MANY_CONNECTIONS) this.#logTooMany(error);
      else this.#suspect();
      return databaseAway(error);
    }
    if (isCancelled(error)) return databaseAway(error);
    return error instanceof postgres.PostgresError ? new StatementError(error.code, error.message) : error;
  }

  #logTooMany(error: unknown): void {
    if (performance.now() - this.#tooManyLoggedAt < REFUSED_LOG_EVERY_MS) return;
    this.#tooManyLoggedAt = performance.now();
    const facts = { database: this.#target.label, reason: textOf(error) };
    this.#log('error', 'the database accepts no more connections of this node', facts);
  }

  #logRefused({ message }: WritesRefused, error: unknown): void {
    if (performance.now() - this.#refusedLoggedAt < REFUSED_LOG_EVERY_MS) return;
    this.#refusedLoggedAt = performance.now();
    this.#log('error', message, { database: this.#target.label, reason: textOf(error) });
  }

  /**
   * The reason why writes are refused. Not asked on the connection of #ask: a write that hangs must not look like a
   * server that is away.
   */
  async #tryWrite(): Promise<GatewayError | undefined> {
    try {
      await answerWithin(quietest(this.#lines).sql.unsafe(WRITE_PROBE), PROBE_MS);
      return undefined;
    } catch (error) {
      if (error instanceof Silence) return new WritesRefused('none is answered', error);
      // Any other error concerns this write only.
      return writesRefused(error) ?? (isConnectionLoss(error) ? databaseAway(error) : undefined);
    }
  }

  /** Statements of a silent pool may hang on dead connections until TCP gives up: opens new connections. */
  #renew(silent: readonly Line[], patienceMs: number): void {
    if (this.#pool !== silent || this.#closed) return;
    const former = [...silent, ...this.#lines];
    this.#pool = this.#openLines(this.#poolSize);
    this.#lines = this.#openLines(TRANSACTION_CONNECTIONS);
    for (const line of former) line.end(patienceMs / 1000).catch(() => undefined);
  }

  /** Rejects when the server does not answer within two seconds. */
  async #ask(): Promise<void> {
    const line = this.#probeLine;
    try {
      await answerWithin(line.sql`select 1`, PROBE_MS);
    } catch (error) {
      // Callers that have connections continue to work.
      if (systemCodeOf(error) === TOO_MANY_CONNECTIONS) return;
      if (error instanceof Silence && this.#probeLine === line && !this.#closed) {
        this.#probeLine = this.#openProbe();
        line.end(0).catch(() => undefined);
      }
      throw error;
    }
  }

  /** No caller waits for a server that is away, or for connections that the server has forgotten when it is back. */
  #giveUp(cause: Error): void {
    for (const giveUp of this.#unanswered.takeAll()) giveUp(new ConnectionLost(cause));
    this.#renew(this.#pool, 0);
  }

  /** One lost connection proves little: the database is away only if a new question gets no answer either. */
  #suspect(): void {
    if (this.#closed || this.#isProbing) return;
    this.#isProbing = true;
    void this.#probe().finally(() => (this.#isProbing = false));
  }

  async #probe(): Promise<void> {
    while (!this.#closed) {
      try {
        await this.#ask();
        break;
      } catch (error) {
        const isNews = this.#awayCause === undefined;
        this.#awayCause = slimCause(error) ?? new Error('no answer');
        if (isNews) {
          this.#log('error', 'the database is away', { database: this.#target.label, reason: textOf(error) });
          this.#giveUp(this.#awayCause);
        }
      }
      await this.#pause();
    }
    if (this.#awayCause === undefined || this.#closed) return;
    this.#awayCause = undefined;
    this.#log('info', 'the database is back', { database: this.#target.label });
    for (const listener of this.#backListeners) listener();
  }

  /** Waits for the next probe, or for close(). */
  async #pause(): Promise<void> {
    const woken = new Promise<void>((resolve) => (this.#wake = resolve));
    await within(woken, PROBE_EVERY_MS, () => undefined);
  }
}

/** A conflict that does not pass becomes database_away: the caller may try again. */
async function repeated<T>(attempt: () => Promise<T>, mostConflicts = MOST_CONFLICTS): Promise<T> {
  const mayPass = (error: unknown, conflicts: number): boolean => isConflict(error) && conflicts <= mostConflicts;
  try {
    return await retrying(CONFLICT_RETRIES, attempt, mayPass);
  } catch (error) {
    throw isConflict(error) ? databaseAway(error) : error;
  }
}

function quietest(lines: readonly Line[]): Line {
  return lines.reduce((quietest, other) => (other.load < quietest.load ? other : quietest));
}

/** A probe has found that the awaited answer will not come. */
class ConnectionLost extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

function isTransient(error: unknown): boolean {
  return error instanceof Silence || isConnectionLoss(error);
}

function textOf(error: unknown): string {
  return slimCause(error)?.message ?? 'unknown reason';
}
