/** The options of a job on the command line: one for each option of the gateway that the job's type knows. */
import type { Command, Option } from 'commander';
import { jobOptionFields } from '../contract/job.js';
import { JOB_OPTION_NAMES, JOB_OPTIONS, type JobOption, knowsOption } from '../contract/job-options.js';
import type { NewJob } from '../client/index.js';
import { UsageError } from './exit-codes.js';
import { fieldOptionsOf } from './field-options.js';

const OPTIONS = Object.fromEntries(
  fieldOptionsOf(jobOptionFields).map(({ field, option }) => [field, option]),
) as Readonly<Record<JobOption, Option>>;

/** The options given on the command line, by commander's names. */
type Given = Readonly<Record<string, unknown>>;

export function withJobOptions(
  command: Command,
  types: readonly NewJob['type'][],
  without: readonly JobOption[] = [],
): Command {
  for (const name of JOB_OPTION_NAMES) {
    if (without.includes(name) || !types.some((type) => knowsOption(type, name))) continue;
    command.addOption(OPTIONS[name]);
  }
  return command;
}

/** An option that only a job knows must not be ignored silently, above all a dry run. @throws UsageError */
export function refuseJobOptions(options: object): void {
  const given = JOB_OPTION_NAMES.map((name) => OPTIONS[name]).find((one) => valueOf(one, options) !== undefined);
  const word = given?.long ?? ((options as Given)['detach'] === undefined ? undefined : '--detach');
  if (word !== undefined) throw new UsageError(`${word} needs -r`);
}

/** @throws UsageError for an option that the type does not know */
export function jobOptionsOf(type: NewJob['type'], options: object): Pick<NewJob, JobOption> {
  const given = JOB_OPTION_NAMES.filter((name) => valueOf(OPTIONS[name], options) !== undefined);
  const other = given.find((name) => !knowsOption(type, name));
  if (other !== undefined) {
    throw new UsageError(
      `${OPTIONS[other].long ?? other} is of ${JOB_OPTIONS[other].join(' and ')}, and not of ${type}`,
    );
  }
  return Object.fromEntries(given.map((name) => [name, valueOf(OPTIONS[name], options)]));
}

function valueOf(option: Option, options: object): unknown {
  return (options as Given)[option.attributeName()];
}
