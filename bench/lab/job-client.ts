/** The bench's calls of a gateway's jobs. */
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from './api.js';
import type { GatewayUnderTest } from './gateway.js';

export interface JobView {
  readonly id: string;
  readonly state: string;
  readonly error: string | null;
  readonly counts: Readonly<Record<'found' | 'done' | 'skipped' | 'failed' | 'deleted', number>>;
}

const LOOK_MS = 25;
const GOING = new Set(['queued', 'running']);

/** Begins a job and waits for its end. @throws if it does not succeed */
export async function runJob(gateway: GatewayUnderTest, order: object): Promise<JobView> {
  let job = await view(gateway, 'POST', '/api/jobs', order);
  while (GOING.has(job.state)) {
    await delay(LOOK_MS);
    job = await view(gateway, 'GET', `/api/jobs/${job.id}`);
  }
  if (job.state !== 'succeeded') throw new Error(`the job ended as ${job.state}: ${JSON.stringify(job)}`);
  return job;
}

async function view(gateway: GatewayUnderTest, method: string, path: string, body?: object): Promise<JobView> {
  return ((await ask(gateway, method, path, body)) as { job: JobView }).job;
}
