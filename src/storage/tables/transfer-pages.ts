/** The history page by page, by id instead of by offset: fast and exact however many rows there are and come. */
import type { Database, Queryable } from '../postgres/database.js';
import type { Direction, TransferItem, TransferStatus } from '../storage.js';
import { firstIdAt } from './transfer-row.js';

export interface ManagedTransfer extends TransferItem {
  readonly errorCode: string | null;
}

export interface TransferDetail extends ManagedTransfer {
  readonly requestId: string | null;
  readonly key: { readonly id: string; readonly name: string } | null;
}

export interface TransferSearch {
  readonly connectionId?: string;
  readonly status?: TransferStatus;
  readonly type?: string;
  readonly direction?: Direction;
  /** Exclusive. */
  readonly since?: Date;
  /** Exclusive. */
  readonly until?: Date;
  /** Part of the path or the name, in any case. */
  readonly search?: string;
}

export interface TransferPage {
  readonly transfers: readonly ManagedTransfer[];
  /** Where the next page begins; null = there is none. */
  readonly nextCursor: string | null;
}

/** A page looks at no more rows than this, so that a filter that hardly anything meets still answers at once. */
const WINDOW_ROWS = 50_000;

export class TransferPages {
  constructor(private readonly database: Database) {}

  async page(
    accountId: string,
    search: TransferSearch,
    limit: number,
    cursor: string | undefined,
  ): Promise<TransferPage> {
    return this.database.run(async (sql) => {
      const rows = await sql<ManagedTransfer[]>`
        select * from (${window(sql, accountId, search, cursor)}) w
        where true ${filters(sql, search)} order by id desc limit ${limit}`;
      if (rows.length === limit) return { transfers: [...rows], nextCursor: rows.at(-1)?.id ?? null };
      const [edge] = await sql<{ id: string }[]>`
        select id from (${window(sql, accountId, search, cursor)}) w offset ${WINDOW_ROWS - 1} limit 1`;
      return { transfers: [...rows], nextCursor: edge?.id ?? null };
    });
  }

  async find(accountId: string, id: string): Promise<TransferDetail | undefined> {
    const [row] = await this.database.run(
      (sql) => sql<(ManagedTransfer & { requestId: string | null; keyId: string | null; keyName: string | null })[]>`
        select ${columns(sql)}, request_id as "requestId",
               k.id as "keyId", k.name as "keyName"
        from transfers t left join api_keys k on k.id = t.key_id and k.account_id = t.account_id
        where t.id = ${id} and t.account_id = ${accountId}`,
    );
    if (row === undefined) return undefined;
    const { keyId, keyName, ...item } = row;
    return { ...item, key: keyId === null ? null : { id: keyId, name: keyName ?? '' } };
  }

  /** Those of the ids that have ended. */
  async ended(accountId: string, ids: readonly string[]): Promise<readonly ManagedTransfer[]> {
    if (ids.length === 0) return [];
    return this.database.run(
      (sql) => sql<ManagedTransfer[]>`
        select ${columns(sql)} from transfers t
        where t.account_id = ${accountId} and t.id = any(${sql.types.uuids(ids)}) and t.status <> 'pending'`,
    );
  }
}

/** The newest rows behind the cursor, through the index that narrows most. */
function window(sql: Queryable, accountId: string, search: TransferSearch, cursor: string | undefined) {
  const { connectionId, status, since, until } = search;
  return sql`
    select ${columns(sql)} from transfers t
    where t.account_id = ${accountId}
      ${connectionId === undefined ? sql`` : sql`and t.connection_id = ${connectionId}`}
      ${status === 'failed' ? sql`and t.status = 'failed'` : status === 'pending' ? sql`and t.status = 'pending'` : sql``}
      ${cursor === undefined ? sql`` : sql`and t.id < ${cursor}`}
      ${since === undefined ? sql`` : sql`and t.id >= ${firstIdAt(new Date(since.getTime() + 1))}`}
      ${until === undefined ? sql`` : sql`and t.id < ${firstIdAt(until)}`}
    order by t.id desc limit ${WINDOW_ROWS}`;
}

function filters(sql: Queryable, { status, type, direction, search }: TransferSearch) {
  const part = search === undefined ? undefined : `%${search.replace(/[\\%_]/g, '\\$&')}%`;
  return sql`
    ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${type === undefined ? sql`` : sql`and type = ${type}`}
    ${direction === undefined ? sql`` : sql`and direction = ${direction}`}
    ${part === undefined ? sql`` : sql`and (path ilike ${part} or filename ilike ${part})`}`;
}

function columns(sql: Queryable) {
  return sql`
    t.id, t.connection_id as "connectionId", t.type, t.direction, t.filename, t.path, t.file_size as "fileSize",
    t.status, t.error_message as "errorMessage", t.error_code as "errorCode", t.duration_ms as "durationMs",
    t.created_at as "createdAt"`;
}
