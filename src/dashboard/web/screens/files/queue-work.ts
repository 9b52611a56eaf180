/** Runs each kind of work. */
import { hasEnded } from '../../../../contract/job-states.ts';
import { ApiError, fetchAnswer, request, segment, withQuery } from '../../api/client.ts';
import { sendBytes } from '../../api/send.ts';
import type { Cause, Job } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { followJob } from '../../api/live-job.ts';
import { isKnownTaken } from './known-names.ts';
import { joinPath } from '../../ui/paths.ts';
import type { ConflictRule, DeleteWork, JobProgress, JobWork, Task, UploadWork, Work } from './queue-types.ts';
import { RESUMABLE_BYTES } from '../../../../contract/tus.ts';
import { uploadResumable } from './resumable.ts';

/** The task ended without a result. `why`: the job that did its work failed. */
export class Ended extends Error {
  constructor(
    readonly state: 'skipped' | 'cancelled' | 'failed',
    readonly why?: Cause,
  ) {
    super(state);
  }
}

type Report = (to: Partial<Pick<Task, 'work' | 'sentBytes' | 'bytesPerSecond' | 'job'>>) => void;

/** Weight of the latest measurement in the displayed speed. */
const SMOOTHING = 0.3;
const MEASURE_MS = 250;

/** @throws ApiError `already_exists` if the user has to decide, Ended; other errors are failures */
export async function runWork(task: Task, signal: AbortSignal, report: Report): Promise<void> {
  const { work } = task;
  if (work.kind === 'job') return runJob(task, work, signal, report);
  if (work.kind === 'delete') {
    const { path, rawName } = work.entry;
    // Not aborted: it is quick, and afterwards it would be unknown whether the file still exists.
    await request('POST', `/api/delete/${segment(work.connectionId)}`, { path, rawName });
    return;
  }
  // Skip the request to the server: the history would show its refusal as a failed transfer.
  if (keepsExisting(ruleOf(task)) && (await isKnownTaken(work, task.batch)) && keepsExisting(ruleOf(task))) {
    if (ruleOf(task) === 'skip') throw new Ended('skipped');
    throw new ApiError(t.queue.taken(1), 409, 'already_exists', undefined);
  }
  const rule = ruleOf(task);
  if (rule === 'rename') return transferUnderFreeName(work, signal, report);
  try {
    await transfer(work, work.name, rule === 'replace', signal, report);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'already_exists') throw error;
    // The user may have answered for all conflicts in the meantime.
    const now = ruleOf(task);
    if (now === undefined || rule === 'replace') throw error;
    if (now === 'skip') throw new Ended('skipped');
    if (now === 'rename') await transferUnderFreeName(work, signal, report);
    else await transfer(work, work.name, true, signal, report);
  }
}

function keepsExisting(rule: ConflictRule | undefined): boolean {
  return rule === undefined || rule === 'skip';
}

export function ruleOf({ rule, batch }: Task): ConflictRule | undefined {
  return rule ?? batch.rule;
}

type TransferWork = Exclude<Work, JobWork | DeleteWork>;

/** Puts the file into its folder under `name`. */
async function transfer(
  work: TransferWork,
  name: string,
  overwrite: boolean,
  signal: AbortSignal,
  report: Report,
): Promise<void> {
  switch (work.kind) {
    case 'upload':
      return upload({ ...work, name }, overwrite, signal, report);
    case 'copy': {
      const { connectionId, entry } = work.from;
      const body = {
        source_connection_id: connectionId,
        source_path: entry.path,
        source_raw_name: entry.rawName,
        dest_connection_id: work.connectionId,
        dest_path: joinPath(work.folder, name),
        overwrite,
      };
      await fetchAnswer('POST', '/api/copy', body, signal);
      return;
    }
    case 'move': {
      const { path: from, rawName } = work.entry;
      const body = { from, rawName, to: joinPath(work.folder, name), overwrite };
      // Not aborted, for the same reason as a deletion.
      await request('POST', `/api/move/${segment(work.connectionId)}`, body);
    }
  }
}

/** Uses the first free name. */
async function transferUnderFreeName(work: TransferWork, signal: AbortSignal, report: Report): Promise<void> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? work.name : numbered(work.name, number);
    const at = withQuery(`/api/exists/${segment(work.connectionId)}`, { path: joinPath(work.folder, name) });
    const { exists } = await request('GET', at, undefined, signal);
    if (exists) continue;
    try {
      await transfer(work, name, false, signal, report);
      return report({ work: { ...work, name } });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'already_exists') throw error;
    }
  }
}

/** `a.tar.gz` becomes `a (2).tar.gz`, `.profile` becomes `.profile (2)`. */
function numbered(name: string, number: number): string {
  const [, stem = name, end = ''] = /^(.+?)((?:\.tar)?\.[^.]+)?$/.exec(name) ?? [];
  return `${stem} (${number})${end}`;
}

async function upload(work: UploadWork, overwrite: boolean, signal: AbortSignal, report: Report): Promise<void> {
  const { connectionId, folder: path, name: filename, file } = work;
  const onBytes = measuring(file.size, report);
  if (file.size >= RESUMABLE_BYTES) {
    try {
      return await uploadResumable({ ...work, overwrite, signal, onBytes });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'resume_unsupported') throw error;
    }
  }
  const target = withQuery(`/api/upload/${segment(connectionId)}`, { path, filename, overwrite: String(overwrite) });
  const headers = { 'Content-Type': 'application/octet-stream' };
  await sendBytes({ method: 'POST', target, headers, body: file, signal, onBytes });
}

/** Reports progress and speed. */
function measuring(size: number, report: Report): (sent: number) => void {
  let measured = { at: performance.now(), bytes: 0 };
  let bytesPerSecond = 0;
  return (sentBytes) => {
    const now = performance.now();
    if (now - measured.at < MEASURE_MS && sentBytes < size) return;
    const latest = (Math.max(0, sentBytes - measured.bytes) / Math.max(1, now - measured.at)) * 1_000;
    bytesPerSecond = bytesPerSecond === 0 ? latest : SMOOTHING * latest + (1 - SMOOTHING) * bytesPerSecond;
    measured = { at: now, bytes: sentBytes };
    report({ sentBytes, bytesPerSecond });
  };
}

/** A started job continues without this page. A retry continues the earlier job. */
async function runJob({ job: former }: Task, { order }: JobWork, signal: AbortSignal, report: Report): Promise<void> {
  const begin = former === undefined ? '/api/jobs' : (`/api/jobs/${former.id}/retry` as const);
  const { job: begun } = await request('POST', begin, former === undefined ? order : undefined);
  report({ job: progressOf({ isListed: false, ...begun }) });
  const job = await endOf(begun.id, signal, (now) => report({ job: progressOf(now) }));
  if (job.state === 'cancelled') throw new Ended('cancelled');
  if (job.state === 'succeeded') return;
  const { error, errorCode: code } = job;
  throw new Ended('failed', error === null ? { text: t.queue.jobFailed(job.counts.failed) } : { text: error, code });
}

/** Follows the job until it ends. An abort cancels it. */
function endOf(id: string, signal: AbortSignal, take: (job: Job) => void): Promise<Job> {
  return new Promise((resolve, reject) => {
    const taken = (job: Job): void => {
      take(job);
      if (!hasEnded(job)) return;
      leave();
      resolve(job);
    };
    const failed = (error: Error): void => {
      leave();
      reject(error);
    };
    const cancel = (): void => void cancelJob(id).then(taken, failed);
    const unfollow = followJob(id, { take: taken, onGone: failed });
    const leave = (): void => {
      signal.removeEventListener('abort', cancel);
      unfollow();
    };
    if (signal.aborted) cancel();
    else signal.addEventListener('abort', cancel, { once: true });
  });
}

/** Resolves with the job as it is then: it may have ended by itself in the meantime. */
async function cancelJob(id: string): Promise<Job> {
  await request('POST', `/api/jobs/${id}/cancel`).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 'not_running') throw error;
  });
  return request('GET', `/manage/jobs/${id}`);
}

function progressOf({ id, isListed, counts }: Pick<Job, 'id' | 'isListed' | 'counts'>): JobProgress {
  const { done, skipped, failed, deleted, found } = counts;
  return { id, isListed, found, skipped, failed, ended: done + skipped + failed + deleted };
}
