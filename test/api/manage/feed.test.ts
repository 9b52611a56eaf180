/** The events of an account for its owner, and the deliveries of one webhook. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ApiClient, Browser } from '../../support/gateway.js';
import { eventually } from '../../support/eventually.js';
import { ADMIN_KEY, expectError, field, type ManagedGateway, PLAIN_KEY, startManaged } from './support.js';

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
  await eventually(isDead, 'nobody took it');
  for (const id of [one, two])
    assert.deepEqual(
      (await ofWebhook(id)).map(({ webhookId }) => webhookId),
      [id],
    );
  assert.deepEqual(await ofWebhook(one, other), []);
  expectError(await ops.get('/manage/deliveries?webhookId=x'), 400, 'bad_request');
});
