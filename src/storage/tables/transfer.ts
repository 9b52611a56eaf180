/** The items of the history. */

export const TRANSFER_TYPES = [
  'upload',
  'download',
  'read',
  'write',
  'append',
  'delete',
  'move',
  'mkdir',
  'list',
  'exists',
  'copy',
  'exec',
  'poll',
] as const;
export const TRANSFER_STATUSES = ['success', 'failed', 'pending'] as const;
export type TransferType = (typeof TRANSFER_TYPES)[number];
export type TransferStatus = (typeof TRANSFER_STATUSES)[number];
export type Direction = 'outbound' | 'inbound';

/** A history item as the API shows it. */
export interface TransferItem {
  readonly id: string;
  readonly connectionId: string;
  readonly type: TransferType;
  readonly direction: Direction;
  readonly filename: string;
  readonly path: string;
  readonly fileSize: number;
  readonly status: TransferStatus;
  readonly errorMessage: string | null;
  readonly durationMs: number;
  readonly createdAt: Date;
}

export interface NewTransfer {
  readonly accountId: string;
  readonly connectionId: string;
  readonly keyId: string | undefined;
  readonly requestId: string | undefined;
  readonly type: TransferType;
  readonly direction: Direction;
  readonly filename: string;
  readonly path: string;
  /** Whether it counts one toward the month. */
  readonly countsAction: boolean;
  /** It is of a job, whose file ends with it. */
  readonly job?: JobReference | undefined;
  /** It is a route's copy of a file, which ends with it. */
  readonly copyId?: string | undefined;
}

export interface JobReference {
  readonly id: string;
  /** The bytes of the file's path below the job's folder, in hexadecimal. */
  readonly path: string;
}

export interface TransferOutcome {
  readonly status: 'success' | 'failed';
  readonly fileSize: number;
  readonly errorMessage: string | null;
  readonly errorCode: string | null;
  /** The final ones, when the operation learned them later (a template, a URL's name). */
  readonly filename?: string;
  readonly path?: string;
}

export interface OpenTransfer {
  /** UUIDv7, made in the process: known before the row exists. */
  readonly id: string;
  readonly startedAt: Date;
  /** Where the file is now known to stand; a pending row shows it. */
  locate(path: string, filename: string): void;
  /** Resolves when the pending row is durable; rejects with database_away. */
  stand(): Promise<void>;
  /**
   * Resolves when the final row is durable; rejects with database_away. Called exactly once. Rows of `list` and `exists`
   * may follow a moment later, as long as nothing keeps the database from taking them.
   */
  finish(outcome: TransferOutcome): Promise<{ readonly durationMs: number }>;
  /** Instead of that, of a job's file or a route's copy: nothing is written of this try. */
  drop(): void;
}

export interface TransferFilter {
  readonly connectionId?: string;
  /** Connections the key may see; undefined = all. */
  readonly connectionIds?: readonly string[];
  readonly status?: TransferStatus;
  /** Also the values nobody writes: email, pickup. */
  readonly type?: string;
  /** Exclusive. */
  readonly since?: Date;
  readonly limit: number;
  readonly offset: number;
}
