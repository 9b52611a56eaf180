/** Schedules: jobs that start at set times. */
import { setImmediate as turn } from 'node:timers/promises';
import { Type } from 'typebox';
import { type Schedule, scheduleExample, scheduleFields } from '../../contract/schedule.js';
import { dateTime, described, listOf, object, text } from '../../contract/schema.js';
import { changedFields, exampleOf, newFields, type Reader, shownFields, viewOf } from '../../contract/thing.js';
import { nextRunsOf, runsAfter } from '../../jobs/schedules.js';
import { endpoints } from '../endpoint.js';
import { successAnswer } from '../fields.js';
import { ID } from '../../contract/examples.js';
import { actorOf, type Services } from '../services.js';
import { JOB_ID, shownJobExample, keyNamesOf } from './job.js';
import { newJob, jobOrderOf } from './jobs.js';
import { accepted, acceptedAnswers } from './respond-async.js';

const scheduleSchema = object('Schedule', shownFields(scheduleFields, 'key'));

const parameter = { id: text('Identifier of a schedule.', { minLength: 1, examples: [scheduleExample.id] }) };

const example = exampleOf(scheduleFields, scheduleExample, 'key');

/** A schedule with the values that are not in its row. */
function shownSchedule(row: Schedule) {
  return { ...row, job: { ...row.definition, name: row.jobName }, nextRuns: nextRunsOf(row) };
}

const scheduleOf = (row: Schedule) => viewOf(scheduleFields, shownSchedule(row), 'key');

/**
 * Builds views one by one: the times of a rare cron take milliseconds, and a hundred of them must not delay other
 * requests.
 */
async function viewsOf(services: Services, reader: Reader, rows: readonly Schedule[]): Promise<View[]> {
  const keyOf = reader === 'owner' ? await keyNamesOf(services.storage.keys, rows) : () => null;
  const views: View[] = [];
  for (const row of rows) {
    views.push(viewOf(scheduleFields, { ...shownSchedule(row), key: keyOf(row) }, reader));
    await turn();
  }
  return views;
}

type View = Readonly<Record<string, unknown>>;

const ownersSchedule = {
  schema: object('ManagedSchedule', shownFields(scheduleFields, 'owner')),
  example: exampleOf(
    scheduleFields,
    {
      ...scheduleExample,
      lastRunAt: '2026-01-30T01:30:00.000Z',
      lastJobId: JOB_ID,
      lastDueAt: '2026-01-30T01:30:00.000Z',
      lastJob: { id: JOB_ID, state: 'succeeded', failed: 0, error: null, errorCode: null },
      key: { id: ID, name: 'nightly export' },
    },
    'owner',
  ),
};

const scheduleAnswer = object('ScheduleAnswer', { schedule: described(scheduleSchema, 'The schedule, as it is now.') });

const { cron, timeZone } = newFields(scheduleFields);

const errors = ['plan_required', 'unknown_connection', 'connection_inactive', 'address_denied'] as const;

const endpoint = endpoints({ key: 'Schedules', owner: 'Jobs' }, parameter);
export const scheduleEndpoints = endpoint.all;

endpoint('GET /api/schedules', {
  access: 'any',
  isEssential: true,
  operationId: 'listSchedules',
  summary: 'List schedules',
  description: 'All schedules of the connections that this API key may use, oldest first.',
  answer: {
    description: 'The schedules.',
    schema: object('SchedulesAnswer', { schedules: listOf(scheduleSchema, 'Oldest first.') }),
    example: { schedules: [example] },
  },
  owner: {
    operationId: 'listManagedSchedules',
    description: 'Oldest first.',
    answer: {
      schema: object('ManagedSchedulesAnswer', { schedules: listOf(ownersSchedule.schema, 'Oldest first.') }),
      example: { schedules: [ownersSchedule.example] },
    },
  },
}).handle(async ({ caller }, services, reader) => ({
  schedules: await viewsOf(services, reader, await services.schedules.list(caller)),
}));

endpoint('GET /api/schedules/:id', {
  access: 'any',
  isEssential: true,
  operationId: 'getSchedule',
  summary: 'Show a schedule',
  description: 'One of the connections that this API key may use.',
  answer: { description: 'As it is now.', schema: scheduleAnswer, example: { schedule: example } },
  errors: ['unknown_item'],
  owner: { operationId: 'showSchedule', description: 'As it is now.', answer: ownersSchedule },
}).handle(async ({ caller, params }, services, reader) => {
  const [schedule] = await viewsOf(services, reader, [await services.schedules.get(caller, params.id)]);
  return reader === 'owner' ? { ...schedule } : { schedule };
});

endpoint('POST /api/schedules', {
  access: 'write',
  operationId: 'createSchedule',
  summary: 'Create a schedule',
  description:
    'Begins a job whenever its cron comes. A run is left out while the one before has not ended; runs that were missed, because no gateway ran, are one run. Its jobs are those of the API key: a key that is revoked, expires or loses its rights stops the schedule, until another key changes it.',
  body: object('NewSchedule', {
    ...newFields(scheduleFields),
    job: described(newJob, 'What it begins, as in `POST /api/jobs`.'),
  }),
  bodyExamples: {
    nightly: {
      name: 'Nightly',
      cron: '30 2 * * 1-5',
      timeZone: 'Europe/Berlin',
      job: {
        type: 'sync',
        source: { connectionId: 'warehouse', path: '/reports' },
        destination: { connectionId: 'lake', path: '/reports' },
      },
    },
  },
  answer: { status: 201, description: 'It is made.', schema: scheduleAnswer, example: { schedule: example } },
  isRemote: true,
  errors: [...errors, 'share_exceeded'],
}).handle(async (input, services) => {
  const { caller, body, request } = input;
  const fields = { ...body, job: await jobOrderOf(services, caller, body.job) };
  return { schedule: scheduleOf(await services.schedules.create(actorOf(input), caller, fields, request.ending)) };
});

endpoint('POST /api/schedules/preview', {
  access: 'any',
  operationId: 'previewSchedule',
  summary: 'Preview the times of a schedule',
  description: 'The next five times of a cron, before a schedule is made of it. Nothing is kept.',
  body: object('NewPreview', { cron, timeZone }),
  bodyExamples: { nightly: { cron: '30 2 * * 1-5', timeZone: 'Europe/Berlin' } },
  answer: {
    description: 'The times.',
    schema: object('PreviewAnswer', { nextRuns: listOf(dateTime('A time.'), 'The next five.') }),
    example: { nextRuns: scheduleExample.nextRuns },
  },
}).handle(async ({ body: { cron, timeZone } }) => ({
  nextRuns: runsAfter(new Date(), cron, timeZone).map((time) => time.toISOString()),
}));

endpoint('PATCH /api/schedules/:id', {
  access: 'write',
  operationId: 'changeSchedule',
  summary: 'Change a schedule',
  description:
    'Fields that are absent stay; `job` is replaced whole. From now on its jobs belong to the API key that changed it. A running job continues as it began. `isActive: true` starts a schedule again that stopped by itself, and clears its `error`.',
  body: object('ScheduleChanges', {
    ...changedFields(scheduleFields),
    job: Type.Optional(described(newJob, 'What it begins, as in `POST /api/jobs`.')),
  }),
  bodyExamples: { pause: { isActive: false } },
  answer: { description: 'As it is from now on.', schema: scheduleAnswer, example: { schedule: example } },
  isRemote: true,
  errors: [...errors, 'unknown_item'],
}).handle(async (input, services) => {
  const { caller, params, body, request } = input;
  const job = body.job === undefined ? undefined : await jobOrderOf(services, caller, body.job);
  const fields = { ...body, job };
  const edited = await services.schedules.edit(actorOf(input), caller, params.id, fields, request.ending);
  return { schedule: scheduleOf(edited) };
});

endpoint('DELETE /api/schedules/:id', {
  access: 'write',
  operationId: 'deleteSchedule',
  summary: 'Delete a schedule',
  description: 'Jobs that it has begun continue, and their `scheduleId` is null.',
  answer: { description: 'It is gone.', schema: successAnswer, example: { success: true } },
  errors: ['unknown_item'],
}).handle(async (input, { schedules }) => {
  await schedules.remove(actorOf(input), input.caller, input.params.id);
  return { success: true as const };
});

endpoint('POST /api/schedules/:id/run', {
  access: 'write',
  operationId: 'runSchedule',
  summary: 'Run a schedule now',
  description: 'Begins its job out of turn, whether it is switched on or not. 409 while a run of it has not ended.',
  answers: acceptedAnswers('It has begun, or waits for others of the account.', {
    ...shownJobExample,
    scheduleId: scheduleExample.id,
  }),
  errors: ['unknown_item', 'plan_required', 'in_use', 'share_exceeded'],
}).handle(async ({ caller, params }, { schedules }) => accepted(await schedules.run(caller, params.id)));
