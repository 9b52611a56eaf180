/** Pools over real servers, and the limits of connections that share a login. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test, type TestContext } from 'node:test';
import { GatewayError } from '../../src/base/errors.js';
import type { Connection, SftpConnection } from '../../src/connections/connection.js';
import type { PoolLimits } from '../../src/contract/connection/fields.js';
import { ROOT } from '../../src/remotes/path.js';
import { createRemotes, type Remotes, type UseOptions } from '../../src/remotes/registry.js';
import { SharedLimits } from '../../src/remotes/pool-limits.js';
import { startVsftpd } from '../servers/ftp.js';
import { ftpConnection, LIMITS, sftpConnection, testDeps, TestLeftovers } from './support/harness.js';
import { eventually } from '../support/eventually.js';
import { startProxy } from '../support/proxy.js';
import { startSshd } from '../servers/sshd.js';

const use: UseOptions = { signal: new AbortController().signal, leftovers: () => new TestLeftovers() };

function remotesOf(t: TestContext, limits: Partial<PoolLimits> = {}): Remotes {
  const remotes = createRemotes({ ...testDeps(), limits: { default: { ...LIMITS, ...limits }, hosts: {} } });
  t.after(() => remotes.close());
  return remotes;
}

/** Many short operations at once; resolves with the most that ran together. */
async function crowd(remotes: Remotes, connection: Connection, count: number): Promise<number> {
  let running = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: count }, () =>
      remotes.use(connection, use, async (remote) => {
        most = Math.max(most, ++running);
        await remote.stat(ROOT);
        await new Promise(setImmediate);
        running--;
      }),
    ),
  );
  const gauges = remotes.gauges().map(({ leased, waiting }) => ({ leased, waiting }));
  assert.deepEqual(gauges, [{ leased: 0, waiting: 0 }]);
  return most;
}

test('OpenSSH: 200 operations share few sessions', async (t) => {
  const server = await startSshd();
  t.after(() => server.stop());
  const remotes = remotesOf(t, { maxSessions: 3, maxChannelsPerSession: 4 });
  const most = await crowd(remotes, sftpConnection(server), 200);
  assert.ok(most > 1 && most <= 12, `${most} at once`);
  const logins = (await server.log()).match(/Accepted publickey/g)?.length ?? 0;
  assert.ok(logins >= 2 && logins <= 3, `${logins} logins`);
});

test('OpenSSH that admits one channel a session: fifty operations, all served', async (t) => {
  const server = await startSshd(['MaxSessions 1']);
  t.after(() => server.stop());
  const remotes = remotesOf(t, { maxSessions: 2 });
  await crowd(remotes, sftpConnection(server), 50);
  assert.equal((await server.log()).match(/Accepted publickey/g)?.length, 2);
});

test('FTP server that admits three logins: 200 operations, all served, and the limit is learned', async (t) => {
  const server = await startVsftpd({ extra: ['max_per_ip=3'] });
  t.after(() => server.stop());
  const remotes = remotesOf(t);
  const connection = ftpConnection(server);
  const most = await crowd(remotes, connection, 200);
  assert.ok(most <= 3, `${most} at once`);
  // vsftpd counts connections that it is refusing, for a moment.
  const { learned = 0 } = remotes.gaugeOf(connection) ?? {};
  assert.ok(learned >= 1 && learned <= 3, `${learned} learned`);
});

test('a way to an SSH server that takes three connections: 200 operations, all served, and the limit is learned', async (t) => {
  const server = await startSshd();
  t.after(() => server.stop());
  let open = 0;
  const way = net.createServer((client) => {
    if (open === 3) {
      client.resetAndDestroy();
      return;
    }
    open += 1;
    const to = net.connect(server.port, '127.0.0.1');
    client.pipe(to).pipe(client);
    for (const socket of [client, to]) socket.on('error', () => [client, to].forEach((one) => one.destroy()));
    client.once('close', () => {
      open -= 1;
      to.destroy();
    });
  });
  t.after(() => way.close());
  way.listen(0, '127.0.0.1');
  await once(way, 'listening');
  const { port } = way.address() as net.AddressInfo;
  const remotes = remotesOf(t, { maxChannelsPerSession: 1 });
  const connection = sftpConnection({ ...server, port });
  await crowd(remotes, connection, 200);
  // One more is tried a second after a refusal: then the second refusal says that it was no accident.
  await eventually(async () => {
    await crowd(remotes, connection, 20);
    return remotes.gaugeOf(connection)?.learned === 3;
  }, 'the limit is learned');
});

test('a session that died unnoticed is replaced before a byte was sent, and not after', async (t) => {
  const server = await startSshd();
  t.after(() => server.stop());
  const proxy = await startProxy(server.port);
  t.after(() => proxy.stop());
  const remotes = remotesOf(t);
  const connection = sftpConnection({ ...server, port: proxy.port });
  await remotes.use(connection, use, (remote) => remote.stat(ROOT));
  let runs = 0;
  const cutInside = (commits: boolean): Promise<unknown> =>
    remotes.use(connection, use, async (remote, attempt) => {
      if (commits) attempt.committed();
      if (++runs === 1) proxy.fail('reset');
      return remote.stat(ROOT);
    });
  await cutInside(false);
  assert.equal(runs, 2);
  runs = 0;
  await assert.rejects(cutInside(true), (error) => error instanceof GatewayError && error.code === 'connection_lost');
  assert.equal(runs, 1);
});

test('copies in both directions between two logins with one session each do not wait for each other for ever', async (t) => {
  const server = await startVsftpd();
  t.after(() => server.stop());
  const remotes = remotesOf(t, { maxSessions: 1 });
  // Another spelling of the host makes another pool.
  const [one, two] = [ftpConnection(server), ftpConnection(server, { id: 'f2', host: 'localhost' })];
  const roots = await Promise.all(
    Array.from({ length: 20 }, (_, index) => {
      const [from, to] = index % 2 === 0 ? [one, two] : [two, one];
      return remotes.useBoth(from, to, use, async (source, target) => [
        await source.stat(ROOT),
        await target.stat(ROOT),
      ]);
    }),
  );
  assert.equal(roots.length, 20);
  const onOne = remotes.useBoth(one, one, use, async () => undefined);
  await assert.rejects(onOne, (error) => error instanceof GatewayError && error.code === 'sessions_exhausted');
});

test('after closing nothing is opened any more', async (t) => {
  const server = await startSshd();
  t.after(() => server.stop());
  const remotes = remotesOf(t);
  remotes.close();
  const late = remotes.use(sftpConnection(server), use, async () => undefined);
  await assert.rejects(late, (error) => error instanceof GatewayError && error.code === 'draining');
});

test('unused pools are forgotten', async (t) => {
  const server = await startSshd();
  t.after(() => server.stop());
  t.mock.timers.enable({ apis: ['setInterval', 'Date'] });
  t.mock.method(performance, 'now', () => Date.now());
  const remotes = remotesOf(t);
  await remotes.use(sftpConnection(server), use, async () => undefined);
  for (let minute = 0; minute < 3; minute++) t.mock.timers.tick(60_000);
  assert.deepEqual(
    remotes.gauges().map(({ open }) => open),
    [0],
  );
  for (let minute = 0; minute < 6; minute++) t.mock.timers.tick(60_000);
  assert.deepEqual(remotes.gauges(), []);
});

test('for connections with one login the smallest limit of those in use counts', (t) => {
  t.mock.timers.enable({ apis: ['Date'] });
  t.mock.method(performance, 'now', () => Date.now());
  const shared = new SharedLimits();
  const connection = (id: string, pool: Partial<PoolLimits>): SftpConnection =>
    sftpConnection({ port: 22, username: 'u' }, { id, pool });
  const limits = (of: SftpConnection): PoolLimits => shared.use(of, { ...LIMITS, ...of.pool });
  const plain = connection('plain', {});
  const wide = connection('wide', { maxSessions: 20, acquireTimeoutMs: 1_000 });
  const narrow = connection('narrow', { maxSessions: 2, maxChannelsPerSession: 3 });
  assert.equal(limits(plain).maxSessions, LIMITS.maxSessions);
  assert.equal(limits(wide).maxSessions, 20);
  assert.equal(limits(narrow).maxSessions, 2);
  assert.deepEqual([limits(wide).maxSessions, limits(wide).maxChannelsPerSession], [2, 3]);
  // Times concern only the waiting connection, so they stay its own.
  assert.deepEqual([limits(wide).acquireTimeoutMs, limits(plain).acquireTimeoutMs], [1_000, LIMITS.acquireTimeoutMs]);
  const leave = shared.enter(narrow);
  t.mock.timers.tick(10_000);
  shared.forget(5_000);
  assert.equal(limits(wide).maxSessions, 2);
  leave();
  leave();
  t.mock.timers.tick(10_000);
  shared.forget(5_000);
  assert.equal(limits(wide).maxSessions, 20);
  assert.equal(limits(connection('wide', { maxSessions: 6 })).maxSessions, 6);
});
