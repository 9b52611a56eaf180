/** The step after the end of a job's phase. */
import { createHash } from 'node:crypto';
import type { ErrorCode } from '../../base/errors.js';
import { fromExcluded, templateIn, type Transaction, valuesOf } from '../postgres/sql.js';
import type { Job } from './job.js';

/** The reason why a job ends early. */
export interface JobEnd {
  readonly code: ErrorCode;
  readonly message: string;
}

type Step =
  | { readonly phase: 1 | 2 | 3 }
  /** The job has ended. */
  | { readonly phase: undefined; readonly error: JobEnd | undefined };

/** undefined: other slices still work on the phase. The job is locked. */
export async function nextPhase(tx: Transaction, job: Job): Promise<Step | undefined> {
  const { id, phase, definition } = job;
  const [left] = await tx<{ files: boolean; folders: boolean; root: JobEnd | null; gone: boolean }[]>`
    select
      exists (select from job_files where job_id = ${id} and phase = ${phase} and state = 'waiting') as files,
      exists (select from job_folders where job_id = ${id} and state = 'waiting') as folders,
      exists (select from job_folders where job_id = ${id} and state = 'listed' and is_removed) as gone,
      (select json_build_object('code', error_code, 'message', error_message) from job_folders
       where job_id = ${id} and path = '' and state = 'failed') as root`;
  // Folders that were to be removed are listed once more.
  if (left !== undefined && phase === 3 && left.folders) return { phase: 1 };
  if (left === undefined || left.files || left.folders || (phase === 3 && left.gone)) return undefined;
  if (left.root !== null) return { phase: undefined, error: left.root };
  const mayRemove = left.gone && !definition.dryRun;
  if (phase === 1 && definition.deleteExtra) {
    const step = await deletions(tx, job, mayRemove);
    return definition.dryRun && step.phase !== undefined ? { phase: undefined, error: undefined } : step;
  }
  return phase !== 3 && mayRemove ? { phase: 3 } : { phase: undefined, error: undefined };
}

/** Deletes nothing that may only seem to be missing from the source, and never more than allowed. */
async function deletions(tx: Transaction, job: Job, mayRemove: boolean): Promise<Step> {
  const [planned] = await tx<{ files: number; troubles: number }[]>`
    select (select count(*) from job_files where job_id = ${job.id} and phase = 2) as files,
      (select count(*) from job_folders where job_id = ${job.id} and state = 'failed')
        + (select count(*) from job_files where job_id = ${job.id} and phase = 1 and state = 'failed') as troubles`;
  const { files, troubles } = planned ?? { files: 0, troubles: 0 };
  if (files === 0 && !mayRemove) return { phase: undefined, error: undefined };
  if (troubles > 0) {
    const message = `nothing was deleted: ${troubles} files or folders failed, and what they hold might look as if it were gone`;
    return { phase: undefined, error: { code: 'remote_failure', message } };
  }
  const suspicion = await suspicionOf(tx, job);
  if (suspicion !== undefined) return { phase: undefined, error: suspicion };
  const { maxDeletes } = job.definition;
  if (files > maxDeletes) {
    const message = `nothing was deleted: ${files} files would be, and maxDeletes is ${maxDeletes}`;
    return { phase: undefined, error: { code: 'share_exceeded', message } };
  }
  return { phase: files > 0 ? 2 : 3 };
}

/**
 * A run of a sync that found very few files must not empty its destination. A retry has not listed the whole source.
 */
async function suspicionOf(tx: Transaction, job: Job): Promise<JobEnd | undefined> {
  const { id, found, definition } = job;
  if (definition.allowEmptySource === true || !(await hasListedAll(tx, id))) return undefined;
  const advice = 'nothing was deleted; with allowEmptySource: true it would be';
  if (found === 0)
    return { code: 'source_suspicious', message: `the source holds no file that the job is for: ${advice}` };
  const former = await formerFilesOf(tx, job);
  if (former === undefined || 2 * found >= former) return undefined;
  const message = `the source holds ${found} files, and at the last run it held ${former}: ${advice}`;
  return { code: 'source_suspicious', message };
}

async function hasListedAll(tx: Transaction, jobId: string): Promise<boolean> {
  const { count } = await tx`select from job_folders where job_id = ${jobId} and path = '' and state <> 'failed'`;
  return count > 0;
}

/** Two jobs with the same key, in hexadecimal, are runs of one sync. */
function syncKeyOf({ definition }: Job): string {
  const { source, destination, include, exclude, maxDepth, minSize, maxSize, minAgeSeconds, maxAgeSeconds } =
    definition;
  const filters = [include, exclude, maxDepth, minSize, maxSize, minAgeSeconds, maxAgeSeconds];
  const raw = source.rawName === undefined ? [] : [source.rawName];
  const places = [source.connectionId, source.path, destination?.connectionId, destination?.path, ...raw];
  return createHash('sha256')
    .update(JSON.stringify([places, filters]))
    .digest('hex');
}

async function formerFilesOf(tx: Transaction, job: Job): Promise<number | undefined> {
  const [row] = await tx<{ files: number }[]>`
    select files from sync_sources where account_id = ${job.accountId} and key = decode(${syncKeyOf(job)}, 'hex')`;
  return row?.files;
}

/** Syncs of one account. */
const MOST_SYNCS = 1_000;

/** Stores the number of files in the source of a sync, for its next run. */
export async function keepSourceFiles(tx: Transaction, job: Job): Promise<void> {
  const { id, accountId, type, found, definition } = job;
  if (type !== 'sync' || definition.dryRun || !(await hasListedAll(tx, id))) return;
  const key = tx`decode(${syncKeyOf(job)}, 'hex')`;
  const seen = { files: found, seenAt: tx`now()` };
  await tx`
    insert into sync_sources ${valuesOf(tx, { accountId, key, ...seen })}
    on conflict (account_id, key) do update set ${tx(templateIn(fromExcluded(Object.keys(seen))))}`;
  await tx`
    delete from sync_sources where account_id = ${accountId} and key in (
      select key from sync_sources where account_id = ${accountId} order by seen_at desc offset ${MOST_SYNCS})`;
}
