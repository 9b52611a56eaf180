/** Schedules as their owner sees them: whose they are, and how their last run went. They are made and changed by the API for programs. */
import { type Schedule, scheduleFields } from '../../../contract/schedule.js';
import { listOf, object } from '../../../contract/schema.js';
import { shownFields, viewOf } from '../../../contract/thing.js';
import type { Caller } from '../../../http/types.js';
import { JOB_ID } from '../../jobs/job.js';
import { scheduleExample, shownSchedule, viewsOf } from '../../jobs/schedules.js';
import { ID } from '../fields.js';
import { type ManageServices, ownerEndpoints } from '../services.js';

const endpoint = ownerEndpoints('Jobs');

const managedSchedule = object('ManagedSchedule', shownFields(scheduleFields, 'owner'));

const sample = {
  ...scheduleExample,
  ...{ lastRunAt: '2026-01-30T01:30:00.000Z', lastJobId: JOB_ID, lastDueAt: '2026-01-30T01:30:00.000Z' },
  lastJob: { id: JOB_ID, state: 'succeeded', failed: 0, error: null },
  key: { id: ID, name: 'nightly export' },
};

export const listSchedules = endpoint('GET /manage/schedules', {
  operationId: 'listManagedSchedules',
  summary: 'List schedules',
  description: 'Oldest first.',
  answer: {
    schema: object('ManagedSchedulesAnswer', { schedules: listOf(managedSchedule, 'Oldest first.') }),
    example: { schedules: [sample] },
  },
}).handle(async ({ caller }, services) => {
  const found = await services.schedules.list(caller);
  return { schedules: await viewsOf(found, await viewer(services, caller, found)) };
});

export const showSchedule = endpoint('GET /manage/schedules/:id', {
  operationId: 'showSchedule',
  summary: 'Show a schedule',
  description: 'As it is now.',
  answer: { schema: managedSchedule, example: sample },
  errors: ['unknown_item'],
}).handle(async ({ caller, params }, services) => {
  const found = await services.schedules.get(caller, params.id);
  const viewOf = await viewer(services, caller, [found]);
  return viewOf(found);
});

/** Shows these schedules, with the names of their keys. */
async function viewer(
  { storage }: ManageServices,
  { accountId }: Caller,
  schedules: readonly Schedule[],
): Promise<(schedule: Schedule) => Readonly<Record<string, unknown>>> {
  const keyIds = new Set(schedules.flatMap(({ keyId }) => (keyId === null ? [] : [keyId])));
  const names = await storage.management.keys.names(accountId, [...keyIds]);
  return (schedule) => {
    const { keyId } = schedule;
    const name = keyId === null ? undefined : names.get(keyId);
    const key = keyId === null || name === undefined ? null : { id: keyId, name };
    return viewOf(scheduleFields, { ...shownSchedule(schedule), key }, 'owner');
  };
}
