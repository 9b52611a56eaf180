/** History items before they are written to the database. */
import type { DigestGap, TransferStatus, transferColumns, Unverified } from '../../contract/transfer.js';
import type { RowOf } from '../../contract/thing.js';

/** One row of `transfers`. */
export interface TransferRow extends Omit<RowOf<typeof transferColumns>, 'jobId' | 'stages'> {
  /** In hexadecimal. */
  readonly digest: string | null;
  /** As JSON. */
  readonly stages: string | null;
  /** The file of a job: it ends with this row, and the row is written only if the file had not ended. */
  readonly job: JobReference | null;
  /** The copy of a route: it ends with this row. */
  readonly copyId: string | null;
  /** The resumable upload that this row completes: the row is written only if the upload had not ended. */
  readonly uploadId: string | null;
  /** The url of an upload, which may hold a secret: stored sealed until the upload has succeeded. */
  readonly url: string | null;
  /** Additional facts for the receipt; null: no receipt. */
  readonly receipt: ReceiptFacts | null;
}

/** The identity of a connection's server. */
export interface ServerIdentity {
  readonly type: string;
  /** `host:port`. */
  readonly host: string;
  /** Fingerprint of the SSH host key. */
  readonly hostKey?: string;
  /** SHA-256 of the certificate, in hexadecimal. */
  readonly certificate?: string;
}

export interface ReceiptFacts extends ServerIdentity {
  /** For a copy, a move or the upload of a url: the source. */
  readonly source?: ReceiptSource;
  /**
   * How the stored file was compared with what was sent; null if nothing was stored. `acknowledged`: only the server's
   * answer confirms it, because the file could not be read back.
   */
  readonly verified: 'size' | 'readback' | 'acknowledged' | null;
  /** For a deletion with everything below the path: the number of entries. */
  readonly deleted?: number;
  /** For a move within a connection: the new path. */
  readonly movedTo?: string;
  /** For an archive: all requested paths. */
  readonly paths?: readonly string[];
}

export interface ReceiptSource extends ServerIdentity {
  /** Both absent for a url, of which only the host is recorded. */
  readonly connectionId?: string;
  readonly path?: string;
}

type Known = 'accountId' | 'connectionId' | 'type' | 'direction' | 'filename' | 'path' | 'countsAction';
type Perhaps = 'keyId' | 'requestId' | 'job' | 'copyId' | 'uploadId' | 'linkId' | 'request' | 'url';

export type NewTransfer = Pick<TransferRow, Known> & {
  readonly [N in Perhaps]?: NonNullable<TransferRow[N]> | undefined;
} & {
  /** No row is written before `confirm`. */
  readonly isTentative?: boolean | undefined;
};

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
  /** SHA-256 of the file's bytes, if they were read completely and the digest was wanted. */
  readonly digest?: Buffer | null;
  /** Why there is no digest although one was wanted. */
  readonly noDigest?: DigestGap | null;
  readonly digestReadBytes?: number | null;
  /** See TransferRow. */
  readonly unverified?: Unverified | null;
  /** Milliseconds of each stage. */
  readonly stages?: Readonly<Record<string, number>>;
  /** The facts of its receipt, if it gets one. */
  readonly receipt?: ReceiptFacts | undefined;
  /** The final values, if the operation learned them later (a template, a URL's name). */
  readonly filename?: string;
  readonly path?: string;
}

export interface OpenTransfer {
  /** UUIDv7, made in the process: known before the row exists. */
  readonly id: string;
  readonly startedAt: Date;
  /** The path of the file as now known; a pending row shows it. */
  locate(path: string, filename: string): void;
  /** A tentative one has begun: from now on its pending row may be written. */
  confirm(): void;
  /** Resolves when the pending row is durable; rejects with database_away. */
  recordPending(): Promise<void>;
  /**
   * Resolves when the final row is durable; rejects with database_away. Called exactly once. Rows of `list` and
   * `exists` may be written a moment later, if nothing keeps the database from accepting them.
   */
  finish(outcome: TransferOutcome): Promise<{ readonly durationMs: number }>;
  /** Instead of `finish`, for a part of something larger or an unconfirmed one: this try leaves no row. */
  drop(): void;
}

export interface TransferFilter {
  readonly connectionId?: string;
  /** Connections that the key may see; undefined = all. */
  readonly connectionIds?: readonly string[];
  readonly status?: TransferStatus;
  /** Includes values that are never written: email, pickup. */
  readonly type?: string;
  /** SHA-256 of the file. */
  readonly digest?: Buffer;
  /** The link that was used. */
  readonly linkId?: string;
  /** Exclusive. */
  readonly since?: Date;
  readonly limit: number;
  readonly offset: number;
}
