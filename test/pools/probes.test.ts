/**
 * Probes take what is free and no more. A failure is a client that waits for one, a session that is kept open
 * for ever by probes, or one beyond the limit.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pool, PoolBusy } from '../../src/pools/pool.js';
import type { SessionPermits } from '../../src/shares/permits.js';
import { ask, failure, giveBack, LIMITS, poolOf, rest, ScriptedServer, ScriptedSession } from './scripted.js';

const never = new AbortController().signal;
const PROBE = { signal: never, priority: 'probe' } as const;

function readyServer(capacity = 1): ScriptedServer {
  const server = new ScriptedServer(capacity);
  server.auto = (number) => new ScriptedSession(`s${number}`, capacity);
  return server;
}

test('a probe opens a session if there is none, which is closed after it', async () => {
  const server = readyServer();
  const pool = poolOf(server);
  const [lease] = await pool.acquire(PROBE);
  assert.equal(pool.gauge.open, 1);
  lease?.release('keep');
  assert.equal(pool.gauge.open, 0);
  assert.equal(server.sessions[0]?.alive, false);
});

test('a session that a probe opened is kept once a request has used it', async () => {
  const server = readyServer(2);
  const pool = poolOf(server);
  const [lease] = await pool.acquire(PROBE);
  const client = ask(pool);
  await rest();
  assert.equal(server.sessions.length, 1);
  lease?.release('keep');
  assert.equal(pool.gauge.open, 1);
  giveBack(client);
  assert.equal(pool.gauge.open, 1);
});

test('a probe leaves an idle session as idle as it was', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
  t.mock.method(performance, 'now', () => Date.now());
  const server = readyServer();
  const pool = poolOf(server, { idleTimeoutMs: 60_000 });
  const client = ask(pool);
  await rest();
  giveBack(client);
  for (let second = 0; second < 50; second += 10) {
    t.mock.timers.tick(10_000);
    await rest();
    const [lease] = await pool.acquire(PROBE);
    lease?.release('keep');
    assert.equal(server.sessions.length, 1);
    assert.equal(server.sessions[0]?.checks, 0, 'it proves the session itself');
  }
  assert.equal(pool.gauge.open, 1);
  t.mock.timers.tick(20_000);
  await rest();
  assert.equal(pool.gauge.open, 0);
});

test('a probe takes the last free session, but never one more, and waits for none', async () => {
  const server = readyServer();
  const pool = poolOf(server, { maxSessions: 2 });
  const first = ask(pool);
  await rest();
  const [lease] = await pool.acquire(PROBE);
  assert.equal(pool.gauge.open, 2);
  await assert.rejects(pool.acquire(PROBE), PoolBusy);
  const waiting = ask(pool);
  await rest();
  lease?.release('keep');
  await rest();
  assert.ok(waiting.leases !== undefined, 'the client has what the probe gave back');
  await assert.rejects(pool.acquire(PROBE), PoolBusy);
  assert.deepEqual(pool.gauge, { host: 'example:22', open: 2, leased: 2, waiting: 0 });
  giveBack(first);
});

test('a client that arrives while a session is opened for a probe gets it first', async () => {
  const server = new ScriptedServer(1);
  const pool = poolOf(server, { maxSessions: 1 });
  const probe = pool.acquire(PROBE);
  const client = ask(pool);
  await rest();
  server.admit();
  await rest();
  assert.ok(client.leases !== undefined);
  giveBack(client);
  const [lease] = await probe;
  lease?.release('keep');
  assert.equal(pool.gauge.open, 1, 'the client has used it');
});

test('a client that arrives while a probe has the only session gets that one next', async () => {
  const server = readyServer();
  const pool = poolOf(server, { maxSessions: 1 });
  const [lease] = await pool.acquire(PROBE);
  const client = ask(pool);
  await rest();
  assert.equal(client.leases, undefined);
  lease?.release('keep');
  await rest();
  assert.ok(client.leases !== undefined);
  assert.equal(server.logins, 1);
});

test('a probe does not count as a waiter', async () => {
  const server = new ScriptedServer(1);
  const pool = poolOf(server, { maxSessions: 1, maxWaiting: 1 });
  const probe = pool.acquire(PROBE);
  probe.catch(() => undefined);
  const clients = [ask(pool), ask(pool), ask(pool)];
  await rest();
  assert.deepEqual(
    clients.map(({ error }) => error?.code),
    [undefined, undefined, 'pool_full'],
  );
  pool.close();
});

test('a probe gets the reason why a session could not be opened, and not that the server is full', async () => {
  const server = new ScriptedServer(1);
  const pool = poolOf(server);
  const refused = pool.acquire(PROBE);
  server.refuse(failure('unreachable'));
  await assert.rejects(refused, { code: 'unreachable' });
  const full = pool.acquire(PROBE);
  server.refuse(failure('too_many_sessions'));
  await assert.rejects(full, PoolBusy);
  assert.equal(pool.gauge.waiting, 0);
});

test('if others share the limit, a probe gives up before a session is requested from them', async () => {
  const server = readyServer();
  const wanted: number[] = [];
  let holder: Parameters<SessionPermits['bind']>[0] | undefined;
  const permits: SessionPermits = {
    pools: 2,
    cap: Infinity,
    learned: Infinity,
    limit: () => undefined,
    giveBack: () => undefined,
    want: (count) => void wanted.push(count),
    bind: (bound) => void (holder = bound),
  };
  const pool = new Pool({ host: 'example:22', limits: LIMITS, leasesPerSession: 1, open: server.open, permits });
  const probe = pool.acquire(PROBE);
  const lost = assert.rejects(probe, PoolBusy);
  assert.equal(wanted.at(-1), 1);
  holder?.scarce();
  await lost;
  assert.equal(wanted.at(-1), 0);
  assert.equal(server.logins, 0);
  const client = ask(pool);
  holder?.scarce();
  await rest();
  assert.equal(client.error, undefined, 'a client waits on');
  pool.close();
});
