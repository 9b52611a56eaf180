/**
 * "Test connection": every step with its time, the failing one with a reason and a remedy, and a card of the server.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { eventually } from '../../support/eventually.js';
import type { TestReport } from '../../../src/api/connections/test-report.js';
import type { Browser } from '../../support/gateway.js';
import { expectError, field, type ManagedGateway, startManaged, withSql } from './support.js';

let gateway: ManagedGateway;
let ops: Browser;

before(async () => {
  gateway = await startManaged();
  ops = await gateway.browser();
  assert.equal((await ops.post('/manage/connections/sandbox/duplicate', { id: 'box' })).status, 201);
});
after(() => gateway.stop());

async function run(target: string, body: object = {}): Promise<TestReport> {
  const answer = await ops.post(target, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as unknown as TestReport;
}

const states = ({ steps }: TestReport): string[] => steps.map(({ name, status }) => `${name} ${status}`);
const failed = (report: TestReport) => report.steps.find(({ status }) => status === 'failed');

test('a good connection passes every step, including a requested write, and leaves only a card', async () => {
  const report = await run('/manage/connections/box/test', { probe: true });
  assert.ok(report.isOk, JSON.stringify(report.steps));
  assert.deepEqual(states(report), [
    'resolve ok',
    'connect ok',
    'host_key ok',
    'login ok',
    'list ok',
    'write ok',
    'rename ok',
    'delete ok',
  ]);
  for (const { durationMs, detail } of report.steps) assert.ok(Number.isInteger(durationMs) && detail !== '');
  assert.equal(report.hostKey?.state, 'pinned');
  const { card } = report;
  assert.equal(card?.['protocol'], 'SFTP');
  const algorithms = card['algorithms'] as string[];
  assert.ok(algorithms.length >= 4 && !algorithms.includes(''), algorithms.join());
  assert.ok(algorithms.includes('ssh-ed25519'), algorithms.join());
  assert.ok(Array.isArray(card['extensions']) && typeof card['readBytes'] === 'number');
  assert.ok(typeof card['software'] === 'string' && card['software'] !== '');

  const listing = await ops.get('/api/list/box');
  assert.ok(!listing.text.includes('ftg-test'), listing.text);
  const stored = await ops.get('/manage/connections/box');
  assert.equal(field<{ isOk: boolean }>(stored, 'lastTest').isOk, true);
  assert.equal((stored.json['card'] as { protocol: string }).protocol, 'SFTP');
});

test('a test does no more than documented: it pins nothing, and the history has no item', async () => {
  assert.equal((await ops.delete('/manage/connections/box/host-keys')).status, 200);
  const count = async (): Promise<number> => {
    const [row] = await withSql(gateway.databaseUrl, (sql) => sql`select count(*)::int as count from transfers`);
    return row?.['count'] as number;
  };
  await eventually(async () => (await count()) === 1, 'the row of the listing above has followed its answer');
  const before = await count();
  const report = await run('/manage/connections/box/test');
  assert.deepEqual([report.isOk, report.hostKey?.state], [true, 'new']);
  assert.deepEqual(field(await ops.get('/manage/connections/box'), 'hostKeys'), []);
  assert.equal(await count(), before);
});

test('the failing step has the reason and a remedy, and the card of the last good test stays', async () => {
  const wrong = `SHA256:${'A'.repeat(43)}`;
  assert.equal((await ops.post('/manage/connections/box/host-keys', { fingerprint: wrong })).status, 200);
  const mismatch = await run('/manage/connections/box/test');
  assert.deepEqual(states(mismatch), ['resolve ok', 'connect ok', 'host_key failed', 'login skipped', 'list skipped']);
  assert.equal(mismatch.hostKey?.state, 'mismatch');
  assert.match(failed(mismatch)?.advice ?? '', /accept the new one/);
  assert.equal((await ops.delete('/manage/connections/box/host-keys')).status, 200);
  const stored = await ops.get('/manage/connections/box');
  const last = field<{ failedStep: string; errorCode: string }>(stored, 'lastTest');
  assert.deepEqual([last.failedStep, last.errorCode], ['host_key', 'host_key_mismatch']);
  assert.notEqual(stored.json['card'], null);

  assert.equal((await ops.patch('/manage/connections/box', { password: 'not-this-one' })).status, 200);
  const login = await run('/manage/connections/box/test', { probe: true });
  assert.equal(failed(login)?.name, 'login');
  assert.equal(failed(login)?.code, 'login_refused');
  assert.match(failed(login)?.advice ?? '', /user name and password/);
  assert.ok(!JSON.stringify(login).includes('not-this-one'));

  const overview = await ops.get('/manage/overview');
  assert.match(overview.text, /connection_failing/);
});

test('the way through a proxy is a step', async () => {
  const proxy = net.createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  for (const [type, next] of [
    ['sftp', 'host_key skipped'],
    ['ftp', 'login skipped'],
  ] as const) {
    const connection = { name: 'P', type, host: 'inner.example', username: 'u', password: 'w', proxy: { url } };
    const report = await run('/manage/test-connection', { connection });
    assert.deepEqual(states(report).slice(0, 4), ['resolve ok', 'connect ok', 'proxy failed', next]);
    assert.equal(failed(report)?.code, 'unreachable');
    assert.match(
      failed(report)?.error ?? '',
      /the proxy .* does not connect to inner\.example:\d+: its rules forbid it/,
    );
    assert.match(failed(report)?.advice ?? '', /^Check host and port/);
  }
  proxy.close();
});

test('a connection is tried out before it is saved', async () => {
  const draft = (connection: object): object => ({
    connection: { name: 'Draft', type: 'sftp', username: 'gw', password: 'secret-of-draft', ...connection },
  });
  const unknown = await run('/manage/test-connection', draft({ host: 'no-such-host.invalid' }));
  assert.deepEqual([failed(unknown)?.name, failed(unknown)?.code], ['resolve', 'dns_failed']);
  assert.equal(unknown.card, null);
  const denied = await run('/manage/test-connection', draft({ host: '169.254.169.254' }));
  assert.deepEqual([failed(denied)?.name, failed(denied)?.code], ['resolve', 'address_denied']);
  const own = await run('/manage/test-connection', draft({ host: '127.0.0.1', port: gateway.port }));
  assert.equal(failed(own)?.code, 'address_denied', "the gateway's own listener is no server");

  const web = net.createServer((socket) => {
    socket.on('error', () => undefined).resume();
    socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
  });
  web.listen(0, '127.0.0.1');
  await once(web, 'listening');
  const { port } = web.address() as AddressInfo;
  const stranger = await run('/manage/test-connection', draft({ host: '127.0.0.1', port }));
  assert.deepEqual([failed(stranger)?.name, failed(stranger)?.code], ['host_key', 'protocol_error']);
  web.close();
  await once(web, 'close');
  const closed = await run('/manage/test-connection', draft({ host: '127.0.0.1', port }));
  assert.deepEqual([failed(closed)?.name, failed(closed)?.code], ['connect', 'unreachable']);
  const noFtp = { name: 'F', type: 'ftp', host: '127.0.0.1', port, username: 'u', tls: 'explicit' };
  const ftp = await run('/manage/test-connection', { connection: noFtp });
  assert.deepEqual(states(ftp), [
    'resolve ok',
    'connect failed',
    'certificate skipped',
    'login skipped',
    'list skipped',
  ]);

  const based = { connection: { ...noFtp, type: 'sftp', tls: undefined }, basedOn: 'nowhere' };
  expectError(await ops.post('/manage/test-connection', based), 404, 'unknown_connection');
});

test('tests cannot be used to flood a server', async () => {
  const body = { connection: { name: 'D', type: 'sftp', host: '127.0.0.1', port: 1, username: 'u' } };
  const other = await gateway.browser('other@example.com');
  const answers = await Promise.all(Array.from({ length: 31 }, () => other.post('/manage/test-connection', body)));
  assert.equal(answers.filter(({ status }) => status === 429).length, 1);
});
