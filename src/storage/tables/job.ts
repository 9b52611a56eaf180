/** Jobs: what somebody asked for, and how far it is. */
import type { Scope } from '../../contract/api-key.js';
import type { ErrorCode } from '../../base/errors.js';
import type { JobAction, JobDefinition, JobFileState, JobRow } from '../../contract/job.js';

export interface JobCounts {
  readonly found: number;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  readonly deleted: number;
  readonly bytes: number;
  readonly bytesTotal: number;
}

export type Job = Omit<JobRow, 'errorCode'> & { readonly errorCode: ErrorCode | null };

/** A job with the account that it runs for, as both are now. */
export interface RunningJob extends Job {
  readonly email: string;
  readonly plan: string;
}

/** Whose rights it goes on with, as they are now. */
export interface JobHolder {
  readonly accountId: string;
  readonly email: string;
  readonly plan: string;
  /** null: the account's owner. */
  readonly keyId: string | null;
  /** Of its key; null where that was revoked, has expired, or was none. */
  readonly scopes: readonly Scope[] | null;
  readonly connections: readonly string[] | null;
}

export interface NewJobRow {
  /** Absent = a new one. */
  readonly id?: string | undefined;
  readonly accountId: string;
  readonly keyId: string | null;
  readonly scheduleId: string | null;
  readonly name: string | null;
  readonly definition: JobDefinition;
  /** Of an upload. */
  readonly url?: string;
}

export interface JobFolder {
  readonly path: Buffer;
  readonly depth: number;
  readonly isExtra: boolean;
  readonly isRemoved: boolean;
  readonly isBegun: boolean;
  /** What the listings of the folders above it are known again by. */
  readonly above: Buffer;
  readonly tries: number;
}

export interface JobFile {
  readonly path: Buffer;
  readonly action: JobAction;
  readonly size: number;
  readonly modifiedMs: number;
  readonly isCopied: boolean;
  /** A slice that ended over it had it in hand, or a try failed on the way: it may have been done. */
  readonly wasTaken: boolean;
  readonly tries: number;
}

/** As the API shows it. */
export interface JobFileItem {
  readonly ordinal: number;
  readonly path: Buffer;
  readonly state: JobFileState;
  readonly action: JobAction;
  readonly size: number;
  readonly errorMessage: string | null;
  readonly errorCode: ErrorCode | null;
}

export interface NewJobFile {
  readonly path: Buffer;
  readonly action: JobAction;
  /** 1 with the listing; 2 after all copies. */
  readonly phase: 1 | 2;
  readonly size: number;
  readonly modifiedMs: number;
  /** Told without being done: what fails by its name, what is left out, what a dry run would do; a link that is gone already. */
  readonly state?: 'planned' | 'skipped' | 'failed' | 'done';
  readonly errorCode?: ErrorCode;
  readonly errorMessage?: string;
}

/** Of a file that ends without an item of the history, or is tried again. */
export interface JobFileEnd {
  readonly path: Buffer;
  readonly state: 'skipped' | 'failed';
  readonly errorCode: ErrorCode | null;
  readonly errorMessage: string | null;
}
