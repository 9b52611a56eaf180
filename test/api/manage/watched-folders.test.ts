/** Watched folders through the management API: created, inspected, checked, paused, and their deliveries sent again. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Browser } from '../../support/gateway.js';
import { expectError, field, type ManagedGateway, startManaged } from './support.js';
import { eventually } from '../../support/eventually.js';

let gateway: ManagedGateway;
let ops: Browser;
let receiver: http.Server;
let hook = '';
let status = 500;
let received = 0;

before(async () => {
  receiver = http.createServer((request, response) => {
    received += 1;
    request.resume().on('end', () => response.writeHead(status).end());
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  gateway = await startManaged({
    network: { webhooks: { allow: ['127.0.0.1/32'] } },
    webhooks: { retryMs: [10] },
    watcher: { settleMs: 0 },
  });
  ops = await gateway.browser();
});
after(async () => {
  await gateway.stop();
  receiver.closeAllConnections();
  receiver.close();
});

test('a folder is created, checked, tried out and paused, and every step is in the audit log', async () => {
  const mkdir = await ops.post('/api/mkdir/sandbox', { path: '/in' });
  assert.equal(mkdir.status, 200, mkdir.text);
  const made = await ops.post('/manage/watched-folders', { connectionId: 'sandbox', path: '/in', webhookUrl: hook });
  assert.equal(field(made, 'source', 201), 'manual');
  const at = `/manage/watched-folders/${String(made.json['id'])}`;
  await eventually(async () => field(await ops.get(at), 'baselineAt') !== null, 'the baseline');

  const upload = { method: 'POST', body: 'x', headers: { 'Content-Type': 'application/octet-stream' } };
  assert.equal((await ops.send('/api/upload/sandbox?path=/in&filename=new.txt', upload)).status, 200);
  const dryRun = await ops.post(`${at}/dry-run`);
  assert.equal(dryRun.status, 200, dryRun.text);
  assert.equal((await ops.post(`${at}/check`)).status, 202);
  await eventually(async () => (await ops.get(`${at}/files`)).text.includes('new.txt'), 'the check has seen the file');
  const [check] = field<{ id: string }[]>(await ops.get(`${at}/checks`), 'checks');
  assert.match((await ops.get(`${at}/checks/${check?.id}`)).text, /new\.txt/);
  assert.equal(field(await ops.post(`${at}/pause`), 'isActive'), false);
  assert.equal(field(await ops.post(`${at}/resume`), 'isActive'), true);
  assert.match(field<string>(await ops.get(`${at}/secret`), 'secret'), /^whsec_/);
  assert.equal(field(await ops.post(`${at}/forget`, { path: 'new.txt' }), 'forgotten'), 1);
  const actions = field<{ action: string }[]>(await ops.get('/manage/audit?action=watched_folder'), 'entries');
  assert.deepEqual(
    actions.map(({ action }) => action),
    ['forget', 'show_secret', 'resume', 'pause', 'create'].map((verb) => `watched_folder.${verb}`),
  );
  expectError(await ops.delete('/manage/connections/sandbox'), 409, 'from_configuration');
  assert.match((await ops.get('/manage/connections/sandbox/dependents')).text, /"watchedFolders":\[\{/);
});

test('a dead letter shows in the overview and is sent again', async () => {
  const made = await ops.post('/manage/watched-folders', { connectionId: 'sandbox', path: '/', webhookUrl: hook });
  const at = `/manage/watched-folders/${field<string>(made, 'id', 201)}`;
  const eventId = field<string>(await ops.post(`${at}/test-event`), 'eventId', 202);
  const state = async (): Promise<string | undefined> => {
    const query = { watchedFolderId: String(made.json['id']) };
    const all = field<{ id: string; state: string }[]>(await ops.get('/manage/deliveries', { query }), 'deliveries');
    return all.find(({ id }) => id === eventId)?.state;
  };
  await eventually(async () => (await state()) === 'dead', 'the event is never taken');
  assert.match((await ops.get('/manage/overview')).text, /dead_letters/);
  const attempts = field<{ status: number }[]>(await ops.get(`/manage/deliveries/${eventId}/attempts`), 'attempts');
  assert.deepEqual(
    attempts.map((attempt) => attempt.status),
    [500, 500],
  );
  status = 204;
  assert.equal(field(await ops.post(`/manage/deliveries/${eventId}/replay`), 'queued', 202), true);
  await eventually(async () => (await state()) === 'delivered', 'the replay is taken');
  assert.ok(received >= 3);
});

test('a stopping gateway is not ready at once, though a running delivery delays its end', async () => {
  const held: http.ServerResponse[] = [];
  const slow = http.createServer((_, response) => held.push(response)).listen(0, '127.0.0.1');
  await once(slow, 'listening');
  const webhookUrl = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/`;
  const made = await ops.post('/manage/watched-folders', { connectionId: 'sandbox', path: '/', webhookUrl });
  await ops.post(`/manage/watched-folders/${field<string>(made, 'id', 201)}/test-event`);
  await eventually(() => held.length > 0, 'the delivery is under way');
  const exited = once(gateway.process, 'exit');
  gateway.process.kill('SIGTERM');
  await eventually(() => gateway.output().includes('"msg":"stopping'), 'the signal');
  expectError(await gateway.api.get('/readyz'), 503, 'draining');
  for (const response of held) response.writeHead(204).end();
  slow.close();
  assert.deepEqual(await exited, [0, null]);
});
