/** Jobs: what somebody asked for, and how far it is. */
import type { Scope } from '../../base/caller.js';
import type { ErrorCode } from '../../base/errors.js';
import type {
  COMPARISONS,
  OrderType,
  ConflictRule,
  JobType,
  JobState,
  JobFileState,
  JobAction,
} from '../../contract/job.js';

export interface JobPlace {
  readonly connectionId: string;
  /** Absolute. */
  readonly path: string;
}

/** Which files of a folder a job is for; what is absent leaves none out. */
export interface JobFilters {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** 1 = the files of the folder itself. */
  readonly maxDepth?: number;
  readonly minSize?: number;
  readonly maxSize?: number;
  /** Since they were modified, when the job begins. */
  readonly minAgeSeconds?: number;
  readonly maxAgeSeconds?: number;
}

export interface JobDefinition extends JobFilters {
  readonly type: JobType;
  /** Of an upload, which has none, it is the destination. */
  readonly source: JobPlace;
  readonly destination: JobPlace | null;
  readonly onConflict: ConflictRule;
  readonly compare: (typeof COMPARISONS)[number];
  readonly deleteExtra: boolean;
  readonly maxDeletes: number;
  /** Deletes although the source is empty, or has lost more than half of its files since the last run. */
  readonly allowEmptySource?: boolean;
  /** 0 = as fast as it goes. */
  readonly bytesPerSecond: number;
  readonly dryRun: boolean;
  /** Told of its end. */
  readonly webhookUrl: string | null;
  /** Of an upload. */
  readonly upload?: UrlUpload;
}

/** What can be ordered, now or by the clock. */
export type OrderDefinition = JobDefinition & { readonly type: OrderType };

/** What a url upload was told beside its url, which is sealed. */
export interface UrlUpload {
  /** Absent = as the url's server calls it. */
  readonly filename?: string;
  readonly template?: string;
  /** Of the template: every try makes the same name of it. */
  readonly now: string;
  readonly uuid: string;
  readonly mtime?: string;
}

export function isFiltered(filters: JobFilters): boolean {
  const { include, exclude, maxDepth, minSize, maxSize, minAgeSeconds, maxAgeSeconds } = filters;
  const bounds = [maxDepth, minSize, maxSize, minAgeSeconds, maxAgeSeconds];
  return include.length + exclude.length > 0 || bounds.some((bound) => bound !== undefined);
}

export interface JobCounts {
  readonly found: number;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  readonly deleted: number;
  readonly bytes: number;
  readonly bytesTotal: number;
}

export interface Job extends JobCounts {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string | null;
  readonly scheduleId: string | null;
  readonly type: JobType;
  readonly name: string | null;
  readonly state: JobState;
  readonly phase: number;
  readonly definition: JobDefinition;
  readonly errorCode: ErrorCode | null;
  readonly errorMessage: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  /** Of files that are under way: bytes that have passed, and by how much they are larger than they were listed. */
  readonly moving: { readonly bytes: number; readonly grown: number };
  /** A moment ago: the bytes that had passed, and how long ago that was; null before it runs. */
  readonly sample: { readonly bytes: number; readonly agoMs: number } | null;
  /** Without its pauses. */
  readonly activeMs: number;
  /** Whether its folders have all been listed. */
  readonly isListed: boolean;
}

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
