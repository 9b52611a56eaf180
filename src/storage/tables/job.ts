/** Jobs: the requested work, and its progress. */
import type { Scope } from '../../contract/scopes.js';
import type { ErrorCode } from '../../base/errors.js';
import type { JobAction, JobDefinition, JobFileState, JobRow } from '../../contract/job.js';
import { OPEN } from '../../contract/job-states.js';
import { hidden, type RowOf } from '../../contract/thing.js';
import { isOneOf, templateIn } from '../postgres/sql.js';

export const JOB_COUNTS = ['found', 'done', 'skipped', 'failed', 'deleted', 'bytes', 'bytesTotal'] as const;
export type JobCounts = Pick<JobRow, (typeof JOB_COUNTS)[number]>;

/** The condition for jobs that have not ended, in the form of their index. */
export const IS_OPEN = templateIn(isOneOf('state', OPEN));

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

/** The columns of a folder that are set when it is found. */
export const newFolderFields = {
  path: hidden<Buffer>(),
  depth: hidden<number>(),
  isExtra: hidden<boolean>(),
  isRemoved: hidden<boolean>(),
};
export const jobFolderFields = {
  ...newFolderFields,
  isBegun: hidden<boolean>(),
  /** Identifies the folder in the listings of the folders above it. */
  above: hidden<Buffer>(),
  tries: hidden<number>(),
};
export type JobFolder = RowOf<typeof jobFolderFields>;

/** The columns of a file that are set when it is found, and then kept. */
export const foundFields = {
  path: hidden<Buffer>(),
  action: hidden<JobAction>(),
  size: hidden<number>(),
  modifiedMs: hidden<number>(),
};
export const jobFileFields = {
  ...foundFields,
  isCopied: hidden<boolean>(),
  tries: hidden<number>(),
};
export interface JobFile extends RowOf<typeof jobFileFields> {
  /** A slice that died had claimed it, or a try failed midway: the file may be done already. */
  readonly wasTaken: boolean;
}

/** A file in a list of them, as answers show it. */
export const jobFileItemFields = {
  ordinal: hidden<number>(),
  path: foundFields.path,
  state: hidden<JobFileState>(),
  action: foundFields.action,
  size: foundFields.size,
  errorMessage: hidden<string | null>(),
  errorCode: hidden<ErrorCode | null>(),
};
export type JobFileItem = RowOf<typeof jobFileItemFields>;

export interface NewJobFile extends RowOf<typeof foundFields> {
  /** 1 = together with the listing; 2 = after all copies. */
  readonly phase: 1 | 2;
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
