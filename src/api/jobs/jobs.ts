/** Jobs: whole folders, copied, moved, deleted or kept alike. */
import { type Static, Type } from 'typebox';
import { refusal } from '../../base/errors.js';
import {
  JOB_OPTION_NAMES,
  JOB_OPTIONS,
  type JobOption,
  ORDER_TYPES,
  type OrderType,
} from '../../contract/job-options.js';
import { JOB_FILE_STATES, JOB_STATES, JOB_TYPES, jobOptionFields } from '../../contract/job.js';
import { listOf, object, oneOf, text, textOrNull, withDefault } from '../../contract/schema.js';
import { newFields } from '../../contract/thing.js';
import type { Caller } from '../../http/types.js';
import { json } from '../../http/answer.js';
import type { JobOrder } from '../../jobs/service.js';
import { type Job } from '../../storage/storage.js';
import { endpoint, jsonContent } from '../endpoint.js';
import { connectionId, remotePath } from '../fields.js';
import { type ApiServices, connectionOf } from '../services.js';
import {
  cursorParameter,
  jobAnswer,
  jobExample,
  jobFileOf,
  jobFileSchema,
  jobOf,
  jobParameter,
  jobSchema,
  JOB_ID,
} from './job.js';

const TAG = 'Jobs';
const ID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

const place = (name: string, description: string) =>
  object(name, { connectionId: connectionId(), path: Type.Optional(remotePath()) }, { description });

const limit = (most: number, usual: number) =>
  withDefault(Type.Integer({ minimum: 1, maximum: most, description: 'Items a page.', examples: [usual] }), usual);

export const newJob = object('NewJob', {
  type: oneOf(ORDER_TYPES, 'What is to be done. `sync` brings what is new or changed.'),
  source: place('JobSource', 'The folder, or the one file; the default path of the connection when absent.'),
  destination: Type.Optional(place('JobDestination', 'The folder that takes the files. Not of a `delete`.')),
  ...newFields(jobOptionFields),
  name: Type.Optional(textOrNull('For people.', { minLength: 1, maxLength: 200 })),
});

const errors = ['plan_required', 'quota_exceeded', 'share_exceeded', 'address_denied'] as const;

export const createJob = endpoint({
  method: 'POST',
  path: '/api/jobs',
  access: 'write',
  operationId: 'createJob',
  tag: TAG,
  summary: 'Begin a job',
  description:
    'Copies, moves, deletes or syncs a whole folder. It goes on whichever node dies; each file is one item of the history and counts as one action. What has a source to read needs a key with the scope `read` too.',
  body: newJob,
  bodyExamples: {
    copy: {
      type: 'copy',
      source: { connectionId: 'warehouse', path: '/reports' },
      destination: { connectionId: 'lake', path: '/reports' },
      exclude: ['*.tmp'],
    },
  },
  answers: {
    202: {
      description: 'It has begun, or waits for others of the account.',
      headers: ['Location'],
      content: jsonContent(jobAnswer, { job: { job: jobExample } }),
    },
  },
  isRemote: true,
  errors: [...errors],
}).handle(async ({ caller, body, request }, services: ApiServices) =>
  accepted(await services.jobs.create(caller, await orderOf(services, caller, body), { signal: request.ending })),
);

/** @throws GatewayError bad_request, unknown_connection, forbidden */
export async function orderOf(services: ApiServices, caller: Caller, body: Static<typeof newJob>): Promise<JobOrder> {
  const { source, destination, name = null, webhookUrl = null, ...rest } = body;
  refuseOthers(body);
  if (body.type === 'delete' && destination !== undefined) {
    throw refusal('bad_request', 'destination is not for jobs of the type delete');
  }
  if (body.type !== 'delete' && destination === undefined) {
    throw refusal('bad_request', `destination is needed for jobs of the type ${body.type}`);
  }
  const placeOf = async (one: { connectionId: string; path?: string }) => ({
    connection: await connectionOf(services, caller, one.connectionId),
    path: one.path,
  });
  const from = await placeOf(source);
  const to = destination === undefined ? undefined : await placeOf(destination);
  return { ...rest, name, webhookUrl, source: from, destination: to };
}

const TYPES_OF: Readonly<Record<JobOption, readonly OrderType[]>> = JOB_OPTIONS;

/** What is as it would be unsaid is no wish. @throws GatewayError bad_request of an option that the type does not know */
function refuseOthers(body: Static<typeof newJob>): void {
  const { type } = body;
  for (const option of JOB_OPTION_NAMES) {
    const usual: unknown = jobOptionFields[option].default;
    const value = body[option];
    if (TYPES_OF[option].includes(type) || value === undefined || value === usual) continue;
    throw refusal('bad_request', `${option} is for jobs of the type ${TYPES_OF[option].join(' or ')}, not ${type}`);
  }
}

export function accepted(job: Job) {
  return json(202, { job: jobOf(job) }, { Location: `/api/jobs/${job.id}` });
}

export const listJobs = endpoint({
  method: 'GET',
  path: '/api/jobs',
  access: 'any',
  isEssential: true,
  operationId: 'listJobs',
  tag: TAG,
  summary: 'List jobs',
  description: 'Jobs of the connections that this API key may use, newest first.',
  query: Type.Object({
    state: Type.Optional(oneOf(JOB_STATES, 'Only those in this state.', { examples: ['running'] })),
    type: Type.Optional(oneOf(JOB_TYPES, 'Only those of this type.', { examples: ['sync'] })),
    limit: limit(100, 20),
    cursor: Type.Optional(text('`nextCursor` of the page before.', { pattern: ID, examples: [JOB_ID] })),
  }),
  answer: {
    description: 'One page.',
    schema: object('JobsAnswer', {
      jobs: listOf(jobSchema, 'Newest first.'),
      nextCursor: textOrNull('Where the next page begins; null at the end.'),
    }),
    example: { jobs: [jobExample], nextCursor: null },
  },
}).handle(async ({ caller, query }, { jobs }: ApiServices) => {
  const found = await jobs.list(caller, query);
  return { jobs: found.map(jobOf), nextCursor: found.length === query.limit ? (found.at(-1)?.id ?? null) : null };
});

export const getJob = endpoint({
  method: 'GET',
  path: '/api/jobs/:id',
  access: 'any',
  isEssential: true,
  operationId: 'getJob',
  tag: TAG,
  summary: 'Look at a job',
  description: 'A job, as it is now.',
  params: jobParameter,
  answer: { schema: jobAnswer, example: { job: jobExample } },
  errors: ['unknown_item'],
}).handle(async ({ caller, params }, { jobs }: ApiServices) => ({ job: jobOf(await jobs.get(caller, params.id)) }));

export const listJobFiles = endpoint({
  method: 'GET',
  path: '/api/jobs/:id/files',
  access: 'any',
  isEssential: true,
  operationId: 'listJobFiles',
  tag: TAG,
  summary: 'List the files of a job',
  description: 'In the order in which they were found. Files that a sync found unchanged are counted, and not listed.',
  params: jobParameter,
  query: Type.Object({
    state: Type.Optional(oneOf(JOB_FILE_STATES, 'Only those in this state.', { examples: ['failed'] })),
    limit: limit(1000, 100),
    cursor: cursorParameter('`nextCursor` of the page before.'),
  }),
  answer: {
    description: 'One page.',
    schema: object('JobFilesAnswer', {
      files: listOf(jobFileSchema, 'In the order in which they were found.'),
      nextCursor: textOrNull('Where the next page begins; null at the end.'),
    }),
    example: {
      files: [{ path: '2026/january.csv', state: 'done', action: 'copy', size: 48213, error: null, errorCode: null }],
      nextCursor: null,
    },
  },
  errors: ['unknown_item'],
}).handle(async ({ caller, params, query }, { jobs }: ApiServices) => {
  const { state, limit: most, cursor = '0' } = query;
  if (!/^\d{1,15}$/.test(cursor)) throw refusal('bad_request', 'cursor must be the nextCursor of the page before');
  const files = await jobs.files(caller, params.id, { state, after: Number(cursor), limit: most });
  const last = files.length === most ? files.at(-1) : undefined;
  return { files: files.map(jobFileOf), nextCursor: last === undefined ? null : String(last.ordinal) };
});

const change = (name: 'pause' | 'resume' | 'cancel', summary: string, description: string) =>
  endpoint({
    method: 'POST',
    path: `/api/jobs/:id/${name}`,
    access: 'write',
    operationId: `${name}Job`,
    tag: TAG,
    summary,
    description,
    params: jobParameter,
    answer: { schema: jobAnswer, example: { job: jobExample } },
    errors: ['unknown_item', 'not_running'],
  }).handle(async ({ caller, params }: { caller: Caller; params: { readonly id: string } }, { jobs }: ApiServices) => ({
    job: jobOf(await jobs.change(caller, params.id, name)),
  }));

export const pauseJob = change('pause', 'Pause a job', 'Files that are under way are done; no other begins.');
export const resumeJob = change('resume', 'Resume a job', 'It goes on where it was paused.');
export const cancelJob = change(
  'cancel',
  'Cancel a job',
  'Files that are under way are taken back; what is done stays.',
);

export const retryJob = endpoint({
  method: 'POST',
  path: '/api/jobs/:id/retry',
  access: 'write',
  operationId: 'retryJob',
  tag: TAG,
  summary: 'Do the failed files of a job again',
  description: 'A new job of those files that failed, or that it never came to.',
  params: jobParameter,
  answers: {
    202: {
      description: 'The new job.',
      headers: ['Location'],
      content: jsonContent(jobAnswer, { job: { job: jobExample } }),
    },
  },
  errors: ['unknown_item', 'not_running', 'in_use', 'plan_required', 'share_exceeded'],
}).handle(async ({ caller, params }, { jobs }: ApiServices) => accepted(await jobs.retry(caller, params.id)));

export const watchJob = endpoint({
  method: 'GET',
  path: '/api/jobs/:id/events',
  access: 'any',
  operationId: 'watchJob',
  tag: TAG,
  summary: 'Watch a job',
  description:
    'Server-sent events: `job` at once and whenever something has changed, twice a second at most; `file` for files as they end, which passes over some where many end at once. The stream ends with the job.',
  params: jobParameter,
  answers: {
    200: {
      description: 'The stream.',
      headers: ['X-Accel-Buffering'],
      content: {
        'text/event-stream': {
          schema: { type: 'string' },
          examples: { event: { value: `event: job\ndata: ${JSON.stringify(jobExample)}\n\n` } },
        },
      },
    },
  },
  errors: ['unknown_item', 'rate_limited'],
}).handle(async ({ caller, params, stillOpens }, { jobs, jobEvents }: ApiServices) => {
  const job = await jobs.get(caller, params.id);
  return {
    status: 200,
    // No proxy in between may gather events.
    headers: { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' },
    body: { stream: jobEvents.watch(job, stillOpens), length: undefined },
  };
});
