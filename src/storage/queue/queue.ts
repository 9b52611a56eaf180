/** Work that all nodes share: pg-boss on the gateway's own database. */
import { MINUTE_MS } from '../../contract/units.js';
import { PgBoss, type Db } from 'pg-boss';
import type { Database } from '../postgres/database.js';
import { withColumnNames } from '../postgres/column-names.js';
import { type QueueName, QUEUES } from '../postgres/notices.js';
import type { Queryable, Transaction } from '../postgres/sql.js';
import type { StorageOptions } from '../startup.js';
import { Agenda, type ClockReading, POLL_MS } from './agenda.js';

export interface NewTask {
  /** The subject of the task, and its identity within the queue: a second task of the same key is refused. */
  readonly key: string;
  /** The owner; accounts share a node fairly. */
  readonly account: string;
  /** Tasks of an account that share a slow resource (a host, a webhook's target). */
  readonly group: string;
  readonly data: object;
  /** A time of the database's clock, or milliseconds from now. */
  readonly startAfter?: Date | number;
}

export interface ClaimedTask {
  readonly id: string;
  /** Distinguishes this claim from a later one of the same task. */
  readonly attempt: number;
  readonly key: string;
  readonly account: string;
  readonly group: string;
  readonly data: unknown;
}

/** Accounts and groups whose tasks this node does not take now. */
export interface Busy {
  readonly accounts: readonly string[];
  readonly groups: readonly Pick<ClaimedTask, 'account' | 'group'>[];
}

/** Adds tasks; in a transaction they appear with its commit. */
export interface QueueSender {
  /** Resolves to the keys that were added. */
  send(queue: QueueName, tasks: readonly NewTask[], tx?: Transaction): Promise<ReadonlySet<string>>;
  /** The same, and those that wait for their time become due at once. Running tasks are not changed. */
  hasten(queue: QueueName, tasks: readonly NewTask[], tx: Transaction): Promise<void>;
  /** Those of `keys` whose task has not begun. */
  waiting(queue: QueueName, keys: readonly string[], tx: Transaction): Promise<ReadonlySet<string>>;
}

/** Claims tasks. A claim that is not renewed for ten seconds passes to another node. */
export interface QueueClaims<Q extends string = QueueName> {
  /** Calls `wake` whenever tasks of the queue may be due. Returns a function that stops this. */
  onDue(queue: Q, wake: () => void): () => void;
  fetch(queue: Q, limit: number, except: Busy): Promise<readonly ClaimedTask[]>;
  renew(queue: Q, tasks: readonly ClaimedTask[]): Promise<void>;
  /** The tasks are done and deleted; in a transaction, with its commit. */
  finish(queue: Q, tasks: readonly ClaimedTask[], tx?: Transaction): Promise<void>;
  /** The task will run again on any node: at a time of the database's clock, or after a number of milliseconds. */
  postpone(queue: Q, task: ClaimedTask, until: Date | number): Promise<void>;
  /** This node gives up the tasks: other nodes may claim them at once. */
  giveBack(queue: Q, tasks: readonly ClaimedTask[]): Promise<void>;
}

export type Queue = QueueSender & QueueClaims;

const CLAIM_SECONDS = 10;
const MONITOR_SECONDS = 3;
/** After claims were seen on any node, the engine checks for this long whether they are renewed. */
const MINDED_MS = 2 * POLL_MS;
/** A clock that moves by more than this, compared with the monotonic one, was set. */
const CLOCK_SLACK_MS = 1000;
const HOUR_SECONDS = 3600;
const MAX_RUN_SECONDS = 23 * HOUR_SECONDS;
const KEEP_WAITING_SECONDS = 400 * 24 * HOUR_SECONDS;
/** Retries in the engine are takeovers from dead nodes; tasks that may fail keep their own count. */
const MAX_TAKEOVERS = 1_000_000;
const SCHEMA_PATIENCE_MS = 5 * MINUTE_MS;

interface TaskData {
  readonly key: string;
  /** Absent in tasks of version 1.0. */
  readonly account?: string;
  readonly group: string;
  readonly data: object;
}

export class PostgresQueue implements Queue {
  /** The work that is due on this database. */
  readonly agenda: Agenda;
  readonly #boss: PgBoss;
  readonly #database: Database;

  readonly #schema: string;
  readonly #log: StorageOptions['log'];
  readonly #stopListening: (() => void)[];
  #timer: NodeJS.Timeout | undefined;
  #supervising: Promise<void> | undefined;
  #isClosed = false;
  /** A node that claims tasks supervises the claims of all nodes. */
  #isSupervisor = false;
  #mindedUntil = -Infinity;
  #supervisedAt = -Infinity;
  /** The database's clock minus the monotonic one of this node, when it was last read. */
  #clockAhead = -Infinity;
  /** As far as this node has seen, the clock of the database was not set since this time. */
  #steadySince = performance.now();

  private constructor(database: Database, boss: PgBoss, schema: string, log: StorageOptions['log']) {
    this.#database = database;
    this.#boss = boss;
    this.#schema = schema;
    this.#log = log;
    this.agenda = new Agenda(database, schema, log);
    this.#stopListening = [
      // After a pause of the database all claims look expired: live nodes get time to renew theirs.
      database.onBack(() => (this.#steadySince = performance.now())),
    ];
  }

  /**
   * Installs or upgrades the engine's tables, in a separate schema beside the gateway's own, and starts its
   * maintenance.
   */
  static async open(database: Database, log: StorageOptions['log']): Promise<PostgresQueue> {
    const [row] = await database.run((sql) => sql<{ schema: string }[]>`select current_schema() as schema`);
    const schema = `${row?.schema ?? 'public'}_jobs`;
    const boss = new PgBoss({
      schema,
      db: { executeSql: (text, values) => execute(database, text, values) },
      schedule: false,
      supervise: false,
      monitorIntervalSeconds: MONITOR_SECONDS,
      maintenanceIntervalSeconds: HOUR_SECONDS,
      monitorVacuum: false,
    });
    boss.on('error', (error) => {
      if (!database.isAway) log('warn', 'the queue reports an error', { reason: error.message });
    });
    const queue = new PostgresQueue(database, boss, schema, log);
    await boss.start();
    for (const name of QUEUES) {
      const settings = {
        policy: 'exclusive',
        heartbeatSeconds: CLAIM_SECONDS,
        retryLimit: MAX_TAKEOVERS,
        retryDelay: 0,
        expireInSeconds: MAX_RUN_SECONDS,
        retentionSeconds: KEEP_WAITING_SECONDS,
        deleteAfterSeconds: HOUR_SECONDS,
      };
      await boss.createQueue(name, settings);
    }
    return queue;
  }

  /** There are claims of this node or of others. */
  #mind(): void {
    this.#mindedUntil = performance.now() + MINDED_MS;
    this.#superviseSoon();
  }

  #superviseSoon(): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#supervising = this.#supervise()
        .catch(this.#complain)
        .finally(() => {
          this.#timer = undefined;
          if (performance.now() < this.#mindedUntil) this.#superviseSoon();
        });
    }, MONITOR_SECONDS * 1000).unref();
  }

  readonly #complain = (error: unknown): void => {
    if (!this.#database.isAway) this.#log('warn', 'the queue reports an error', { reason: String(error) });
  };

  /**
   * Releases claims that were not renewed, and cleans up. The engine uses the clock of the database. After that clock
   * was set, no claim is released for the duration of a claim, so that live nodes can renew theirs first.
   */
  async #supervise(): Promise<void> {
    const askedAt = performance.now();
    const row = await this.#database.first<{ now: Date }>`select clock_timestamp() as now`;
    if (row === undefined) return;
    const isKnown = await this.#checkClock({ now: row.now, askedAt, answeredAt: performance.now() });
    if (!isKnown || performance.now() - this.#steadySince < CLAIM_SECONDS * 1000) return;
    await this.#boss.supervise();
    this.#supervisedAt = performance.now();
    // Expired claims are due.
    this.agenda.pollNow();
  }

  /** Whether the clock is known now. */
  async #checkClock({ now, askedAt, answeredAt }: ClockReading): Promise<boolean> {
    // A late answer is too inaccurate.
    if (answeredAt - askedAt > CLOCK_SLACK_MS) return false;
    const ahead = now.getTime() - answeredAt;
    const moved = ahead - this.#clockAhead;
    if (Math.abs(moved) > 2 * CLOCK_SLACK_MS) {
      this.#steadySince = performance.now();
      // Times written by a clock that was ahead would delay the engine until the clock has caught up.
      await this.#recall();
    }
    this.#clockAhead = ahead;
    // The engine's own tables also need maintenance when nothing is claimed for a long time.
    if (answeredAt - this.#supervisedAt > HOUR_SECONDS * 1000) this.#superviseSoon();
    return true;
  }

  async #recall(): Promise<void> {
    await this.#database.run(async (sql) => {
      await sql`
        update ${sql(this.#schema)}.queue set monitor_on = least(monitor_on, now()), maintain_on = least(maintain_on, now()),
          monitor_claim_on = least(monitor_claim_on, now())
        where greatest(monitor_on, maintain_on, monitor_claim_on) > now()`;
      await sql`
        update ${sql(this.#schema)}.job set heartbeat_on = now() where state = 'active' and heartbeat_on > now()`;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const stop of this.#stopListening) stop();
    await this.agenda.close();
    await this.#supervising;
    await this.#boss.stop({ graceful: false, close: false });
  }

  onDue(queue: QueueName, wake: () => void): () => void {
    this.#startSupervising();
    return this.agenda.on(queue, wake);
  }

  #startSupervising(): void {
    if (this.#isSupervisor) return;
    this.#isSupervisor = true;
    const checkClock = (reading: ClockReading): void => void this.#checkClock(reading).catch(this.#complain);
    this.#stopListening.push(
      this.agenda.on('claims', () => this.#mind()),
      this.agenda.onClock(checkClock),
    );
  }

  async send(queue: QueueName, tasks: readonly NewTask[], tx?: Transaction): Promise<ReadonlySet<string>> {
    if (tasks.length === 0) return new Set();
    if (tx === undefined) return this.#database.transaction((own) => this.send(queue, tasks, own));
    const keys = new Map(tasks.map((task) => [crypto.randomUUID() as string, task]));
    const rows = [...keys].map(([id, { key, account, group, data, startAfter }]) => ({
      id,
      singletonKey: key,
      group: { id: groupId({ account, group }) },
      data: { key, account, group, data } satisfies TaskData,
      ...(startAfter === undefined ? {} : { startAfter: intervalOr(startAfter) }),
    }));
    const taken = await this.#boss.insert(queue, rows, { returnId: true, db: adapterOf(tx) });
    for (const { startAfter } of tasks) this.#announce(queue, startAfter, tx);
    return new Set((taken ?? []).map((id) => keys.get(id)?.key ?? ''));
  }

  #announce(queue: QueueName, startAfter: NewTask['startAfter'] = 0, tx: Transaction): void {
    const ms = typeof startAfter === 'number' ? startAfter : this.agenda.msUntil(startAfter);
    if (ms <= 0) this.#database.notices.announce(tx, queue);
    // The node that postpones a task finds it at its time.
    else this.#database.notices.announceHere(tx, queue, ms);
  }

  async hasten(queue: QueueName, tasks: readonly NewTask[], tx: Transaction): Promise<void> {
    const keys = tasks.map(({ key }) => key);
    const waiting = await tx<{ id: string }[]>`
      select id from ${this.#waitingOf(tx, queue, keys)} and start_after > now() for update`;
    const ids = waiting.map(({ id }) => id);
    if (ids.length > 0) await this.#boss.deleteJob(queue, ids, { db: adapterOf(tx) });
    await this.send(queue, tasks, tx);
  }

  async waiting(queue: QueueName, keys: readonly string[], tx: Transaction): Promise<ReadonlySet<string>> {
    const rows = await tx<{ key: string }[]>`select singleton_key as key from ${this.#waitingOf(tx, queue, keys)}`;
    return new Set(rows.map(({ key }) => key));
  }

  /** With the same expressions as the index of keys. */
  #waitingOf(tx: Transaction, queue: QueueName, keys: readonly string[]) {
    return tx`${tx(this.#schema)}.job
      where name = ${queue} and coalesce(singleton_key, '') = any (${tx.types.texts(keys)})
        and policy = 'exclusive' and state < 'active'`;
  }

  async fetch(queue: QueueName, limit: number, except: Busy): Promise<readonly ClaimedTask[]> {
    this.#startSupervising();
    const ignoreGroups = [...except.groups.map(groupId), ...(await this.#groupsOf(queue, except.accounts))];
    const found = await this.#boss.fetch<TaskData>(queue, { batchSize: limit, ignoreGroups });
    if (found.length > 0) this.#mind();
    return found.map(({ id, retryCount, data }) => ({ id, attempt: retryCount, account: data.group, ...data }));
  }

  /** The engine excludes groups and knows no accounts: the waiting groups of these accounts. */
  async #groupsOf(queue: QueueName, accounts: readonly string[]): Promise<readonly string[]> {
    if (accounts.length === 0) return [];
    const rows = await this.#database.run(
      (sql) => sql<{ groupId: string }[]>`
        select distinct group_id from ${sql(this.#schema)}.job
        where name = ${queue} and state < 'active' and not blocked and start_after <= now()
          and split_part(group_id, ' ', 1) = any (${sql.types.texts([...accounts])})`,
    );
    return rows.map((row) => row.groupId);
  }

  async renew(queue: QueueName, tasks: readonly ClaimedTask[]): Promise<void> {
    if (tasks.length > 0) await this.#boss.touch(queue, tasks.map(attemptOf));
  }

  async finish(queue: QueueName, tasks: readonly ClaimedTask[], tx?: Transaction): Promise<void> {
    const db = tx === undefined ? {} : { db: adapterOf(tx) };
    if (tasks.length > 0) await this.#boss.deleteJob(queue, tasks.map(attemptOf), db);
  }

  async postpone(queue: QueueName, task: ClaimedTask, until: Date | number): Promise<void> {
    const { key, account, group, data } = task;
    const write = async (tx: Transaction): Promise<void> => {
      await this.#boss.deleteJob(queue, [attemptOf(task)], { db: adapterOf(tx) });
      await this.send(queue, [{ key, account, group, data: data as object, startAfter: until }], tx);
    };
    await this.#database.turns.run(account, () => this.#database.transaction(write));
  }

  async giveBack(queue: QueueName, tasks: readonly ClaimedTask[]): Promise<void> {
    if (tasks.length === 0) return;
    await this.#database.transaction(async (tx) => {
      await this.#boss.fail(queue, tasks.map(attemptOf), undefined, { db: adapterOf(tx) });
      this.#database.notices.announce(tx, queue);
    });
  }
}

/** The account first. Tasks of version 1.0 have only a group, and count as an account of their own. */
function groupId({ account, group }: Pick<ClaimedTask, 'account' | 'group'>): string {
  return account === group ? group : `${account} ${group}`;
}

/** The engine adds an interval to the database's own time. */
function intervalOr(startAfter: Date | number): Date | string {
  return typeof startAfter === 'number' ? `${startAfter} milliseconds` : startAfter;
}

function attemptOf({ id, attempt }: ClaimedTask): { id: string; retryCount: number } {
  return { id, retryCount: attempt };
}

type Rows = Awaited<ReturnType<Db['executeSql']>>;

/** The engine's scripts contain their own BEGIN and COMMIT and need a connection to themselves. */
async function execute(database: Database, text: string, values: unknown[] = []): Promise<Rows> {
  if (!/^\s*BEGIN\b/i.test(text)) return database.run((sql) => query(sql, text, values));
  return database.apart(async (connection) => {
    try {
      return await query(connection, text, values);
    } catch (error) {
      await connection.unsafe('rollback').catch(() => undefined);
      throw error;
    }
  }, SCHEMA_PATIENCE_MS);
}

function adapterOf(tx: Transaction): Db {
  return { executeSql: (text, values) => query(tx, text, values ?? []) };
}

async function query(sql: Queryable, text: string, values: unknown[]): Promise<Rows> {
  // Sent as text and cast by the statement: the driver would encode the engine's JSON strings again.
  const parameters = values.map((value) => (typeof value === 'string' ? sql.typed(value, TEXT_OID) : value));
  const result = await sql.unsafe(text, parameters as never[]);
  // A script returns one list of rows per statement.
  const lists = result as unknown as object[];
  return { rows: withColumnNames(lists.some(Array.isArray) ? lists.flat() : lists) };
}

const TEXT_OID = 25;
