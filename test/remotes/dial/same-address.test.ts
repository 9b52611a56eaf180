/** Two servers with one private address, each behind a proxy or a jump host of its own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Connection } from '../../../src/connections/connection.js';
import { serverOf } from '../../../src/remotes/dial/dial.js';
import type { Remote } from '../../../src/remotes/remote.js';
import { createRemotes } from '../../../src/remotes/registry.js';
import { startLeadingProxy } from '../../servers/leading-proxy.js';
import { startScripted } from '../../servers/scripted-ftp.js';
import { s3Error, S3Stub } from '../../servers/scripted-s3.js';
import { clientFor, get } from '../support/ftp-client.js';
import { ftpConnection, LIMITS, sftpConnection, testDeps } from '../support/harness.js';
import { at, connectionTo, failsWith, patterned, S3Rig, store } from '../support/s3-rig.js';

const PRIVATE = { host: '10.0.0.5', port: 21 };
const jumpTo = (host: string, username = 'jump') => ({
  via: host,
  jump: sftpConnection({ port: 22, username }, { host, password: 'secret/of jump' }),
});
const proxyAt = (url: string, username?: string) => ({ proxy: { url, username }, proxyPassword: 'secret/of proxy' });

test('FTP: that one continues reads says nothing about the other one', async (t) => {
  const good = await startScripted();
  const odd = await startScripted({ REST: '350 ok' });
  for (const server of [good, odd]) {
    server.files.set('/a', Buffer.from('0123456789'));
    t.after(() => server.stop());
  }
  const client = clientFor(good);
  for (const { port } of [good, odd]) {
    const url = await startLeadingProxy(t, PRIVATE.port, port);
    const behind = { ...PRIVATE, ...proxyAt(url) };
    const range = await client.use((remote) => get(remote, '/a', { start: 3, end: 6 }), behind);
    assert.equal(String(range), '3456');
  }
});

test('S3: that one refuses to replace by itself says nothing about the other one', async (t) => {
  const [obeying, ignoring] = [await S3Stub.start(), await S3Stub.start()];
  obeying.early = ({ method, headers }) =>
    method === 'PUT' && headers['if-none-match'] === '*' ? s3Error(412, 'PreconditionFailed') : undefined;
  ignoring.objects.set('f', patterned(10));
  const base = connectionTo({ endpoint: `http://${PRIVATE.host}:${PRIVATE.port}`, bucket: 'b' });
  const rig = new S3Rig(base);
  t.after(() => rig.close());
  for (const stub of [obeying, ignoring]) {
    t.after(() => stub.stop());
    const url = await startLeadingProxy(t, PRIVATE.port, Number(new URL(stub.endpoint).port));
    const remote = await rig.open(undefined, { ...base, ...proxyAt(url) });
    const bytes = patterned(2 * 1024 * 1024);
    const exclusive = { exclusive: true };
    const stored = store(remote, '/f', bytes, { size: bytes.length, ...exclusive }, exclusive);
    await assert.rejects(stored, failsWith('already_exists'));
  }
  assert.equal(ignoring.objects.get('f')?.length, 10);
});

test('S3: no store copies what another one at the same address holds', async (t) => {
  const base = connectionTo({ endpoint: `http://${PRIVATE.host}:${PRIVATE.port}`, bucket: 'b' });
  const rig = new S3Rig(base);
  t.after(() => rig.close());
  const open = (url: string): Promise<Remote> => rig.open(undefined, { ...base, ...proxyAt(url) });
  const stubs = [await S3Stub.start(), await S3Stub.start()];
  const remotes: Remote[] = [];
  for (const stub of stubs) {
    t.after(() => stub.stop());
    stub.objects.set('f', patterned(10));
    remotes.push(await open(await startLeadingProxy(t, PRIVATE.port, Number(new URL(stub.endpoint).port))));
  }
  const [one, other] = remotes;
  assert.ok(one !== undefined && other !== undefined);
  const copyTo = (remote: Remote) => remote.copyFrom?.(one, at('/f'), at('/g'), { exclusive: false });
  assert.equal(await copyTo(other), undefined);
  assert.ok(await copyTo(one));
});

test('the name of a server has the way to it, without a secret or a slash', () => {
  const HOST = '10.0.0.5:21';
  const behind = jumpTo('one.example');
  const ways = [
    {},
    behind,
    jumpTo('two.example'),
    jumpTo('one.example', 'another'),
    { ...behind, jump: { ...behind.jump, ...jumpTo('two.example') } },
    { via: 'one.example' },
    proxyAt('http://one.example:3128'),
    proxyAt('http://one.example:3128', 'user'),
    proxyAt('socks5://one.example:3128'),
  ];
  const names = ways.map((way) => serverOf(HOST, way));
  assert.equal(new Set(names).size, ways.length, names.join('\n'));
  assert.equal(names[0], HOST);
  assert.doesNotMatch(names.join('\n'), /secret|\//);
  const changed = { ...behind, jump: { ...behind.jump, password: 'another', announcedKeys: [] } };
  assert.equal(serverOf(HOST, changed), names[1], 'the same way with another password');
  assert.equal(serverOf(HOST, { allowPrivate: true }), HOST);
});

test('their folders are different places, and one lock', (t) => {
  const remotes = createRemotes({ ...testDeps(), limits: { default: LIMITS, hosts: {} } });
  t.after(() => remotes.close());
  const server = { ...PRIVATE, username: 'u', password: 'p', tls: 'none', ca: undefined } as const;
  const to = (way: object): Connection => ftpConnection(server, { ...PRIVATE, ...way });
  const [direct, one, same, two] = [{}, jumpTo('one.example'), jumpTo('one.example'), jumpTo('two.example')].map(to);
  assert.ok(direct !== undefined && one !== undefined && same !== undefined && two !== undefined);
  const placeOf = (connection: Connection): string => remotes.place(connection, at('/in'));
  assert.equal(placeOf(direct), '10.0.0.5:21:/in');
  assert.equal(placeOf(one), placeOf(same));
  assert.equal(new Set([direct, one, two].map(placeOf)).size, 3);
  assert.equal(new Set([direct, one, two].map((each) => remotes.server(each))).size, 3);
  assert.deepEqual([...new Set([direct, one, two].map((each) => remotes.host(each)))], ['10.0.0.5:21']);
  assert.equal(new Set([direct, one, two].map((each) => remotes.placeByAnyWay(each, at('/in')))).size, 1);
  // Public servers are the same by every way, so one folder may lie in the other.
  for (const [host, places] of [
    ['10.0.0.5', 3],
    ['fd00::5', 3],
    ['files', 3],
    ['sftp.example.com', 1],
    ['203.0.113.5', 3],
    ['8.8.4.4', 1],
    ['2001:4860:4860::8888', 1],
  ] as const) {
    const trees: string[] = [direct, one, two].map((each) =>
      remotes.placeInTree({ ...each, host } as Connection, at('/in')),
    );
    assert.equal(new Set(trees).size, places, trees.join('\n'));
  }
});
