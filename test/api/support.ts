/** Assertions for every refusal: the shape of the answer, the history, the count of actions, the disk. */
import assert from 'node:assert/strict';
import { withSql } from '../storage/databases.js';
import { type ErrorCode, ERRORS } from '../../src/contract/errors.js';
import type { Disk } from '../servers/catalogue.js';
import { type ApiAnswer, type ApiClient } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';

export interface HistoryItem {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly path: string;
  readonly filename: string;
  readonly fileSize: number;
  readonly connectionId: string;
  readonly errorMessage: string | null;
}

/** Status, exact body, and the header fields that every error carries. */
export function expectError(answer: ApiAnswer, code: ErrorCode, text: RegExp, isSkipped = false): void {
  const { status } = ERRORS[code];
  assert.equal(answer.status, status, `${answer.status} ${answer.text}`);
  assert.equal(answer.headers['x-error-code'], code, answer.text);
  const { error, ...others } = answer.json;
  assert.equal(typeof error, 'string');
  assert.match(error as string, text);
  assert.deepEqual(others, isSkipped ? { skipped: true } : {});
  assert.doesNotMatch(error as string, /\n|\bat \S+ \(|node:internal|\/tmp\//, 'no stack and no local path');
  assert.match(String(answer.headers['x-request-id']), /^[A-Za-z0-9._-]{1,128}$/);
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.match(answer.headers['content-type'] ?? '', /^application\/json/);
  assert.equal(answer.headers['www-authenticate'], status === 401 ? 'Bearer' : undefined);
  if (status === 429 || status === 503) assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/);
  if (status === 429) {
    assert.match(String(answer.headers['ratelimit-policy']), /^"[a-z]+";q=\d+;w=\d+$/);
    assert.match(String(answer.headers['ratelimit']), /^"[a-z]+";r=0;t=\d+$/);
  }
}

export interface Refusal {
  readonly code: ErrorCode;
  readonly text: RegExp;
  readonly isSkipped?: boolean;
  /**
   * none = refused before it started; failed = one failed item, which counts as an action unless it is a read-only
   * operation.
   */
  readonly history: 'none' | 'failed';
  /** What may change on the remote: nothing, unless files of a cut connection are cleaned up a little later. */
  readonly cleansUpLater?: true;
}

export interface World {
  readonly api: ApiClient;
  /** The database of the gateway. */
  readonly databaseUrl: string;
  readonly disks: readonly Disk[];
}

/** Sends a request that must be refused, and checks everything that a refusal could have changed. */
export async function refused(world: World, send: () => Promise<ApiAnswer>, expected: Refusal): Promise<ApiAnswer> {
  const before = await look(world);
  const answer = await send();
  expectError(answer, expected.code, expected.text, expected.isSkipped);
  const after = await look(world);
  const items = await newest(world.api, after.total - before.total);
  if (expected.history === 'none') assert.deepEqual(items, []);
  else {
    assert.deepEqual(
      items.map(({ status, errorMessage }) => [status, errorMessage]),
      [['failed', answer.json['error']]],
    );
  }
  const counted = items.filter(({ type }) => type !== 'list' && type !== 'exists').length;
  assert.equal(after.actions - before.actions, counted, 'actions of the month');
  if (expected.cleansUpLater === undefined) assert.deepEqual(after.files, before.files);
  else {
    const same = async (): Promise<boolean> =>
      JSON.stringify((await look(world)).files) === JSON.stringify(before.files);
    await eventually(same, 'the remote holds what it held before');
  }
  assert.equal((await world.api.get('/api/me')).status, 200, 'the next good request');
  return answer;
}

async function look({ api, databaseUrl, disks }: World): Promise<{ total: number; actions: number; files: string[] }> {
  await historyStands(api);
  const { json } = await api.get('/api/transfers', { query: { limit: '1' } });
  const [row] = await withSql(
    databaseUrl,
    (sql) =>
      sql<
        { used: string }[]
      >`select coalesce(sum(greatest(actions_taken, actions_recorded)), 0) as used from monthly_usage`,
  );
  const files: string[] = [];
  for (const disk of disks) {
    for (const file of await disk.files('/')) {
      // A hidden file may be cleaned up between the two checks.
      const content = await disk.read(file).catch(() => undefined);
      files.push(`${file} ${content?.length ?? 'gone'}`);
    }
  }
  return { total: json['total'] as number, actions: Number(row?.used), files };
}

/** Rows of list and exists may be written shortly after their answer. */
export async function historyStands(api: ApiClient): Promise<void> {
  const isWritten = async (): Promise<boolean> => /^ftg_history_queued_rows 0$/m.test((await api.get('/metrics')).text);
  await eventually(isWritten, 'all rows of the history are written');
}

export async function newest(api: ApiClient, count: number): Promise<readonly HistoryItem[]> {
  if (count === 0) return [];
  const answer = await api.get('/api/transfers', { query: { limit: String(count) } });
  return answer.json['transfers'] as HistoryItem[];
}

export function uploadRaw(
  api: ApiClient,
  connection: string,
  query: Readonly<Record<string, string>>,
  body: Buffer | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiAnswer> {
  return api.send(`/api/upload/${connection}`, {
    method: 'POST',
    query,
    body,
    headers: { 'Content-Type': 'application/octet-stream', ...headers },
  });
}
