import { createHash } from 'node:crypto';
import { orAbort } from '../../base/deadline.js';
import { GatewayError } from '../../base/errors.js';
import { Periodic } from '../../base/periodic.js';
import { retryingUntil } from '../../base/retry.js';
import { answerWithin, databaseAway, isConnectionLoss, Silence, slimCause } from '../postgres/errors.js';
import { type Database, END_TIMEOUT_SECONDS } from '../postgres/database.js';
import type { Line } from '../postgres/line.js';
import type { Sql } from '../postgres/sql.js';
import type { Log } from '../startup.js';

/** The delays between attempts for a name that another node holds. */
const ATTEMPTS = { firstMs: 5, longestMs: 100, spread: [0.5, 1.5] } as const;
const SILENCE_MS = 5000;
/** The interval of the check that the connection of held locks is alive. */
const PULSE_MS = 2000;
/** The delay after a failed attempt to open a connection. */
const REOPEN_MS = 1000;
const LOG_EVERY_MS = 60_000;

/** The one connection and its locks. It also receives the notices of all nodes. */
class LockSession {
  readonly #line: Line;
  readonly #onSilence: (session: LockSession) => void;
  readonly #onLoss: () => void;
  readonly #held = new Set<AbortController>();
  readonly #pulse = new Periodic(() => this.#beat(), PULSE_MS);
  /** How often the connection was lost. A lock granted before the last loss does not count. */
  losses = 0;

  constructor(database: Database, onSilence: (session: LockSession) => void, onLoss: () => void) {
    const lost = (): void => this.lose(databaseAway(new Error('the connection of the lock is lost')));
    this.#line = database.openSession(lost, { hearsNotices: true });
    this.#onSilence = onSilence;
    this.#onLoss = onLoss;
  }

  get sql(): Sql {
    return this.#line.sql;
  }

  end(timeout: number): Promise<void> {
    return this.#line.end(timeout);
  }

  get isHeld(): boolean {
    return this.#held.size > 0;
  }

  /** Registers a lock; the controller is aborted when the lock is lost. */
  hold(): AbortController {
    const controller = new AbortController();
    this.#held.add(controller);
    this.#pulse.start();
    return controller;
  }

  letGo(controller: AbortController): void {
    this.#held.delete(controller);
    if (this.#held.size === 0) void this.#pulse.stop();
  }

  lose(reason: GatewayError): void {
    this.losses += 1;
    for (const controller of [...this.#held]) {
      this.letGo(controller);
      controller.abort(reason);
    }
    this.#onLoss();
  }

  async #beat(): Promise<void> {
    try {
      await answerWithin(this.sql`select 1`, SILENCE_MS);
    } catch (error) {
      if (error instanceof Silence) this.#onSilence(this);
    }
  }
}

/**
 * Named locks over all nodes. Callers of this process queue up in memory; the first of each queue asks PostgreSQL for
 * an advisory lock. One connection holds all locks, so a lock held through a slow answer of a remote server costs no
 * connection and delays no other name. A lock ends with that connection: it never outlives the process, and its holder
 * is notified when the connection is lost. The connection is opened at the start and kept, because the server may
 * refuse a new one when its connections are used up.
 */
export class AdvisoryLocks {
  readonly #database: Database;
  readonly #log: Log;
  /** Called each time the connection is open and receives notices again. */
  readonly #onOpen: () => void;
  #session: LockSession;
  /** The reason why there is no connection. */
  #trouble: GatewayError | undefined;
  #openTimer: NodeJS.Timeout | undefined;
  #opening: Promise<void> | undefined;
  #isClosed = false;
  #loggedAt = -Infinity;
  /** The end of each name's queue. */
  readonly #tails = new Map<string, Promise<void>>();

  constructor(database: Database, log: Log, onOpen = (): void => undefined) {
    this.#database = database;
    this.#log = log;
    this.#onOpen = onOpen;
    this.#session = this.#openSession();
    this.#openSoon(0);
    // Only its use shows whether a connection has survived the outage; an unused one can be replaced without harm.
    database.onBack(() => {
      if (!this.#session.isHeld) this.#drop(this.#session);
      this.#openSoon(0);
    });
  }

  /** Rejects with database_away and the reason while there is no connection, and therefore no lock. */
  async ready(): Promise<void> {
    await this.#opening;
    if (this.#trouble !== undefined) throw this.#trouble;
  }

  #openSoon(afterMs: number): void {
    if (this.#isClosed) return;
    clearTimeout(this.#openTimer);
    if (afterMs > 0) this.#openTimer = setTimeout(() => this.#openSoon(0), afterMs).unref();
    else this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
  }

  /** Never rejects. */
  async #open(): Promise<void> {
    try {
      await this.#ask(this.#session, (sql) => sql`select 1`);
      if (this.#trouble !== undefined) this.#log('info', 'the connection for locks is open again');
      this.#trouble = undefined;
      this.#onOpen();
    } catch (error) {
      if (this.#isClosed) return;
      const reason = slimCause(error instanceof GatewayError ? error.cause : error)?.message ?? 'unknown reason';
      this.#trouble = new GatewayError('database_away', `the database gives no connection for locks: ${reason}`, {
        retryAfterMs: 2 * REOPEN_MS,
      });
      this.#openSoon(REOPEN_MS);
      // The log already says that the database is away.
      if (this.#database.isAway || performance.now() - this.#loggedAt < LOG_EVERY_MS) return;
      this.#loggedAt = performance.now();
      this.#log('error', 'the database gives no connection for locks: the node is not ready', { reason });
    }
  }

  /**
   * Waits for the lock until `signal`, runs `work` under it and resolves with its result. `lost` is aborted with
   * database_away when the lock is lost before `work` is done: from then on another node may hold it.
   */
  async withLock<T>(name: string, signal: AbortSignal, work: (lost: AbortSignal) => Promise<T>): Promise<T> {
    const key = keyOf(name);
    const leave = await this.#queueUp(key, signal);
    try {
      const { session, held } = await this.#acquire(key, signal);
      try {
        return await work(held.signal);
      } finally {
        session.letGo(held);
        // A lost connection has already released the lock.
        if (!held.signal.aborted) await this.#release(key, session);
      }
    } finally {
      leave();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#openTimer);
    await this.#session.end(END_TIMEOUT_SECONDS);
  }

  #openSession(): LockSession {
    return new LockSession(
      this.#database,
      (silent) => this.#drop(silent),
      () => this.#openSoon(0),
    );
  }

  /** Ends a connection that cannot be trusted any more, and all its locks. */
  #drop(session: LockSession): void {
    if (this.#session !== session) return;
    this.#session = this.#openSession();
    session.lose(databaseAway(new Error('the connection of the lock does not answer')));
    session.end(0).catch(() => undefined);
  }

  /**
   * Resolves when all earlier callers have left, with the function to leave. A caller that gives up keeps its place
   * until the earlier ones have left.
   */
  async #queueUp(key: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const before = this.#tails.get(key) ?? Promise.resolve();
    let done = (): void => undefined;
    const mine = new Promise<void>((resolve) => (done = resolve));
    const tail = before.then(() => mine);
    this.#tails.set(key, tail);
    const leave = (): void => {
      done();
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    };
    try {
      await orAbort(before, signal);
    } catch (error) {
      // Later callers must also wait for the earlier ones, so the entry is removed only after those have left.
      void before.then(leave);
      throw error;
    }
    return leave;
  }

  #acquire(key: string, signal: AbortSignal): Promise<{ session: LockSession; held: AbortController }> {
    const attempt = async (): Promise<{ session: LockSession; held: AbortController } | undefined> => {
      signal.throwIfAborted();
      const session = this.#session;
      const { losses } = session;
      const isLocked = (await this.#tryLock(key, session)) && session.losses === losses;
      return isLocked ? { session, held: session.hold() } : undefined;
    };
    return retryingUntil(ATTEMPTS, attempt, signal);
  }

  async #tryLock(key: string, session: LockSession): Promise<boolean> {
    let asked: Promise<boolean> | undefined;
    try {
      // Database.run fails at once while the database is away.
      return await this.#database.run(() => (asked = this.#question(key, session)));
    } catch (error) {
      // The answer may still come: the lock would belong to no caller, and be held as long as the connection lives.
      asked?.then((isHeld) => (isHeld ? this.#release(key, session) : undefined)).catch(() => undefined);
      throw error;
    }
  }

  async #question(key: string, session: LockSession): Promise<boolean> {
    const [row] = await this.#ask(
      session,
      (sql) => sql<{ held: boolean }[]>`select pg_try_advisory_lock(${key}::bigint) as held`,
    );
    return row?.held === true;
  }

  async #release(key: string, session: LockSession): Promise<void> {
    try {
      await this.#ask(session, (sql) => sql`select pg_advisory_unlock(${key}::bigint)`);
    } catch {
      // A lock that may still be held would block its name for as long as the connection lives.
      this.#drop(session);
    }
  }

  async #ask<T>(session: LockSession, question: (sql: Sql) => PromiseLike<T>): Promise<T> {
    try {
      return await answerWithin(question(session.sql), SILENCE_MS);
    } catch (error) {
      if (error instanceof Silence) this.#drop(session);
      throw isConnectionLoss(error) || error instanceof Silence ? databaseAway(error) : error;
    }
  }
}

/** 64 bits of a hash: advisory locks are numbers. */
function keyOf(name: string): string {
  return createHash('sha256').update(name).digest().readBigInt64BE().toString();
}
