/** Adds events to a gateway's outbox, as another node of its database does, and knows when each was committed. */
import type { Sql } from 'postgres';
import { uuidv7 } from '../../src/base/uuid.js';
import { eventBody, eventExample, type EventType } from '../../src/contract/event.js';
import { CHANNEL } from '../../src/storage/postgres/notices.js';

export class BenchOutbox {
  readonly #sql: Sql;

  private constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** On a database that has the gateway's tables. */
  static async open(sql: Sql): Promise<BenchOutbox> {
    await sql`create table bench_commits (event_id uuid)`;
    return new BenchOutbox(sql);
  }

  /** Adds one event for each of the accounts, in one transaction; resolves with their ids once it has committed. */
  async add(type: EventType, accountIds: readonly string[]): Promise<readonly string[]> {
    const ids = accountIds.map(() => uuidv7());
    const body = eventBody(type, new Date(), eventExample(type).data as never);
    await this.#sql.begin(async (tx) => {
      await tx`
        insert into events (id, account_id, type, connection_ids, body, is_ready)
        select t.id, t.account_id, ${type}, '{}', ${body}, true
        from unnest(${ids}::uuid[], ${[...accountIds]}::uuid[]) as t (id, account_id)`;
      await tx`insert into bench_commits select unnest(${ids}::uuid[])`;
      await tx`select pg_notify(${CHANNEL}, 'events 0')`;
    });
    return ids;
  }

  /** The time of the commit of each event so far, in ms. */
  async commits(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#sql<{ id: string; at: number }[]>`
      select event_id as id, (extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000)::float8 as at
      from bench_commits`;
    return new Map(rows.map(({ id, at }) => [id, at]));
  }

  /** Forgets the events so far. */
  async clear(): Promise<void> {
    await this.#sql`truncate bench_commits`;
  }
}
