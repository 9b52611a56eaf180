/** The statements that write the history. After each, rows, totals and monthly actions agree. */
import type { PendingQuery, Row } from 'postgres';
import { columnNamesOf, type Fields } from '../../contract/thing.js';
import { LOOKUPS, transferColumns, type TransferStatus, type TransferType } from '../../contract/transfer.js';
import { firstIdAt } from '../postgres/clock.js';
import {
  addedTo,
  fromExcluded,
  listed,
  type Queryable,
  selected,
  selecting,
  storable,
  tableOf,
  templateIn,
  type Transaction,
} from '../postgres/sql.js';
import { endingFiles } from './job-tree.js';
import { correctingUses, endingUses } from './links.js';
import type { Outbox } from './outbox.js';
import { type ChainLinks, linkingWritten } from './receipts.js';
import { endingCopies } from './route-copies.js';
import type { NewTransfer, TransferRow } from './transfer.js';
import { addingHours, LOOKUP_SLOT } from './transfer-hours.js';
import {
  type Failed,
  failureOf,
  isReportedFailure,
  NONE_WANTED,
  transferEvents,
  type Wanted,
} from './transfer-events.js';
import type { NamedSecrets } from '../secrets/sealed-rows.js';
import { endingUploads } from './uploads.js';

/** Transfers with a record of their own; only their end is written here. */
export const isPart = ({ job, copyId, uploadId }: Pick<TransferRow, 'job' | 'copyId' | 'uploadId'>): boolean =>
  job !== null || copyId !== null || uploadId !== null;

/** The row of a running transfer. */
export function pendingRow(id: string, createdAt: Date, item: NewTransfer): TransferRow {
  // Field by field: an object built with spreads becomes a slow one of some kilobytes.
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
    digest: null,
    noDigest: null,
    unverified: null,
    digestReadBytes: null,
    stages: null,
    receipt: null,
    countsAction: item.countsAction,
    createdAt,
    job: item.job ?? null,
    copyId: item.copyId ?? null,
    uploadId: item.uploadId ?? null,
    linkId: item.linkId ?? null,
    request: item.request ?? null,
    url: item.url ?? null,
  };
}

/** The name of a sealed url. */
export const URL_NAME = 'url';

/** The columns that a batch writes, by field. */
const WRITTEN = Object.keys(columnNamesOf(transferColumns)) as (
  (keyof TransferRow & keyof typeof transferColumns) | 'jobId'
)[];
/** The columns that the end of a transfer sets; the others keep their first values. */
const ENDING = [
  'status',
  'filename',
  'path',
  'fileSize',
  'errorMessage',
  'errorCode',
  'durationMs',
  'digest',
  'noDigest',
  'digestReadBytes',
  'stages',
  'unverified',
  'request',
] as const satisfies typeof WRITTEN;
const COLUMNS = listed(WRITTEN);
const FROM_INPUT = COLUMNS.replace(/\bdigest\b/, "decode(digest, 'hex')");
// Built once: each fragment of a statement is an object that lives until a full garbage collection.
const INPUT = templateIn(`select * from unnest(${WRITTEN.map(() => '?').join(', ')}) as t (${COLUMNS})`);
const INSERT = templateIn(`
  insert into transfers as t (${COLUMNS}, node_id) select ${FROM_INPUT}, ?::uuid from input where true ? ?
  on conflict (id) do update set ${fromExcluded(ENDING)} where t.status = 'pending' returning t.*`);

/** The key of a count, by the values of a transfer. */
const COUNT_OF = {
  accountId: 'account_id',
  connectionId: 'connection_id',
  day: "(created_at at time zone 'UTC')::date",
  type: 'type',
  status: 'status',
};
const COUNT_KEY = Object.keys(COUNT_OF);
const COUNT_COLUMNS = templateIn(listed(COUNT_KEY));
const IS_COUNT = templateIn(`(${listed(COUNT_KEY, 'c')}) = (${listed(COUNT_KEY, 'g')})`);
const COUNTING_CORRECTED = templateIn(addingCounts('failed'));

/** Adds the rows of `written` to the counts, except those with this status. */
function addingCounts(except: TransferStatus): string {
  return `
    insert into transfer_counts as c ${selected({ ...COUNT_OF, items: 'count(*)' })}
    from written where status <> '${except}' group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    on conflict (${listed(COUNT_KEY)}) do update set items = c.items + excluded.items`;
}

type ArrayType = 'uuids' | 'texts' | 'bigints' | 'booleans' | 'times';
/** Array types that do not follow from the schemas: ids are texts there, and hidden fields have no schema. */
const ARRAYS: { readonly [name: string]: ArrayType } = {
  id: 'uuids',
  accountId: 'uuids',
  keyId: 'uuids',
  jobId: 'uuids',
  linkId: 'uuids',
  countsAction: 'booleans',
};

function arrayType(name: (typeof WRITTEN)[number]): ArrayType {
  const field: Fields[string] = transferColumns[name];
  const { type, format }: { readonly type?: unknown; readonly format?: unknown } =
    'schema' in field ? { ...field.schema } : {};
  if ([type].flat().includes('integer')) return 'bigints';
  return ARRAYS[name] ?? (format === 'date-time' ? 'times' : 'texts');
}
const TYPES = Object.fromEntries(WRITTEN.map((name) => [name, arrayType(name)])) as Record<
  (typeof WRITTEN)[number],
  ArrayType
>;

/** The error of transfers on a dead node. */
const NODE_STOPPED = { code: 'internal', message: 'the gateway stopped while this transfer was running' };

const COUNTING = templateIn(`
  counted as (${addingCounts('pending')}),
  used as (
    insert into monthly_usage as m ${selected({
      accountId: 'account_id',
      month: "date_trunc('month', created_at at time zone 'UTC')::date",
      items: 'count(*)',
      actionsRecorded: 'count(*) filter (where counts_action)',
    })}
    from written where status <> 'pending' group by 1, 2 order by 1, 2
    on conflict (account_id, month) do update set ${addedTo('m', ['items', 'actionsRecorded'], 'excluded')},
      held = case when m.held -> ?::text is null then m.held else jsonb_set(m.held, array[?::text],
        to_jsonb(greatest(0, (m.held ->> ?::text)::bigint - excluded.actions_recorded))) end
  ),
  summed as (?)`);

/**
 * Adds the final rows of `written` to the totals. Groups are locked in key order, so that two nodes that update the
 * same ones wait for each other instead of dead-locking. Actions that are now recorded are subtracted from what
 * `nodeId` holds.
 */
function counting(sql: Queryable, nodeId: string | null) {
  const hours = addingHours(sql, sql`select 1 as sign, * from written where status <> 'pending'`);
  return sql(COUNTING, nodeId, nodeId, nodeId, hours);
}

interface BatchOptions {
  readonly links?: ChainLinks | undefined;
  readonly wanted?: Wanted;
  /** Seals the urls of uploads; absent: none is kept. */
  readonly urls?: Pick<NamedSecrets, 'sealingWritten'>;
}

/**
 * Writes a batch: new rows, the ends of pending ones, and the receipts that they add to their account's chain. A
 * repeated batch changes nothing, so it may be sent again after a lost connection. Resolves to the ids of the written
 * rows.
 */
export async function writeBatch(
  sql: Queryable,
  nodeId: string,
  batch: readonly TransferRow[],
  { links, wanted = NONE_WANTED, urls }: BatchOptions = {},
): Promise<ReadonlySet<string>> {
  // In id order: two batches with common rows lock them in the same order.
  const rows = [...batch].sort((a, b) => (a.id < b.id ? -1 : 1));
  const { uuids } = sql.types;
  const arrays = WRITTEN.map((name) => {
    const parameter = sql.types[TYPES[name]] as (values: readonly unknown[]) => ReturnType<typeof uuids>;
    return parameter(rows.map((row) => (name === 'jobId' ? (row.job?.id ?? null) : row[name])));
  });
  const jobs = rows.some(({ job }) => job !== null) ? jobFiles(sql, rows) : undefined;
  const copies = rows.flatMap(({ id, copyId }) => (copyId === null ? [] : [{ id, copyId }]));
  const uploads = ofUploads(rows.filter(({ status }) => status === 'success'));
  const chain = links && linkingWritten(sql, links);
  const [result] = await sql<{ ids: readonly string[] | null }[]>`
    with input as (${sql(INPUT, ...arrays)}),
    ${jobs ?? sql``}
    ${copies.length === 0 ? sql`` : endingCopies(sql, copies)}
    ${uploads.length === 0 ? sql`` : endingUploads(sql, uploads)}
    written as (${sql(
      INSERT,
      nodeId,
      jobs === undefined ? sql`` : sql`and (job_id is null or id in (select id from outcome))`,
      uploads.length === 0
        ? sql``
        : sql`and (id <> all(${uuids(uploads.map(({ id }) => id))}) or id in (select id from ended))`,
    )}),
    ${rows.some(({ linkId }) => linkId !== null) ? endingUses(sql, nodeId, ofUploads(rows)) : sql``}
    ${transferEvents(sql, rows, wanted)}
    ${chain?.with ?? sql``}
    ${urls === undefined ? sql`` : keepingUrls(sql, urls, rows)}
    ${counting(sql, nodeId)}
    select array_agg(id) as ids ${chain?.required ?? sql``} from written`;
  return new Set(result?.ids ?? []);
}

const ofUploads = (rows: readonly TransferRow[]) =>
  rows.flatMap(({ id, uploadId }) => (uploadId === null ? [] : [{ id, uploadId }]));

/** A url is kept as long as its upload may be repeated. */
function keepingUrls(sql: Queryable, urls: Pick<NamedSecrets, 'sealingWritten'>, rows: readonly TransferRow[]) {
  const given = rows.flatMap(({ id, url, status }) => (url === null ? [] : [{ id, url, status }]));
  if (given.length === 0) return sql``;
  const done = given.filter(({ status }) => status === 'success').map(({ id }) => id);
  const open = given.filter(({ status }) => status !== 'success');
  return urls.sealingWritten(sql, URL_NAME, {
    values: open.map(({ id, url }) => ({ owner: id, value: url })),
    forgotten: done,
  });
}

/** The job files among the rows end in the same statement. */
function jobFiles(sql: Queryable, rows: readonly TransferRow[]) {
  const paths = rows.flatMap(({ id, job }) => (job === null ? [] : [{ id, path: job.path }]));
  return sql`
    i as (
      select n.id, n.job_id, decode(t.path, 'hex') as path, n.file_size, n.error_code as code, n.error_message as message,
        case when n.status = 'success' then 'done' else 'failed' end as state
      from input n join ${tableOf(sql, paths, { id: 'uuids', path: 'texts' })} on t.id = n.id
    ),
    ${endingFiles(sql)},`;
}

/**
 * Ends the pending transfers of dead nodes as failed, and adds their events; `isDead` is the condition on p.node_id.
 * Resolves to their number.
 */
export async function failPendingOf(
  tx: Transaction,
  outbox: Pick<Outbox, 'add'>,
  isDead: PendingQuery<Row[]>,
): Promise<number> {
  const ended = await tx<Failed[]>`
    with written as (
      update transfers t set status = 'failed', error_code = ${NODE_STOPPED.code},
        error_message = ${NODE_STOPPED.message},
        duration_ms = greatest(0, (extract(epoch from
          coalesce((select last_seen_at from nodes n where n.id = t.node_id), t.created_at) - t.created_at) * 1000)::bigint)
      where t.id in (select p.id from transfers p
        where p.status = 'pending' and ${isDead} order by p.id for update skip locked)
      returning t.*
    ),
    ${counting(tx, null)}
    select *, null as job, null as copy_id from written`;
  await outbox.add(tx, ended.filter(isReportedFailure).map(failureOf));
  return ended.length;
}

/** Whether there are any; `isDead` as above. */
export async function hasPendingOf(sql: Queryable, isDead: PendingQuery<Row[]>): Promise<boolean> {
  const rows = await sql`select from transfers p where p.status = 'pending' and ${isDead} limit 1`;
  return rows.count > 0;
}

/**
 * Corrects transfers that were marked as failed too early: a node that was cut off from the database for too long
 * returns with the true results. Resolves to the ids of the corrected items.
 */
export async function correctFailed(
  sql: Queryable,
  rows: readonly TransferRow[],
  { wanted = NONE_WANTED, urls }: Omit<BatchOptions, 'links'>,
): Promise<ReadonlySet<string>> {
  const wrong = await sql<{ id: string }[]>`
    select id from transfers where id = any(${sql.types.uuids(rows.map((row) => row.id))})
      and status = 'failed' and error_message = ${NODE_STOPPED.message} and error_code = ${NODE_STOPPED.code}`;
  const wrongIds = new Set(wrong.map((row) => row.id));
  const corrected = new Set<string>();
  for (const row of rows) {
    if (row.status === 'pending' || !wrongIds.has(row.id)) continue;
    const [result] = await sql<{ written: number }[]>`
      with former as (
        select * from transfers where id = ${row.id} and status = 'failed' and error_message = ${NODE_STOPPED.message}
          and error_code = ${NODE_STOPPED.code} for update
      ),
      written as (
        ${sql`update transfers t set ${sql(endOf(sql, row))}`}
        from former f where t.id = f.id
        returning t.*
      ),
      ${correctingUses(sql)}
      ${urls === undefined ? sql`` : keepingUrls(sql, urls, [row])}
      ${transferEvents(sql, row.status === 'success' ? [row] : [], wanted)}
      summed as (${addingHours(
        sql,
        sql`
        select -1 as sign, * from former
        union all
        select 1, * from written`,
      )}),
      taken as (
        update transfer_counts c set items = c.items - 1 from written w
        where c.account_id = w.account_id and c.connection_id = w.connection_id and c.type = w.type
          and c.day = (w.created_at at time zone 'UTC')::date and c.status = 'failed' and w.status <> 'failed'
      ),
      given as (${sql(COUNTING_CORRECTED)})
      select count(*) as written from written`;
    if ((result?.written ?? 0) > 0) corrected.add(row.id);
  }
  return corrected;
}

/** Compares and sets, so that of two repetitions at once only one begins. */
export async function noteRepetition(
  sql: Queryable,
  id: string,
  former: string | null,
  againId: string,
): Promise<boolean> {
  const noted = await sql`
    update transfers set again_id = ${againId} where id = ${id} and again_id is not distinct from ${former}::uuid`;
  return noted.count === 1;
}

/** The columns that the end sets. */
function endOf(sql: Queryable, row: TransferRow) {
  const values = Object.fromEntries(ENDING.map((name) => [name, row[name]]));
  // The driver's types do not allow expressions as values.
  return { ...values, digest: sql`decode(${row.digest}::text, 'hex')` } as never;
}

/**
 * Deletes up to `limit` final items older than `before` and subtracts them from the totals. Resolves to their number.
 */
export async function deleteOlder(sql: Queryable, beforeId: string, limit: number): Promise<number> {
  return deleteItems(
    sql,
    sql`select id from transfers where id < ${beforeId} and status <> 'pending' order by id limit ${limit}`,
  );
}

/** An account's items of one type beyond the newest ones that are kept. */
interface Surplus {
  readonly accountId: string;
  readonly type: TransferType;
  /** The number of items beyond those. */
  readonly items: number;
  /** No item of this type is older. */
  readonly firstId: string;
}

/** Lists, look-ups and polls beyond the newest `most` of each type; only of accounts that were recently active. */
export async function findSurplus(sql: Queryable, most: number): Promise<readonly Surplus[]> {
  const rows = await sql<(Omit<Surplus, 'firstId'> & { readonly day: string })[]>`
    select account_id, type, sum(items)::bigint - ${most}::bigint as items, min(day)::text as day
    from transfer_counts
    where account_id in (
        select account_id from transfer_hours where hour >= now() - interval '1 day' and slot = ${LOOKUP_SLOT})
      and type = any (${sql.types.texts(LOOKUPS)}) and status <> 'pending' and items > 0
    group by account_id, type having sum(items) > ${most}::bigint`;
  return rows.map(({ day, ...surplus }) => ({ ...surplus, firstId: firstIdAt(new Date(day)) }));
}

/** Deletes up to `limit` of the surplus, oldest first. Resolves to the number of deleted items. */
export async function deleteSurplus(sql: Queryable, surplus: Surplus, limit: number): Promise<number> {
  const { accountId, type, items, firstId } = surplus;
  return deleteItems(
    sql,
    sql`
      select id from transfers
      where account_id = ${accountId} and id >= ${firstId} and type = ${type} and status <> 'pending'
      order by id limit ${Math.min(items, limit)}`,
  );
}

/** `ids` selects the items. They are also subtracted from the totals. */
async function deleteItems(sql: Queryable, ids: PendingQuery<Row[]>): Promise<number> {
  const [result] = await sql<{ gone: number }[]>`
    with gone as (
      delete from transfers where id in (${ids})
      returning account_id, connection_id, type, status, (created_at at time zone 'UTC')::date as day
    ),
    days as (
      update transfer_counts c set items = c.items - g.items
      from (select ${sql(COUNT_COLUMNS)}, count(*) as items from gone group by 1, 2, 3, 4, 5) g
      where ${sql(IS_COUNT)}
    ),
    months as (
      update monthly_usage m set items = m.items - g.items
      from (select account_id, date_trunc('month', day)::date as month, count(*) as items from gone group by 1, 2) g
      where m.account_id = g.account_id and m.month = g.month
    )
    select count(*) as gone from gone`;
  return result?.gone ?? 0;
}

/** Deletes days whose items are all deleted. */
export async function deleteEmptyDays(sql: Queryable): Promise<void> {
  await sql`delete from transfer_counts where items <= 0`;
}

interface ActionsAsked {
  readonly accountId: string;
  /** The first day of the month. */
  readonly month: string;
  readonly nodeId: string;
  readonly limit: number;
  /** Held by the node but not spent. */
  readonly returned: number;
  readonly wanted: number;
  /** Wanted in advance, while enough are left for other nodes. */
  readonly ahead: number;
}

/** In advance, a node may hold one of this many remaining actions. */
const AHEAD_OF = 16;

/**
 * Returns and takes actions of a month; resolves to the number that the node got. Held and recorded actions together
 * never exceed the limit.
 */
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
    insert into monthly_usage as m
      ${selecting(sql, { accountId, month, held: sql`jsonb_build_object(${nodeId}::text, ${first})`, lastGrant: first })}
    on conflict (account_id, month) do update set last_grant = ${grant},
      held = jsonb_set(m.held, array[${nodeId}::text], to_jsonb(${own} + ${grant}))
    returning last_grant as granted`;
  return row?.granted ?? 0;
}

/** Releases the actions that dead nodes held and did not record; `isDead` is the condition on held.key. */
export async function forgetHeld(sql: Queryable, isDead: PendingQuery<Row[]>): Promise<void> {
  await sql`
    update monthly_usage m set held = (
      select coalesce(jsonb_object_agg(held.key, held.value), '{}') from jsonb_each(m.held) held where not (${isDead}))
    where m.held <> '{}' and exists (select from jsonb_each(m.held) held where ${isDead})`;
}
