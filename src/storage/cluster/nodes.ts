import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { PendingQuery, Row } from 'postgres';
import { uuidv7 } from '../../base/uuid.js';
import { isDuplicate } from '../postgres/errors.js';
import type { Database } from '../postgres/database.js';
import type { Queryable } from '../postgres/sql.js';
import type { Log } from '../startup.js';

/** How often a node says that it lives, and how long a silent one is believed alive. */
export interface NodeTiming {
  readonly heartbeatMs: number;
  readonly deadAfterMs: number;
}

export const NODE_TIMING: NodeTiming = { heartbeatMs: 5000, deadAfterMs: 20_000 };

const TAG_ATTEMPTS = 5;

/** This process among the nodes of the database: its heartbeat, and who of the others is dead. */
export class NodeRegistry {
  readonly id = uuidv7();
  readonly #onBeat: (() => Promise<void>)[] = [];
  #tag = '';
  #processes = 1;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;
  #stopListening: (() => void) | undefined;
  /** Since when the heartbeat has arrived without a gap; not by the system's clock, which may be set. */
  #steadySince = 0;
  #stopped = false;

  constructor(
    private readonly database: Database,
    private readonly log: Log,
    private readonly timing: NodeTiming,
  ) {}

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
      await this.database.all`update nodes set stopped_at = now() where stopped_at is null`;
    }
    for (let attempt = 1; this.#tag === ''; attempt++) {
      const tag = randomBytes(4).toString('hex');
      try {
        await this.database.run((sql) => this.#enter(sql, tag));
        this.#tag = tag;
      } catch (error) {
        if (!isDuplicate(error) || attempt === TAG_ATTEMPTS) throw error;
      }
    }
    this.#stopListening = this.database.onBack(() => {
      this.#steadySince = performance.now();
      this.#beatSoon(0);
    });
    // What died before this node came needs no second look: it had its time.
    this.#steadySince = performance.now() - this.timing.deadAfterMs;
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

  /**
   * False while this node was itself cut off a moment ago: after a pause of the database every heartbeat is old, and
   * the living must have the time to beat again before anybody is declared dead.
   */
  get mayJudge(): boolean {
    return performance.now() - this.#steadySince >= this.timing.deadAfterMs;
  }

  /** SQL condition: the node whose id stands in `column` is dead, or unknown. Never true of this one. */
  isDead(sql: Queryable, column: PendingQuery<Row[]>) {
    return sql`not exists (
      select from nodes alive where alive.id = ${column} and (alive.id = ${this.id} or (alive.stopped_at is null
        and (${!this.mayJudge} or alive.last_seen_at >= now() - ${this.#deadAfter}::interval))))`;
  }

  /** Forgets dead nodes that left nothing to look after. */
  async forgetDead(): Promise<void> {
    await this.database.run(
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
    await this.database.all`update nodes set stopped_at = now() where id = ${this.id}`;
  }

  async #enter(sql: Queryable, tag: string): Promise<void> {
    const [row] = await sql<{ others: number }[]>`
      insert into nodes (id, tag, host, pid) values (${this.id}, ${tag}, ${hostname()}, ${process.pid})
      on conflict (id) do update set last_seen_at = now(), stopped_at = null
      returning (
        select count(distinct (n.host, n.pid))::int from nodes n
        where n.stopped_at is null and n.last_seen_at >= now() - ${this.#deadAfter}::interval
          and (n.host, n.pid) <> (${hostname()}, ${process.pid})
      ) as others`;
    this.#processes = 1 + (row?.others ?? 0);
  }

  get #deadAfter(): string {
    return `${this.timing.deadAfterMs} milliseconds`;
  }

  #beatSoon(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#beatOnce(), ms).unref();
  }

  #beatOnce(): Promise<void> {
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = undefined;
      this.#beatSoon(this.timing.heartbeatMs);
    });
    return this.#beating;
  }

  async #beat(): Promise<void> {
    try {
      const started = performance.now();
      // Enters it anew where another node has cleared it away meanwhile.
      await this.database.run((sql) => this.#enter(sql, this.#tag));
      if (performance.now() - started > this.timing.deadAfterMs) this.#steadySince = performance.now();
      for (const work of this.#onBeat) await work();
    } catch (error) {
      if (!this.database.isAway) {
        this.log('warn', 'a heartbeat failed', { reason: error instanceof Error ? error.message : String(error) });
      }
    }
  }
}
