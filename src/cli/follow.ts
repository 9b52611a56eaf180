/** Follows a job to its end, and shows its failures. */
import { definitionOfError } from '../contract/errors.js';
import { type ErrorCode, FtgError, type Job, type JobFile } from '../client/index.js';
import type { Session } from './command.js';
import { EXIT, Exit, exitCodeOf } from './exit-codes.js';
import { bytesText, oneLine } from './output.js';
import { ProgressBlock } from './progress.js';
import { durationText, type Totals } from './progress-text.js';

const MOST_FAILURES = 20;

/** Rejects with the exit code of the job's result. If interrupted, it does not touch the job and says how to end it. */
export async function follow(
  session: Session,
  begun: Job,
  { progress, dryRun = false }: { readonly progress?: boolean; readonly dryRun?: boolean },
): Promise<void> {
  const { gateway, out, signal } = session;
  let [job, last] = [begun, undefined as JobFile | undefined];
  const block = new ProgressBlock(out.isJson ? false : progress, () => totalsOf(job, last));
  try {
    for await (const event of gateway.files.jobs.events(job.id, { signal })) {
      if (event.type === 'job') job = event.job;
      else last = event.file;
    }
  } catch (thrown) {
    if (signal.aborted) {
      block.end();
      out.note(`the job continues: "ftg jobs wait ${job.id}" follows it, "ftg jobs cancel ${job.id}" ends it`);
      if (out.isJson) out.show({ job }, () => '');
    }
    throw thrown;
  } finally {
    block.end();
  }
  if (dryRun) await showPlan(session, job);
  out.show({ job }, () => `${dryRun ? 'dry run of ' : ''}${endText(job)}`);
  if (job.state === 'succeeded') return;
  const only = job.counts.failed > 0 ? await showFailures(session, job) : undefined;
  const error = errorOf(job) ?? errorOf(only);
  if (job.error !== null || job.state === 'cancelled') out.fail(error ?? new Error('the job was cancelled'));
  if (job.state === 'partly_failed') throw new Exit(EXIT.partlyFailed);
  throw new Exit(error === undefined ? EXIT.failure : exitCodeOf(error));
}

/** Shows the plan of a dry run, one file per line. */
async function showPlan({ gateway, out, signal }: Session, { id }: Job): Promise<void> {
  for await (const file of gateway.files.jobs.files(id, { state: 'planned' }, { signal })) {
    out.show(file, () => `${file.action.padEnd(6)}  ${bytesText(file.size).padStart(10)}  ${oneLine(file.path)}`);
  }
}

function endText({ id, type, state, counts, startedAt, finishedAt }: Job): string {
  const seconds = (Date.parse(finishedAt ?? '') - Date.parse(startedAt ?? '')) / 1_000;
  const took = Number.isNaN(seconds) ? '' : ` in ${durationText(seconds)}`;
  const { done, bytes, ...others } = counts;
  const more = (['deleted', 'skipped', 'failed'] as const)
    .filter((what) => others[what] > 0)
    .map((what) => `, ${others[what]} ${what}`);
  return `${type} ${state}: ${done} files, ${bytesText(bytes)}${more.join('')}${took}  job ${id}`;
}

function totalsOf({ counts, bytesPerSecond, etaSeconds }: Job, last: JobFile | undefined): Totals {
  const { found, done, skipped, failed, deleted, bytes, bytesTotal } = counts;
  const running = last === undefined ? [] : [`${last.state}: ${last.path}`];
  return {
    bytes,
    bytesTotal,
    files: done,
    filesTotal: found,
    skipped,
    failed,
    deleted,
    bytesPerSecond,
    etaSeconds,
    running,
  };
}

/** As an error of the job's own request. */
function errorOf(what: Job | JobFile | undefined): FtgError | undefined {
  if (what === undefined || what.errorCode === null) return undefined;
  const code = what.errorCode as ErrorCode;
  return new FtgError(what.error ?? code, { status: definitionOfError(code)?.status ?? 0, code });
}

/** Resolves to the failed file if the job had no other file. */
async function showFailures({ gateway, out, signal }: Session, { id, counts }: Job): Promise<JobFile | undefined> {
  let shown = 0;
  let last: JobFile | undefined;
  for await (const file of gateway.files.jobs.files(id, { state: 'failed', limit: MOST_FAILURES }, { signal })) {
    if (++shown > MOST_FAILURES) break;
    last = file;
    out.note(`${oneLine(file.path)}: ${file.error ?? 'failed'}`);
  }
  if (counts.failed > MOST_FAILURES) out.note(`… all ${counts.failed}: ftg jobs files ${id} --state failed`);
  out.note(`those alone again: ftg jobs retry ${id}`);
  return counts.found === 1 ? last : undefined;
}
