/** `transfer.failed`: which failed items of the history are told as events, and the CTE that writes them. */
import { uuidv7 } from '../../base/uuid.js';
import { definitionOfError } from '../../contract/errors.js';
import { eventBody, type EventType } from '../../contract/event.js';
import { type RowOf, viewOf } from '../../contract/thing.js';
import { failedTransferFields } from '../../contract/transfer.js';
import type { Queryable } from '../postgres/sql.js';
import { type DraftEvent, inserting } from './event-feeds.js';
import type { TransferRow } from './transfer.js';

const TRANSFER_FAILED = 'transfer.failed' satisfies EventType;

/** A failed transfer, with the fields of its event. */
export type Failed = Pick<TransferRow, 'accountId' | 'job' | 'copyId'> & RowOf<typeof failedTransferFields>;

/** The caller is told to come again; the gateway, busy as it is, would only make more of it. */
const COME_AGAIN = 503;

/**
 * Of what a client asked for: failures of servers, of the way to them and of the gateway, which its operator wants to know
 * of. What was wrong with the request itself, and clients that left, their own answers tell. Nobody waits for an answer
 * about files of jobs, copies of watched folders and checks: of these every failure is told, but what an owner cancelled.
 */
export function isReported({ type, status, errorCode, job, copyId }: Omit<Failed, 'jobId'>): boolean {
  if (status !== 'failed' || errorCode === 'cancelled') return false;
  if (type === 'poll' || job !== null || copyId !== null) return true;
  const definition = definitionOfError(errorCode ?? '');
  return definition === undefined || (definition.fault !== 'client' && definition.status !== COME_AGAIN);
}

/** Its event, whose time is that of the end. */
export function failureOf({ accountId, job, ...row }: Omit<Failed, 'jobId'>): DraftEvent {
  const { connectionId, createdAt, durationMs } = row;
  const transfer = viewOf(failedTransferFields, { ...row, jobId: job?.id ?? null }, 'key');
  const body = eventBody(TRANSFER_FAILED, new Date(createdAt.getTime() + durationMs), { transfer });
  return { id: uuidv7(), accountId, type: TRANSFER_FAILED, body, connectionIds: [connectionId] };
}

/** Writes the events of those among `rows` that the CTE `written` has written. */
export function failureEvents(sql: Queryable, rows: readonly TransferRow[]) {
  const told = rows.filter(isReported).map((row) => ({ ...failureOf(row), item: row.id }));
  if (told.length === 0) return sql``;
  return sql`
    told as (${inserting(sql, told, true, sql`join written w on w.id = t.item`)}),`;
}
