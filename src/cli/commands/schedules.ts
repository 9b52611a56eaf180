/** `ftg schedules`: jobs that begin by the clock. */
import type { NewJob, Schedule } from '../../client/index.js';
import type { Arguments, Session } from '../command.js';
import { UsageError } from '../exit-codes.js';
import { follow } from '../follow.js';
import { fields, table, timeText } from '../output.js';
import type { FollowOptions } from './jobs.js';
import { orderOf } from './trees.js';

export async function listSchedules({ gateway, out, signal }: Session): Promise<void> {
  const schedules = await gateway.files.schedules.list({ signal });
  out.show({ schedules }, () => {
    const rows = schedules.map(({ id, name, cron, timeZone, isActive, job, nextRuns, lastRunAt, error }) => [
      id,
      name,
      cron,
      timeZone,
      isActive ? 'active' : 'paused',
      job.type,
      placeText(job.source),
      job.destination === null ? '-' : placeText(job.destination),
      timeText(nextRuns[0]),
      timeText(lastRunAt),
      error,
    ]);
    const heads = ['ID', 'NAME', 'CRON', 'ZONE', 'STATE', 'TYPE', 'FROM', 'TO', 'NEXT', 'LAST', 'ERROR'];
    return table(heads, rows, 'no schedules');
  });
}

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

export async function previewSchedule(
  { gateway, out, signal }: Session,
  _: Arguments,
  { cron = '', timeZone }: TimeOptions,
): Promise<void> {
  const times = { cron, ...(timeZone === undefined ? {} : { timeZone }) };
  const nextRuns = await gateway.files.schedules.preview(times, { signal });
  out.show({ nextRuns }, () => nextRuns.map(timeText).join('\n'));
}

/** What is not said stays. */
export async function editSchedule(
  { gateway, out, signal }: Session,
  [id = '']: Arguments,
  { name, cron, timeZone }: TimeOptions,
): Promise<void> {
  const said = Object.entries({ name, cron, timeZone }).filter(([, value]) => value !== undefined);
  const schedule = await gateway.files.schedules.change(id, Object.fromEntries(said), { signal });
  out.show({ schedule }, () => shown(schedule));
}

export function switchSchedule(isActive: boolean) {
  return async ({ gateway, out, signal }: Session, [id = '']: Arguments): Promise<void> => {
    const schedule = await gateway.files.schedules.change(id, { isActive }, { signal });
    out.show({ schedule }, () => `${schedule.name} is ${schedule.isActive ? 'active' : 'paused'}`);
  };
}

export async function removeSchedule({ gateway, out, signal }: Session, [id = '']: Arguments): Promise<void> {
  await gateway.files.schedules.delete(id, { signal });
  out.show({ success: true }, () => `${id} is gone`);
}

export async function runSchedule(session: Session, [id = '']: Arguments, options: FollowOptions): Promise<void> {
  const { gateway, out, signal } = session;
  const job = await gateway.files.schedules.run(id, { signal });
  if (options.detach === true) return out.show({ job }, () => job.id);
  await follow(session, job, options);
}

function shown({ nextRuns, ...schedule }: Schedule): string {
  return fields({ ...schedule, nextRuns: nextRuns.map(timeText).join(', ') });
}

function placeText({ connectionId, path }: Schedule['job']['source']): string {
  return `${connectionId}:${path}`;
}
