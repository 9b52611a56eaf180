/** The events of transfers: which ended items of the history become which, and the CTE that writes the events. */
import { uuidv7 } from '../../base/uuid.js';
import { definitionOfError } from '../../contract/errors.js';
import { eventBody, type EventType } from '../../contract/event.js';
import { type RowOf, viewOf } from '../../contract/thing.js';
import {
  failedTransferFields,
  isLookup,
  succeededTransferFields,
  type TransferType,
  WORKING_TYPES,
} from '../../contract/transfer.js';
import type { Database } from '../postgres/database.js';
import type { Queryable } from '../postgres/sql.js';
import { CachedLookup } from './cached-lookup.js';
import { inserting } from './event-feeds.js';
import type { TransferRow } from './transfer.js';
import type { DraftEvent } from './webhook-event.js';

const TRANSFER_FAILED = 'transfer.failed' satisfies EventType;
const TRANSFER_SUCCEEDED = 'transfer.succeeded' satisfies EventType;
const LINK_USED = 'link.used' satisfies EventType;

/** A failed transfer, with the fields of its event. */
export type Failed = Pick<TransferRow, 'accountId' | 'job' | 'copyId'> & RowOf<typeof failedTransferFields>;

/** Whether an account wants to know the success of this operation. */
export type Wanted = (transfer: Pick<TransferRow, 'accountId' | 'type'>) => boolean;

/** The client is asked to retry later; events would only increase the gateway's load. */
const COME_AGAIN = 503;

/**
 * For client requests: failures of servers, of the network and of the gateway are reported, because the operator wants
 * to know them. Mistakes in the request and disconnected clients are not; the client knows them. No client waits for
 * the result of job files, copies of watched folders and checks: every failure of them is reported, except what an
 * owner has cancelled.
 */
export function isReportedFailure({ type, status, errorCode, job, copyId }: Omit<Failed, 'jobId'>): boolean {
  if (status !== 'failed' || errorCode === 'cancelled') return false;
  if (type === 'poll' || job !== null || copyId !== null) return true;
  const definition = definitionOfError(errorCode ?? '');
  return definition === undefined || (definition.fault !== 'client' && definition.status !== COME_AGAIN);
}

/** The event of a failed transfer; its time is the end of the transfer. */
export function failureOf({ accountId, job, ...row }: Omit<Failed, 'jobId'>): DraftEvent {
  const transfer = viewOf(failedTransferFields, { ...row, jobId: job?.id ?? null }, 'key');
  const body = eventBody(TRANSFER_FAILED, endOf(row), { transfer });
  return { id: uuidv7(), accountId, type: TRANSFER_FAILED, body, connectionIds: [row.connectionId] };
}

/** Whether a written row has an event. */
export function hasEvent(row: TransferRow, wanted: Wanted): boolean {
  return isReportedFailure(row) || isUseOfLink(row) || (row.status === 'success' && wanted(row));
}

/** The CTEs of the events for those `rows` that the CTE `written` has written. */
export function transferEvents(sql: Queryable, rows: readonly TransferRow[], wanted: Wanted) {
  const events = rows.flatMap((row) => eventsOf(row, wanted).map((event) => ({ ...event, item: row.id })));
  if (events.length === 0) return sql``;
  return sql`
    reported as (${inserting(sql, events, true, sql`join written w on w.id = t.item`)}),`;
}

function eventsOf(row: TransferRow, wanted: Wanted): DraftEvent[] {
  if (isReportedFailure(row)) return [failureOf(row)];
  if (row.status !== 'success') return [];
  const events: DraftEvent[] = [];
  const add = <T extends typeof TRANSFER_SUCCEEDED | typeof LINK_USED>(
    type: T,
    data: Parameters<typeof eventBody<T>>[2],
    operation?: TransferType,
  ): void => {
    const { accountId, connectionId } = row;
    const body = eventBody(type, endOf(row), data);
    events.push({
      id: uuidv7(),
      accountId,
      type,
      body,
      connectionIds: [connectionId],
      ...(operation && { operation }),
    });
  };
  if (wanted(row)) add(TRANSFER_SUCCEEDED, { transfer: successOf(row) }, row.type);
  if (isUseOfLink(row)) add(LINK_USED, { linkId: row.linkId, transfer: successOf(row) });
  return events;
}

function successOf({ job, ...row }: TransferRow) {
  return viewOf(succeededTransferFields, { ...row, jobId: job?.id ?? null }, 'key');
}

/** The same condition as that of the uses that a link counts (links.ts). */
function isUseOfLink<R extends TransferRow>(row: R): row is R & { readonly linkId: string } {
  return row.linkId !== null && row.status === 'success' && row.type !== 'exists';
}

function endOf({ createdAt, durationMs }: Pick<TransferRow, 'createdAt' | 'durationMs'>): Date {
  return new Date(createdAt.getTime() + durationMs);
}

/** The operations whose success each account wants to know. */
type Subscriptions = ReadonlyMap<string, ReadonlySet<TransferType>>;

/**
 * Knows for which accounts the success of an operation becomes an event: those with a webhook that subscribes to it.
 * What changed on another node or thread is known a second later.
 */
export class SuccessSubscriptions {
  readonly #lookup: CachedLookup<Subscriptions>;

  constructor(database: Database) {
    this.#lookup = new CachedLookup(() => load(database));
  }

  /** For rows to write. Asks the database once a second at most. */
  async wantedOf(rows: readonly TransferRow[]): Promise<Wanted> {
    if (!rows.some(({ status, type }) => status === 'success' && !isLookup(type))) return NONE_WANTED;
    const subscriptions = await this.#lookup.find(ALL);
    if (subscriptions === undefined || subscriptions.size === 0) return NONE_WANTED;
    return ({ accountId, type }) => subscriptions.get(accountId)?.has(type) ?? false;
  }

  /** A webhook of this node has changed. */
  changed(): void {
    this.#lookup.forget(ALL);
  }
}

export const NONE_WANTED: Wanted = () => false;
/** The look-up has one answer, for all accounts. */
const ALL = '';

async function load(database: Database): Promise<Subscriptions> {
  const rows = await database.all<{ readonly accountId: string; readonly operations: readonly TransferType[] }>`
    select account_id, operations from webhooks
    where is_active and deleted_at is null and ${TRANSFER_SUCCEEDED}::text = any (events)`;
  const wanted = new Map<string, Set<TransferType>>();
  for (const { accountId, operations } of rows) {
    const all = wanted.get(accountId) ?? new Set();
    for (const type of operations.length > 0 ? operations : WORKING_TYPES) all.add(type);
    wanted.set(accountId, all);
  }
  return wanted;
}
