/** A job in the form for clients and receivers, and the event about its end. */
import { eventDefinition } from '../base/events.js';
import { jobFields } from '../contract/job.js';
import { described, group, object } from '../contract/schema.js';
import { shownFields, viewOf } from '../contract/thing.js';
import type { Job } from '../storage/storage.js';

export const JOB_ID = '0199c2f4-6f5e-7c1a-9a51-0d2f64b1d001';

export const jobSchema = object('Job', shownFields(jobFields, 'key'));

export const jobExample = {
  id: JOB_ID,
  type: 'copy',
  name: 'nightly',
  state: 'running',
  source: { connectionId: 'warehouse', path: '/reports' },
  destination: { connectionId: 'lake', path: '/reports' },
  counts: { found: 1200, done: 800, skipped: 0, failed: 1, deleted: 0, bytes: 640000, bytesTotal: 960000 },
  bytesPerSecond: 128000,
  etaSeconds: 3,
  error: null,
  errorCode: null,
  createdAt: '2026-01-31T12:00:00.000Z',
  startedAt: '2026-01-31T12:00:00.000Z',
  finishedAt: null,
  scheduleId: null,
};

/** A job with derived fields that its row lacks. */
export function shownJob(job: Job) {
  const { type, state, definition, found, done, skipped, failed, deleted } = job;
  const [bytes, bytesTotal] = [job.bytes + job.moving.bytes, job.bytesTotal + job.moving.grown];
  const bytesPerSecond = speedOf(job);
  const canTell = state === 'running' && job.isListed && bytesPerSecond > 0;
  return {
    ...job,
    source: type === 'upload' ? null : definition.source,
    destination: definition.destination,
    counts: { found, done, skipped, failed, deleted, bytes, bytesTotal },
    bytesPerSecond,
    etaSeconds: canTell ? Math.ceil(Math.max(0, bytesTotal - bytes) / bytesPerSecond) : null,
    error: job.errorMessage,
  };
}

export const jobOf = (job: Job) => viewOf(jobFields, shownJob(job), 'key');

/** A shorter time gives no meaningful speed. */
const LEAST_MS = 500;

function speedOf({ state, bytes, moving, sample, activeMs }: Job): number {
  const [passed, ms] =
    state === 'running' && sample !== null && sample.agoMs >= LEAST_MS
      ? [bytes + moving.bytes - sample.bytes, sample.agoMs]
      : [bytes, activeMs];
  return ms > 0 ? Math.max(0, Math.round((passed * 1000) / ms)) : 0;
}

const FINISHED = 'job.finished';

const FINISHED_AT = '2026-01-31T12:05:00.000Z';

export const jobFinished = eventDefinition(
  FINISHED,
  'JobFinishedEvent',
  { operationId: 'jobFinished', summary: 'A job has ended' },
  group({ job: described(jobSchema, 'The job, as it ended.') }, 'What the event is about.'),
  { job: { ...jobExample, state: 'succeeded', etaSeconds: null, finishedAt: FINISHED_AT } },
  FINISHED_AT,
);

/** The event that the receiver of a job gets when it has ended. */
export function finishedEvent(job: Job, at: Date): { readonly type: string; readonly body: string } {
  const body = JSON.stringify({ type: FINISHED, timestamp: at.toISOString(), data: { job: jobOf(job) } });
  return { type: FINISHED, body };
}
