import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { PendingQuery, Row } from 'postgres';
import { uuidv7 } from '../../base/uuid.js';
import { isDuplicate } from '../postgres/errors.js';
import type { Database } from '../postgres/database.js';
import type { Queryable } from '../postgres/sql.js';
import type { Log } from '../startup.js';

/** How often a node says that it lives, and after how long a silence, by the observer's monotonic clock, it is dead. */
export interface NodeTiming {
  readonly heartbeatMs: number;
  readonly deadAfterMs: number;
}

export const NODE_TIMING: NodeTiming = { heartbeatMs: 5000, deadAfterMs: 20_000 };

const TAG_ATTEMPTS = 5;
/** A longer gap between two beats of this node is its own, or the database's: it counts no further against the others. */
const COUNTED_BEATS = 2;

/** What this node has seen of another one's heartbeat. */
interface Pulse {
  /** The heartbeat's time, in microseconds of the database's clock: compared with itself alone. */
  readonly beat: string;
  /** For how long it has not changed, by the monotonic clock of this node. */
  readonly silentMs: number;
  /** It has changed while this node watched. */
  readonly hasBeaten: boolean;
}

interface OtherNode {
  readonly id: string;
  readonly process: string;
  readonly beat: string;
  /** By the database's clock, which may have jumped. */
  readonly isRecent: boolean;
}

/**
 * This process among the nodes of the database: its heartbeat, and which of the others is dead. Another node is dead once its
 * heartbeat has not changed for a while on this node's monotonic clock: the clock of the database may jump.
 */
export class NodeRegistry {
  readonly #database: Database;
  readonly #log: Log;
  readonly #timing: NodeTiming;
  readonly id = uuidv7();
  readonly #onBeat: (() => Promise<void>)[] = [];
  #tag = '';
  #processes = 1;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;
  #stopListening: (() => void) | undefined;
  #pulses: ReadonlyMap<string, Pulse> = new Map();
  /** When the pulses were taken. */
  #takenAt = 0;
  #stopped = false;
  /** True at the start: nodes may have died before. */
  #hasLost = true;

  constructor(database: Database, log: Log, timing: NodeTiming) {
    this.#database = database;
    this.#log = log;
    this.#timing = timing;
  }

  /** 8 lower-case hex digits; unique among the nodes that the database knows. */
  get tag(): string {
    return this.#tag;
  }

  /** Processes that live on this database, this one included, as of the last heartbeat. Each may be several nodes. */
  get processes(): number {
    return this.#processes;
  }

  /** Enters this node. `alone`: the database is this process's own, so that all earlier nodes are dead at once. */
  async start(alone: boolean): Promise<void> {
    if (alone) {
      await this.#database.all`update nodes set stopped_at = now() where stopped_at is null`;
    }
    for (let attempt = 1; this.#tag === ''; attempt++) {
      const tag = randomBytes(4).toString('hex');
      try {
        await this.#database.run((sql) => this.#enter(sql, tag));
        this.#tag = tag;
      } catch (error) {
        if (!isDuplicate(error) || attempt === TAG_ATTEMPTS) throw error;
      }
    }
    this.#stopListening = this.#database.onBack(() => {
      // After a pause of the database every heartbeat is old: the living get the time to beat again.
      this.#pulses = new Map();
      this.#beatSoon(0);
    });
  }

  /** Starts the heartbeat; resolves after the first one and what has been registered to run after it, whatever became of them. */
  beatNow(): Promise<void> {
    clearTimeout(this.#timer);
    return this.#beatOnce();
  }

  /** Runs after each heartbeat that arrived; failures are logged and tried again with the next one. */
  afterBeat(work: () => Promise<void>): void {
    this.#onBeat.push(work);
  }

  /** Something of a dead node was looked after, so that more of it can be. */
  noteLoss(): void {
    this.#hasLost = true;
  }

  /** Whether a node may have left something since this was asked last: one has died or signed off. */
  takeLoss(): boolean {
    const hasLost = this.#hasLost;
    this.#hasLost = false;
    return hasLost;
  }

  /** SQL condition: the node whose id stands in `column` is dead, or unknown. Never true of this one. */
  isDead(sql: Queryable, column: PendingQuery<Row[]>) {
    const silent = [...this.#pulses].filter(([, { silentMs }]) => silentMs >= this.#timing.deadAfterMs);
    const ids = sql.types.uuids(silent.map(([id]) => id));
    const beats = sql.types.texts(silent.map(([, { beat }]) => beat));
    // One that has beaten since it was looked at lives.
    return sql`not exists (
      select from nodes alive where alive.id = ${column} and (alive.id = ${this.id} or (alive.stopped_at is null
        and not exists (select from unnest(${ids}, ${beats}) as silent (id, beat)
          where silent.id = alive.id and silent.beat = ${beatOf(sql, sql`alive.last_seen_at`)}))))`;
  }

  /** Forgets dead nodes that left nothing to look after. */
  async forgetDead(): Promise<void> {
    await this.#database.run(
      (sql) => sql`
        delete from nodes n where ${this.isDead(sql, sql`n.id`)}
          and not exists (select from leftovers l where l.node_id = n.id or l.tag = n.tag)
          and not exists (select from transfers t where t.status = 'pending' and t.node_id = n.id)`,
    );
  }

  /** Marks this node dead, so that others take over at once what it left. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#stopListening?.();
    await this.#beating;
    await this.#database.all`update nodes set stopped_at = now() where id = ${this.id}`;
  }

  async #enter(sql: Queryable, tag: string): Promise<void> {
    // One statement, since it is sent for ever; the other rows are as they were before it.
    const others = await sql<OtherNode[]>`
      with entered as (
        insert into nodes (id, tag, host, pid) values (${this.id}, ${tag}, ${hostname()}, ${process.pid})
        on conflict (id) do update set last_seen_at = now(), stopped_at = null
      )
      select id, host || ' ' || pid as process, ${beatOf(sql, sql`last_seen_at`)} as beat,
        last_seen_at >= now() - ${`${this.#timing.deadAfterMs} milliseconds`}::interval as is_recent
      from nodes where stopped_at is null and id <> ${this.id}`;
    this.#see(others);
  }

  #see(others: readonly OtherNode[]): void {
    const now = performance.now();
    const gapMs = Math.min(now - this.#takenAt, COUNTED_BEATS * this.#timing.heartbeatMs);
    const pulses = new Map<string, Pulse>();
    const processes = new Set([`${hostname()} ${process.pid}`]);
    for (const { id, process: other, beat, isRecent } of others) {
      const former = this.#pulses.get(id);
      const silentMs = former?.beat === beat ? former.silentMs + gapMs : 0;
      const hasBeaten = former !== undefined && (former.hasBeaten || former.beat !== beat);
      pulses.set(id, { beat, silentMs, hasBeaten });
      // One that died before this node came is no process any more, although it takes a while until that is certain.
      if (silentMs < this.#timing.deadAfterMs && (isRecent || hasBeaten)) processes.add(other);
    }
    const lives = (pulse: Pulse | undefined): boolean => (pulse?.silentMs ?? Infinity) < this.#timing.deadAfterMs;
    for (const [id, former] of this.#pulses) this.#hasLost ||= lives(former) && !lives(pulses.get(id));
    this.#pulses = pulses;
    this.#takenAt = now;
    this.#processes = processes.size;
  }

  #beatSoon(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#beatOnce(), ms).unref();
  }

  #beatOnce(): Promise<void> {
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = undefined;
      this.#beatSoon(this.#timing.heartbeatMs);
    });
    return this.#beating;
  }

  async #beat(): Promise<void> {
    try {
      // Enters it anew where another node has cleared it away meanwhile.
      await this.#database.run((sql) => this.#enter(sql, this.#tag));
      for (const work of this.#onBeat) await work();
    } catch (error) {
      if (!this.#database.isAway) {
        this.#log('warn', 'a heartbeat failed', { reason: error instanceof Error ? error.message : String(error) });
      }
    }
  }
}

function beatOf(sql: Queryable, time: PendingQuery<Row[]>) {
  return sql`(extract(epoch from ${time}) * 1000000)::bigint::text`;
}
