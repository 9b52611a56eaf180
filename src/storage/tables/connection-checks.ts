/**
 * Checks of connections: which ones are due, claimed by one node at a time, and what they found. A claim is a due time
 * in the near future, so a check whose node died becomes due again.
 */
import type { PendingQuery, Row } from 'postgres';
import { uuidv7 } from '../../base/uuid.js';
import type { Agenda } from '../queue/agenda.js';
import type { Busy, ClaimedTask, QueueClaims } from '../queue/queue.js';
import type { Database } from '../postgres/database.js';
import { columnOf } from '../postgres/column-names.js';
import { addedTo, type Queryable, selecting, storable, tableOf, templateIn } from '../postgres/sql.js';
import { deleteOldOutages, endOutagesOfInactive } from './connection-outages.js';
import type { Outbox } from './outbox.js';
import { slotOf } from './time-slots.js';

/** The state at the time of the claim. */
export interface CheckBefore {
  /** Failed checks since the last successful one. */
  readonly failures: number;
  /** How long they have failed; null = they have not. */
  readonly failingMs: number | null;
}

/** The result of a check. */
export interface CheckFound {
  readonly connectionId: string;
  /**
   * `unknown`: nothing is known about the server, because all sessions were in use or the gateway itself was the cause.
   */
  readonly outcome: 'reached' | 'failed' | 'unknown';
  readonly error: { readonly code: string; readonly text: string } | undefined;
  readonly tookMs: number;
  readonly connectMs: number | undefined;
  readonly answerMs: number | undefined;
  readonly hostKey: { readonly fingerprint: string; readonly algorithm: string } | undefined;
  readonly certificate:
    | { readonly fingerprint: string; readonly subject: string; readonly issuer: string; readonly validTo: Date }
    | undefined;
  /** undefined = nothing was seen. */
  readonly server: ShownServer | undefined;
  /** The delay until the next check. */
  readonly nextMs: number;
}

/** What a server shows about itself. Undefined parts are not compared. Lists are sorted. */
export interface ShownByServer {
  readonly banner?: string;
  readonly algorithms?: readonly string[];
  readonly extensions?: readonly string[];
  readonly hostKey?: string;
}

/** A state of a server; `until`: when another one followed, absent for the current one. */
export interface SeenServer {
  readonly shows: ShownByServer;
  readonly until?: string;
}

interface ShownServer {
  readonly shows: ShownByServer;
  /** The states to keep, for those seen before, and the body of an event. */
  note(
    seen: readonly SeenServer[],
    at: Date,
  ): { readonly seen: readonly SeenServer[]; readonly body: string | undefined };
}

const CLAIM_SECONDS = 15;
const HOURS_DAYS = 8;
const DAYS = 90;

/** What a server shows: kept until it shows something else. The types of the values. */
const SHOWN_TYPES = {
  hostKey: 'texts',
  hostKeyAlgorithm: 'texts',
  certificate: 'texts',
  certificateSubject: 'texts',
  certificateIssuer: 'texts',
  certificateValidTo: 'times',
} as const;
const SHOWN = templateIn(
  Object.keys(SHOWN_TYPES)
    .map(columnOf)
    .map((name) => `${name} = coalesce(i.${name}, k.${name})`)
    .join(', '),
);
const INPUT_TYPES = {
  id: 'texts',
  outcome: 'texts',
  nextMs: 'bigints',
  tookMs: 'bigints',
  error: 'texts',
  errorCode: 'texts',
  connectSlot: 'bigints',
  answerSlot: 'bigints',
  ...SHOWN_TYPES,
  server: 'texts',
} as const;
const CHECK_COUNTS = templateIn(addedTo('s', ['checks', 'failed'], 'excluded'));

function shownBy({ hostKey, certificate, server }: Pick<CheckFound, 'hostKey' | 'certificate' | 'server'>) {
  const text = (value: string | undefined) => storable(value ?? null);
  return {
    hostKey: text(hostKey?.fingerprint),
    hostKeyAlgorithm: text(hostKey?.algorithm),
    certificate: text(certificate?.fingerprint),
    certificateSubject: text(certificate?.subject),
    certificateIssuer: text(certificate?.issuer),
    certificateValidTo: validTime(certificate?.validTo),
    server: text(server && JSON.stringify(server.shows)),
  };
}

type Fragment = PendingQuery<Row[]>;

interface Waiting {
  readonly found: CheckFound;
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

export class ConnectionChecks implements QueueClaims<'connection-check'> {
  readonly #me = uuidv7();
  readonly #database: Database;
  readonly #agenda: Pick<Agenda, 'on' | 'dueIn' | 'pollNow'>;
  readonly #outbox: Pick<Outbox, 'add'>;
  #waiting: Waiting[] = [];
  #isWriting = false;

  constructor(database: Database, agenda: Pick<Agenda, 'on' | 'dueIn' | 'pollNow'>, outbox: Pick<Outbox, 'add'>) {
    this.#database = database;
    this.#agenda = agenda;
    this.#outbox = outbox;
  }

  onDue(queue: 'connection-check', wake: () => void): () => void {
    return this.#agenda.on(queue, wake);
  }

  /**
   * Adds new connections, spread over this many seconds, and makes changed ones due soon. An inactive connection is not
   * down.
   */
  async enrol(overSeconds: number): Promise<void> {
    const taken = await this.#database.run(
      (sql) => sql`
        insert into connection_checks ${selecting(sql, {
          connectionId: sql`c.id`,
          accountId: sql`c.account_id`,
          dueAt: sql`now() + random() * make_interval(secs => ${overSeconds}::double precision)`,
        })} from connections c
        where c.is_active and not exists (select from connection_checks k where k.connection_id = c.id)
        on conflict do nothing`,
    );
    const hastened = await this.#database.run(
      (sql) => sql`
        update connection_checks k set due_at = now() + random() * interval '2 seconds', failures = 0
        from connections c
        where c.id = k.connection_id and c.is_active and c.updated_at > k.checked_at and k.claimed_by is null
          and k.due_at > now() + interval '2 seconds'`,
    );
    await this.#database.run(endOutagesOfInactive);
    if (taken.count + hastened.count > 0) this.#agenda.pollNow();
  }

  /** After a long time without checks: spreads overdue checks, so that they do not all run at once. */
  async spread(overSeconds: number): Promise<void> {
    await this.#database.run(
      (sql) => sql`
        update connection_checks set due_at = now() + random() * make_interval(secs => ${overSeconds}::double precision)
        where due_at < now() - make_interval(secs => ${overSeconds + CLAIM_SECONDS}::double precision)`,
    );
  }

  /** Picks account by account: one with many connections delays only its own. */
  async fetch(_queue: 'connection-check', limit: number, except: Busy): Promise<readonly ClaimedTask[]> {
    const rows = await this.#database.run((sql) => {
      const host = sql`coalesce(c.settings ->> 'endpoint', c.settings ->> 'host', c.settings ->> 'region', '')`;
      const busy = except.groups.map(({ account, group }) => `${account} ${group}`);
      return sql<{ id: string; account: string; host: string; failures: number; failingMs: number | null }[]>`
        with due as (
          select k.connection_id, ${host} as host, k.due_at,
            row_number() over (partition by k.account_id order by k.due_at) as turn
          from connection_checks k join connections c on c.id = k.connection_id
          where k.due_at <= now() and c.is_active
            and k.account_id::text <> all (${sql.types.texts(except.accounts)})
            and k.account_id::text || ' ' || ${host} <> all (${sql.types.texts(busy)})
        ), mine as (
          select k.connection_id from connection_checks k
          where k.connection_id in (select connection_id from due order by turn, due_at limit ${limit})
            and k.due_at <= now()
          for update skip locked
        )
        update connection_checks k set due_at = ${claimed(sql)}, claimed_by = ${this.#me}
        from mine join due using (connection_id) where k.connection_id = mine.connection_id
        returning k.connection_id as id, k.account_id as account, due.host, k.failures,
          (extract(epoch from now() - k.failing_since) * 1000)::float8 as failing_ms`;
    });
    return rows.map(({ id, account, host, failures, failingMs }) => {
      const data: CheckBefore = { failures, failingMs };
      return { id, key: id, attempt: 0, account, group: host, data };
    });
  }

  async renew(_queue: 'connection-check', tasks: readonly ClaimedTask[]): Promise<void> {
    await this.#change(tasks, (sql) => sql`due_at = ${claimed(sql)}`);
  }

  /** Storing the result has already ended the claim. */
  async finish(): Promise<void> {}

  async postpone(_queue: 'connection-check', task: ClaimedTask, until: Date | number): Promise<void> {
    const ms = typeof until === 'number' ? until : until.getTime() - Date.now();
    await this.#change(
      [task],
      (sql) => sql`due_at = now() + make_interval(secs => ${ms / 1000}::double precision), claimed_by = null`,
    );
    this.#agenda.dueIn('connection-check', ms);
  }

  async giveBack(_queue: 'connection-check', tasks: readonly ClaimedTask[]): Promise<void> {
    if (tasks.length === 0) return;
    await this.#database.transaction(async (tx) => {
      await this.#changeIn(tx, tasks, (sql) => sql`due_at = now(), claimed_by = null`);
      this.#database.notices.announce(tx, 'connection-check');
    });
  }

  /** Resolves when the result is stored, in one batch with other results. The result of an expired claim is dropped. */
  found(found: CheckFound): Promise<void> {
    return new Promise((done, fail) => {
      this.#waiting.push({ found, done, fail });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async deleteOld(): Promise<void> {
    await this.#database.run(
      (sql) => sql`
        delete from connection_speeds
        where (unit = 'hour' and starts_at < now() - make_interval(days => ${HOURS_DAYS}::int))
          or (unit = 'day' and starts_at < now() - make_interval(days => ${DAYS + 1}::int))`,
    );
    await this.#database.run((sql) => deleteOldOutages(sql, DAYS));
  }

  async #change(tasks: readonly ClaimedTask[], change: (sql: Queryable) => Fragment): Promise<void> {
    if (tasks.length > 0) await this.#database.run((sql) => this.#changeIn(sql, tasks, change));
  }

  #changeIn(sql: Queryable, tasks: readonly ClaimedTask[], change: (sql: Queryable) => Fragment): Fragment {
    return sql`
      update connection_checks set ${change(sql)}
      where connection_id = any (${sql.types.texts(tasks.map(({ key }) => key))}) and claimed_by = ${this.#me}`;
  }

  /** Never rejects. */
  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        const all = batch.map(({ found }) => found);
        const changed = await this.#write(all);
        for (const found of all) if (changed.has(found.connectionId)) await this.#noteChange(found);
        for (const { found } of batch) this.#agenda.dueIn('connection-check', found.nextMs);
        for (const { done } of batch) done();
      } catch (error) {
        for (const { fail } of batch) fail(error);
      }
    }
    this.#isWriting = false;
  }

  /** Resolves to the connections whose server shows something else than at the last check. */
  async #write(all: readonly CheckFound[]): Promise<ReadonlySet<string>> {
    const changed = await this.#database.run((sql) => {
      const rows = all.map(({ connectionId: id, outcome, nextMs, tookMs, error, ...found }) => ({
        id,
        outcome,
        nextMs: Math.round(nextMs),
        tookMs: Math.round(tookMs),
        error: storable(error?.text ?? null),
        errorCode: error?.code ?? null,
        connectSlot: slotOf(found.connectMs) ?? null,
        answerSlot: slotOf(found.answerMs) ?? null,
        ...shownBy(found),
      }));
      const one = (name: Fragment) =>
        sql`case when ${name} is null then '{}'::int[] else array_fill(0, array[${name}::int - 1]) || 1 end`;
      const isReached = sql`i.outcome = 'reached'`;
      const isFailed = sql`i.outcome = 'failed'`;
      return sql<{ id: string }[]>`
        with input as (
          select * from ${tableOf(sql, rows, INPUT_TYPES)}
        ), known as (
          -- Locks in the order in which a deletion locks: first the connection, then what is kept of it.
          select c.id from connections c where c.id in (select id from input) order by c.id for key share
        ), kept as (
          update connection_checks k set
            due_at = now() + make_interval(secs => i.next_ms / 1000.0), claimed_by = null,
            checked_at = case when i.outcome = 'unknown' then k.checked_at else now() end,
            reached_at = case when ${isReached} then now() else k.reached_at end,
            failing_since = case when ${isReached} then null when ${isFailed} then coalesce(k.failing_since, now() - make_interval(secs => i.took_ms / 1000.0))
              else k.failing_since end,
            failures = case when ${isReached} then 0 when ${isFailed} then k.failures + 1 else k.failures end,
            error = case when i.outcome = 'unknown' then k.error else i.error end,
            error_code = case when i.outcome = 'unknown' then k.error_code else i.error_code end,
            host_key_since = case when i.host_key is not null and k.host_key is distinct from i.host_key
              then now() else k.host_key_since end,
            ${sql(SHOWN)},
            servers = case when i.server is not null and k.servers = '[]'
              then jsonb_build_array(jsonb_build_object('shows', i.server::jsonb)) else k.servers end
          from input i join known using (id) where k.connection_id = i.id and k.claimed_by = ${this.#me}
          returning k.connection_id, k.account_id, k.servers -> 0 -> 'shows' <> i.server::jsonb as is_changed
        ), timed as (
        insert into connection_speeds as s ${selecting(sql, {
          connectionId: sql`k.connection_id`,
          accountId: sql`k.account_id`,
          unit: sql`unit`,
          startsAt: sql`date_trunc(unit, now(), 'UTC')`,
          checks: sql`1`,
          failed: sql`(${isFailed})::int`,
          connectCounts: one(sql`i.connect_slot`),
          answerCounts: one(sql`i.answer_slot`),
        })}
        from kept k join input i on i.id = k.connection_id cross join unnest(array['hour', 'day']) as unit
        where i.outcome <> 'unknown'
        on conflict (connection_id, unit, starts_at) do update set
          ${sql(CHECK_COUNTS)},
          connect_counts = add_counts(s.connect_counts, excluded.connect_counts),
          answer_counts = add_counts(s.answer_counts, excluded.answer_counts)
        )
        select connection_id as id from kept where is_changed`;
    });
    return new Set(changed.map(({ id }) => id));
  }

  /** A process that dies before this leaves it to the next check. */
  async #noteChange({ connectionId, server }: CheckFound): Promise<void> {
    await this.#database.transaction(async (tx) => {
      const [row] = await tx<{ accountId: string; servers: readonly SeenServer[]; at: Date }[]>`
        select account_id, servers, now() as at from connection_checks where connection_id = ${connectionId} for update`;
      if (row === undefined || server === undefined) return;
      const { accountId, servers, at } = row;
      const { seen, body } = server.note(servers, at);
      await tx`
        update connection_checks set servers = ${JSON.stringify(seen)}::text::jsonb where connection_id = ${connectionId}`;
      if (body === undefined) return;
      await this.#outbox.add(tx, [{ accountId, type: 'connection.changed', body, connectionIds: [connectionId] }]);
    });
  }
}

function claimed(sql: Queryable) {
  return sql`now() + make_interval(secs => ${CLAIM_SECONDS}::double precision)`;
}

/** A certificate may contain any date. */
function validTime(time: Date | undefined): Date | null {
  return time === undefined || Number.isNaN(time.getTime()) ? null : time;
}
