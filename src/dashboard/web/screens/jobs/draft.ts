/** The settings of a job, and the requests that contain them. */
import { JOB_OPTIONS, type JobOption, knowsOption } from '../../../../contract/job-options.ts';
import type { Job, NewJob, RepeatableJob, Schedule } from '../../api/types.ts';
import type { Draft } from '../../ui/draft.ts';

/** The fields of a job that a repetition needs. */
type RepeatedJob = Pick<RepeatableJob, 'type' | 'name' | 'source' | 'destination' | 'settings'>;

/** The job of a schedule in the form of a started job. */
export function jobOfSchedule({ job }: Schedule): RepeatedJob {
  const { type, name, source, destination, ...settings } = job;
  return { type, name, source, destination, settings };
}

/** The fields as a request has them: options and other fields at one level. */
export function flatFields({ type, name, source, destination, settings }: RepeatedJob): object {
  return { type, name, source, destination, ...settings };
}

const isOption = (name: string): name is JobOption => name in JOB_OPTIONS;

/** Whether a field applies to the type of the job and the other answers. */
export function asksJob(name: string, draft: Draft): boolean {
  const type = String(draft['type']);
  if (name === 'destination') return type !== 'delete';
  if (name === 'allowEmptySource' && draft['deleteExtra'] !== true) return false;
  return !isOption(name) || knowsOption(type, name);
}

/** Whether the job deletes files. If so, its dry run is shown first. */
export function deletes({ type, deleteExtra }: Draft): boolean {
  return type === 'delete' || (type === 'sync' && deleteExtra === true);
}

/** The request that repeats the job. */
export function repeatRequest({ type, name, source, destination, settings }: RepeatedJob, dryRun: boolean): NewJob {
  const places = { source, ...(destination === null ? {} : { destination }) };
  return { ...known(type, { ...settings, dryRun }), type, name, ...places };
}

/** Removes options that the type does not know. */
function known(type: NewJob['type'], options: Partial<Job['settings']>): Partial<Job['settings']> {
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => value !== undefined && isOption(name) && knowsOption(type, name)),
  );
}
