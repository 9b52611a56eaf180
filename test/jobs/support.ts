/**
 * Requests about jobs like a client's, and checks of their results: on the servers, in the history, in their own
 * counts.
 */
import assert from 'node:assert/strict';
import type { HistoryItem } from '../api/support.js';
import type { ApiClient } from '../support/gateway.js';
import { eventually, PATIENCE_MS } from '../support/eventually.js';

export interface JobView {
  readonly id: string;
  readonly type: string;
  readonly state: string;
  readonly error: string | null;
  readonly counts: {
    readonly found: number;
    readonly done: number;
    readonly skipped: number;
    readonly failed: number;
    readonly deleted: number;
    readonly bytes: number;
    readonly bytesTotal: number;
  };
}

export interface JobFileView {
  readonly path: string;
  readonly state: string;
  readonly action: string;
  readonly size: number;
  readonly error: string | null;
}

export const ENDED: readonly string[] = ['succeeded', 'partly_failed', 'failed', 'cancelled'];

export async function begin(api: ApiClient, body: object): Promise<JobView> {
  const answer = await api.post('/api/jobs', body);
  assert.equal(answer.status, 202, answer.text);
  const job = answer.json['job'] as JobView;
  assert.equal(answer.headers['location'], `/api/jobs/${job.id}`);
  return job;
}

export async function look(api: ApiClient, id: string): Promise<JobView> {
  const answer = await api.get(`/api/jobs/${id}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json['job'] as JobView;
}

export async function ended(api: ApiClient, id: string, patienceMs = PATIENCE_MS): Promise<JobView> {
  let job = await look(api, id);
  const isOver = async (): Promise<boolean> => {
    job = await look(api, id);
    return ENDED.includes(job.state);
  };
  await eventually(isOver, `job ${id} ends`, patienceMs).catch((error: unknown) => {
    throw new Error(JSON.stringify(job), { cause: error });
  });
  return job;
}

export async function run(api: ApiClient, body: object, patienceMs?: number): Promise<JobView> {
  const { id } = await begin(api, body);
  return ended(api, id, patienceMs);
}

export async function filesOf(api: ApiClient, id: string, state?: string): Promise<JobFileView[]> {
  const found: JobFileView[] = [];
  for (let cursor: string | null = null; ;) {
    const query: Record<string, string> = { limit: '1000' };
    if (state !== undefined) query['state'] = state;
    if (cursor !== null) query['cursor'] = cursor;
    const { status, json, text } = await api.get(`/api/jobs/${id}/files`, { query });
    assert.equal(status, 200, text);
    found.push(...(json['files'] as JobFileView[]));
    cursor = json['nextCursor'] as string | null;
    if (cursor === null) return found;
  }
}

/** All items, newest first. */
export async function history(api: ApiClient, query: Record<string, string> = {}): Promise<HistoryItem[]> {
  const found: HistoryItem[] = [];
  for (let offset = 0; ; offset += 100) {
    const answer = await api.get('/api/transfers', { query: { ...query, limit: '100', offset: String(offset) } });
    assert.equal(answer.status, 200, answer.text);
    const page = answer.json['transfers'] as HistoryItem[];
    found.push(...page);
    if (page.length < 100) return found;
  }
}

/** Sixteen at a time. */
export async function eachOf<T>(items: Iterable<T>, act: (item: T) => Promise<unknown>): Promise<void> {
  const queue = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) await act(next.value);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}
