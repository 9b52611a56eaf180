/** What follows when all of one phase of a job has been done. */
import type { ErrorCode } from '../../base/errors.js';
import type { Transaction } from '../postgres/sql.js';
import type { Job } from './job.js';

/** Why a job ends before its time. */
export interface JobEnd {
  readonly code: ErrorCode;
  readonly message: string;
}

type Step =
  | { readonly phase: 2 | 3 }
  /** It has ended. */
  | { readonly phase: undefined; readonly error: JobEnd | undefined };

/** undefined: others are still at it. The job is locked. */
export async function nextPhase(tx: Transaction, job: Job): Promise<Step | undefined> {
  const { id, phase, definition } = job;
  const [left] = await tx<{ files: boolean; folders: boolean; root: JobEnd | null; gone: boolean }[]>`
    select
      exists (select from job_files where job_id = ${id} and phase = ${phase} and state = 'waiting') as files,
      exists (select from job_folders where job_id = ${id} and state = 'waiting') as folders,
      exists (select from job_folders where job_id = ${id} and state = 'listed' and is_removed) as gone,
      (select json_build_object('code', error_code, 'message', error_message) from job_folders
       where job_id = ${id} and path = '' and state = 'failed') as root`;
  if (left === undefined || left.files || left.folders || (phase === 3 && left.gone)) return undefined;
  if (left.root !== null) return { phase: undefined, error: left.root };
  const mayRemove = left.gone && !definition.dryRun;
  if (phase === 1 && definition.deleteExtra) {
    const step = await deletions(tx, job, mayRemove);
    return definition.dryRun && step.phase !== undefined ? { phase: undefined, error: undefined } : step;
  }
  return phase !== 3 && mayRemove ? { phase: 3 } : { phase: undefined, error: undefined };
}

/** Nothing is deleted that may only look as if the source no longer had it, and never more than was allowed. */
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
  const { maxDeletes } = job.definition;
  if (files > maxDeletes) {
    const message = `nothing was deleted: ${files} files would be, and maxDeletes is ${maxDeletes}`;
    return { phase: undefined, error: { code: 'share_exceeded', message } };
  }
  return { phase: files > 0 ? 2 : 3 };
}
