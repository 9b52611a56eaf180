/** The slots of a job: each runs one slice at a time, on the node that has claimed it. */
import type { NewTask } from '../queue/queue.js';
import type { Job, JobCounts } from './job.js';

/** The work of a slot. */
export type WorkerSlotKind = 'job-list' | 'job-files';

export interface WorkerSlot {
  readonly kind: WorkerSlotKind;
  readonly number: number;
}

const LIST_SLOTS = 2;
const FILE_SLOTS = 4;
/** A job with a speed limit has one slot, which enforces the limit. */
export function workerSlotsOf(kind: WorkerSlotKind, { definition, phase }: Pick<Job, 'definition' | 'phase'>): number {
  if (kind === 'job-list') return phase === 1 ? LIST_SLOTS : 1;
  return definition.bytesPerSecond > 0 ? 1 : FILE_SLOTS;
}

/** Fewer files or bytes get fewer slots: a slot without work costs more than it saves. */
const FILES_PER_SLOT = 8;
const BYTES_PER_SLOT = 16 * 1024 * 1024;

/** The number of slots that the waiting files of a job justify; at least one. */
export function workerSlotsWorth({ found, done, skipped, failed, deleted, bytes, bytesTotal }: JobCounts): number {
  const files = found - done - skipped - failed - deleted;
  return Math.max(1, Math.ceil(files / FILES_PER_SLOT), Math.ceil((bytesTotal - bytes) / BYTES_PER_SLOT));
}

/** The tasks for at most `most` slots of a job that may have work; existing tasks stay. */
export function workerSlotTasks(
  kind: WorkerSlotKind,
  job: Pick<Job, 'id' | 'accountId' | 'definition' | 'phase'>,
  most = Infinity,
): NewTask[] {
  return Array.from({ length: Math.min(most, workerSlotsOf(kind, job)) }, (_, number) => ({
    key: `${job.id} ${number}`,
    account: job.accountId,
    group: job.id,
    data: { jobId: job.id, seat: number },
  }));
}
