/** Jobs: copy, move, delete or synchronize whole folders. */
import { type Static, Type } from 'typebox';
import { refusal } from '../../base/errors.js';
import { isUuid } from '../../base/uuid.js';
import {
  JOB_OPTION_NAMES,
  JOB_OPTIONS,
  type JobOption,
  ORDER_TYPES,
  type OrderType,
} from '../../contract/job-options.js';
import { jobOptionFields } from '../../contract/job.js';
import { JOB_CHANGES, type JobChange } from '../../contract/job-states.js';
import { jobFileFilters, jobFilters, queryOf } from '../../contract/filters.js';
import { limit } from '../../contract/paging.js';
import { listOf, object, oneOf, text, textOrNull } from '../../contract/schema.js';
import { connectionId, rawName, remotePath } from '../../contract/file-request.js';
import { newFields } from '../../contract/thing.js';
import type { Caller } from '../../http/types.js';
import type { JobOrder } from '../../jobs/service.js';
import { endpoints, eventsAnswers, eventStream } from '../endpoint.js';
import { CLOSED, cursor, nextCursor, page, periodOf } from '../fields.js';
import { ID } from '../../contract/examples.js';
import { badField, connectionOf, requireCursor, type Services } from '../services.js';
import {
  JOB_ID,
  jobAnswer,
  shownJobExample,
  jobFileOf,
  jobFileSchema,
  jobOf,
  jobSchema,
  jobViewer,
  ownersJob,
} from './job.js';
import { accepted, acceptedAnswers } from './respond-async.js';

const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

const placeFields = { connectionId: connectionId(), path: Type.Optional(remotePath()) };

export const newJob = object('NewJob', {
  type: oneOf(ORDER_TYPES, 'What is to be done. `sync` brings what is new or changed.'),
  source: object(
    'JobSource',
    { ...placeFields, rawName: Type.Optional(rawName()) },
    { description: 'The folder, or the one file; the default path of the connection when absent.' },
  ),
  destination: Type.Optional(
    object('JobDestination', placeFields, { description: 'The folder that takes the files. Not of a `delete`.' }),
  ),
  ...newFields(jobOptionFields),
  name: Type.Optional(textOrNull('For people.', { minLength: 1, maxLength: 200 })),
});

const endpoint = endpoints('Jobs', { id: text('Identifier of a job.', { minLength: 1, examples: [JOB_ID] }) });
export const jobEndpoints = endpoint.all;

endpoint('POST /api/jobs', {
  access: 'write',
  operationId: 'createJob',
  summary: 'Begin a job',
  description:
    'Copies, moves, deletes or syncs a whole folder. The job continues on another node if its node dies. Each file is one item of the history and counts as one action. A job that reads a source also needs the scope `read`.',
  body: newJob,
  bodyExamples: {
    copy: {
      type: 'copy',
      source: { connectionId: 'warehouse', path: '/reports' },
      destination: { connectionId: 'lake', path: '/reports' },
      exclude: ['*.tmp'],
    },
  },
  answers: acceptedAnswers('It has begun, or waits for others of the account.'),
  isRemote: true,
  errors: ['plan_required', 'quota_exceeded', 'share_exceeded', 'address_denied'],
}).handle(async ({ caller, body, request }, services) =>
  accepted(await services.jobs.create(caller, await jobOrderOf(services, caller, body), { signal: request.ending })),
);

/** @throws GatewayError bad_request, unknown_connection, forbidden */
export async function jobOrderOf(services: Services, caller: Caller, body: Static<typeof newJob>): Promise<JobOrder> {
  const { source, destination, name = null, webhookUrl = null, ...rest } = body;
  refuseOthers(body);
  if (body.type === 'delete' && destination !== undefined) {
    throw refusal('bad_request', 'destination is not for jobs of the type delete');
  }
  if (body.type !== 'delete' && destination === undefined) {
    throw refusal('bad_request', `destination is needed for jobs of the type ${body.type}`);
  }
  const placeOf = async ({ connectionId: id, path }: { connectionId: string; path?: string }) => ({
    connection: await connectionOf(services, caller, id),
    path,
  });
  const from = { ...(await placeOf(source)), rawName: source.rawName };
  const to = destination === undefined ? undefined : await placeOf(destination);
  return { ...rest, name, webhookUrl, source: from, destination: to };
}

const TYPES_OF: Readonly<Record<JobOption, readonly OrderType[]>> = JOB_OPTIONS;

/**
 * An option with its default value counts as absent. @throws GatewayError bad_request for an option that the type does
 * not know
 */
function refuseOthers(body: Static<typeof newJob>): void {
  const { type } = body;
  for (const option of JOB_OPTION_NAMES) {
    const usual: unknown = jobOptionFields[option].default;
    const value = body[option];
    if (TYPES_OF[option].includes(type) || value === undefined || value === usual) continue;
    throw refusal('bad_request', `${option} is for jobs of the type ${TYPES_OF[option].join(' or ')}, not ${type}`);
  }
}

endpoint('GET /api/jobs', {
  access: 'any',
  isEssential: true,
  operationId: 'listJobs',
  summary: 'List jobs',
  description: 'Jobs of the connections that this API key may use, newest first.',
  query: Type.Object({ ...queryOf(jobFilters), limit: limit(100, 20), cursor: cursor(JOB_ID, { pattern: UUID }) }),
  answer: {
    description: 'One page.',
    schema: page('JobsAnswer', { jobs: listOf(jobSchema, 'Newest first.') }, 'null at the end.'),
    example: { jobs: [shownJobExample], nextCursor: null },
  },
  owner: {
    operationId: 'listManagedJobs',
    description: 'Newest first.',
    query: Type.Object({ ...queryOf(jobFilters), limit: limit(100, 20), cursor: cursor(ID) }, CLOSED),
    answer: {
      schema: page('ManagedJobsAnswer', { jobs: listOf(ownersJob.schema, 'Newest first.') }),
      example: { jobs: [ownersJob.example], nextCursor: null },
    },
  },
}).handle(async ({ caller, query }, services, reader) => {
  requireCursor(query.cursor);
  if (query.scheduleId !== undefined && !isUuid(query.scheduleId)) {
    throw badField('scheduleId', 'must be the id of a schedule');
  }
  const found = await services.jobs.list(caller, { ...query, ...periodOf(query) });
  const viewOf = await jobViewer(services.storage.keys, reader, found);
  return { jobs: found.map(viewOf), nextCursor: nextCursor(found, query.limit, ({ id }) => id) };
});

endpoint('GET /api/jobs/:id', {
  access: 'any',
  isEssential: true,
  operationId: 'getJob',
  summary: 'Look at a job',
  description: 'A job, as it is now.',
  answer: { schema: jobAnswer, example: { job: shownJobExample } },
  errors: ['unknown_item'],
  owner: { operationId: 'showJob', summary: 'Show a job', description: 'As it is now.', answer: ownersJob },
}).handle(async ({ caller, params }, services, reader) => {
  const job = await services.jobs.get(caller, params.id);
  const shown = (await jobViewer(services.storage.keys, reader, [job]))(job);
  return reader === 'owner' ? shown : { job: shown };
});

endpoint('GET /api/jobs/:id/files', {
  access: 'any',
  isEssential: true,
  operationId: 'listJobFiles',
  summary: 'List the files of a job',
  description: 'In the order in which they were found. Files that a sync found unchanged are counted, and not listed.',
  query: Type.Object({
    ...queryOf(jobFileFilters),
    limit: limit(1000, 100),
    cursor: cursor('1200'),
  }),
  answer: {
    description: 'One page.',
    schema: page(
      'JobFilesAnswer',
      { files: listOf(jobFileSchema, 'In the order in which they were found.') },
      'null at the end.',
    ),
    example: {
      files: [{ path: '2026/january.csv', state: 'done', action: 'copy', size: 48213, error: null, errorCode: null }],
      nextCursor: null,
    },
  },
  errors: ['unknown_item'],
}).handle(async ({ caller, params, query }, { jobs }) => {
  const { state, limit, cursor = '0' } = query;
  if (!/^\d{1,15}$/.test(cursor)) throw badField('cursor', 'must be the nextCursor of the page before');
  const files = await jobs.files(caller, params.id, { state, after: Number(cursor), limit });
  return { files: files.map(jobFileOf), nextCursor: nextCursor(files, limit, ({ ordinal }) => String(ordinal)) };
});

const CHANGES = {
  pause: ['Pause a job', 'Files that are under way are done; no other begins.'],
  resume: ['Resume a job', 'It continues where it was paused.'],
  cancel: ['Cancel a job', 'Files that are under way are taken back; what is done stays.'],
} as const satisfies Readonly<Record<JobChange, readonly string[]>>;

for (const change of JOB_CHANGES) {
  const [summary, description] = CHANGES[change];
  endpoint(`POST /api/jobs/:id/${change}`, {
    access: 'write',
    operationId: `${change}Job`,
    summary,
    description,
    answer: { schema: jobAnswer, example: { job: shownJobExample } },
    errors: ['unknown_item', 'not_running'],
  }).handle(async ({ caller, params }, { jobs }) => ({ job: jobOf(await jobs.change(caller, params.id, change)) }));
}

endpoint('POST /api/jobs/:id/retry', {
  access: 'write',
  operationId: 'retryJob',
  summary: 'Do the failed files of a job again',
  description: 'A new job of those files that failed, or that it never came to.',
  answers: acceptedAnswers('The new job.'),
  errors: ['unknown_item', 'not_running', 'in_use', 'plan_required', 'share_exceeded'],
}).handle(async ({ caller, params }, { jobs }) => accepted(await jobs.retry(caller, params.id)));

const jobEvent = (example: object) => eventsAnswers('The stream.', `event: job\ndata: ${JSON.stringify(example)}\n\n`);

endpoint('GET /api/jobs/:id/events', {
  access: 'any',
  operationId: 'watchJob',
  summary: 'Watch a job',
  description:
    'Server-sent events: `job` at once and whenever something has changed, twice a second at most; `file` for files as they end, which passes over some where many end at once. The stream ends with the job.',
  answers: jobEvent(shownJobExample),
  errors: ['unknown_item', 'rate_limited'],
  owner: { operationId: 'watchManagedJob', isEssential: false, answers: jobEvent(ownersJob.example) },
}).handle(async ({ caller, params, stillOpens }, services, reader) => {
  const job = await services.jobs.get(caller, params.id);
  return eventStream(services.jobEvents.watch(job, stillOpens, await jobViewer(services.storage.keys, reader, [job])));
});
