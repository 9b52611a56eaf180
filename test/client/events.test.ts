/** Events and webhooks through the typed client and `ftg`. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type FeedEvent, FileTransferGateway, FtgError, verifyWebhook } from '../../src/client/index.js';
import { Terminal } from '../cli/support.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { eventually } from '../support/eventually.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { KEY } from '../support/gateway.js';
import { type Receiver, startReceiver } from '../watch/support/receiver.js';
import { cut, error, ok, startFaultServer } from './fault-server.js';

let gateway: TestAccount;
let shell: TestSshd;
let receiver: Receiver;
let ftg: FileTransferGateway;

before(async () => {
  [shell, receiver] = await Promise.all([startSshd(), startReceiver()]);
  const { port, username, clientKeyFile: privateKeyFile } = shell;
  gateway = await openAccount({
    connections: [{ id: 'shell', name: 'Shell', type: 'sftp', host: '127.0.0.1', port, username, privateKeyFile }],
    apiKeys: [{ name: 'all', key: KEY, scopes: ['read', 'write', 'exec', 'watch'] }],
  });
  ftg = new FileTransferGateway({ baseUrl: gateway.url, apiKey: gateway.keyOf(KEY) });
});
after(async () => {
  await gateway?.stop();
  await Promise.all([shell?.stop(), receiver?.close()]);
});

const fail = async (): Promise<void> => {
  await assert.rejects(ftg.exec('shell', 'sleep 5', { timeout: 1 }), FtgError);
};

async function some(events: AsyncIterable<FeedEvent>, count = Infinity): Promise<FeedEvent[]> {
  const found: FeedEvent[] = [];
  for await (const event of events) if (found.push(event) >= count) break;
  return found;
}

test('events are read to the last one and followed, and webhooks have the same signed text', async () => {
  const { webhook, secret } = await ftg.webhooks.create({ url: receiver.url, events: ['transfer.failed'] });
  const followed = some(ftg.events({ limit: 1 }), 3);
  for (let count = 0; count < 3; count += 1) await fail();
  const events = await followed;
  assert.deepEqual(
    events.map(({ sequence, type }) => [sequence, type]),
    [1, 2, 3].map((sequence) => [sequence, 'transfer.failed']),
  );
  assert.deepEqual(await some(ftg.events({ follow: false })), events);
  assert.deepEqual(await some(ftg.events({ after: 2, follow: false })), events.slice(2));
  await eventually(() => receiver.received.length === 3, 'three messages arrived');
  const [first] = receiver.received;
  const event = await verifyWebhook(secret, first?.headers ?? {}, first?.text ?? '');
  assert.ok(events.some(({ id }) => id === event.id));
  const tested = await ftg.webhooks.test(webhook.id);
  assert.deepEqual([tested.isDelivered, tested.status], [true, 204]);
  const next = await ftg.webhooks.rotateSecret(webhook.id);
  assert.notEqual(next, secret);
  assert.deepEqual(await ftg.webhooks.list(), [webhook]);
  assert.deepEqual(await ftg.webhooks.get(webhook.id), webhook);
  const changed = await ftg.webhooks.change(webhook.id, { isActive: false });
  assert.deepEqual(changed, { ...webhook, isActive: false });
  await ftg.webhooks.delete(webhook.id);
  assert.deepEqual(await ftg.webhooks.list(), []);
});

test('following ends with its signal', async () => {
  const controller = new AbortController();
  const { last } = await ftg.eventsPage({ limit: 1 });
  const following = some(ftg.events({ after: last, signal: controller.signal }));
  setTimeout(() => controller.abort(new Error('enough')), 200);
  await assert.rejects(following, /enough/);
});

test('following survives temporary failures, and ends with a permanent one', async (t) => {
  const event = (sequence: number): object => ({ sequence, id: `e${sequence}`, type: 'x', data: {} });
  const page = (events: object[], nextAfter: number) => ok({ events, nextAfter, last: nextAfter });
  const server = await startFaultServer(t, [
    page([event(1)], 1),
    cut,
    error(503, 'database_away'),
    page([], 1),
    page([event(2), event(3)], 3),
    error(410, 'gone'),
  ]);
  const client = new FileTransferGateway({ baseUrl: server.url, apiKey: KEY, retry: { attempts: 1 } });
  const found: number[] = [];
  await assert.rejects(
    async () => {
      for await (const { sequence } of client.events()) found.push(sequence);
    },
    (thrown) => thrown instanceof FtgError && thrown.code === 'gone',
  );
  assert.deepEqual(found, [1, 2, 3]);
  const asked = server.asked.map(({ url }) => new URL(url, server.url).searchParams.get('after'));
  assert.deepEqual(asked, [null, '1', '1', '1', '1', '3']);
});

test('ftg events and ftg webhooks', async () => {
  const terminal = new Terminal({ FTG_URL: gateway.url, FTG_KEY: gateway.keyOf(KEY) });
  const lines = (await terminal.ok(['events'])).trim().split('\n');
  const { last } = await ftg.eventsPage({ limit: 1 });
  assert.equal(lines.length, last);
  assert.match(lines[0] ?? '', /^1 {2}\S+Z {2}transfer\.failed {2}exec shell:/);
  const shown = await terminal.json<FeedEvent>('events', '--after', String(last - 1));
  assert.equal(shown.sequence, last);
  const added = await terminal.ok(['webhooks', 'add', receiver.url, '--event', 'job.finished', 'connection.up']);
  assert.match(added, /secret +whsec_/);
  const [webhook] = await ftg.webhooks.list();
  assert.deepEqual(webhook?.events, ['job.finished', 'connection.up']);
  await terminal.ok(['webhooks', 'edit', webhook.id, '--event', 'job.finished', '--connection', 'shell']);
  assert.match(await terminal.ok(['webhooks', 'pause', webhook.id]), /paused/);
  assert.match(await terminal.ok(['webhooks']), /job\.finished +shell +paused/);
  await terminal.ok(['webhooks', 'resume', webhook.id]);
  assert.match(await terminal.ok(['webhooks', 'rotate-secret', webhook.id]), /^whsec_/);
  assert.match(await terminal.ok(['webhooks', 'test', webhook.id]), /^taken after \d+ ms: 204$/m);
  await terminal.ok(['webhooks', 'rm', webhook.id]);
  assert.match(await terminal.ok(['webhooks']), /no webhooks/);
  terminal.close();
});
