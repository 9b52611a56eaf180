/** The commands for files, folders, and jobs with whole folders. */
import { Argument, type Command, Option } from 'commander';
import type { NewJob } from '../client/index.js';
import { type Actions, commandsOn } from './command.js';
import { cat } from './commands/cat.js';
import { edit } from './commands/edit.js';
import * as files from './commands/files.js';
import { LOCAL_RULES } from './commands/folders.js';
import * as jobs from './commands/jobs.js';
import { ls } from './commands/ls.js';
import { get, put } from './commands/put-get.js';
import * as schedules from './commands/schedules.js';
import { sync } from './commands/trees.js';
import { EXIT } from './exit-codes.js';
import { jobFileFilters, jobFilters } from '../contract/filters.js';
import { ORDER_TYPES } from '../contract/job-options.js';
import { scheduleFields } from '../contract/schedule.js';
import { addFieldOptions, addNeededOptions } from './field-options.js';
import { withJobOptions } from './job-options.js';
import { number } from './option-values.js';

/** Options of commands that start a job. */
function byJob(command: Command, type: NewJob['type']): Command {
  return withProgress(withJobOptions(command, [type]).option(...DETACH));
}

const DETACH = ['--detach', 'print the id of the job and do not wait'] as const;

/** Without either option, progress is shown only on terminals. */
function withProgress(command: Command): Command {
  return command
    .option('--progress', 'show progress where there is no terminal too, a line every ten seconds')
    .option('--no-progress', 'show no progress');
}

/** Options for whole folders between here and the gateway. */
function byFolder(command: Command): Command {
  return withProgress(command)
    .option('-r, --recursive', 'a folder with all below it')
    .option('--dry-run', 'with -r or a glob: show what would be done, and do nothing')
    .addOption(
      new Option('--on-conflict <rule>', 'what to do with a file that exists, with -r or a glob').choices(LOCAL_RULES),
    )
    .option('--transfers <number>', 'files at once, with -r or a glob; 4 when absent', number(1, 64));
}

export function addFileCommands(program: Command, actions: Actions): void {
  actions.remote(
    program
      .command('ls')
      .description('list a folder, or what a glob matches')
      .argument('<place>', 'connection, or connection:folder, or a glob such as connection:in/*.csv')
      .option('-R, --recursive', 'everything below it')
      .option('-l, --long', 'with rights, owner and group'),
    ls,
  );
  actions.many(
    byFolder(
      program
        .command('put')
        .description('upload files and folders')
        .usage('[options] <files...> <place>')
        .argument('<files...>', 'local files, or - for standard input; then the place they go to')
        .option('--no-overwrite', 'leave a file of that name as it is (exit code 5)')
        .option('--template <template>', 'rename with tokens, such as {date}-{filename}'),
    ),
    put,
  );
  actions.remote(
    byFolder(
      program
        .command('get')
        .description('download a file, a folder, or what a glob matches')
        .argument('<place>', 'connection:path of a file, or a glob')
        .argument('[local]', 'local file or folder, or - for standard output', '.')
        .option('--no-overwrite', 'leave a local file of that name as it is (exit code 5)'),
    ),
    get,
  );
  actions.many(
    program
      .command('cat')
      .description('print files, one after the other')
      .argument('<places...>', 'connection:path of files, or globs'),
    cat,
  );
  actions.remote(
    program
      .command('edit')
      .description('edit a file here, and store it if it has not changed on the server meanwhile')
      .argument('<place>', 'connection:path of a file; one that does not exist is made')
      .option('--editor <command>', 'in place of $VISUAL, $EDITOR and vi'),
    edit,
  );
  actions.remote(
    byJob(
      program
        .command('cp')
        .description('copy files or folders, also to another connection, without passing through this machine')
        .argument('<from>', 'connection:path of a file, or a glob')
        .argument('<to>', 'connection:path, a folder with / at its end')
        .option('-r, --recursive', 'a folder with all below it, by a job')
        .option('--no-overwrite', 'leave a file of that name as it is (exit code 5)')
        .option('--template <template>', 'rename with tokens, such as {date}-{filename}'),
      'copy',
    ),
    files.cp,
  );
  actions.remote(
    byJob(
      program
        .command('mv')
        .description('move or rename files or folders, also to another connection')
        .argument('<from>', 'connection:path of a file, or a glob')
        .argument('<to>', 'connection:path, a folder with / at its end')
        .option('-r, --recursive', 'a folder with all below it, by a job')
        .option('--overwrite', 'replace a file of that name', false),
      'move',
    ),
    files.mv,
  );
  actions.many(
    byJob(
      program
        .command('rm')
        .description('delete files, folders, or what a glob matches')
        .argument('<places...>', 'connection:path of files')
        .option('-r, --recursive', 'a folder with all below it, by a job')
        .option('-f, --force', 'a missing file is no error'),
      'delete',
    ),
    files.rm,
  );
  actions.remote(
    byJob(
      program
        .command('sync')
        .description('copy what is new or changed from one remote folder to another, by a job')
        .argument('<from>', 'connection:folder')
        .argument('<to>', 'connection:folder'),
      'sync',
    ),
    sync,
  );
  actions.many(
    program
      .command('mkdir')
      .description('create folders, and those above them')
      .argument('<places...>', 'connection:path of folders'),
    files.mkdir,
  );
  actions.many(
    program
      .command('exec')
      .description('run a shell command on an SFTP connection; ends with its exit code')
      .usage('[options] <connection> -- <command...>')
      .argument('<connection>', 'id of the connection')
      .argument('<command...>', 'the command; after -- if it has options')
      .option('--timeout <seconds>', 'until it is killed; 30 when absent, at most 60', number(0.001, 60)),
    files.exec,
    EXIT.execFailed,
  );
}

export function addJobCommands(program: Command, actions: Actions): void {
  const group = program.command('jobs').description('work on whole folders in the gateway');
  const one = commandsOn(group, '<id>', 'of the job');
  actions.remote(
    addFieldOptions(group.command('list', { isDefault: true }).description('list jobs, newest first'), jobFilters)
      // The client asks for as many pages as it takes.
      .option('--limit <number>', 'how many', number(1, 1_000_000), 20),
    jobs.listJobs,
  );
  actions.remote(one('show', 'show one'), jobs.showJob);
  actions.remote(addFieldOptions(one('files', 'list its files, as they were found'), jobFileFilters), jobs.listFiles);
  actions.remote(one('pause', 'start no further file'), jobs.changeJob('pause'));
  actions.remote(one('resume', 'continue it'), jobs.changeJob('resume'));
  actions.remote(one('cancel', 'end it; what is done stays'), jobs.changeJob('cancel'));
  actions.remote(
    withProgress(one('retry', 'start a new job for the files that failed').option(...DETACH)),
    jobs.retryJob,
  );
  actions.remote(withProgress(one('wait', 'follow it until it ends')), jobs.waitForJob);
}

export function addScheduleCommands(program: Command, actions: Actions): void {
  const group = program.command('schedules').description('jobs that start at given times');
  const one = commandsOn(group, '<id>', 'of the schedule');
  const { name, cron, timeZone } = scheduleFields;
  actions.remote(group.command('list', { isDefault: true }).description('list schedules'), schedules.listSchedules);
  const add = group
    .command('add')
    .description('start a job at given times')
    .addArgument(new Argument('<type>', 'what is done').choices(ORDER_TYPES))
    .argument('<from>', 'connection:folder')
    .argument('[to]', 'connection:folder; not of a delete');
  addFieldOptions(addNeededOptions(add, { cron }), { name, timeZone });
  // A schedule of dry runs is possible only through the API.
  actions.remote(withJobOptions(add, ORDER_TYPES, ['dryRun']), schedules.addSchedule);
  actions.remote(
    addFieldOptions(addNeededOptions(group.command('preview').description('the next five times of a cron'), { cron }), {
      timeZone,
    }),
    schedules.previewSchedule,
  );
  actions.remote(
    addFieldOptions(one('edit', 'change it; options that you leave out change nothing'), { name, timeZone, cron }),
    schedules.editSchedule,
  );
  actions.remote(one('pause', 'start no more jobs'), schedules.switchSchedule(false));
  actions.remote(one('resume', 'start them again'), schedules.switchSchedule(true));
  actions.remote(one('rm', 'delete it; running jobs continue'), schedules.removeSchedule);
  actions.remote(withProgress(one('run', 'start its job now').option(...DETACH)), schedules.runSchedule);
}
