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
  /** In hexadecimal. */
  readonly digest: string | null;
  readonly noDigest: string | null;
  /** Of the digest: bytes that were read back; null without one. */
  readonly digestReadBytes: number | null;
  /** Why a stored file could not be looked at after its server had acknowledged it. */
  readonly unverified: string | null;
  /** As JSON. */
  readonly stages: string | null;
  readonly countsAction: boolean;
  readonly createdAt: Date;
  /** The file of a job that it is: it ends with this row, and the row stands only where it had not ended. */
  readonly job: JobReference | null;
  /** A route's copy that it is: it ends with this row. */
  readonly copyId: string | null;
  /** A resumable upload that it is the end of: the row stands only where that had not ended. */
  readonly uploadId: string | null;
  /** The link that it came by, of which a use ends with it. */
  readonly linkId: string | null;
  /** What its receipt tells beside the row; null: it is to have none. */
  readonly receipt: ReceiptFacts | null;
}

/** Who the server of a connection was. */
export interface ServerFacts {
  readonly type: string;
  /** `host:port`. */
  readonly host: string;
  /** Fingerprint of the SSH host key. */
  readonly hostKey?: string;
  /** SHA-256 of the certificate, in hexadecimal. */
  readonly certificate?: string;
}

export interface ReceiptFacts extends ServerFacts {
  /** Of a copy, a move or the upload of a url: where it came from. */
  readonly source?: ReceiptSource;
  /**
   * How what was stored has been compared with what was sent; null where nothing was stored. `acknowledged`: by the word of
   * the server alone, since nobody could look at the file.
   */
  readonly verified: 'size' | 'readback' | 'acknowledged' | null;
  /** Of a deletion with all below the path: how many entries. */
  readonly deleted?: number;
  /** Of a move within a connection: where to. */
  readonly movedTo?: string;
  /** Of an archive: all that it was asked to hold. */
  readonly paths?: readonly string[];
}

export interface ReceiptSource extends ServerFacts {
  /** Both absent of a url, of which the host alone is told. */
  readonly connectionId?: string;
  readonly path?: string;
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
  /** It is a resumable upload, which is done where this succeeds. */
  readonly uploadId?: string | undefined;
  /** It is a use of a link, or a look at its file. */
  readonly linkId?: string | undefined;
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
  /** SHA-256 of the file's bytes, where they have passed and somebody wanted it. */
  readonly digest?: Buffer | null;
  /** Why there is none although somebody did. */
  readonly noDigest?: string | null;
  readonly digestReadBytes?: number | null;
  /** As of TransferRow. */
  readonly unverified?: string | null;
  /** Milliseconds of each stage. */
  readonly stages?: Readonly<Record<string, number>>;
  /** It is to have a receipt. */
  readonly receipt?: ReceiptFacts | undefined;
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
  /** Instead of that, of a job's file, a route's copy or a resumable upload: nothing is written of this try. */
  drop(): void;
}

export interface TransferFilter {
  readonly connectionId?: string;
  /** Connections the key may see; undefined = all. */
  readonly connectionIds?: readonly string[];
  readonly status?: TransferStatus;
  /** Also the values nobody writes: email, pickup. */
  readonly type?: string;
  /** SHA-256 of the file. */
  readonly digest?: Buffer;
  /** The link that they came by. */
  readonly linkId?: string;
  /** Exclusive. */
  readonly since?: Date;
  readonly limit: number;
  readonly offset: number;
}
