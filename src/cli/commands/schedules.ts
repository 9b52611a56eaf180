/** `ftg schedules`: jobs that start at set times. */
import type { NewJob, Schedule } from '../../client/index.js';
import { type Arguments, deletes, type Session, shows } from '../command.js';
import { scheduleFields } from '../../contract/schedule.js';
import { UsageError } from '../exit-codes.js';
import { givenFieldsOf } from '../field-options.js';
import { follow } from '../follow.js';
import { fields, listed, placeText, timeText } from '../output.js';
import type { FollowOptions } from './jobs.js';
import { orderOf } from './trees.js';

export const listSchedules = shows(
  async ({ gateway, signal }) => ({ schedules: await gateway.files.schedules.list({ signal }) }),
  ({ schedules }) =>
    listed(
      schedules,
      {
        ID: 'id',
        NAME: 'name',
        CRON: 'cron',
        ZONE: 'timeZone',
        STATE: stateOf,
        TYPE: ({ job }) => job.type,
        FROM: ({ job }) => placeText(job.source),
        TO: ({ job }) => (job.destination === null ? null : placeText(job.destination)),
        NEXT: ({ nextRuns }) => timeText(nextRuns[0]),
        LAST: 'lastRunAt',
        ERROR: 'error',
      },
      'no schedules',
    ),
);

const stateOf = ({ isActive }: Schedule): string => (isActive ? 'active' : 'paused');

interface TimeOptions {
  readonly name?: string;
  readonly cron?: string;
  readonly timeZone?: string;
}

export async function addSchedule(
  { gateway, out, signal }: Session,
  [type = '', from = '', to]: Arguments,
  { name, cron = '', timeZone, ...options }: TimeOptions,
): Promise<void> {
  if ((type === 'delete') !== (to === undefined)) {
    throw new UsageError(type === 'delete' ? 'delete takes one place' : `${type} needs a place to go to`);
  }
  const schedule = await gateway.files.schedules.create(
    {
      name: name ?? [type, from, to].join(' ').trim(),
      cron,
      ...(timeZone === undefined ? {} : { timeZone }),
      job: orderOf(type as NewJob['type'], from, to, options),
    },
    { signal },
  );
  out.show({ schedule }, () => shown(schedule));
}

export const previewSchedule = shows(
  async ({ gateway, signal }, _, { cron = '', timeZone }: TimeOptions) => {
    const times = { cron, ...(timeZone === undefined ? {} : { timeZone }) };
    return { nextRuns: await gateway.files.schedules.preview(times, { signal }) };
  },
  ({ nextRuns }) => nextRuns.map(timeText).join('\n'),
);

/** Omitted options change nothing. */
export const editSchedule = shows(
  async ({ gateway, signal }, [id = ''], options: object) => ({
    schedule: await gateway.files.schedules.change(id, givenFieldsOf(scheduleFields, options), { signal }),
  }),
  ({ schedule }) => shown(schedule),
);

export const switchSchedule = (isActive: boolean) =>
  shows(
    async ({ gateway, signal }, [id = '']) => ({
      schedule: await gateway.files.schedules.change(id, { isActive }, { signal }),
    }),
    ({ schedule }) => `${schedule.name} is ${stateOf(schedule)}`,
  );

export const removeSchedule = deletes(({ gateway, signal }, id) => gateway.files.schedules.delete(id, { signal }));

export async function runSchedule(session: Session, [id = '']: Arguments, options: FollowOptions): Promise<void> {
  const { gateway, out, signal } = session;
  const job = await gateway.files.schedules.run(id, { signal });
  if (options.detach === true) return out.show({ job }, () => job.id);
  await follow(session, job, options);
}

function shown({ nextRuns, ...schedule }: Schedule): string {
  return fields({ ...schedule, nextRuns: nextRuns.map(timeText).join(', ') });
}
