/** Jobs: the requested work, and its progress. */
import type { Scope } from '../../contract/scopes.js';
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

/** A job with the current data of its account. */
export interface RunningJob extends Job {
  readonly plan: string;
}

/** The account and key whose current rights the job uses. */
export interface JobHolder {
  readonly accountId: string;
  readonly email: string;
  readonly plan: string;
  /** null: the account's owner. */
  readonly keyId: string | null;
  /** The scopes of its key; null if that was revoked, has expired, or does not exist. */
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
  /** For uploads. */
  readonly url?: string;
}

export interface JobFolder {
  readonly path: Buffer;
  readonly depth: number;
  readonly isExtra: boolean;
  readonly isRemoved: boolean;
  readonly isBegun: boolean;
  /** Identifies the folder in the listings of the folders above it. */
  readonly above: Buffer;
  readonly tries: number;
}

export interface JobFile {
  readonly path: Buffer;
  readonly action: JobAction;
  readonly size: number;
  readonly modifiedMs: number;
  readonly isCopied: boolean;
  /** A slice that died had claimed it, or a try failed midway: the file may be done already. */
  readonly wasTaken: boolean;
  readonly tries: number;
}

/** In the form of the API. */
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
  /** 1 = together with the listing; 2 = after all copies. */
  readonly phase: 1 | 2;
  readonly size: number;
  readonly modifiedMs: number;
  /**
   * Reported without work: a file that fails by its name, one that is left out, the plan of a dry run, or a link that
   * is already gone.
   */
  readonly state?: 'planned' | 'skipped' | 'failed' | 'done';
  readonly errorCode?: ErrorCode;
  readonly errorMessage?: string;
}

/** A file that ends without an item of the history, or is tried again. */
export interface JobFileEnd {
  readonly path: Buffer;
  readonly state: 'skipped' | 'failed';
  readonly errorCode: ErrorCode | null;
  readonly errorMessage: string | null;
}
