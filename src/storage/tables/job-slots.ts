/** The slots of a job: each does one slice of it at a time, on whichever node has taken it. */
import type { NewTask } from '../queue/queue.js';
import type { Job, JobCounts } from './job.js';

/** What a slot is for. */
export type WorkerSlotKind = 'job-list' | 'job-files';

export interface WorkerSlot {
  readonly kind: WorkerSlotKind;
  readonly number: number;
}

const LIST_SLOTS = 2;
const FILE_SLOTS = 4;
/** A speed limit is kept by the one slot that there is then. */
export function workerSlotsOf(kind: WorkerSlotKind, { definition, phase }: Pick<Job, 'definition' | 'phase'>): number {
  if (kind === 'job-list') return phase === 1 ? LIST_SLOTS : 1;
  return definition.bytesPerSecond > 0 ? 1 : FILE_SLOTS;
}

/** Fewer are done by fewer slots: each that comes for nothing costs more than it saves. */
const FILES_PER_SLOT = 8;
const BYTES_PER_SLOT = 16 * 1024 * 1024;

/** So many slots the files of a job that wait are worth; at least one. */
export function workerSlotsWorth({ found, done, skipped, failed, deleted, bytes, bytesTotal }: JobCounts): number {
  const files = found - done - skipped - failed - deleted;
  return Math.max(1, Math.ceil(files / FILES_PER_SLOT), Math.ceil((bytesTotal - bytes) / BYTES_PER_SLOT));
}

/** The slots of a job that there may be something to do for, `most` of them; those that are taken stay so. */
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
