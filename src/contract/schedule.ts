/** A schedule: jobs that start at set times. */
import { TIME } from './examples.js';
import { shownKey } from './api-key.js';
import { JOB_STATES, jobExample, jobOptionFields, type OrderDefinition, place, sourcePlace } from './job.js';
import { ORDER_TYPES } from './job-options.js';
import {
  count,
  dateTime,
  dateTimeOrNull,
  described,
  flag,
  group,
  listOf,
  object,
  oneOf,
  orNull,
  text,
  textOrNull,
} from './schema.js';
import {
  derived,
  type ExampleOf,
  given,
  hidden,
  kept,
  needed,
  type RowOf,
  type SettingsOf,
  shownFields,
} from './thing.js';

const scheduledJob = object('ScheduledJob', {
  type: oneOf(ORDER_TYPES, 'What is done.'),
  source: sourcePlace('Where the files are.'),
  destination: orNull(place('Where they go.'), 'null of a deletion.'),
  ...shownFields(jobOptionFields, 'key'),
  name: textOrNull('The name of the jobs; null = that of the schedule.'),
});

export const scheduleFields = {
  id: kept(text('Identifier.')),
  accountId: hidden<string>(),
  keyId: hidden<string | null>(),
  name: needed(text('For people.', { minLength: 1, maxLength: 200 }), {
    texts: { label: 'Name', hint: 'Its jobs get this name too. Empty: the action and the folder.' },
    option: { flags: '--name <name>', help: 'for people' },
  }),
  cron: needed(
    text(
      'Five fields: minute, hour, day of the month, month, day of the week; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.',
      { minLength: 1, maxLength: 200 },
    ),
    {
      texts: { label: 'Cron', hint: 'Minute, hour, day of the month, month, day of the week.' },
      option: { flags: '--cron <cron>', help: 'when, such as "30 2 * * 1-5" or @daily' },
    },
  ),
  timeZone: given(
    text('Name of a time zone (IANA) whose local time the cron means.', { minLength: 1, maxLength: 64 }),
    {
      texts: { label: 'Time zone', hint: 'Such as Europe/Berlin. It follows daylight saving time.' },
      option: {
        flags: '--time-zone <zone>',
        help: 'whose local time the cron means, such as Europe/Berlin; UTC when absent',
      },
      default: 'UTC',
    },
  ),
  isActive: given(flag('Whether it is switched on.'), { texts: { label: 'Active' }, default: true }),
  job: derived(described(scheduledJob, 'What it begins.')),
  jobName: hidden<string | null>(),
  definition: hidden<OrderDefinition>(),
  nextRuns: derived(listOf(dateTime('A time.'), 'The next five; none while it is switched off.')),
  nextRunAt: hidden<Date | null>(),
  lastRunAt: kept(dateTimeOrNull('When it began a job last.')),
  lastDueAt: kept(dateTimeOrNull('When that run was due; null = it began out of turn.'), { isOwners: true }),
  /** The latest due time that was decided, by a run or by skipping it. */
  decidedDueAt: hidden<Date | null>(),
  lastJobId: kept(textOrNull('That job.')),
  /** Computed by the reading statement. */
  lastJob: kept(
    orNull(
      group(
        {
          id: text('Its id.'),
          state: oneOf(JOB_STATES, 'As it is now.'),
          failed: count('Files that failed.'),
          error: textOrNull('What ended all of it.'),
          errorCode: textOrNull('The code of that.'),
        },
        'The job.',
      ),
      'The job that it began last; null = none, or no longer kept.',
    ),
    { isOwners: true },
  ),
  lastSkippedAt: kept(dateTimeOrNull('When a run was left out last.')),
  error: kept(textOrNull('Why the last run was left out, or why the schedule has stopped.'), {
    column: 'errorMessage',
  }),
  errorCode: kept(textOrNull('The code of that; null = unknown.')),
  createdAt: kept(dateTime('When it was created.')),
  key: derived(shownKey('The API key whose rights its jobs have; null = those of the owner.'), { isOwners: true }),
};

type Fields = typeof scheduleFields;
export type Schedule = RowOf<Fields>;
export type ScheduleSettings = Pick<Schedule, keyof SettingsOf<Fields> | 'jobName' | 'definition'>;

export const scheduleExample = {
  id: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1e001',
  name: 'Nightly',
  cron: '30 2 * * 1-5',
  timeZone: 'Europe/Berlin',
  job: {
    type: 'sync',
    source: jobExample.source,
    destination: jobExample.destination,
    ...jobExample.settings,
    name: null,
  },
  nextRuns: ['2026-02-02', '2026-02-03', '2026-02-04', '2026-02-05', '2026-02-06'].map((day) => `${day}T01:30:00.000Z`),
  createdAt: TIME,
} as const satisfies ExampleOf<typeof scheduleFields>;
