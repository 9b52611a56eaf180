/** `transfer.failed`: which failed items of the history become events, and the CTE that writes the events. */
import { uuidv7 } from '../../base/uuid.js';
import { definitionOfError } from '../../contract/errors.js';
import { eventBody, type EventType } from '../../contract/event.js';
import { type RowOf, viewOf } from '../../contract/thing.js';
import { failedTransferFields } from '../../contract/transfer.js';
import type { Queryable } from '../postgres/sql.js';
import { inserting } from './event-feeds.js';
import type { TransferRow } from './transfer.js';
import type { DraftEvent } from './webhook-event.js';

const TRANSFER_FAILED = 'transfer.failed' satisfies EventType;

/** A failed transfer, with the fields of its event. */
export type Failed = Pick<TransferRow, 'accountId' | 'job' | 'copyId'> & RowOf<typeof failedTransferFields>;

/** The client is asked to retry later; events would only increase the gateway's load. */
const COME_AGAIN = 503;

/**
 * For client requests: failures of servers, of the network and of the gateway are reported, because the operator wants
 * to know them. Mistakes in the request and disconnected clients are not; the client knows them. No client waits for
 * the result of job files, copies of watched folders and checks: every failure of them is reported, except what an
 * owner has cancelled.
 */
export function isReported({ type, status, errorCode, job, copyId }: Omit<Failed, 'jobId'>): boolean {
  if (status !== 'failed' || errorCode === 'cancelled') return false;
  if (type === 'poll' || job !== null || copyId !== null) return true;
  const definition = definitionOfError(errorCode ?? '');
  return definition === undefined || (definition.fault !== 'client' && definition.status !== COME_AGAIN);
}

/** The event of a failed transfer; its time is the end of the transfer. */
export function failureOf({ accountId, job, ...row }: Omit<Failed, 'jobId'>): DraftEvent {
  const { connectionId, createdAt, durationMs } = row;
  const transfer = viewOf(failedTransferFields, { ...row, jobId: job?.id ?? null }, 'key');
  const body = eventBody(TRANSFER_FAILED, new Date(createdAt.getTime() + durationMs), { transfer });
  return { id: uuidv7(), accountId, type: TRANSFER_FAILED, body, connectionIds: [connectionId] };
}

/** Writes the events for those `rows` that the CTE `written` has written. */
export function failureEvents(sql: Queryable, rows: readonly TransferRow[]) {
  const reported = rows.filter(isReported).map((row) => ({ ...failureOf(row), item: row.id }));
  if (reported.length === 0) return sql``;
  return sql`
    told as (${inserting(sql, reported, true, sql`join written w on w.id = t.item`)}),`;
}
