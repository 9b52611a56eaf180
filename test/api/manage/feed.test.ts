/** The events of an account for its owner, and the deliveries of one webhook. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ApiClient, Browser } from '../../support/gateway.js';
import { eventually } from '../../support/eventually.js';
import { ADMIN_KEY, expectError, field, type ManagedGateway, PLAIN_KEY, startManaged, withSql } from './support.js';

interface Listed {
  readonly sequence: number;
  readonly type: string;
  readonly body: string;
}

let gateway: ManagedGateway;
let ops: Browser;
let other: Browser;

before(async () => {
  gateway = await startManaged({ network: { webhooks: { allow: ['127.0.0.0/8'] } }, webhooks: { retryMs: [50] } });
  ops = await gateway.browser();
  other = await gateway.browser('other@example.com');
});
after(() => gateway.stop());

const feed = async (query = '', by: Pick<ApiClient, 'get'> = ops) => {
  const answer = await by.get(`/manage/feed?${query}`);
  const cursor = field<string | null>(answer, 'nextCursor');
  return { events: field<Listed[]>(answer, 'events'), last: field<number>(answer, 'last'), cursor };
};
const endJob = async (): Promise<void> => {
  const job = { type: 'delete', dryRun: true, source: { connectionId: 'sandbox', path: '/' }, include: ['*.old'] };
  const { last } = await feed();
  assert.equal((await ops.post('/api/jobs', job)).status, 202);
  await eventually(async () => (await feed()).last > last, 'the job has ended');
};

test('the newest event comes first, each with the same text as in the feed for programs, page by page', async () => {
  assert.deepEqual(await feed(), { events: [], last: 0, cursor: null });
  for (let n = 0; n < 3; n++) await endJob();
  const { events, last, cursor } = await feed();
  assert.deepEqual([events.map(({ sequence }) => sequence), last, cursor], [[3, 2, 1], 3, null]);
  const { text } = await ops.get('/api/events');
  assert.ok(
    text.startsWith(
      `{"events":[${events
        .map(({ body }) => body)
        .reverse()
        .join(',')}],`,
    ),
  );
  const first = await feed('limit=2');
  const rest = await feed(`limit=2&cursor=${first.cursor}`);
  assert.deepEqual(
    [first, rest].map((page) => [page.events.map(({ sequence }) => sequence), page.last, page.cursor]),
    [
      [[3, 2], 3, '2'],
      [[1], 3, null],
    ],
  );
  assert.equal((await feed('type=job.finished')).events.length, 3);
  assert.deepEqual((await feed('type=connection.up')).events, []);
  for (const query of ['cursor=-1', 'cursor=1e3', 'limit=201', 'type='])
    expectError(await ops.get(`/manage/feed?${query}`), 400, 'bad_request');
});

test('the events of another account and the deliveries of its webhooks are hidden', async () => {
  assert.deepEqual(await feed('', other), { events: [], last: 0, cursor: null });
  const byKey = (key: string) => ops.send('/manage/feed', { headers: { Authorization: `Bearer ${key}` } });
  assert.equal((await byKey(ADMIN_KEY)).status, 200);
  expectError(await byKey(PLAIN_KEY), 403, 'scope_missing');

  const subscribe = async (): Promise<string> => {
    const made = await ops.post('/api/webhooks', { url: 'http://127.0.0.1:9/', events: ['job.finished'] });
    return field<{ id: string }>(made, 'webhook', 201).id;
  };
  const [one, two] = [await subscribe(), await subscribe()];
  const ofWebhook = async (id: string, by = ops) =>
    field<{ webhookId: string; state: string }[]>(await by.get(`/manage/deliveries?webhookId=${id}`), 'deliveries');
  await endJob();
  const isDead = async (): Promise<boolean> => (await ofWebhook(one)).some(({ state }) => state === 'dead');
  await eventually(isDead, 'it was never taken');
  for (const id of [one, two])
    assert.deepEqual(
      (await ofWebhook(id)).map(({ webhookId }) => webhookId),
      [id],
    );
  assert.deepEqual(await ofWebhook(one, other), []);
  expectError(await ops.get('/manage/deliveries?webhookId=x'), 400, 'bad_request');
});

test('a period is a range of the numbers, page by page', async () => {
  const times = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'];
  while ((await feed()).last < times.length) await endJob();
  await withSql(gateway.databaseUrl, async (sql) => {
    const rows = await sql<{ id: string }[]>`
      select id from events where account_id = (select id from accounts where email = 'ops@example.com') order by sequence`;
    for (const [index, { id }] of rows.entries()) {
      await sql`update events set numbered_at = ${times[index] ?? '2026-01-04T00:00:00Z'} where id = ${id}`;
    }
  });
  const numbers = async (query: string) => (await feed(query)).events.map(({ sequence }) => sequence);
  const [first, second, third] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'];
  assert.deepEqual(await numbers(`since=${first}&until=${third}`), [3, 2]);
  assert.deepEqual(await numbers(`until=${second}`), [1]);
  assert.deepEqual(await numbers(`since=${second}&until=2026-01-03T12:00:00Z`), [4]);
  assert.deepEqual(await numbers('since=2026-02-01T00:00:00Z'), []);
  assert.deepEqual(await numbers('until=2025-02-01T00:00:00Z'), []);
  const page = await feed(`since=${first}&until=${third}&limit=1`);
  assert.deepEqual([page.events.map(({ sequence }) => sequence), page.cursor], [[3], '3']);
  const rest = await feed(`since=${first}&until=${third}&limit=2&cursor=${page.cursor}`);
  assert.deepEqual([rest.events.map(({ sequence }) => sequence), rest.cursor], [[2], null]);
  for (const query of ['since=yesterday', 'until=2026-02-30', 'until='])
    expectError(await ops.get(`/manage/feed?${query}`), 400, 'bad_request');
});
