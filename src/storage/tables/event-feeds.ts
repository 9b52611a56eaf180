/**
 * The event feeds: all events of an account, numbered from 1 without holes. An event is inserted without a number, in
 * the transaction of the change that it reports, and so waits for no lock. After the commit, waiting events are
 * numbered in batches under the lock of the feed (event-numbers.ts). So when a number is visible, all lower ones are
 * committed.
 */
import { EventEmitter } from 'node:events';
import type { Database } from '../postgres/database.js';
import { type Period, startOf } from '../postgres/period.js';
import { listed, type Queryable, tableOf, templateIn, type Transaction } from '../postgres/sql.js';
import type { DraftEvent } from './webhook-event.js';

export interface FeedQuery {
  /** undefined = from the oldest stored event. */
  readonly after: number | undefined;
  readonly limit: number;
  /** Connections that the key may see; undefined = all. */
  readonly connections: readonly string[] | undefined;
}

interface FeedEvent {
  readonly sequence: number;
  readonly type: string;
  /** The signed text. */
  readonly body: string;
}

export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /** The number of the last event that was read, even if it is not shown. */
  readonly nextAfter: number;
  /** The oldest stored number; last + 1 if none is stored. */
  readonly oldest: number;
  /** The number of the account's last event; 0 = it has none. */
  readonly last: number;
}

interface NewestQuery extends Period {
  readonly type: string | undefined;
  /** Only lower numbers. */
  readonly before: number | undefined;
  readonly limit: number;
}

interface NewestEvents {
  /** Newest first. */
  readonly events: readonly FeedEvent[];
  readonly last: number;
  /** Where the next page begins; null = there is none. */
  readonly nextBefore: number | null;
}

/** The limit of a page; its first event is always included. */
const PAGE_BYTES = 1024 * 1024;
/** The limit of numbers that a page of one type reads, so that it answers at once even for a rare type. */
const WINDOW = 20_000;
const PRUNED_AT_ONCE = 2000;

interface Happenings {
  /** Committed events wait for their numbers. */
  written: [];
  /** This process has numbered events of an account, up to `last`. */
  numbered: [accountId: string, last: number];
}

export class EventFeeds {
  readonly #database: Database;
  readonly #happenings = new EventEmitter<Happenings>();
  /** The last hidden event that the pass of `prune` under way has read. */
  #pruned: Place = FIRST_PLACE;

  constructor(database: Database) {
    this.#database = database;
    database.notices.on((topic) => {
      if (topic === 'events') this.#happenings.emit('written');
    });
  }

  /** Called after numbering. */
  numbered(accountId: string, last: number): void {
    this.#happenings.emit('numbered', accountId, last);
  }

  /** Returns a function that removes the listener. */
  on<Name extends keyof Happenings>(name: Name, listener: (...facts: Happenings[Name]) => void): () => void {
    const listen = listener as (...facts: unknown[]) => void;
    this.#happenings.on(name, listen as never);
    return () => this.#happenings.off(name, listen as never);
  }

  /** Accounts with events that wait for their numbers, at most 1,000. */
  async waiting(): Promise<readonly string[]> {
    // Skips from account to account in the index: the many events of one account are not read.
    const rows = await this.#database.all<{ id: string }>`
      with recursive account as (
        (select account_id as id from events where sequence is null and is_ready order by account_id limit 1)
        union all
        select (select e.account_id from events e
          where e.sequence is null and e.is_ready and e.account_id > a.id order by e.account_id limit 1)
        from account a where a.id is not null
      )
      select id from account where id is not null limit 1000`;
    return rows.map(({ id }) => id);
  }

  /** The events after `after` that the key may see; from the oldest stored one if it is undefined. */
  async read(accountId: string, { after = 0, limit, connections }: FeedQuery): Promise<FeedPage> {
    const isMine = (sql: Queryable) =>
      connections === undefined ? sql`true` : sql`connection_ids <@ ${sql.types.texts([...connections])}`;
    // A single statement, so that no event is pruned between its parts.
    const rows = await this.#database.all<Partial<FeedEvent> & Limits & { readonly isMine: boolean | null }>`
      select f.last_sequence as last, f.oldest_sequence as oldest, e.sequence, e.type, e.body, e.is_mine
      from event_feeds f left join lateral (
        select sequence, type, body, is_mine from (
          select sequence, type, case when ${isMine} then body end as body, ${isMine} as is_mine,
            coalesce(sum(case when ${isMine} then octet_length(body) end)
              over (order by sequence rows between unbounded preceding and 1 preceding), 0) as before
          from (select * from events
            where account_id = ${accountId} and sequence > ${after} and sequence >= f.oldest_sequence
            order by sequence limit ${limit}) as page
        ) as sized where before < ${PAGE_BYTES}
      ) as e on true
      where f.account_id = ${accountId} order by e.sequence`;
    const { last, oldest } = rows[0] ?? { last: 0, oldest: 1 };
    const found = rows.filter((row): row is FeedEvent & typeof row => typeof row.sequence === 'number');
    return {
      events: found.flatMap(({ isMine: mine, sequence, type, body }) =>
        mine === true ? [{ sequence, type, body }] : [],
      ),
      nextAfter: found.at(-1)?.sequence ?? Math.max(after, Math.min(oldest - 1, last)),
      oldest,
      last,
    };
  }

  /**
   * The newest events, or those before a number, of one type or all. A page of one type may be empty and still have a
   * next page.
   */
  async newest(accountId: string, { type, before, limit, ...period }: NewestQuery): Promise<NewestEvents> {
    const isOfType = (sql: Queryable) => (type === undefined ? sql`true` : sql`type = ${type}`);
    // Events are numbered in the order of time, so a period is a range of numbers. Both functions pass over nulls.
    const end = (sql: Queryable) => sql`
      least(${before ?? null}::bigint, f.last_sequence + 1, (select sequence from events
        where account_id = ${accountId} and sequence is not null and numbered_at >= ${period.until ?? null}::timestamptz
        order by numbered_at, sequence limit 1))`;
    const start = (sql: Queryable) => sql`
      greatest(f.oldest_sequence, (select sequence + 1 from events
        where account_id = ${accountId} and sequence is not null and numbered_at < ${startOf(period) ?? null}::timestamptz
        order by numbered_at desc, sequence desc limit 1))`;
    const rows = await this.#database.all<
      Partial<FeedEvent> & Limits & { readonly until: number; readonly found: number }
    >`
      select f.last_sequence as last, f.start as oldest, f.until, e.found, e.sequence, e.type, e.body
      from (select f.account_id, f.last_sequence, ${start} as start, ${end} as until from event_feeds f) as f
      left join lateral (
        select sequence, type, body, found from (
          select sequence, type, body, count(*) over () as found, coalesce(sum(octet_length(body))
            over (order by sequence desc rows between unbounded preceding and 1 preceding), 0) as before
          from (select sequence, type, body from events
            where account_id = ${accountId} and sequence < f.until
              and sequence >= greatest(f.start, f.until - ${WINDOW}::bigint)
              and ${isOfType}
            order by sequence desc limit ${limit}) as page
        ) as sized where before < ${PAGE_BYTES}
      ) as e on true
      where f.account_id = ${accountId} order by e.sequence desc`;
    const { last, oldest, until: from, found } = rows[0] ?? { last: 0, oldest: 1, until: 1, found: 0 };
    const shown = rows.filter((row): row is FeedEvent & typeof row => typeof row.sequence === 'number');
    const events = shown.map(({ sequence, type, body }) => ({ sequence, type, body }));
    const hasMore = events.length < found || events.length === limit;
    const reached = hasMore ? (events.at(-1)?.sequence ?? oldest) : from - WINDOW;
    return { events, last, nextBefore: reached > oldest ? reached : null };
  }

  /** The last numbers of some accounts' feeds; accounts without events are missing. */
  async lastOf(accountIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#database.all<{ id: string; last: number }>`
      select account_id as id, last_sequence as last from event_feeds
      where account_id = any (${(sql) => sql.types.uuids(accountIds)})`;
    return new Map(rows.map(({ id, last }) => [id, last]));
  }

  /**
   * Hides, in steps, events that were numbered too long ago, and all but the newest `most` of each account. Deletes the
   * hidden ones, except those of which a delivery is stored. The feed moves its oldest number first, so that readers
   * never find a hole. Resolves to whether there is more.
   */
  async prune(retentionDays: number, most: number): Promise<boolean> {
    const old = (sql: Queryable) => sql`numbered_at < now() - ${`${retentionDays} days`}::interval`;
    const hidden = await this.#database.all<{ id: string }>`
      update event_feeds f set oldest_sequence = greatest(f.oldest_sequence, cut.sequence + 1)
      from event_feeds g, lateral (
        select max(sequence) as sequence from (
          select sequence, numbered_at from events e
          where e.account_id = g.account_id and e.sequence >= g.oldest_sequence order by e.sequence limit ${PRUNED_AT_ONCE}
        ) as eldest where ${old}
      ) as cut
      where g.account_id = f.account_id and cut.sequence is not null
        and exists (select from events e where e.account_id = g.account_id and e.sequence = g.oldest_sequence and ${old})
      returning f.account_id as id`;
    await this.#database.all`
      update event_feeds set oldest_sequence = last_sequence - ${most}::bigint + 1
      where last_sequence - oldest_sequence >= ${most}::bigint`;
    // A trigger keeps events of which a delivery is stored. Each pass reads those once.
    const { accountId, sequence } = this.#pruned;
    const read = await this.#database.first<Place & { readonly found: number }>`
      with gone as (
        select e.id, e.account_id, e.sequence
        from event_feeds f join events e on e.account_id = f.account_id and e.sequence < f.oldest_sequence
        where f.account_id >= ${accountId} and (e.account_id, e.sequence) > (${accountId}::uuid, ${sequence}::bigint)
        order by e.account_id, e.sequence limit ${PRUNED_AT_ONCE}
      ),
      deleted as (delete from events where id in (select id from gone))
      select account_id, sequence, count(*) over () as found from gone
      order by account_id desc, sequence desc limit 1`;
    const isFull = read?.found === PRUNED_AT_ONCE;
    this.#pruned = isFull ? read : FIRST_PLACE;
    return hidden.length > 0 || isFull;
  }
}

interface Place {
  readonly accountId: string;
  readonly sequence: number;
}

const FIRST_PLACE: Place = { accountId: '00000000-0000-0000-0000-000000000000', sequence: 0 };

interface Limits {
  readonly last: number;
  readonly oldest: number;
}

/** A locked feed: no other transaction numbers its events. */
export interface LockedFeed {
  readonly last: number;
  readonly lastId: string | null;
}

/** The limits of one transaction; the first event is always included. */
export interface Batch {
  readonly events: number;
  readonly bytes: number;
}

/** undefined while another transaction holds the lock. */
export async function lockFeed(tx: Transaction, accountId: string): Promise<LockedFeed | undefined> {
  const ask = (): PromiseLike<readonly LockedFeed[]> => tx<LockedFeed[]>`
    select last_sequence as last, last_id from event_feeds
    where account_id = ${accountId} for update skip locked`;
  const [feed] = await ask();
  if (feed !== undefined) return feed;
  await tx`insert into event_feeds (account_id) values (${accountId}) on conflict do nothing`;
  return (await ask())[0];
}

/** CTEs that number waiting events within the limits; the numbered events are the rows of `numbered`. */
export function numbering(sql: Queryable, accountId: string, feed: LockedFeed, most: Batch) {
  return sql`
    batch as (
      select id, ${feed.last}::bigint + row_number() over line as sequence,
        coalesce(lag(id) over line, ${feed.lastId}::uuid) as previous
      from (
        select id, created_at, coalesce(sum(octet_length(body))
          over (order by created_at, id rows between unbounded preceding and 1 preceding), 0) as before
        from (select id, created_at, body from events
          where account_id = ${accountId} and sequence is null and is_ready order by created_at, id limit ${most.events}
        ) as first
      ) as w where before < ${most.bytes}
      window line as (order by created_at, id)
    ),
    numbered as (
      update events e set sequence = b.sequence, numbered_at = clock_timestamp(),
        body = '{"sequence":' || b.sequence || ',"id":"' || e.id || '","previousId":'
          || coalesce('"' || b.previous || '"', 'null') || ',' || substr(e.body, 2)
      from batch b where e.id = b.id
      returning e.id, e.account_id, e.sequence, e.type, e.connection_ids, e.operation, e.body
    ),
    moved as (
      update event_feeds set last_sequence = n.sequence, last_id = n.id
      from (select sequence, id from numbered order by sequence desc limit 1) n where account_id = ${accountId}
    )`;
}

/**
 * The signed bytes of a delivery, whose table has the alias `table`. They are those of its event. A delivery of an
 * earlier version, or of an event whose copies never ended, has its own.
 */
export function signedBody(sql: Queryable, table: string) {
  const delivery = sql(table);
  return sql`coalesce(
    (select n.body from events n where n.id = coalesce(${delivery}.event_id, ${delivery}.id)), ${delivery}.body)`;
}

/** The columns of a new event, and their types. */
const DRAFT_TYPES = { id: 'uuids', accountId: 'uuids', type: 'texts', operation: 'texts', body: 'texts' } as const;
const DRAFT = templateIn(listed(Object.keys(DRAFT_TYPES)));
const OF_DRAFT = templateIn(listed(Object.keys(DRAFT_TYPES), 't'));

export async function insertDrafts(sql: Queryable, events: readonly DraftEvent[], isReady = true): Promise<void> {
  if (events.length > 0) await sql`${inserting(sql, events, isReady)}`;
}

/** As a statement. `among`: a join with a CTE, which selects the events whose `item` is an id of it. */
export function inserting(
  sql: Queryable,
  events: readonly (DraftEvent & { readonly item?: string })[],
  isReady: boolean,
  among = sql``,
) {
  const rows = events.map(({ connectionIds, ...event }) => ({ ...event, connections: connectionIds.join(',') }));
  return sql`
    insert into events (${sql(DRAFT)}, connection_ids, is_ready)
    select ${sql(OF_DRAFT)}, string_to_array(t.connections, ','), ${isReady}::boolean
    from ${tableOf(sql, rows, { ...DRAFT_TYPES, connections: 'texts', item: 'uuids' })} ${among}`;
}

/** Deletes events that are not ready: their copies never ended. */
export async function dropUnready(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx`delete from events where id = any (${tx.types.uuids(ids)}) and not is_ready`;
}
