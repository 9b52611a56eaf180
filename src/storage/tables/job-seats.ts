/** The seats of a job: each does one slice of it at a time, on whichever node has taken it. */
import type { NewTask } from '../queue/queue.js';
import type { Job, JobCounts } from './job.js';

/** What a seat is for. */
export type SeatKind = 'job-list' | 'job-files';

export interface Seat {
  readonly kind: SeatKind;
  readonly number: number;
}

const LIST_SEATS = 2;
const FILE_SEATS = 4;
/** A speed limit is kept by the one seat that there is then. */
export function seatsOf(kind: SeatKind, { definition, phase }: Pick<Job, 'definition' | 'phase'>): number {
  if (kind === 'job-list') return phase === 1 ? LIST_SEATS : 1;
  return definition.bytesPerSecond > 0 ? 1 : FILE_SEATS;
}

/** Fewer are done by fewer seats: each that comes for nothing costs more than it saves. */
const FILES_A_SEAT = 8;
const BYTES_A_SEAT = 16 * 1024 * 1024;

/** So many seats the files of a job that wait are worth; at least one. */
export function seatsWorth({ found, done, skipped, failed, deleted, bytes, bytesTotal }: JobCounts): number {
  const files = found - done - skipped - failed - deleted;
  return Math.max(1, Math.ceil(files / FILES_A_SEAT), Math.ceil((bytesTotal - bytes) / BYTES_A_SEAT));
}

/** The seats of a job that there may be something to do for, `most` of them; those that are taken stay so. */
export function seatJobs(
  kind: SeatKind,
  job: Pick<Job, 'id' | 'accountId' | 'definition' | 'phase'>,
  most = Infinity,
): NewTask[] {
  return Array.from({ length: Math.min(most, seatsOf(kind, job)) }, (_, number) => ({
    key: `${job.id} ${number}`,
    account: job.accountId,
    group: job.id,
    data: { jobId: job.id, seat: number },
  }));
}
