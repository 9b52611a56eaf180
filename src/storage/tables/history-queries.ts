/**
 * Queries of the history. Totals come from the counts stored beside it: fast and exact, however many rows there are.
 */
import {
  type ListedTransfer,
  listedTransferFields,
  receiptedFields,
  type ReceiptedTransfer,
  type Transfer,
  transferFields,
  type TransferStatus,
} from '../../contract/transfer.js';
import { columnsOf, type Queryable, takeRows } from '../postgres/sql.js';
import type { TransferFilter } from './transfer.js';
import { firstIdAt } from '../postgres/clock.js';
import { isRepeatable } from './transfer-repetitions.js';
import { DAY_MS } from '../../contract/units.js';

export async function listItems(
  sql: Queryable,
  accountId: string,
  filter: TransferFilter,
): Promise<{ readonly transfers: readonly ListedTransfer[]; readonly total: number }> {
  const total = await countMatching(sql, accountId, filter);
  if (total <= filter.offset) return { transfers: [], total };
  const transfers = await sql<ListedTransfer[]>`
    select ${columnsOf(sql, listedTransferFields, { made: { repeatable: isRepeatable(sql, 't') } })} from transfers t
    where ${matching(sql, accountId, filter)} ${statusIs(sql, filter.status)} ${createdAfter(sql, filter.since)}
      ${digestIs(sql, filter.digest)} ${linkIs(sql, filter.linkId)}
    order by id desc limit ${filter.limit} offset ${filter.offset}`;
  return { transfers: [...transfers], total };
}

export async function findTransfer(sql: Queryable, accountId: string, id: string): Promise<StoredTransfer | undefined> {
  const key = sql`
    (select json_build_object('id', k.id, 'name', k.name) from api_keys k
     where k.id = t.key_id and k.account_id = t.account_id)`;
  const [row] = await sql<Stored<StoredTransfer>[]>`
    select ${columnsOf(sql, transferFields, { table: 't', made: { digest: digestOf(sql), key, repeatable: isRepeatable(sql, 't') } })}
    from transfers t where id = ${id} and account_id = ${accountId}`;
  return row === undefined ? undefined : { ...row, stages: stagesOf(row.stages) };
}

/** In the form that receipts repeat. */
export async function itemsOfIds(
  sql: Queryable,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ReceiptedTransfer>> {
  const found = await sql<Stored<ReceiptedTransfer>[]>`
    select ${columnsOf(sql, receiptedFields, { made: { digest: digestOf(sql) } })} from transfers
    where account_id = ${accountId} and id = any(${sql.types.uuids(ids)})`;
  return new Map(takeRows(found).map((row) => [row.id, { ...row, stages: stagesOf(row.stages) }]));
}

export interface StoredTransfer extends Transfer {
  /** The API key of the request. */
  readonly key: { readonly id: string; readonly name: string } | null;
  readonly repeatable: boolean;
}

type Stored<T extends ReceiptedTransfer> = Omit<T, 'stages'> & { readonly stages: string | null };

const digestOf = (sql: Queryable) => sql`'sha-256:' || encode(digest, 'hex')`;

/** Unreadable stages become an empty object; a receipt then differs, and its reader notices that. */
export function stagesOf(text: string | null): Readonly<Record<string, number>> | null {
  try {
    return text === null ? null : (JSON.parse(text) as Readonly<Record<string, number>>);
  } catch {
    return {};
  }
}

export async function countItems(sql: Queryable, accountId: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select ${itemsOf(sql, accountId)} as total`;
  return row?.total ?? 0;
}

/** The number of items, for use in a statement. */
export function itemsOf(sql: Queryable, accountId: string) {
  return sql`
    ((select coalesce(sum(items), 0) from monthly_usage where account_id = ${accountId})
      + (select count(*) from transfers where account_id = ${accountId} and status = 'pending'))::bigint`;
}

/**
 * Whole days come from transfer_counts. The rest of the day of `since` is counted through the id index, and pending
 * items, which are not in the counts, through their index.
 */
async function countMatching(sql: Queryable, accountId: string, filter: TransferFilter): Promise<number> {
  const { since, status, digest, linkId } = filter;
  const conditions = matching(sql, accountId, filter);
  if (digest !== undefined || linkId !== undefined) {
    const [row] = await sql<{ total: number }[]>`
      select count(*) as total from transfers
      where ${conditions} ${statusIs(sql, status)} ${createdAfter(sql, since)} ${digestIs(sql, digest)}
        ${linkIs(sql, linkId)}`;
    return row?.total ?? 0;
  }
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
        (select count(*) from transfers where ${conditions} ${createdAfter(sql, since)}
           and id < ${firstIdAt(wholeDaysFrom)} and ${status === undefined ? sql`status <> 'pending'` : sql`status = ${status}`})`;
  const pending =
    status === undefined || status === 'pending'
      ? sql`
        (select count(*) from transfers where ${conditions} ${createdAfter(sql, since)} and status = 'pending')`
      : sql`0`;
  const [row] = await sql<{ total: number }[]>`select (${wholeDays} + ${restOfDay} + ${pending})::bigint as total`;
  return row?.total ?? 0;
}

/** Conditions that apply to transfers and to transfer_counts. */
export function matching(
  sql: Queryable,
  accountId: string,
  { connectionId, connectionIds, type }: Partial<Pick<TransferFilter, 'connectionId' | 'connectionIds' | 'type'>>,
) {
  return sql`account_id = ${accountId}
    ${connectionId === undefined ? sql`` : sql`and connection_id = ${connectionId}`}
    ${connectionIds === undefined ? sql`` : sql`and connection_id = any(${sql.types.texts(connectionIds)})`}
    ${type === undefined ? sql`` : sql`and type = ${type}`}`;
}

/** Few files have the same bytes. */
export function digestIs(sql: Queryable, digest: Buffer | undefined) {
  return digest === undefined ? sql`` : sql`and digest = ${digest}`;
}

/** A link has few transfers. */
export function linkIs(sql: Queryable, linkId: string | undefined) {
  return linkId === undefined ? sql`` : sql`and link_id = ${linkId}`;
}

/** A literal, not a parameter, so that the planner can use the partial indexes. */
export function statusIs(sql: Queryable, status: TransferStatus | undefined) {
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

/**
 * Ids contain their creation time, so an exclusive lower bound in milliseconds is the first id of the next millisecond.
 */
export function createdAfter(sql: Queryable, since: Date | undefined) {
  return since === undefined ? sql`` : sql`and id >= ${firstIdAt(new Date(since.getTime() + 1))}`;
}
