/** The statements that write the history. Each leaves rows, totals and monthly actions agreeing with one another. */
import type { PendingQuery, Row } from 'postgres';
import { type Queryable, storable } from '../postgres/sql.js';
import { endingFiles } from './job-tree.js';
import { endingCopies } from './route-copies.js';
import type { Direction, JobReference, NewTransfer, TransferStatus, TransferType } from './transfer.js';

/** One row of `transfers` on its way to the database. */
export interface TransferRow {
  readonly id: string;
  readonly accountId: string;
  readonly connectionId: string;
  readonly keyId: string | null;
  readonly requestId: string | null;
  readonly type: TransferType;
  readonly direction: Direction;
  readonly status: TransferStatus;
  readonly filename: string;
  readonly path: string;
  readonly fileSize: number;
  readonly errorMessage: string | null;
  readonly errorCode: string | null;
  readonly durationMs: number;
  readonly countsAction: boolean;
  readonly createdAt: Date;
  /** The file of a job that it is: it ends with this row, and the row stands only where it had not ended. */
  readonly job: JobReference | null;
  /** A route's copy that it is: it ends with this row. */
  readonly copyId: string | null;
}

/** Of what has a record of its own, where only the end is written here. */
export const isPart = ({ job, copyId }: Pick<TransferRow, 'job' | 'copyId'>): boolean =>
  job !== null || copyId !== null;

/** The row of a transfer that still runs. */
export function pendingRow(id: string, createdAt: Date, item: NewTransfer): TransferRow {
  return {
    id,
    accountId: item.accountId,
    connectionId: item.connectionId,
    keyId: item.keyId ?? null,
    requestId: item.requestId === undefined ? null : storable(item.requestId),
    type: item.type,
    direction: item.direction,
    status: 'pending',
    filename: storable(item.filename),
    path: storable(item.path),
    fileSize: 0,
    errorMessage: null,
    errorCode: null,
    durationMs: 0,
    countsAction: item.countsAction,
    createdAt,
    job: item.job ?? null,
    copyId: item.copyId ?? null,
  };
}

/** What a dead node's transfers end with. */
export const NODE_STOPPED = { code: 'internal', message: 'the gateway stopped while this transfer was running' };

/**
 * Adds the final rows of `written` to the totals. Groups are taken in key order, so that two nodes that add to the same
 * ones wait for each other instead of dead-locking. What `nodeId` records it holds no longer.
 */
function counting(sql: Queryable, nodeId: string | null) {
  return sql`
    counted as (
      insert into transfer_counts as c (account_id, connection_id, day, type, status, items)
      select account_id, connection_id, (created_at at time zone 'UTC')::date, type, status, count(*)
      from written where status <> 'pending' group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
      on conflict (account_id, connection_id, day, type, status) do update set items = c.items + excluded.items
    ),
    used as (
      insert into monthly_usage as m (account_id, month, items, actions_recorded)
      select account_id, date_trunc('month', created_at at time zone 'UTC')::date, count(*),
             count(*) filter (where counts_action)
      from written where status <> 'pending' group by 1, 2 order by 1, 2
      on conflict (account_id, month) do update set items = m.items + excluded.items,
        actions_recorded = m.actions_recorded + excluded.actions_recorded,
        held = case when m.held -> ${nodeId}::text is null then m.held else jsonb_set(m.held, array[${nodeId}::text],
          to_jsonb(greatest(0, (m.held ->> ${nodeId}::text)::bigint - excluded.actions_recorded))) end
    )`;
}

/**
 * Writes a batch: new rows, and the end of pending ones. Sending it twice does nothing the second time, so it may be
 * repeated after a lost connection. Resolves to how many rows it wrote.
 */
export async function writeBatch(sql: Queryable, nodeId: string, batch: readonly TransferRow[]): Promise<number> {
  // In id order: two batches that meet on a row take their locks in the same order.
  const rows = [...batch].sort((a, b) => (a.id < b.id ? -1 : 1));
  const { uuids, texts, bigints, booleans, times } = sql.types;
  const column = <T>(pick: (row: TransferRow) => T): T[] => rows.map(pick);
  const jobs = rows.some(({ job }) => job !== null) ? jobFiles(sql, rows) : undefined;
  const copies = rows.flatMap(({ id, copyId }) => (copyId === null ? [] : [{ id, copyId }]));
  const [result] = await sql<{ written: number }[]>`
    with input as (
      select * from unnest(
        ${uuids(column((row) => row.id))}, ${uuids(column((row) => row.accountId))},
        ${texts(column((row) => row.connectionId))}, ${uuids(column((row) => row.keyId))},
        ${texts(column((row) => row.requestId))}, ${texts(column((row) => row.type))},
        ${texts(column((row) => row.direction))}, ${texts(column((row) => row.status))},
        ${texts(column((row) => row.filename))}, ${texts(column((row) => row.path))},
        ${bigints(column((row) => row.fileSize))}, ${texts(column((row) => row.errorMessage))},
        ${texts(column((row) => row.errorCode))}, ${bigints(column((row) => row.durationMs))},
        ${booleans(column((row) => row.countsAction))}, ${times(column((row) => row.createdAt))},
        ${uuids(column((row) => row.job?.id ?? null))}
      ) as t (id, account_id, connection_id, key_id, request_id, type, direction, status, filename, path, file_size,
              error_message, error_code, duration_ms, counts_action, created_at, job_id)
    ),
    ${jobs ?? sql``}
    ${copies.length === 0 ? sql`` : endingCopies(sql, copies)}
    written as (
      insert into transfers as t (id, account_id, connection_id, key_id, request_id, type, direction, status, filename,
        path, file_size, error_message, error_code, duration_ms, counts_action, created_at, job_id, node_id)
      select *, ${nodeId}::uuid from input
      ${jobs === undefined ? sql`` : sql`where job_id is null or id in (select id from outcome)`}
      on conflict (id) do update set status = excluded.status, filename = excluded.filename, path = excluded.path,
        file_size = excluded.file_size, error_message = excluded.error_message, error_code = excluded.error_code,
        duration_ms = excluded.duration_ms
      where t.status = 'pending'
      returning account_id, connection_id, type, status, counts_action, created_at
    ),
    ${counting(sql, nodeId)}
    select count(*) as written from written`;
  return result?.written ?? 0;
}

/** The files of jobs among the rows end in the same statement. */
function jobFiles(sql: Queryable, rows: readonly TransferRow[]) {
  const paths = rows.flatMap(({ id, job }) => (job === null ? [] : [{ id, path: job.path }]));
  const { uuids, texts } = sql.types;
  return sql`
    i as (
      select n.id, n.job_id, decode(p.path, 'hex') as path, n.file_size, n.error_code as code, n.error_message as message,
        case when n.status = 'success' then 'done' else 'failed' end as state
      from input n join unnest(${uuids(paths.map(({ id }) => id))}, ${texts(paths.map(({ path }) => path))})
        as p (id, path) on p.id = n.id
    ),
    ${endingFiles(sql)},`;
}

/**
 * Ends the pending transfers of dead nodes as failed; `isDead` is the condition on p.node_id. Resolves to how many.
 */
export async function failPendingOf(sql: Queryable, isDead: PendingQuery<Row[]>): Promise<number> {
  const [result] = await sql<{ written: number }[]>`
    with written as (
      update transfers t set status = 'failed', error_code = ${NODE_STOPPED.code},
        error_message = ${NODE_STOPPED.message},
        duration_ms = greatest(0, (extract(epoch from
          coalesce((select last_seen_at from nodes n where n.id = t.node_id), t.created_at) - t.created_at) * 1000)::bigint)
      where t.id in (select p.id from transfers p
        where p.status = 'pending' and ${isDead} order by p.id for update skip locked)
      returning account_id, connection_id, type, status, counts_action, created_at
    ),
    ${counting(sql, null)}
    select count(*) as written from written`;
  return result?.written ?? 0;
}

/**
 * Corrects what was declared failed too early: a node cut off from the database for longer than its heartbeat may be
 * silent comes back with the true ends. Resolves to how many rows it corrected.
 */
export async function correctFailed(sql: Queryable, rows: readonly TransferRow[]): Promise<number> {
  const wrong = await sql<{ id: string }[]>`
    select id from transfers where id = any(${sql.types.uuids(rows.map((row) => row.id))})
      and status = 'failed' and error_message = ${NODE_STOPPED.message} and error_code = ${NODE_STOPPED.code}`;
  const wrongIds = new Set(wrong.map((row) => row.id));
  let corrected = 0;
  for (const row of rows) {
    if (row.status === 'pending' || !wrongIds.has(row.id)) continue;
    const [result] = await sql<{ written: number }[]>`
      with written as (
        update transfers set status = ${row.status}, filename = ${row.filename}, path = ${row.path},
          file_size = ${row.fileSize}, error_message = ${row.errorMessage}, error_code = ${row.errorCode},
          duration_ms = ${row.durationMs}
        where id = ${row.id} and status = 'failed' and error_message = ${NODE_STOPPED.message}
          and error_code = ${NODE_STOPPED.code}
        returning account_id, connection_id, type, status, created_at
      ),
      taken as (
        update transfer_counts c set items = c.items - 1 from written w
        where c.account_id = w.account_id and c.connection_id = w.connection_id and c.type = w.type
          and c.day = (w.created_at at time zone 'UTC')::date and c.status = 'failed' and w.status <> 'failed'
      ),
      given as (
        insert into transfer_counts as c (account_id, connection_id, day, type, status, items)
        select account_id, connection_id, (created_at at time zone 'UTC')::date, type, status, 1
        from written where status <> 'failed'
        on conflict (account_id, connection_id, day, type, status) do update set items = c.items + 1
      )
      select count(*) as written from written`;
    corrected += result?.written ?? 0;
  }
  return corrected;
}

/** Deletes up to `limit` final items older than `before` and takes them out of the totals. Resolves to how many. */
export async function deleteOlder(sql: Queryable, beforeId: string, limit: number): Promise<number> {
  const [result] = await sql<{ gone: number }[]>`
    with gone as (
      delete from transfers where id in (
        select id from transfers where id < ${beforeId} and status <> 'pending' order by id limit ${limit})
      returning account_id, connection_id, type, status, (created_at at time zone 'UTC')::date as day
    ),
    days as (
      update transfer_counts c set items = c.items - g.items
      from (select account_id, connection_id, day, type, status, count(*) as items from gone group by 1, 2, 3, 4, 5) g
      where c.account_id = g.account_id and c.connection_id = g.connection_id and c.day = g.day
        and c.type = g.type and c.status = g.status
    ),
    months as (
      update monthly_usage m set items = m.items - g.items
      from (select account_id, date_trunc('month', day)::date as month, count(*) as items from gone group by 1, 2) g
      where m.account_id = g.account_id and m.month = g.month
    )
    select count(*) as gone from gone`;
  return result?.gone ?? 0;
}

/** Forgets days whose items are all gone. */
export async function deleteEmptyDays(sql: Queryable): Promise<void> {
  await sql`delete from transfer_counts where items <= 0`;
}

export interface ActionsAsked {
  readonly accountId: string;
  /** Given by its first day. */
  readonly month: string;
  readonly nodeId: string;
  readonly limit: number;
  /** Held by the node, and not spent. */
  readonly returned: number;
  readonly wanted: number;
  /** Good to have, where so many more are left that nobody will miss them. */
  readonly ahead: number;
}

/** Far from the limit a node may hold one of so many actions that are left. */
const AHEAD_OF = 16;

/** Gives back and takes actions of a month; resolves to how many the node got. Never more are held and recorded than the limit. */
export async function exchangeActions(sql: Queryable, asked: ActionsAsked): Promise<number> {
  const { accountId, month, nodeId, limit, returned, wanted, ahead } = asked;
  const grantOf = (room: PendingQuery<Row[]>) => sql`(least(${wanted}::bigint, ${room})
    + least(${ahead}::bigint, greatest(0, ${room} - ${wanted}::bigint) / ${AHEAD_OF}::bigint))`;
  const own = sql`greatest(0, coalesce((m.held ->> ${nodeId}::text)::bigint, 0) - ${returned}::bigint)`;
  const used = sql`greatest(m.actions_taken, m.actions_recorded + ${own}
    + (select coalesce(sum(h.value::bigint), 0) from jsonb_each_text(m.held - ${nodeId}::text) h))`;
  const grant = grantOf(sql`greatest(0, ${limit}::bigint - ${used})::bigint`);
  const first = grantOf(sql`${limit}::bigint`);
  const [row] = await sql<{ granted: number }[]>`
    insert into monthly_usage as m (account_id, month, held, last_grant)
    values (${accountId}, ${month}, jsonb_build_object(${nodeId}::text, ${first}), ${first})
    on conflict (account_id, month) do update set last_grant = ${grant},
      held = jsonb_set(m.held, array[${nodeId}::text], to_jsonb(${own} + ${grant}))
    returning last_grant as granted`;
  return row?.granted ?? 0;
}

/** What dead nodes held, and did not record, is the account's again; `isDead` is the condition on held.key. */
export async function forgetHeld(sql: Queryable, isDead: PendingQuery<Row[]>): Promise<void> {
  await sql`
    update monthly_usage m set held = (
      select coalesce(jsonb_object_agg(held.key, held.value), '{}') from jsonb_each(m.held) held where not (${isDead}))
    where m.held <> '{}' and exists (select from jsonb_each(m.held) held where ${isDead})`;
}
