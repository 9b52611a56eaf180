/** A job as clients and receivers see it, and the event that tells of its end. */
import type { Static } from 'typebox';
import { eventDefinition } from '../base/events.js';
import {
  count,
  countOrNull,
  dateTime,
  dateTimeOrNull,
  described,
  group,
  object,
  oneOf,
  orNull,
  text,
  textOrNull,
} from '../contract/schema.js';
import { JOB_STATES, JOB_TYPES } from '../contract/job.js';
import { type Job } from '../storage/storage.js';

export const JOB_ID = '0199c2f4-6f5e-7c1a-9a51-0d2f64b1d001';

export const place = (description: string) =>
  group(
    { connectionId: text('Id of a connection.'), path: text('Path of the folder from the root of the connection.') },
    description,
  );

export const jobSchema = object('Job', {
  id: text('Identifier.'),
  type: oneOf(JOB_TYPES, 'What is done; `upload` is a URL upload with `Prefer: respond-async`.'),
  name: textOrNull('As it was given.'),
  state: oneOf(JOB_STATES, '`queued` waits for others of the account; the last four have ended.'),
  source: orNull(place('Where the files are.'), 'null of an upload: its URL is not shown.'),
  destination: orNull(place('Where they go.'), 'null of a deletion.'),
  counts: group(
    {
      found: count('Files of the source, as far as it has been listed.'),
      done: count('Files that were copied or moved.'),
      skipped: count('Files that were left as they are: unchanged, or in the way.'),
      failed: count('Files that failed.'),
      deleted: count('Files that were deleted.'),
      bytes: count('Bytes of the files that are done, and of those under way as far as they are.'),
      bytesTotal: count('Bytes of the files that are, or were, to be transferred.'),
    },
    'Exact at any moment; of a dry run what would be.',
  ),
  bytesPerSecond: count('While it runs, of the last ten to twenty seconds; else of all the time that it has run.'),
  etaSeconds: countOrNull('Until its end at this speed; null where nobody can tell.'),
  error: textOrNull('What ended all of it.'),
  errorCode: textOrNull('The code of that, as `X-Error-Code` would carry it.'),
  createdAt: dateTime('When it was asked for.'),
  startedAt: dateTimeOrNull('When it began.'),
  finishedAt: dateTimeOrNull('When it ended.'),
  scheduleId: textOrNull('The schedule that began it; null once that is deleted.'),
});

export const jobExample: Static<typeof jobSchema> = {
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

export function jobOf(job: Job): Static<typeof jobSchema> {
  const { id, type, name, state, definition, scheduleId, createdAt, startedAt, finishedAt } = job;
  const { found, done, skipped, failed, deleted } = job;
  const [bytes, bytesTotal] = [job.bytes + job.moving.bytes, job.bytesTotal + job.moving.grown];
  const bytesPerSecond = speedOf(job);
  const canTell = state === 'running' && job.isListed && bytesPerSecond > 0;
  return {
    ...{
      id,
      type,
      name,
      state,
      source: type === 'upload' ? null : definition.source,
      destination: definition.destination,
    },
    counts: { found, done, skipped, failed, deleted, bytes, bytesTotal },
    bytesPerSecond,
    etaSeconds: canTell ? Math.ceil(Math.max(0, bytesTotal - bytes) / bytesPerSecond) : null,
    error: job.errorMessage,
    errorCode: job.errorCode,
    createdAt: createdAt.toISOString(),
    startedAt: startedAt?.toISOString() ?? null,
    finishedAt: finishedAt?.toISOString() ?? null,
    scheduleId,
  };
}

/** Nobody reads a speed out of less. */
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

/** What the receiver of a job is sent when that has ended. */
export function finishedEvent(job: Job, at: Date): { readonly type: string; readonly body: string } {
  const body = JSON.stringify({ type: FINISHED, timestamp: at.toISOString(), data: { job: jobOf(job) } });
  return { type: FINISHED, body };
}
