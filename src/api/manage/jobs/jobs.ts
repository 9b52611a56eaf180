/** Jobs as their owner sees them: who began them, and what they were told. They are begun and changed by the API for programs. */
import { Type } from 'typebox';
import { listOf, object, oneOf, text, textOrNull } from '../../../contract/schema.js';
import { isUuid } from '../../../base/uuid.js';
import { JOB_STATES, JOB_TYPES, type JobDefinition, jobFields, jobOptionFields } from '../../../contract/job.js';
import { shownFields, viewOf } from '../../../contract/thing.js';
import type { Caller } from '../../../http/types.js';
import { type Job } from '../../../storage/storage.js';
import { jobExample, shownJob } from '../../jobs/job.js';
import { SCHEDULE_ID } from '../../jobs/schedules.js';
import { CLOSED, cursor, ID, limit } from '../fields.js';
import { badField, type ManageServices, ownerEndpoints, requireCursor } from '../services.js';

const endpoint = ownerEndpoints('Jobs');

/** What a request need not say, and every job has. */
const managedJob = object('ManagedJob', shownFields(jobFields, 'owner'));

const sample = {
  ...jobExample,
  settings: {
    ...{ include: [], exclude: ['*.tmp'], onConflict: 'replace', compare: 'size-and-time', deleteExtra: false },
    ...{ maxDeletes: 1000, bytesPerSecond: 0, dryRun: false, webhookUrl: null },
  },
  filesPerSecond: 160,
  isListed: true,
  key: { id: ID, name: 'nightly export' },
};

export const listJobs = endpoint('GET /manage/jobs', {
  operationId: 'listManagedJobs',
  summary: 'List jobs',
  description: 'Newest first.',
  query: Type.Object(
    {
      state: Type.Optional(oneOf(JOB_STATES, 'Only those in this state.', { examples: ['running'] })),
      type: Type.Optional(oneOf(JOB_TYPES, 'Only those of this type.', { examples: ['sync'] })),
      scheduleId: Type.Optional(text('Only those that this schedule began.', { examples: [SCHEDULE_ID] })),
      limit: limit(100, 20),
      cursor,
    },
    CLOSED,
  ),
  answer: {
    schema: object('ManagedJobsAnswer', {
      jobs: listOf(managedJob, 'Newest first.'),
      nextCursor: textOrNull('Where the next page begins; null = there is none.'),
    }),
    example: { jobs: [sample], nextCursor: null },
  },
}).handle(async ({ caller, query }, services) => {
  requireCursor(query.cursor);
  if (query.scheduleId !== undefined && !isUuid(query.scheduleId)) {
    throw badField('scheduleId', 'must be the id of a schedule');
  }
  const found = await services.jobs.list(caller, query);
  const viewOf = await viewer(services, caller, found);
  const last = found.length === query.limit ? found.at(-1) : undefined;
  return { jobs: found.map(viewOf), nextCursor: last?.id ?? null };
});

export const showJob = endpoint('GET /manage/jobs/:id', {
  operationId: 'showJob',
  summary: 'Show a job',
  description: 'As it is now.',
  answer: { schema: managedJob, example: sample },
  errors: ['unknown_item'],
}).handle(async ({ caller, params }, services) => {
  const job = await services.jobs.get(caller, params.id);
  const viewOf = await viewer(services, caller, [job]);
  return viewOf(job);
});

export const watchManagedJob = endpoint('GET /manage/jobs/:id/events', {
  isEssential: false,
  operationId: 'watchManagedJob',
  summary: 'Watch a job',
  description:
    'Server-sent events: `job` at once and whenever something has changed, twice a second at most; `file` for files as they end, which passes over some where many end at once. The stream ends with the job.',
  answers: {
    200: {
      description: 'The stream.',
      headers: ['X-Accel-Buffering'],
      content: {
        'text/event-stream': {
          schema: { type: 'string' },
          examples: { event: { value: `event: job\ndata: ${JSON.stringify(sample)}\n\n` } },
        },
      },
    },
  },
  errors: ['unknown_item', 'rate_limited'],
}).handle(async ({ caller, params, stillOpens }, services) => {
  const job = await services.jobs.get(caller, params.id);
  const viewOf = await viewer(services, caller, [job]);
  return {
    status: 200,
    // No proxy in between may gather events.
    headers: { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' },
    body: { stream: services.jobEvents.watch(job, stillOpens, viewOf), length: undefined },
  };
});

/** Shows these jobs, with the names of the keys that began them. */
async function viewer(
  { storage }: ManageServices,
  { accountId }: Caller,
  jobs: readonly Job[],
): Promise<(job: Job) => Readonly<Record<string, unknown>>> {
  const keyIds = new Set(jobs.flatMap(({ keyId }) => (keyId === null ? [] : [keyId])));
  const names = await storage.management.keys.names(accountId, [...keyIds]);
  return (job) => {
    const name = job.keyId === null ? undefined : names.get(job.keyId);
    const ended = job.done + job.skipped + job.failed + job.deleted;
    const shown = {
      ...shownJob(job),
      settings: optionsOf(job.definition),
      filesPerSecond: job.activeMs > 0 ? Math.round((ended * 10_000) / job.activeMs) / 10 : 0,
      key: job.keyId === null || name === undefined ? null : { id: job.keyId, name },
    };
    return viewOf(jobFields, shown, 'owner');
  };
}

function optionsOf(definition: JobDefinition): Record<string, unknown> {
  return Object.fromEntries(Object.entries(definition).filter(([name]) => name in jobOptionFields));
}
