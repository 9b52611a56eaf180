/** What the queue does, one by one. */
import type { FileInfo, NewJob } from '../../api/types.ts';

/** Of an entry of a listing, what names it. */
export type Entry = Pick<FileInfo, 'name' | 'path' | 'isDirectory' | 'rawName'>;

interface At {
  readonly connectionId: string;
  readonly folder: string;
  readonly name: string;
}

export type UploadWork = At & {
  readonly kind: 'upload';
  readonly file: File;
  /** Where the browser gives one, the file is found again after the page was loaded anew. */
  readonly handle: FileSystemFileHandle | undefined;
};
/** `folder` and `name` are of the copy. */
type CopyWork = At & {
  readonly kind: 'copy';
  readonly from: { readonly connectionId: string; readonly entry: Entry };
};
/** `folder` and `name` are the new ones. */
type MoveWork = At & { readonly kind: 'move'; readonly entry: Entry };
export type DeleteWork = At & { readonly kind: 'delete'; readonly entry: Entry };
/** A whole folder, by the gateway alone. */
export type JobWork = At & { readonly kind: 'job'; readonly order: NewJob };
export type Work = UploadWork | CopyWork | MoveWork | DeleteWork | JobWork;

/** What becomes of a file whose name is taken. */
export type ConflictRule = 'replace' | 'skip' | 'rename';

/** What was begun with one act; one answer may hold for all of it. */
export interface Batch {
  /** In ms since 1970. */
  readonly begunAt: number;
  rule: ConflictRule | undefined;
}

/** exists = the name is taken, and the person decides. */
export type TaskState = 'waiting' | 'running' | 'done' | 'skipped' | 'failed' | 'exists' | 'cancelled';

export interface JobStand {
  readonly id: string;
  /** Skipped and failed files included. */
  readonly ended: number;
  readonly skipped: number;
  readonly failed: number;
  readonly found: number;
  readonly isListed: boolean;
}

export interface Task {
  readonly id: number;
  readonly batch: Batch;
  readonly work: Work;
  readonly state: TaskState;
  /** Decided for this one alone. */
  readonly rule: ConflictRule | undefined;
  readonly sentBytes: number;
  readonly totalBytes: number | undefined;
  readonly bytesPerSecond: number;
  readonly error: string | undefined;
  readonly job: JobStand | undefined;
  /** How often the gateway was too busy for it. */
  readonly tries: number;
}
