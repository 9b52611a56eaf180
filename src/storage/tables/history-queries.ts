/** Reading the history: pages through indexes on the id, totals from the counts kept beside it. */
import type { Queryable } from '../postgres/database.js';
import type { TransferFilter, TransferItem } from '../storage.js';
import { firstIdAt } from './transfer-row.js';

const DAY_MS = 24 * 60 * 60 * 1000;

export async function listItems(
  sql: Queryable,
  accountId: string,
  filter: TransferFilter,
): Promise<{ readonly transfers: readonly TransferItem[]; readonly total: number }> {
  const total = await countMatching(sql, accountId, filter);
  if (total <= filter.offset) return { transfers: [], total };
  const transfers = await sql<TransferItem[]>`
    select ${columns(sql)} from transfers
    where ${matching(sql, accountId, filter)} ${statusIs(sql, filter)} ${createdAfter(sql, filter)}
    order by id desc limit ${filter.limit} offset ${filter.offset}`;
  return { transfers: [...transfers], total };
}

export async function findItem(sql: Queryable, accountId: string, id: string): Promise<TransferItem | undefined> {
  const [row] = await sql<TransferItem[]>`
    select ${columns(sql)} from transfers where id = ${id} and account_id = ${accountId}`;
  return row;
}

function columns(sql: Queryable) {
  return sql`id, connection_id as "connectionId", type, direction, filename, path, file_size as "fileSize", status,
    error_message as "errorMessage", duration_ms as "durationMs", created_at as "createdAt"`;
}

export async function countItems(sql: Queryable, accountId: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select ((select coalesce(sum(items), 0) from monthly_usage where account_id = ${accountId})
      + (select count(*) from transfers where account_id = ${accountId} and status = 'pending'))::bigint as total`;
  return row?.total ?? 0;
}

/**
 * Whole days come from transfer_counts; what is left of the day of `since` is counted through the id index, and pending
 * items, which the counts leave out, through theirs.
 */
async function countMatching(sql: Queryable, accountId: string, filter: TransferFilter): Promise<number> {
  const { since, status } = filter;
  const conditions = matching(sql, accountId, filter);
  const wholeDaysFrom = since === undefined ? undefined : new Date((Math.floor(since.getTime() / DAY_MS) + 1) * DAY_MS);
  const wholeDays =
    status === 'pending'
      ? sql`0`
      : sql`
        (select coalesce(sum(items), 0) from transfer_counts where ${conditions}
           ${status === undefined ? sql`` : sql`and status = ${status}`}
           ${wholeDaysFrom === undefined ? sql`` : sql`and day >= ${wholeDaysFrom.toISOString().slice(0, 10)}::date`})`;
  const restOfDay =
    status === 'pending' || wholeDaysFrom === undefined
      ? sql`0`
      : sql`
        (select count(*) from transfers where ${conditions} ${createdAfter(sql, filter)}
           and id < ${firstIdAt(wholeDaysFrom)} and ${status === undefined ? sql`status <> 'pending'` : sql`status = ${status}`})`;
  const pending =
    status === undefined || status === 'pending'
      ? sql`
        (select count(*) from transfers where ${conditions} ${createdAfter(sql, filter)} and status = 'pending')`
      : sql`0`;
  const [row] = await sql<{ total: number }[]>`select (${wholeDays} + ${restOfDay} + ${pending})::bigint as total`;
  return row?.total ?? 0;
}

/** The conditions that transfers and transfer_counts share. */
function matching(sql: Queryable, accountId: string, { connectionId, connectionIds, type }: TransferFilter) {
  return sql`account_id = ${accountId}
    ${connectionId === undefined ? sql`` : sql`and connection_id = ${connectionId}`}
    ${connectionIds === undefined ? sql`` : sql`and connection_id = any(${sql.types.texts(connectionIds)})`}
    ${type === undefined ? sql`` : sql`and type = ${type}`}`;
}

/** The literal, not a parameter: only so can the planner use the partial indexes. */
function statusIs(sql: Queryable, { status }: TransferFilter) {
  switch (status) {
    case 'pending':
      return sql`and status = 'pending'`;
    case 'failed':
      return sql`and status = 'failed'`;
    case 'success':
      return sql`and status = 'success'`;
    case undefined:
      return sql``;
  }
}

/** Ids carry their creation time, so an exclusive lower bound in milliseconds is the first id of the next one. */
function createdAfter(sql: Queryable, { since }: TransferFilter) {
  return since === undefined ? sql`` : sql`and id >= ${firstIdAt(new Date(since.getTime() + 1))}`;
}
