/** Jobs for their owner: begun with a session or a key, listed with their names, watched to their end. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from '../../support/gateway.js';
import { eventually } from '../../support/eventually.js';
import { ADMIN_KEY, expectError, field, type ManagedGateway, PLAIN_KEY, startManaged } from './support.js';

interface JobView {
  readonly id: string;
  readonly state: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly key: { readonly id: string; readonly name: string } | null;
  readonly counts: Readonly<Record<string, number>>;
}

const COPY = {
  type: 'copy',
  source: { connectionId: 'sandbox', path: '/in' },
  destination: { connectionId: 'sandbox', path: '/out' },
  exclude: ['*.tmp'],
};
let gateway: ManagedGateway;
let ops: Browser;

before(async () => {
  gateway = await startManaged();
  ops = await gateway.browser();
  for (const name of ['a.csv', 'b.csv', 'c.tmp']) {
    const made = await ops.post('/api/write/sandbox', { path: `/in/${name}`, content: name });
    assert.equal(made.status, 200, made.text);
  }
});
after(() => gateway.stop());

const jobAt = async (id: string): Promise<JobView> => {
  const answer = await ops.get(`/manage/jobs/${id}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as unknown as JobView;
};

async function ended(id: string): Promise<JobView> {
  await eventually(async () => !['queued', 'running'].includes((await jobAt(id)).state), 'the job ends');
  return jobAt(id);
}

test('a session begins a job through the endpoint for programs, and sees its definition and its creator', async () => {
  const { id } = field<{ id: string }>(await ops.post('/api/jobs', COPY), 'job', 202);
  const job = await ended(id);
  assert.equal(job.state, 'succeeded', (await ops.get(`/api/jobs/${id}/files`)).text);
  assert.deepEqual([job.counts['found'], job.counts['done'], job.key], [2, 2, null]);
  assert.deepEqual(job.settings, {
    include: [],
    exclude: ['*.tmp'],
    onConflict: 'replace',
    compare: 'size-and-time',
    deleteExtra: false,
    maxDeletes: 1000,
    bytesPerSecond: 0,
    dryRun: false,
    webhookUrl: null,
  });

  const byKey = await gateway.api.send('/api/jobs', {
    method: 'POST',
    key: PLAIN_KEY,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...COPY, dryRun: true }),
  });
  const other = await ended(field<{ id: string }>(byKey, 'job', 202).id);
  assert.equal(other.key?.name, 'plain');
  const first = await ops.get('/manage/jobs', { query: { limit: '1' } });
  assert.deepEqual(
    field<JobView[]>(first, 'jobs').map((one) => [one.id, one.key?.name]),
    [[other.id, 'plain']],
  );
  const second = await ops.get('/manage/jobs', { query: { limit: '1', cursor: String(first.json['nextCursor']) } });
  assert.deepEqual(
    field<JobView[]>(second, 'jobs').map((one) => one.id),
    [id],
  );
  assert.deepEqual(field(await ops.get('/manage/jobs', { query: { state: 'failed' } }), 'jobs'), []);
  assert.equal(field<JobView[]>(await ops.get('/manage/jobs', { query: { type: 'copy' } }), 'jobs').length, 2);
  expectError(await ops.get('/manage/jobs', { query: { cursor: 'x' } }), 400, 'bad_request');
  expectError(await ops.get('/manage/jobs', { query: { colour: 'red' } }), 400, 'bad_request');
});

test('the history item of each file names its job', async () => {
  const { id } = field<{ id: string }>(await ops.post('/api/jobs', { ...COPY, type: 'sync' }), 'job', 202);
  await ended(id);
  const copies = await ops.get('/manage/transfers', { query: { type: 'copy' } });
  const [one] = field<{ id: string; jobId: string | null }[]>(copies, 'transfers');
  assert.ok(one?.jobId !== null && one !== undefined, copies.text);
  assert.equal(field(await ops.get(`/manage/transfers/${one.id}`), 'jobId'), one.jobId);
  const [write] = field<{ jobId: string | null }[]>(
    await ops.get('/manage/transfers', { query: { type: 'write' } }),
    'transfers',
  );
  assert.equal(write?.jobId, null);
});

test('the stream of a job has its definition, and ends with the job', async () => {
  const { id } = field<{ id: string }>(await ops.post('/api/jobs', { ...COPY, dryRun: true }), 'job', 202);
  const events = await ops.get(`/manage/jobs/${id}/events`);
  assert.match(String(events.headers['content-type']), /^text\/event-stream/);
  const reported = events.text.match(/^data: .*$/gm)?.map((line) => JSON.parse(line.slice(6)) as JobView) ?? [];
  const last = reported.findLast((one) => one.settings !== undefined);
  assert.deepEqual([last?.state, last?.settings['dryRun']], ['succeeded', true]);
});

test("another account's jobs do not exist, and a key needs the scope admin", async () => {
  const { id } = field<{ id: string }>(await ops.post('/api/jobs', { ...COPY, dryRun: true }), 'job', 202);
  const other = await gateway.browser('other@example.com');
  expectError(await other.get(`/manage/jobs/${id}`), 404, 'unknown_item');
  expectError(await other.get(`/manage/jobs/${id}/events`), 404, 'unknown_item');
  assert.deepEqual(field(await other.get('/manage/jobs'), 'jobs'), []);
  expectError(await gateway.api.send('/manage/jobs', { key: PLAIN_KEY }), 403, 'scope_missing');
  assert.equal((await gateway.api.send('/manage/jobs', { key: ADMIN_KEY })).status, 200);
  expectError(await ops.get('/manage/jobs/not-an-id'), 404, 'unknown_item');
});

test('a schedule shows its owner and the result of its last run; its jobs can be listed', async () => {
  const byKey = await gateway.api.send('/api/schedules', {
    method: 'POST',
    key: PLAIN_KEY,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'yearly', cron: '@yearly', job: COPY }),
  });
  const { id } = field<{ id: string }>(byKey, 'schedule', 201);
  const before = await ops.get(`/manage/schedules/${id}`);
  assert.deepEqual([field(before, 'lastJob'), field<{ name: string }>(before, 'key').name], [null, 'plain']);
  const begun = field<{ id: string }>(await ops.post(`/api/schedules/${id}/run`, {}), 'job', 202);
  await ended(begun.id);
  const schedules = field<{ id: string }[]>(await ops.get('/manage/schedules'), 'schedules');
  const seen = schedules.find((one) => one.id === id) as Record<string, unknown> | undefined;
  assert.deepEqual(seen?.['lastJob'], { id: begun.id, state: 'succeeded', failed: 0, error: null, errorCode: null });
  assert.deepEqual([seen?.['lastJobId'], seen?.['lastDueAt']], [begun.id, null]);
  for (const list of ['/manage/jobs', '/api/jobs']) {
    const runs = await ops.get(list, { query: { scheduleId: id } });
    assert.deepEqual(
      field<JobView[]>(runs, 'jobs').map((job) => job.id),
      [begun.id],
    );
    expectError(await ops.get(list, { query: { scheduleId: 'x' } }), 400, 'bad_request');
  }

  const other = await gateway.browser('other@example.com');
  expectError(await other.get(`/manage/schedules/${id}`), 404, 'unknown_item');
  assert.deepEqual(field(await other.get('/manage/schedules'), 'schedules'), []);
  assert.deepEqual(field(await other.get('/manage/jobs', { query: { scheduleId: id } }), 'jobs'), []);
});

test('an option that the type of a job does not know is refused, unless it states the default', async () => {
  for (const [option, value, type] of [
    ['onConflict', 'skip', 'sync'],
    ['compare', 'digest', 'copy'],
    ['deleteExtra', true, 'move'],
    ['maxDeletes', 1, 'copy'],
    ['bytesPerSecond', 1, 'delete'],
  ] as const) {
    const { destination, ...rest } = COPY;
    const body = { ...rest, ...(type === 'delete' ? {} : { destination }), type, dryRun: true };
    const answer = await ops.post('/api/jobs', { ...body, [option]: value });
    expectError(answer, 400, 'bad_request');
    assert.match(answer.text, new RegExp(`${option} is for jobs of the type .*, not ${type}`));
    const schedule = { name: 'x', cron: '@yearly', job: { ...body, [option]: value } };
    expectError(await ops.post('/api/schedules', schedule), 400, 'bad_request');
  }
  const usual = { onConflict: 'replace', compare: 'size-and-time', deleteExtra: false, maxDeletes: 1000 };
  field(await ops.post('/api/jobs', { ...COPY, ...usual, dryRun: true }), 'job', 202);
});

test('jobs and the audit log are filtered by time, both ends exclusive', async () => {
  const begin = async (): Promise<void> => {
    await ended(field<{ id: string }>(await ops.post('/api/jobs', { ...COPY, dryRun: true }), 'job', 202).id);
    await ops.post('/manage/api-keys', { name: 'for the log', scopes: ['read'] });
  };
  for (let n = 0; n < 3; n++) await begin();
  for (const [path, list, time] of [
    ['/manage/jobs', 'jobs', 'createdAt'],
    ['/api/jobs', 'jobs', 'createdAt'],
    ['/manage/audit', 'entries', 'at'],
  ] as const) {
    const timesOf = async (query: Readonly<Record<string, string>> = {}): Promise<readonly string[]> =>
      field<Record<string, string>[]>(await ops.get(path, { query }), list).map((one) => one[time] ?? '');
    const [newest = '', middle = '', third = ''] = await timesOf();
    assert.deepEqual(await timesOf({ since: third, until: newest }), [middle], path);
    assert.ok(
      (await timesOf({ until: third })).every((at) => at < third),
      path,
    );
    assert.deepEqual(await timesOf({ since: newest }), [], path);
    assert.deepEqual(await timesOf({ until: '2020-01-01T00:00:00Z' }), [], path);
    for (const query of [{ since: 'yesterday' }, { until: '2026-02-30' }])
      expectError(await ops.get(path, { query }), 400, 'bad_request');
  }
});
