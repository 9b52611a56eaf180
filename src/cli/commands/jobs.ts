/** `ftg jobs`: jobs of the gateway with whole folders. */
import type { Job } from '../../client/index.js';
import { jobFileFilters, jobFilters } from '../../contract/filters.js';
import type { JobChange } from '../../contract/job-states.js';
import { type Arguments, type Session, shows } from '../command.js';
import { givenFieldsOf } from '../field-options.js';
import { follow } from '../follow.js';
import { bytesText, fields, listed, placeText, table } from '../output.js';

export async function listJobs(
  { gateway, out, signal }: Session,
  _: Arguments,
  { limit, ...options }: { readonly limit: number },
): Promise<void> {
  const query = { ...givenFieldsOf(jobFilters, options), limit: Math.min(limit, 100) };
  const jobs: Job[] = [];
  for await (const job of gateway.files.jobs.list(query, { signal })) if (jobs.push(job) >= limit) break;
  const columns = {
    ID: 'id',
    MADE: 'createdAt',
    TYPE: 'type',
    STATE: 'state',
    FILES: ({ counts }: Job) => `${counts.done + counts.deleted}/${counts.found}`,
    FAILED: ({ counts }: Job) => counts.failed,
    SIZE: ({ counts }: Job) => bytesText(counts.bytes),
    FROM: ({ source }: Job) => (source === null ? 'a URL' : placeText(source)),
    TO: ({ destination }: Job) => (destination === null ? null : placeText(destination)),
    NAME: 'name',
  } as const;
  out.show({ jobs }, () => listed(jobs, columns, 'no jobs'));
}

export const showJob = shows(
  async ({ gateway, signal }, [id = '']) => ({ job: await gateway.files.jobs.get(id, { signal }) }),
  ({ job }) => fields(job),
);

/** Printed as they arrive: a job may have millions of files. */
export async function listFiles(
  { gateway, out, signal }: Session,
  [id = '']: Arguments,
  options: object,
): Promise<void> {
  for await (const file of gateway.files.jobs.files(id, givenFieldsOf(jobFileFilters, options), { signal })) {
    out.show(file, () => {
      const { path, action, size, error } = file;
      return table([], [[file.state, action, bytesText(size), path, error ?? '']]).trimEnd();
    });
  }
}

export const changeJob = (change: JobChange) =>
  shows(
    async ({ gateway, signal }, [id = '']) => ({ job: await gateway.files.jobs[change](id, { signal }) }),
    ({ job }) => `${job.id} is ${job.state}`,
  );

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
