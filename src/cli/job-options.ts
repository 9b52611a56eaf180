/** The options of a job as words of a command: one for each that the gateway knows, where the type of the job knows it. */
import { type Command, Option } from 'commander';
import { JOB_OPTION_NAMES, JOB_OPTIONS, type JobOption, knowsOption } from '../contract/job-options.js';
import type { NewJob } from '../client/index.js';
import { UsageError } from './exit-codes.js';
import { age, bytes, gathered, number } from './option-values.js';

export const ORDER_TYPES = ['copy', 'move', 'delete', 'sync'] as const satisfies readonly NewJob['type'][];

const OPTIONS: Readonly<Record<JobOption, Option>> = {
  include: new Option('--include <glob>', 'only these files; may be given several times').argParser(gathered),
  exclude: new Option('--exclude <glob>', 'not these files and folders; may be given several times').argParser(
    gathered,
  ),
  maxDepth: new Option('--max-depth <number>', 'not files further down; 1 = those of the folder itself').argParser(
    number(1, 100),
  ),
  minSize: new Option('--min-size <size>', 'not files of fewer bytes, such as 512K or 10M').argParser(bytes),
  maxSize: new Option('--max-size <size>', 'not files of more bytes').argParser(bytes),
  minAgeSeconds: new Option(
    '--min-age <age>',
    'not files modified less than this ago, such as 90s, 12h or 7d',
  ).argParser(age),
  maxAgeSeconds: new Option('--max-age <age>', 'not files modified more than this ago').argParser(age),
  onConflict: new Option('--on-conflict <rule>', 'what to do with a file that exists').choices([
    ...(['replace', 'skip', 'newer', 'rename', 'fail'] satisfies NewJob['onConflict'][]),
  ]),
  compare: new Option('--compare <how>', 'how to find changes').choices([
    ...(['size-and-time', 'size', 'digest'] satisfies NewJob['compare'][]),
  ]),
  deleteExtra: new Option('--delete-extra', 'delete what the source does not have, after all else'),
  maxDeletes: new Option('--max-deletes <number>', 'with more to delete, delete nothing; 1000 when absent').argParser(
    number(0, 1e9),
  ),
  allowEmptySource: new Option(
    '--allow-empty-source',
    'delete although the source is empty, or has lost more than half of its files since the last run',
  ),
  bytesPerSecond: new Option('--bwlimit <rate>', 'bytes a second of all files together, such as 512K or 10M').argParser(
    bytes,
  ),
  dryRun: new Option('--dry-run', 'show what would be done, and do nothing'),
  webhookUrl: new Option('--webhook <url>', 'URL that gets an event when the job has ended'),
};

/** What was given on the command line, by its own names. */
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

/** What only a job can do must not be passed over in silence: a dry run least of all. @throws UsageError */
export function refuseJobOptions(options: object): void {
  const given = JOB_OPTION_NAMES.map((name) => OPTIONS[name]).find((one) => valueOf(one, options) !== undefined);
  const word = given?.long ?? ((options as Given)['detach'] === undefined ? undefined : '--detach');
  if (word !== undefined) throw new UsageError(`${word} needs -r`);
}

/** @throws UsageError of one that the type does not know */
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
