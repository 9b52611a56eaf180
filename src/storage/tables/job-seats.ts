/** The seats of a job: each does one slice of it at a time, on whichever node has taken it. */
import type { NewJob } from '../cluster/jobs.js';
import type { Job } from './job.js';

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

/** The seats of a job that there may be something to do for; those that are taken stay so. */
export function seatJobs(kind: SeatKind, job: Pick<Job, 'id' | 'accountId' | 'definition' | 'phase'>): NewJob[] {
  return Array.from({ length: seatsOf(kind, job) }, (_, number) => ({
    key: `${job.id} ${number}`,
    account: job.accountId,
    group: job.id,
    data: { jobId: job.id, seat: number },
  }));
}
