/**
 * The history for its owner, page by page: by id, or by size or duration through an index of the large or long ones.
 */
import type { PendingQuery, Row } from 'postgres';
import { LAST_ID } from '../../base/uuid.js';
import {
  type Direction,
  LOOKUPS,
  type ManagedTransfer,
  managedTransferFields,
  type TransferStatus,
} from '../../contract/transfer.js';
import { firstIdAt } from '../postgres/clock.js';
import type { Database } from '../postgres/database.js';
import type { Period } from '../postgres/period.js';
import { columnsOf, type Queryable } from '../postgres/sql.js';
import { createdAfter, digestIs, linkIs, matching, statusIs } from './history-queries.js';
import { isRepeatable } from './transfer-repetitions.js';

export interface TransferSearch extends Period {
  readonly connectionId?: string;
  readonly status?: TransferStatus;
  readonly type?: string;
  readonly direction?: Direction;
  /** Part of the path or the name, in upper or lower case. */
  readonly search?: string;
  /** SHA-256 of the file. */
  readonly digest?: Buffer;
  readonly linkId?: string;
  readonly keyId?: string;
  readonly errorCode?: string;
  readonly requestId?: string;
  readonly minBytes?: number;
  /** False: without lists, look-ups and polls. */
  readonly lookups?: boolean;
}

export const TRANSFER_ORDERS = ['newest', 'oldest', 'largest', 'longest'] as const;
type TransferOrder = (typeof TRANSFER_ORDERS)[number];

interface TransferPage {
  readonly transfers: readonly ManagedTransfer[];
  /** The start of the next page; null = there is none. */
  readonly nextCursor: string | null;
}

/** A page reads at most this many rows, so that a filter with few matches still answers quickly. */
const WINDOW_ROWS = 50_000;
/** The value in the cursor of rows below the bounds of the index; these come after the others, newest first. */
const UNSORTED = 0;

/** Cursors: an id; in the orders by a value, the value and the id. */
const CURSORS: Readonly<Record<TransferOrder, RegExp>> = {
  newest: /^[0-9a-f-]{36}$/,
  oldest: /^[0-9a-f-]{36}$/,
  largest: /^\d{1,15}:[0-9a-f-]{36}$/,
  longest: /^\d{1,15}:[0-9a-f-]{36}$/,
};

export class TransferPages {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Whether `page` accepts it. */
  isCursor(order: TransferOrder, cursor: string): boolean {
    return CURSORS[order].test(cursor);
  }

  async page(
    accountId: string,
    search: TransferSearch,
    limit: number,
    cursor: string | undefined,
    order: TransferOrder = 'newest',
  ): Promise<TransferPage> {
    const asked: Asked = { accountId, search, limit };
    return this.#database.run((sql) =>
      order === 'newest' || order === 'oldest'
        ? byId(sql, asked, order === 'oldest', cursor)
        : byValue(sql, asked, order, cursor),
    );
  }

  /** The ended transfers among the ids. */
  async ended(accountId: string, ids: readonly string[]): Promise<readonly ManagedTransfer[]> {
    if (ids.length === 0) return [];
    return this.#database.run(
      (sql) => sql<ManagedTransfer[]>`
        select ${columns(sql, isRepeatable(sql, 't'))} from transfers t
        where account_id = ${accountId} and id = any(${sql.types.uuids(ids)}) and status <> 'pending'`,
    );
  }
}

interface Asked {
  readonly accountId: string;
  readonly search: TransferSearch;
  readonly limit: number;
}

interface Edge {
  readonly id: string;
  readonly value: number;
}

type Fragment = PendingQuery<Row[]>;

async function byId(
  sql: Queryable,
  asked: Asked,
  isAscending: boolean,
  cursor: string | undefined,
  /** In addition to the conditions of the search. */
  more: Fragment = sql``,
): Promise<TransferPage> {
  const order = isAscending ? sql`id` : sql`id desc`;
  const behind = isAscending ? sql`and id > ${cursor ?? ''}` : sql`and id < ${cursor ?? ''}`;
  const window = sql`${within(sql, asked)} ${cursor === undefined ? sql`` : behind} ${more} order by ${order}`;
  const { rows, edge } = await pageOf(sql, asked, window, order);
  return { transfers: rows, nextCursor: edge?.id ?? null };
}

/** Through the index of the large or long ones first; then the others, by id. */
async function byValue(
  sql: Queryable,
  asked: Asked,
  by: 'largest' | 'longest',
  cursor: string | undefined,
): Promise<TransferPage> {
  const [valueText = '', fromId = ''] = cursor?.split(':') ?? [];
  const value = Number(valueText);
  const column = by === 'largest' ? sql`file_size` : sql`duration_ms`;
  // The literals in the indexes' conditions, so that the planner can use them.
  const isSorted = by === 'largest' ? sql`file_size >= 1048576` : sql`duration_ms >= 1000`;
  const rows: ManagedTransfer[] = [];
  if (cursor === undefined || value !== UNSORTED) {
    const behind = cursor === undefined ? sql`` : sql`and (${column}, id) < (${value}::bigint, ${fromId}::uuid)`;
    const order = sql`${column} desc, id desc`;
    const window = sql`${within(sql, asked)} and ${isSorted} ${behind} order by ${order}`;
    const field = by === 'largest' ? 'fileSize' : 'durationMs';
    const page = await pageOf(sql, asked, window, sql`${sql(field)} desc, id desc`, field);
    if (page.edge !== undefined) return { transfers: page.rows, nextCursor: `${page.edge.value}:${page.edge.id}` };
    rows.push(...page.rows);
  }
  if (rows.length === asked.limit) return { transfers: rows, nextCursor: `${UNSORTED}:${LAST_ID}` };
  const left = { ...asked, limit: asked.limit - rows.length };
  const from = cursor !== undefined && value === UNSORTED ? fromId : undefined;
  const rest = await byId(sql, left, false, from, sql`and not (${isSorted})`);
  const nextCursor = rest.nextCursor === null ? null : `${UNSORTED}:${rest.nextCursor}`;
  return { transfers: [...rows, ...rest.transfers], nextCursor };
}

/** The matching rows of a window, and where to continue: absent if the window was the last one. */
async function pageOf(
  sql: Queryable,
  { search, limit }: Asked,
  window: Fragment,
  order: Fragment,
  /** The sort column; absent = the id. */
  value?: 'fileSize' | 'durationMs',
): Promise<{ readonly rows: readonly ManagedTransfer[]; readonly edge: Edge | undefined }> {
  const rows = await sql<ManagedTransfer[]>`
    select ${columns(sql, isRepeatable(sql, 'w'))} from (
      select ${columns(sql)}, key_id, request_id, request, again_id from transfers where ${window} limit ${WINDOW_ROWS}) w
    where true ${filters(sql, search)} order by ${order} limit ${limit}`;
  const last = rows.at(-1);
  if (rows.length === limit && last !== undefined) {
    return { rows: [...rows], edge: { id: last.id, value: value === undefined ? UNSORTED : last[value] } };
  }
  const [edge] = await sql<Edge[]>`
    select id, ${value === undefined ? sql`${UNSORTED}::bigint` : sql`w.${sql(value)}`} as value
    from (select ${columns(sql)} from transfers where ${window} limit ${WINDOW_ROWS}) w
    offset ${WINDOW_ROWS - 1} limit 1`;
  return { rows: [...rows], edge };
}

function columns(sql: Queryable, repeatable?: Fragment) {
  return columnsOf(sql, managedTransferFields, { made: repeatable === undefined ? {} : { repeatable } });
}

/** The conditions for the most selective index. */
function within(sql: Queryable, { accountId, search }: Asked) {
  const { connectionId, status, since, until, digest, linkId, errorCode } = search;
  // Only failed items have codes, and there is an index of those.
  const state = errorCode === undefined ? status : (status ?? 'failed');
  return sql`
    ${matching(sql, accountId, { connectionId })} ${statusIs(sql, state === 'success' ? undefined : state)}
    ${createdAfter(sql, since)} ${until === undefined ? sql`` : sql`and id < ${firstIdAt(until)}`}
    ${digestIs(sql, digest)} ${linkIs(sql, linkId)}`;
}

function filters(sql: Queryable, search: TransferSearch) {
  const { status, type, direction, keyId, errorCode, requestId, minBytes, lookups } = search;
  const part = search.search === undefined ? undefined : `%${search.search.replace(/[\\%_]/g, '\\$&')}%`;
  return sql`
    ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${type === undefined ? sql`` : sql`and type = ${type}`}
    ${direction === undefined ? sql`` : sql`and direction = ${direction}`}
    ${keyId === undefined ? sql`` : sql`and key_id = ${keyId}`}
    ${errorCode === undefined ? sql`` : sql`and error_code = ${errorCode}`}
    ${requestId === undefined ? sql`` : sql`and request_id = ${requestId}`}
    ${minBytes === undefined ? sql`` : sql`and file_size >= ${minBytes}`}
    ${lookups === false && type === undefined ? sql`and type <> all(${sql.types.texts(LOOKUPS)})` : sql``}
    ${part === undefined ? sql`` : sql`and (path ilike ${part} or filename ilike ${part})`}`;
}
