/**
 * Work that is due on the database, by topic, so that no worker polls in vain. A node receives a notice at once when
 * others make work due (postgres/notices.ts) and sets timers for work that is due soon. Every few seconds it checks all
 * topics in one statement: for notices that it has missed, for writes of older versions, and for what dead nodes left.
 * So due work is found within `POLL_MS`, and almost always on time.
 */
import type { PendingQuery, Row } from 'postgres';
import { OPEN } from '../../contract/job-states.js';
import { spread } from '../../base/retry-schedule.js';
import type { Database } from '../postgres/database.js';
import { NOTICED_MS, QUEUES, type Topic } from '../postgres/notices.js';
import { isOneOf, type Queryable, templateIn } from '../postgres/sql.js';
import type { Log } from '../startup.js';

/** The longest time between two checks. */
export const POLL_MS = NOTICED_MS / 2;
/** Nodes that were started together do not check at the same moment. */
const SPREAD = [0.8, 1] as const;
/** Timers are rounded up to multiples of this. */
const TICK_MS = 50;
/** In the form of their index. */
const HAVE_NOT_ENDED = templateIn(isOneOf('state', OPEN));

/** A time of the database's clock, and when it was read, by the monotonic clock of this process. */
export interface ClockReading {
  readonly now: Date;
  readonly askedAt: number;
  readonly answeredAt: number;
}

interface DueRow {
  readonly topic: string;
  /** null if none of it will ever be due. */
  readonly inMs: number | null;
  readonly now: Date;
}

type Wake = () => void;

export class Agenda {
  readonly #database: Database;
  readonly #jobSchema: string;
  readonly #log: Log;
  readonly #listeners = new Map<string, Set<Wake>>();
  readonly #clockListeners = new Set<(reading: ClockReading) => void>();
  /** Key: topic and time. */
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #stopListening: readonly (() => void)[];
  #pollTimer: NodeJS.Timeout | undefined;
  #polling: Promise<void> | undefined;
  #pollsAgain = false;
  /** The database's clock minus the monotonic one, as of the last check. */
  #clockAhead = NaN;
  #isClosed = false;

  constructor(database: Database, jobSchema: string, log: Log) {
    this.#database = database;
    this.#jobSchema = jobSchema;
    this.#log = log;
    this.#stopListening = [
      database.notices.on((topic, inMs) => this.dueIn(topic, inMs)),
      database.onBack(() => this.pollNow()),
    ];
  }

  /** Calls `wake` whenever work of the topic may be due. Returns a function that stops this. */
  on(topic: Topic, wake: Wake): () => void {
    const known = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, known);
    known.add(wake);
    this.#pollIn(0);
    return () => {
      known.delete(wake);
      if (known.size === 0) this.#listeners.delete(topic);
    };
  }

  /** Calls `hear` with the database's time at each check. Returns a function that stops this. */
  onClock(hear: (reading: ClockReading) => void): () => void {
    this.#clockListeners.add(hear);
    return () => this.#clockListeners.delete(hear);
  }

  /** This process knows that work of the topic will be due. */
  dueIn(topic: string, ms: number): void {
    if (this.#isClosed || !this.#listeners.has(topic) || !(ms <= NOTICED_MS)) return;
    if (ms <= 0) return this.#wake(topic);
    const tick = Math.ceil((performance.now() + ms) / TICK_MS);
    const key = `${topic} ${tick}`;
    if (this.#timers.has(key)) return;
    const due = (): void => {
      this.#timers.delete(key);
      this.#wake(topic);
    };
    this.#timers.set(key, setTimeout(due, tick * TICK_MS - performance.now()).unref());
  }

  /** The time left until `time` of the database's clock; NaN before the first check. */
  msUntil(time: Date): number {
    return time.getTime() - performance.now() - this.#clockAhead;
  }

  /** Checks at once, because notices may have been missed. */
  pollNow(): void {
    this.#pollIn(0);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#stopListening) stop();
    clearTimeout(this.#pollTimer);
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    await this.#polling;
  }

  #wake(topic: string): void {
    for (const wake of [...(this.#listeners.get(topic) ?? [])]) wake();
  }

  #pollIn(ms: number): void {
    if (this.#isClosed || this.#listeners.size === 0) return;
    if (this.#polling !== undefined) {
      this.#pollsAgain ||= ms === 0;
      return;
    }
    clearTimeout(this.#pollTimer);
    this.#pollTimer = setTimeout(() => {
      this.#polling = this.#poll().finally(() => {
        this.#polling = undefined;
        const isDue = this.#pollsAgain;
        this.#pollsAgain = false;
        this.#pollIn(isDue ? 0 : spread(POLL_MS, SPREAD));
      });
    }, ms).unref();
  }

  /** Never rejects. */
  async #poll(): Promise<void> {
    const askedAt = performance.now();
    try {
      const rows = await this.#database.run((sql) => this.#ask(sql));
      const answeredAt = performance.now();
      const [first] = rows;
      if (first === undefined || this.#isClosed) return;
      this.#clockAhead = first.now.getTime() - answeredAt;
      for (const hear of this.#clockListeners) hear({ now: first.now, askedAt, answeredAt });
      for (const { topic, inMs } of rows) if (inMs !== null) this.dueIn(topic, inMs);
    } catch (error) {
      // `onBack` checks again once the database is back.
      if (this.#database.isAway || this.#isClosed) return;
      this.#log('warn', 'it could not be looked up what is due', { reason: String(error) });
      // Everything may be due: one failed question must not put every worker to sleep.
      for (const topic of [...this.#listeners.keys()]) this.#wake(topic);
    }
  }

  #ask(sql: Queryable): PromiseLike<DueRow[]> {
    const topics = [...this.#listeners.keys()];
    const asked = QUESTIONS.filter((question) => question.topics.some((topic) => topics.includes(topic)));
    const parts = asked.map(({ ask }) => ask(sql, this.#jobSchema));
    const all = parts.reduce(
      (before, part) => sql`${before} union all ${part}`,
      sql`select 'clock', null::timestamptz`,
    );
    return sql<DueRow[]>`
      with due (topic, at) as (${all})
      select topic, (extract(epoch from at - now()) * 1000)::float8 as in_ms, clock_timestamp() as now from due`;
  }
}

type Part = PendingQuery<Row[]>;

interface Question {
  readonly topics: readonly Topic[];
  /**
   * Rows of a topic and the time at which its work is due. Each row is the first entry of an index, or one of few rows.
   */
  readonly ask: (sql: Queryable, jobSchema: string) => Part;
}

const QUESTIONS: readonly Question[] = [
  {
    topics: QUEUES,
    ask: (sql, schema) => sql`
      (select name, min(start_after) from ${sql(schema)}.job where state < 'active' and not blocked group by name)`,
  },
  {
    // Claims are supervised as long as there are any.
    topics: ['claims'],
    ask: (sql, schema) => sql`
      (select 'claims', now() from ${sql(schema)}.job where state = 'active' and group_id is not null limit 1)`,
  },
  {
    topics: ['connection-check'],
    ask: (sql) => sql`
      (select 'connection-check', k.due_at from connection_checks k join connections c on c.id = k.connection_id
        where c.is_active order by k.due_at limit 1)`,
  },
  {
    topics: ['folders'],
    ask: (sql) => sql`
      (select 'folders', min(next_check_at) from watched_folders where is_active and deleted_at is null)`,
  },
  {
    topics: ['deleted-folders'],
    ask: (sql) => sql`(select 'deleted-folders', min(deleted_at) from watched_folders where deleted_at is not null)`,
  },
  {
    topics: ['schedules'],
    ask: (sql) => sql`(select 'schedules', min(next_run_at) from schedules where next_run_at is not null)`,
  },
  {
    topics: ['events'],
    ask: (sql) => sql`(select 'events', now() from events where sequence is null and is_ready limit 1)`,
  },
  {
    topics: ['jobs'],
    ask: (sql) => sql`(select 'jobs', now() from jobs where ${sql(HAVE_NOT_ENDED)} limit 1)`,
  },
  {
    topics: ['uploads'],
    ask: (sql) => sql`
      (select 'uploads', least((select min(expires_at) from uploads where state <> 'done'),
        (select min(expires_at) from uploads where state = 'done')))`,
  },
  {
    topics: ['alarm-look'],
    ask: (sql) => sql`(select 'alarm-look', min(look_at) from alarm_accounts)`,
  },
  {
    topics: ['alarm-mail'],
    // The same choice as AlarmRecipients.claim, but only by time.
    ask: (sql) => sql`
      (select 'alarm-mail', min(greatest(w.not_before, w.claimed_until,
          case when s.urgent_breaks_quiet and a.is_urgent then null else w.quiet_until end))
        from alarm_recipients w join alarm_settings s using (account_id)
          join alarms a on a.account_id = w.account_id and a.ended_at is null and a.id > w.told and a.kind = any (s.kinds)
        where s.is_on and w.confirmed_at is not null)`,
  },
];
