import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { PendingQuery, Row } from 'postgres';
import { messageOf } from '../../base/errors.js';
import { uuidv7 } from '../../base/uuid.js';
import { isDuplicate } from '../postgres/errors.js';
import type { Database } from '../postgres/database.js';
import type { Queryable } from '../postgres/sql.js';
import type { Log } from '../startup.js';

/** The interval of a node's heartbeats, and the silence, by the observer's monotonic clock, after which it is dead. */
export interface NodeTiming {
  readonly heartbeatMs: number;
  readonly deadAfterMs: number;
}

export const NODE_TIMING: NodeTiming = { heartbeatMs: 5000, deadAfterMs: 20_000 };

const TAG_ATTEMPTS = 5;
/**
 * The number of heartbeat intervals that count at most between two observations. A longer gap comes from this node or
 * the database, so it does not count against the other nodes.
 */
const COUNTED_BEATS = 2;

/** What this node has seen of another node's heartbeat. */
interface Pulse {
  /**
   * The heartbeat's time, in microseconds of the database's clock. It is only compared with an earlier value of itself.
   */
  readonly beat: string;
  /** How long it has not changed, by the monotonic clock of this node. */
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
 * This process among the nodes of the database: sends its heartbeat and finds dead nodes. Another node is dead once its
 * heartbeat has not changed for a while on this node's monotonic clock, because the clock of the database may jump.
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
  /** When the pulses were read. */
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

  /**
   * Live processes on this database, including this one, as of the last heartbeat. Each process may be several nodes.
   */
  get processes(): number {
    return this.#processes;
  }

  /** Registers this node. `alone`: the database belongs to this process only, so all earlier nodes are dead at once. */
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
      // After a pause of the database every heartbeat is old: live nodes get time for their next one.
      this.#pulses = new Map();
      this.#beatSoon(0);
    });
  }

  /** Starts the heartbeat. Resolves after the first one and the work registered with afterBeat, even if they failed. */
  beatNow(): Promise<void> {
    clearTimeout(this.#timer);
    return this.#beatOnce();
  }

  /** Runs after each successful heartbeat. Failures are logged, and the work runs again after the next one. */
  afterBeat(work: () => Promise<void>): void {
    this.#onBeat.push(work);
  }

  /** Part of what a dead node left was cleaned up, so more of it may be cleanable now. */
  noteLoss(): void {
    this.#hasLost = true;
  }

  /** Whether a node has died or signed off since the last call, and may have left something. */
  takeLoss(): boolean {
    const hasLost = this.#hasLost;
    this.#hasLost = false;
    return hasLost;
  }

  /** SQL condition: the node whose id is in `column` is dead or unknown. Never true of this node. */
  isDead(sql: Queryable, column: PendingQuery<Row[]>) {
    const silent = [...this.#pulses].filter(([, { silentMs }]) => silentMs >= this.#timing.deadAfterMs);
    const ids = sql.types.uuids(silent.map(([id]) => id));
    const beats = sql.types.texts(silent.map(([, { beat }]) => beat));
    // A node with a newer heartbeat than the one seen is alive.
    return sql`not exists (
      select from nodes alive where alive.id = ${column} and (alive.id = ${this.id} or (alive.stopped_at is null
        and not exists (select from unnest(${ids}, ${beats}) as silent (id, beat)
          where silent.id = alive.id and silent.beat = ${beatOf(sql, sql`alive.last_seen_at`)}))))`;
  }

  /** Deletes dead nodes that left nothing to clean up. */
  async forgetDead(): Promise<void> {
    await this.#database.run(
      (sql) => sql`
        delete from nodes n where ${this.isDead(sql, sql`n.id`)}
          and not exists (select from leftovers l where l.node_id = n.id or l.tag = n.tag)
          and not exists (select from transfers t where t.status = 'pending' and t.node_id = n.id)`,
    );
  }

  /** Marks this node as dead, so that others take over its work at once. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#stopListening?.();
    await this.#beating;
    await this.#database.all`update nodes set stopped_at = now() where id = ${this.id}`;
  }

  async #enter(sql: Queryable, tag: string): Promise<void> {
    // One statement, because it is sent again and again; the other rows are read as they were before it.
    const others = await sql<OtherNode[]>`
      with entered as (
        insert into nodes ${sql({ id: this.id, tag, host: hostname(), pid: process.pid })}
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
      // A node that died before this one started does not count as a process, although its death is certain only later.
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
      // Registers this node again if another node has deleted its row in the meantime.
      await this.#database.run((sql) => this.#enter(sql, this.#tag));
      for (const work of this.#onBeat) await work();
    } catch (error) {
      if (!this.#database.isAway) {
        this.#log('warn', 'a heartbeat failed', { reason: messageOf(error) });
      }
    }
  }
}

function beatOf(sql: Queryable, time: PendingQuery<Row[]>) {
  return sql`(extract(epoch from ${time}) * 1000000)::bigint::text`;
}
