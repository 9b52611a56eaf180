/** A job in the form for clients and receivers, and the event of its end. */
import { eventBody } from '../contract/event.js';
import { jobFields } from '../contract/job.js';
import { viewOf } from '../contract/thing.js';
import type { Job } from '../storage/storage.js';

/** A job with the values that are not in its row. */
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
    waitsUntil: state === 'running' ? job.waitsUntil : null,
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

/** The event for the receiver of a job that has ended. */
export function finishedEvent(job: Job, at: Date): { readonly type: string; readonly body: string } {
  const type = 'job.finished';
  return { type, body: eventBody(type, at, { job: jobOf(job) }) };
}
