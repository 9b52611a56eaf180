/** `ftg jobs`: what the gateway does with whole folders. */
import type { Job, JobFilesQuery, JobsQuery } from '../../client/index.js';
import type { Arguments, Session } from '../command.js';
import { follow } from '../follow.js';
import { bytesText, fields, table, timeText } from '../output.js';

interface ListOptions {
  readonly state?: NonNullable<JobsQuery['state']>;
  readonly type?: NonNullable<JobsQuery['type']>;
  readonly limit: number;
}

export async function listJobs({ gateway, out, signal }: Session, _: Arguments, options: ListOptions): Promise<void> {
  const { state, type, limit } = options;
  const query = { ...(state && { state }), ...(type && { type }), limit: Math.min(limit, 100) };
  const jobs: Job[] = [];
  for await (const job of gateway.files.jobs.list(query, { signal })) if (jobs.push(job) >= limit) break;
  out.show({ jobs }, () => {
    const rows = jobs.map(({ id, createdAt, type: what, state: how, counts, source, destination, name }) => [
      id,
      timeText(createdAt),
      what,
      how,
      `${counts.done + counts.deleted}/${counts.found}`,
      counts.failed,
      bytesText(counts.bytes),
      source === null ? 'a URL' : placeText(source),
      destination === null ? '-' : placeText(destination),
      name,
    ]);
    const heads = ['ID', 'MADE', 'TYPE', 'STATE', 'FILES', 'FAILED', 'SIZE', 'FROM', 'TO', 'NAME'];
    return table(heads, rows, 'no jobs');
  });
}

export async function showJob({ gateway, out, signal }: Session, [id = '']: Arguments): Promise<void> {
  const job = await gateway.files.jobs.get(id, { signal });
  out.show({ job }, () => fields(job));
}

/** As they come: a job may have millions. */
export async function listFiles(
  { gateway, out, signal }: Session,
  [id = '']: Arguments,
  { state }: { readonly state?: NonNullable<JobFilesQuery['state']> },
): Promise<void> {
  for await (const file of gateway.files.jobs.files(id, state === undefined ? {} : { state }, { signal })) {
    out.show(file, () => {
      const { path, action, size, error } = file;
      return table([], [[file.state, action, bytesText(size), path, error ?? '']]).trimEnd();
    });
  }
}

export function changeJob(change: 'pause' | 'resume' | 'cancel') {
  return async ({ gateway, out, signal }: Session, [id = '']: Arguments): Promise<void> => {
    const job = await gateway.files.jobs[change](id, { signal });
    out.show({ job }, () => `${job.id} is ${job.state}`);
  };
}

export async function retryJob(session: Session, [id = '']: Arguments, options: FollowOptions): Promise<void> {
  const { gateway, out, signal } = session;
  const job = await gateway.files.jobs.retry(id, { signal });
  if (options.detach === true) return out.show({ job }, () => job.id);
  await follow(session, job, options);
}

export interface FollowOptions {
  readonly detach?: boolean;
  readonly progress?: boolean;
}

export async function waitForJob(session: Session, [id = '']: Arguments, options: FollowOptions): Promise<void> {
  await follow(session, await session.gateway.files.jobs.get(id, { signal: session.signal }), options);
}

function placeText({ connectionId, path }: NonNullable<Job['source']>): string {
  return `${connectionId}:${path}`;
}
