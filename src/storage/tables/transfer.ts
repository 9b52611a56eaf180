/** The items of the history on their way to the database. */
import type { DigestGap, TransferStatus, transferColumns, Unverified } from '../../contract/transfer.js';
import type { RowOf } from '../../contract/thing.js';

/** One row of `transfers`. */
export interface TransferRow extends Omit<RowOf<typeof transferColumns>, 'jobId' | 'stages'> {
  /** In hexadecimal. */
  readonly digest: string | null;
  /** As JSON. */
  readonly stages: string | null;
  /** The file of a job that it is: it ends with this row, and the row stands only where it had not ended. */
  readonly job: JobReference | null;
  /** A route's copy that it is: it ends with this row. */
  readonly copyId: string | null;
  /** A resumable upload that it is the end of: the row stands only where that had not ended. */
  readonly uploadId: string | null;
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

type Known = 'accountId' | 'connectionId' | 'type' | 'direction' | 'filename' | 'path' | 'countsAction';
type Perhaps = 'keyId' | 'requestId' | 'job' | 'copyId' | 'uploadId' | 'linkId';

export type NewTransfer = Pick<TransferRow, Known> & {
  readonly [N in Perhaps]?: NonNullable<TransferRow[N]> | undefined;
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
  /** SHA-256 of the file's bytes, where they have passed and somebody wanted it. */
  readonly digest?: Buffer | null;
  /** Why there is none although somebody did. */
  readonly noDigest?: DigestGap | null;
  readonly digestReadBytes?: number | null;
  /** As of TransferRow. */
  readonly unverified?: Unverified | null;
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
