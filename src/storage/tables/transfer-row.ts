import type { Direction, NewTransfer, TransferStatus, TransferType } from '../storage.js';

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
}

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
  };
}

/** PostgreSQL's text takes no NUL and no half of a surrogate pair; words of remote servers may hold both. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

/** The time inside a UUIDv7. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

/** The smallest id that a transfer of this moment or later can have. */
export function firstIdAt(time: Date): string {
  const hex = Math.max(0, time.getTime()).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`;
}
