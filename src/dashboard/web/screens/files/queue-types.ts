/** The kinds of work in the queue. */
import type { Cause, FileInfo, NewJob } from '../../api/types.ts';

/** The fields that identify a listed entry. */
export type Entry = Pick<FileInfo, 'name' | 'path' | 'isDirectory' | 'rawName'>;

interface At {
  readonly connectionId: string;
  readonly folder: string;
  readonly name: string;
}

export type UploadWork = At & {
  readonly kind: 'upload';
  readonly file: File;
  /** With a handle, the file is found again after the page is reloaded. */
  readonly handle: FileSystemFileHandle | undefined;
};
/** `folder` and `name` are those of the copy. */
type CopyWork = At & {
  readonly kind: 'copy';
  readonly from: { readonly connectionId: string; readonly entry: Entry };
};
/** `folder` and `name` are the new ones. */
type MoveWork = At & { readonly kind: 'move'; readonly entry: Entry };
/** A file. */
export type DeleteWork = At & { readonly kind: 'delete'; readonly entry: Entry };
/** A whole folder, handled only by the gateway. */
export type JobWork = At & { readonly kind: 'job'; readonly order: NewJob };
export type Work = UploadWork | CopyWork | MoveWork | DeleteWork | JobWork;

/** What happens to a file whose name is taken. */
export type ConflictRule = 'replace' | 'skip' | 'rename';

/** The tasks of one user action. One answer may apply to all of them. */
export interface Batch {
  /** In ms since 1970. */
  readonly begunAt: number;
  rule: ConflictRule | undefined;
}

/** Problems come first. */
export const TASK_STATES = ['exists', 'failed', 'running', 'waiting', 'cancelled', 'skipped', 'done'] as const;
/** `exists`: the name is taken, and the user has to decide. */
export type TaskState = (typeof TASK_STATES)[number];

export interface JobProgress {
  readonly id: string;
  /** Includes skipped and failed files. */
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
  /** The user's decision for only this task. */
  readonly rule: ConflictRule | undefined;
  readonly sentBytes: number;
  readonly totalBytes: number | undefined;
  readonly bytesPerSecond: number;
  readonly error: Cause | undefined;
  readonly job: JobProgress | undefined;
  readonly busyAnswers: number;
}
