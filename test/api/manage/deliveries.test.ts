/** Deliveries for the owner: requests and answers, filters, replays of many; and tests of a webhook. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { eventually } from '../../support/eventually.js';
import type { Browser } from '../../support/gateway.js';
import { type Receiver, startReceiver } from '../../watch/support/receiver.js';
import { expectError, field, type ManagedGateway, startManaged } from './support.js';

interface Listed {
  readonly id: string;
  readonly eventId: string;
  readonly state: string;
  readonly type: string;
  readonly url: string;
  readonly connectionIds: string[];
}
interface Attempt {
  readonly status: number | null;
  readonly url: string;
  readonly answer: string;
  readonly errorCode: string | null;
  readonly requestHeaders: Record<string, string>;
  readonly answerHeaders: Record<string, string>;
}
type Test = Attempt & { readonly isDelivered: boolean; readonly id: string; readonly body: string };

const PASSWORD = 'hunter2-hunter2';
let gateway: ManagedGateway;
let receiver: Receiver;
let ops: Browser;
let other: Browser;

before(async () => {
  receiver = await startReceiver();
  gateway = await startManaged({ network: { webhooks: { allow: ['127.0.0.0/8'] } }, webhooks: { retryMs: [20] } });
  ops = await gateway.browser();
  other = await gateway.browser('other@example.com');
});
after(async () => {
  await gateway?.stop();
  await receiver?.close();
});
const taken = (_: unknown, response: ServerResponse): void => void response.writeHead(204).end();
afterEach(() => {
  receiver.respond = taken;
  receiver.received.length = 0;
});

const subscribe = async (url = receiver.url) => {
  const made = await ops.post('/api/webhooks', { url, events: ['job.finished'] });
  return { id: field<{ id: string }>(made, 'webhook', 201).id, secret: field<string>(made, 'secret', 201) };
};
const endJob = async (): Promise<void> => {
  const job = { type: 'delete', dryRun: true, source: { connectionId: 'sandbox', path: '/' }, include: ['*.old'] };
  assert.equal((await ops.post('/api/jobs', job)).status, 202);
};
const listed = async (query: Record<string, string>, by = ops) =>
  field<Listed[]>(await by.get('/manage/deliveries', { query }), 'deliveries');
const inState = async (webhookId: string, state: string, count: number): Promise<readonly Listed[]> => {
  await eventually(async () => (await listed({ webhookId, state })).length === count, `${count} are ${state}`);
  return listed({ webhookId, state });
};
const replay = async (body: object, by = ops) => {
  const { status, json } = await by.post('/manage/deliveries/replay', body);
  assert.equal(status, 202, JSON.stringify(json));
  return json;
};

test('an attempt shows the request and the answer, the signed bytes, and no secret', async () => {
  const echo = receiver.url.replace('http://', `http://user:${PASSWORD}@`);
  receiver.respond = ({ headers }, response) => {
    const cookies = ['session=1', 'theme=2'];
    response.writeHead(200, { 'set-cookie': cookies, 'x-twice': ['a', 'b'], 'x-long': 'x'.repeat(3000) });
    response.end(`you said ${headers.authorization}; ${PASSWORD}`);
  };
  const { id, secret } = await subscribe(echo);
  await endJob();
  const [one] = await inState(id, 'delivered', 1);
  assert.deepEqual([one?.url, one?.connectionIds, one?.type], [receiver.url, ['sandbox'], 'job.finished']);
  const body = field<string>(await ops.get(`/manage/deliveries/${one?.id}`), 'body');
  const answer = await ops.get(`/manage/deliveries/${one?.id}/attempts`);
  const [attempt] = field<Attempt[]>(answer, 'attempts');
  assert.ok(attempt !== undefined);
  new Webhook(secret).verify(body, attempt.requestHeaders);
  assert.equal(body, receiver.received[0]?.text);
  assert.equal(attempt.url, receiver.url);
  assert.equal(attempt.requestHeaders['webhook-id'], one?.eventId);
  assert.equal(attempt.requestHeaders['authorization'], '[removed]');
  assert.equal(attempt.answerHeaders['set-cookie'], '[removed], [removed]');
  assert.equal(attempt.answerHeaders['x-twice'], 'a, b');
  assert.equal(attempt.answerHeaders['x-long']?.length, 1024);
  assert.equal(attempt.answer, 'you said Basic [removed]; [removed]');
  for (const hidden of [PASSWORD, 'session=1', Buffer.from(`user:${PASSWORD}`).toString('base64')])
    assert.ok(!answer.text.includes(hidden), hidden);
  expectError(await other.get(`/manage/deliveries/${one?.id}`), 404, 'not_found');
  await ops.send(`/api/webhooks/${id}`, { method: 'DELETE' });
});

test('every filter removes deliveries that do not match', async () => {
  const { id } = await subscribe();
  await endJob();
  const [one] = await inState(id, 'delivered', 1);
  const at = new Date().toISOString();
  const { hostname, port } = new URL(receiver.url);
  for (const [fits, fitsNot] of [
    [{ type: 'job.finished' }, { type: 'connection.up' }],
    [{ state: 'delivered' }, { state: 'dead' }],
    [{ connectionId: 'sandbox' }, { connectionId: 'elsewhere' }],
    [{ url: `${hostname.toUpperCase()}:${port}` }, { url: 'example.com' }],
    [{ until: at }, { until: '2020-01-01' }],
    [{ since: '2020-01-01' }, { since: '2999-01-01T00:00:00Z' }],
  ] as Record<string, string>[][]) {
    assert.deepEqual(
      (await listed({ webhookId: id, ...fits })).map((row) => row.id),
      [one?.id],
      JSON.stringify(fits),
    );
    assert.deepEqual(await listed({ webhookId: id, ...fitsNot }), [], JSON.stringify(fitsNot));
  }
  assert.deepEqual(await listed({ connectionId: 'sandbox' }, other), []);
  for (const query of ['since=x', 'jobId=x', 'state=sent'])
    expectError(await ops.get(`/manage/deliveries?${query}`), 400, 'bad_request');
  await ops.send(`/api/webhooks/${id}`, { method: 'DELETE' });
});

test('dead letters are counted, then sent again together, each once and under its id; others stay', async () => {
  receiver.respond = (_, response) => response.writeHead(503).end('closed for today');
  const [one, two] = [await subscribe(), await subscribe()];
  for (let n = 0; n < 3; n++) await endJob();
  const dead = await inState(one.id, 'dead', 3);
  await inState(two.id, 'dead', 3);
  const stateOf = async (webhookId: string) =>
    field<Record<string, unknown>[]>(await ops.get('/manage/receivers'), 'receivers').find(
      (each) => each['webhookId'] === webhookId,
    );
  const failing = await stateOf(one.id);
  assert.deepEqual([failing?.['dead'], failing?.['retrying'], failing?.['lastStatus']], [3, 0, 503]);
  assert.equal(typeof failing?.['failingSince'], 'string');

  const filter = { state: 'dead', webhookId: one.id };
  assert.deepEqual(await replay({ ...filter, dryRun: true }), { count: 3, isMore: false });
  assert.deepEqual(await replay({ ...filter, dryRun: true, type: 'connection.up' }), { count: 0, isMore: false });
  assert.deepEqual(await replay(filter, other), { count: 0, isMore: false });
  assert.equal((await listed(filter)).length, 3, 'counting sends nothing');
  receiver.respond = taken;
  receiver.received.length = 0;
  assert.deepEqual(await replay(filter), { count: 3, isMore: false });
  await inState(one.id, 'delivered', 3);
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['webhook-id']).sort(),
    dead.map(({ eventId }) => eventId).sort(),
  );
  assert.equal((await listed({ webhookId: two.id, state: 'dead' })).length, 3);
  const well = await stateOf(one.id);
  assert.deepEqual([well?.['dead'], well?.['failingSince'], well?.['lastStatus']], [0, null, null]);
  const { entries } = (await ops.get('/manage/audit', { query: { action: 'delivery.replay_all' } })).json;
  assert.equal((entries as { details: { count: number } }[])[0]?.details.count, 3);
  // Delivered ones are also replayed, once each, although they match the filter again after their arrival.
  assert.deepEqual(await replay({ state: 'delivered', webhookId: one.id }), { count: 3, isMore: false });
  await eventually(() => receiver.received.length === 6, 'they come again');
  for (const body of [{}, { state: 'pending' }, { state: 'dead', since: 'x' }])
    expectError(await ops.post('/manage/deliveries/replay', body), 400, 'bad_request');
  // Their receiver is gone.
  await ops.send(`/api/webhooks/${two.id}`, { method: 'DELETE' });
  assert.deepEqual(await replay({ state: 'dead', webhookId: two.id, dryRun: true }), { count: 0, isMore: false });
  await ops.send(`/api/webhooks/${one.id}`, { method: 'DELETE' });
});

test('a test of a webhook is signed, checked like a delivery, and shows the answer; it is no event', async () => {
  const { id, secret } = await subscribe();
  const send = async () => field<Test>(await ops.post(`/api/webhooks/${id}/test`), 'test');
  const sent = await send();
  assert.deepEqual([sent.isDelivered, sent.status], [true, 204]);
  const [received] = receiver.received;
  new Webhook(secret).verify(received?.text ?? '', (received?.headers ?? {}) as Record<string, string>);
  assert.equal(sent.body, received?.text);
  const reported = received?.body as { type: string; sequence?: number } | undefined;
  assert.deepEqual([reported?.type, reported?.sequence], ['webhook.test', undefined]);

  receiver.respond = (_, response) => response.writeHead(410).end('gone');
  const refused = await send();
  assert.deepEqual([refused.isDelivered, refused.status, refused.answer], [false, 410, 'gone']);
  const { webhook } = (await ops.get(`/api/webhooks/${id}`)).json;
  assert.equal((webhook as { endedAt: unknown }).endedAt, null, 'a test switches nothing off');
  assert.deepEqual(await listed({ webhookId: id }), []);

  const held: ServerResponse[] = [];
  receiver.respond = (_, response) => void held.push(response);
  const waiting = [send(), send()];
  await eventually(() => held.length === 2, 'two tests wait');
  expectError(await ops.post(`/api/webhooks/${id}/test`), 429, 'rate_limited');
  for (const response of held) response.writeHead(200).end();
  for (const one of waiting) assert.equal((await one).isDelivered, true);

  await ops.send(`/api/webhooks/${id}`, { method: 'PATCH', json: { url: 'http://127.0.0.1:9/', isActive: false } });
  const unreachable = await send();
  assert.deepEqual([unreachable.isDelivered, unreachable.status], [false, null]);
  assert.equal(unreachable.errorCode, 'unreachable');
  expectError(await other.post(`/api/webhooks/${id}/test`), 404, 'unknown_item');
  await ops.send(`/api/webhooks/${id}`, { method: 'DELETE' });
});
