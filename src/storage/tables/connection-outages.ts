/** Outages of connections, and the events of their start and end: one of each, even if several nodes notice. */
import type { Connection } from '../../connections/connection.js';
import type { Database } from '../postgres/database.js';
import { type Queryable, selecting, storable } from '../postgres/sql.js';
import type { Outbox } from './outbox.js';

/** An inactive connection is not down. */
export async function endOutagesOfInactive(sql: Queryable): Promise<void> {
  await sql`
    update connection_outages o set until = now() from connections c
    where c.id = o.connection_id and o.until is null and not c.is_active`;
}

export async function deleteOldOutages(sql: Queryable, days: number): Promise<void> {
  await sql`delete from connection_outages where until < now() - make_interval(days => ${days}::int)`;
}

type Subject = Pick<Connection, 'id' | 'accountId'>;

/** Builds the body of an event. */
type BodyOf = (since: Date, at: Date) => string;

export class ConnectionOutages {
  readonly #database: Database;
  readonly #outbox: Pick<Outbox, 'add'>;

  constructor(database: Database, outbox: Pick<Outbox, 'add'>) {
    this.#database = database;
    this.#outbox = outbox;
  }

  /** Ids of all connections that are down. */
  async list(): Promise<ReadonlySet<string>> {
    const rows = await this.#database.all<{ id: string }>`
      select connection_id as id from connection_outages where until is null`;
    return new Set(rows.map(({ id }) => id));
  }

  /**
   * Starts an outage that began `elapsedMs` ago. False if it is already recorded, or the connection no longer exists.
   */
  async begin(
    { id, accountId }: Subject,
    elapsedMs: number,
    error: { readonly code: string; readonly text: string },
    bodyOf: BodyOf,
  ): Promise<boolean> {
    return this.#change(
      accountId,
      id,
      'connection.down',
      bodyOf,
      (sql) => sql`
      insert into connection_outages ${selecting(sql, {
        connectionId: sql`c.id`,
        accountId: sql`c.account_id`,
        since: sql`greatest(now() - ${`${elapsedMs} milliseconds`}::interval, k.reached_at)`,
        error: storable(error.text),
        errorCode: error.code,
      })}
      from connections c left join connection_checks k on k.connection_id = c.id
      where c.id = ${id} and c.account_id = ${accountId}
      on conflict do nothing returning since, now() as at`,
    );
  }

  /** Ends the outage. False if the connection was not down. */
  async end({ id, accountId }: Subject, bodyOf: BodyOf): Promise<boolean> {
    return this.#change(
      accountId,
      id,
      'connection.up',
      bodyOf,
      (sql) => sql`
      update connection_outages set until = now()
      where connection_id = ${id} and account_id = ${accountId} and until is null
      returning since, now() as at`,
    );
  }

  async #change(
    accountId: string,
    id: string,
    type: string,
    bodyOf: BodyOf,
    statement: (sql: Parameters<Parameters<Database['transaction']>[0]>[0]) => PromiseLike<unknown>,
  ): Promise<boolean> {
    return this.#database.transaction(async (tx) => {
      const [changed] = (await statement(tx)) as { since: Date; at: Date }[];
      if (changed === undefined) return false;
      const body = bodyOf(changed.since, changed.at);
      await this.#outbox.add(tx, [{ accountId, type, body, connectionIds: [id] }]);
      return true;
    });
  }
}
