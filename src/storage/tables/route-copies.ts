/** Files that a watched folder copies before it reports them: the waiting ones, and the place of each copy. */
import type { ErrorCode } from '../../base/errors.js';
import { copyFields, type NewCopy, type OutgoingDelivery, type RouteCopy } from '../../contract/delivery.js';
import type { CopyTo } from '../../contract/watched-folder.js';
import type { Database } from '../postgres/database.js';
import { columnsOf, listed, type Queryable, storable, tableOf, templateIn, type Transaction } from '../postgres/sql.js';
import type { JobPlace } from '../../contract/job.js';

/** Whether the copies that wait have a new target. */
export function isOtherCopyTo(former: CopyTo | null, now: CopyTo | null): boolean {
  const values = (to: CopyTo | null) => to && [to.connectionId, to.path, to.filename_template, to.onConflict];
  return JSON.stringify(values(former)) !== JSON.stringify(values(now));
}

/** An event whose files are being copied, with the current data of its account. */
export interface CopyingEvent extends Pick<
  OutgoingDelivery,
  'id' | 'accountId' | 'createdAt' | 'nextAttemptAt' | 'readAt'
> {
  readonly watchedFolderId: string;
  readonly plan: string;
  readonly rounds: number;
}

interface CopyError {
  readonly code: ErrorCode;
  readonly message: string;
}

export class RouteCopies {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Undefined if all of its copies have ended, or the event is no longer pending. */
  async find(eventId: string): Promise<CopyingEvent | undefined> {
    return this.#database.first<CopyingEvent>`
      select e.id, e.folder_id as watched_folder_id, e.account_id, a.plan, e.created_at,
        e.copy_rounds as rounds, e.next_attempt_at, now() as read_at
      from deliveries e join accounts a on a.id = e.account_id
      where e.id = ${eventId} and e.state = 'pending' and e.copy_state = 'pending'`;
  }

  /** The waiting copies of an event, those with the fewest tries first. */
  async waiting(eventId: string): Promise<readonly RouteCopy[]> {
    return this.#database.all<RouteCopy>`
      select ${columns} from route_copies where event_id = ${eventId} and state = 'waiting' order by tries, number`;
  }

  /** In the order of the event. */
  async list(eventId: string): Promise<readonly RouteCopy[]> {
    return this.#database.run((sql) => copiesOf(sql, eventId));
  }

  /** Stores where a copy of `size` bytes is about to be written: after a crash it is recognized by that. */
  async intend(id: string, connectionId: string, path: string, size: number): Promise<void> {
    await this.#database.all`
      update route_copies set target_connection = ${connectionId}, target_path = ${storable(path)}, size = ${size}
      where id = ${id} and state = 'waiting'`;
  }

  /** Ends a file without an item of the history; one that has ended is not changed. */
  async end(id: string, state: 'skipped' | 'failed', error: CopyError, place?: JobPlace): Promise<void> {
    await this.#database.all`
      update route_copies set state = ${state}, error_code = ${error.code}, error_message = ${storable(error.message)},
        target_connection = coalesce(${place?.connectionId ?? null}::text, target_connection), target_path = ${storable(place?.path ?? null)}, size = null
      where id = ${id} and state = 'waiting'`;
  }

  /** Fails all waiting copies. */
  async endAll(eventId: string, error: CopyError): Promise<void> {
    await this.#database.all`
      update route_copies set state = 'failed', error_code = ${error.code}, error_message = ${storable(error.message)},
        target_path = null, size = null
      where event_id = ${eventId} and state = 'waiting'`;
  }

  /** The file is tried again in the next round. */
  async retry(id: string, error: CopyError): Promise<void> {
    await this.#database.all`
      update route_copies set tries = tries + 1, error_code = ${error.code}, error_message = ${storable(error.message)}
      where id = ${id} and state = 'waiting'`;
  }

  /** Waiting copies of all accounts, for the metrics. */
  async countWaiting(): Promise<number> {
    const row = await this.#database.first<{ waiting: number }>`
      select count(*) as waiting from route_copies c join deliveries e on e.id = c.event_id
      where c.state = 'waiting' and e.state = 'pending'`;
    return row?.waiting ?? 0;
  }
}

export function copiesOf(sql: Queryable, eventId: string): PromiseLike<readonly RouteCopy[]> {
  return sql<RouteCopy[]>`select ${columns(sql)} from route_copies where event_id = ${eventId} order by number`;
}

/** The columns of a new copy, and the types of their values. */
const NEW_TYPES = {
  id: 'uuids',
  number: 'bigints',
  path: 'texts',
  rawName: 'texts',
  targetConnection: 'texts',
} as const;
const NEW = templateIn(listed(Object.keys(NEW_TYPES)));

/** The copies of a new event, in its order. */
export async function insertCopies(tx: Transaction, eventId: string, copies: readonly NewCopy[]): Promise<void> {
  const rows = copies.map(({ connectionId, ...copy }, number) => {
    return { ...copy, number, path: storable(copy.path), targetConnection: connectionId };
  });
  await tx`
    insert into route_copies (event_id, ${tx(NEW)}) select ${eventId}::uuid, t.*
    from ${tableOf(tx, rows, NEW_TYPES)}`;
}

/** A CTE that ends the copies among the rows of `input`, by the ids of transfer and copy. */
export function endingCopies(sql: Queryable, parts: readonly { readonly id: string; readonly copyId: string }[]) {
  return sql`
    copied as (
      update route_copies c set state = case when n.status = 'success' then 'done' else 'failed' end,
        target_connection = case when n.status = 'success' then n.connection_id else c.target_connection end,
        target_path = case when n.status = 'success' then n.path end,
        size = case when n.status = 'success' then n.file_size end,
        error_code = n.error_code, error_message = n.error_message
      from input n join ${tableOf(sql, parts, { id: 'uuids', copyId: 'uuids' })} on t.id = n.id
      where c.id = t.copy_id and c.state = 'waiting'
    ),`;
}

function columns(sql: Queryable) {
  return columnsOf(sql, copyFields);
}
