import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { PoolLimits } from '../../src/contract/connection/fields.js';
import {
  type Asked,
  ask,
  failure,
  giveBack,
  LIMITS,
  poolOf,
  rest,
  ScriptedServer,
  ScriptedSession,
} from './scripted.js';

/** How long a learned limit is believed. */
const BELIEVED_MS = 600_000;

function fakeTime(t: TestContext): (ms: number) => Promise<void> {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
  t.mock.method(performance, 'now', () => Date.now());
  return async (ms) => {
    t.mock.timers.tick(ms);
    await rest();
  };
}

/** A server that admits every login at once. */
function readyServer(capacity = 1): ScriptedServer {
  const server = new ScriptedServer(capacity);
  server.auto = (number) => new ScriptedSession(`s${number}`, capacity);
  return server;
}

/** A pool with one open session without leases. */
async function idlePool(limits: Partial<PoolLimits> = {}, server = readyServer()) {
  const pool = poolOf(server, limits);
  const first = ask(pool);
  await rest();
  giveBack(first);
  const session = server.sessions[0] as ScriptedSession;
  return { pool, server, session };
}

test('several leases share one session up to its capacity', async () => {
  const server = readyServer(3);
  const pool = poolOf(server, { maxSessions: 2 });
  const asked = Array.from({ length: 3 }, () => ask(pool));
  await rest();
  assert.equal(server.sessions.length, 1);
  assert.deepEqual(
    asked.map(({ leases }) => leases?.[0]?.item),
    ['s1.1', 's1.2', 's1.3'],
  );
  const fourth = ask(pool);
  await rest();
  assert.equal(fourth.leases?.[0]?.item, 's2.1');
  assert.deepEqual(pool.gauge, { host: 'example:22', open: 2, leased: 4, waiting: 0 });
});

test('a second session is opened in the background beside a crowded one', async () => {
  const server = readyServer(8);
  const pool = poolOf(server);
  const asked = Array.from({ length: 4 }, () => ask(pool));
  await rest();
  assert.equal(
    asked.every(({ leases }) => leases !== undefined),
    true,
  );
  assert.equal(server.sessions.length, 2);
});

test('a wait that is too long fails, with what the server said about its limit', async (t) => {
  const tick = fakeTime(t);
  const server = new ScriptedServer();
  const pool = poolOf(server, { acquireTimeoutMs: 5_000 });
  const asked: Asked = ask(pool);
  server.refuse(failure('too_many_sessions', '421 too many connections'));
  await tick(4_999);
  assert.deepEqual([asked.error], [undefined]);
  await tick(1);
  assert.equal(asked.error?.code, 'acquire_timeout');
  assert.match(asked.error?.message ?? '', /example:22.*5000 ms/);
  assert.equal(pool.gauge.waiting, 0);
});

test('requests beyond maxWaiting are refused; those that are about to be served do not count', async () => {
  const server = new ScriptedServer(2);
  const pool = poolOf(server, { maxSessions: 1, maxWaiting: 1 });
  const served = [ask(pool), ask(pool)];
  const waiting = ask(pool);
  const refused = ask(pool);
  await rest();
  assert.equal(refused.error?.code, 'pool_full');
  assert.equal(refused.error?.retryAfterMs, 1_000);
  server.admit();
  await rest();
  assert.equal(
    served.every(({ leases }) => leases !== undefined),
    true,
  );
  assert.equal(waiting.error, undefined);
  giveBack(served[0]!);
  await rest();
  assert.notEqual(waiting.leases, undefined);
});

test('maxWaiting 0 still serves requests for which a session is free or may be opened', async () => {
  const server = readyServer();
  const pool = poolOf(server, { maxSessions: 1, maxWaiting: 0 });
  const first = ask(pool);
  await rest();
  assert.notEqual(first.leases, undefined);
  const second = ask(pool);
  await rest();
  assert.equal(second.error?.code, 'pool_full');
  giveBack(first);
  const third = ask(pool);
  await rest();
  assert.notEqual(third.leases, undefined);
});

test('a client that leaves is removed from the queue and the next one is served', async () => {
  const server = readyServer();
  const pool = poolOf(server, { maxSessions: 1 });
  const holder = ask(pool);
  await rest();
  const [left, next] = [ask(pool), ask(pool)];
  const reason = failure('client_gone');
  left.controller.abort(reason);
  await rest();
  assert.equal(left.error, reason);
  assert.equal(pool.gauge.waiting, 1);
  giveBack(holder);
  await rest();
  assert.notEqual(next.leases, undefined);
  const late = ask(pool, { signal: AbortSignal.abort(reason) });
  await rest();
  assert.equal(late.error, reason);
});

test('a session that ends while idle is replaced unnoticed', async () => {
  const { pool, server, session } = await idlePool();
  session.close();
  const asked = ask(pool);
  await rest();
  assert.equal(asked.leases?.[0]?.item, 's2.1');
  assert.equal(asked.leases?.[0]?.reused, false);
  assert.equal(server.alive.length, 1);
});

test('a lease says whether its session was open before the request', async () => {
  const { pool, session } = await idlePool({ maxSessions: 1 }, readyServer(2));
  const [first, second] = [ask(pool), ask(pool)];
  await rest();
  // The second one came while the session was in use and never idle: it is as old as for the first.
  assert.equal(first.leases?.[0]?.reused, true);
  assert.equal(second.leases?.[0]?.reused, true);
  assert.equal(session.leases.size, 2);
});

test('a session that was idle for long is checked once, also for two requests at once', async (t) => {
  const tick = fakeTime(t);
  const { pool, session } = await idlePool({}, readyServer(4));
  await tick(4_000);
  giveBack((await served(pool))!);
  assert.equal(session.checks, 0);
  await tick(6_000);
  let passed = (): void => undefined;
  session.check = () => new Promise((resolve) => void ((passed = resolve), session.checks++));
  const [first, second] = [ask(pool), ask(pool)];
  await rest();
  assert.equal(session.checks, 1);
  assert.deepEqual([first.leases, second.leases], [undefined, undefined]);
  // The first one leaves: the check continues for the other.
  first.controller.abort(failure('client_gone'));
  passed();
  await rest();
  assert.notEqual(second.leases, undefined);
  assert.equal(session.checks, 1);
});

async function served(pool: Parameters<typeof ask>[0]) {
  const asked = ask(pool);
  await asked.settled;
  return asked.leases === undefined ? undefined : asked;
}

test('eight sessions found dead cost the waiter one check and one login', async (t) => {
  const tick = fakeTime(t);
  const server = readyServer();
  const pool = poolOf(server);
  const asked = Array.from({ length: 8 }, () => ask(pool));
  await rest();
  for (const one of asked) giveBack(one);
  await tick(6_000);
  let checks = 0;
  for (const session of server.sessions) {
    session.check = async () => {
      checks++;
      throw failure('stall_timeout');
    };
  }
  const again = await served(pool);
  assert.equal(again?.leases?.[0]?.item, 's9.1');
  assert.equal(checks, 1);
  assert.equal(server.alive.length, 1);
});

test('a retry requires a check of a session that was idle only a moment', async () => {
  const { pool, session } = await idlePool();
  session.check = async () => {
    throw failure('connection_lost');
  };
  const asked = ask(pool, { prove: true });
  await rest();
  assert.equal(asked.leases?.[0]?.item, 's2.1');
  assert.equal(session.alive, false);
});

test('a retry requires a check of a session in use: it may be as dead as the first', async () => {
  const { pool, session } = await idlePool({ maxSessions: 1 }, readyServer(3));
  const other = ask(pool);
  await rest();
  session.check = () => {
    session.close();
    return Promise.reject(failure('connection_lost'));
  };
  const asked = ask(pool, { prove: true });
  await rest();
  assert.equal(asked.leases?.[0]?.item, 's2.1');
  giveBack(other, 'discard');
});

for (const code of ['stall_timeout', 'connection_lost'] as const) {
  test(`a retry cuts no work on a live session that fails its check (${code}), and continues beside it`, async () => {
    const { pool, server, session } = await idlePool({ maxSessions: 1 }, readyServer(3));
    const other = ask(pool);
    await rest();
    session.check = () => Promise.reject(failure(code));
    const asked = ask(pool, { prove: true });
    await rest();
    assert.equal(asked.leases?.[0]?.item, 's1.3');
    assert.deepEqual(server.alive, [session]);
    for (const one of [other, asked]) giveBack(one);
  });
}

test('a retry that finds no channel beside others waits for the next returned lease', async () => {
  const { pool, server, session } = await idlePool({ maxSessions: 1 }, readyServer(3));
  const other = ask(pool);
  await rest();
  session.check = () => {
    session.capacity = 1;
    return Promise.reject(failure('too_many_sessions'));
  };
  const asked = ask(pool, { prove: true });
  await rest();
  assert.equal(asked.leases, undefined);
  session.check = async () => undefined;
  giveBack(other);
  await rest();
  assert.notEqual(asked.leases, undefined);
  assert.deepEqual(server.alive, [session]);
});

test('a retry uses a session opened for it without a check: an error there is reported, not retried for ever', async () => {
  const server = new ScriptedServer();
  // Nonsense to every request: only a login succeeds.
  server.auto = (number) => {
    const session = new ScriptedSession(`s${number}`, 1);
    session.check = () => Promise.reject(failure('protocol_error'));
    return session;
  };
  const { pool } = await idlePool({}, server);
  const again = ask(pool, { prove: true });
  await rest();
  assert.equal(again.leases?.[0]?.item, 's2.1');
  assert.equal(again.leases[0].reused, false);
});

test('a server that admits one session: fifty requests use it one after another', async (t) => {
  const tick = fakeTime(t);
  const server = new ScriptedServer();
  server.auto = (number) =>
    server.alive.length > 0 ? failure('too_many_sessions', '530 one login only') : new ScriptedSession(`s${number}`, 1);
  const pool = poolOf(server, { acquireTimeoutMs: 120_000 });
  const asked = Array.from({ length: 50 }, () => ask(pool, {}, (one) => setImmediate(() => giveBack(one))));
  for (let turns = 0; turns < 60 && asked.some(({ leases, error }) => !leases && !error); turns++) await tick(0);
  await Promise.all(asked.map(({ settled }) => settled));
  assert.deepEqual(
    asked.flatMap(({ error }) => error?.message ?? []),
    [],
  );
  assert.equal(server.sessions.length, 1);
  // Learned: no other login is tried at every request, until ten minutes have passed.
  assert.equal(pool.gauge.learned, 1);
  const logins = server.logins;
  const first = ask(pool);
  await tick(BELIEVED_MS - 1_000);
  const second = ask(pool);
  await rest();
  assert.equal(server.logins, logins);
  await tick(1_000);
  assert.equal(server.logins, logins + 1);
  assert.equal(pool.gauge.learned, 1, 'refused again');
  giveBack(first);
  await rest();
  server.auto = (number) => new ScriptedSession(`s${number}`, 1);
  await tick(BELIEVED_MS - 1_000);
  const third = ask(pool);
  await tick(1_000);
  assert.equal(server.logins, logins + 2);
  assert.equal(pool.gauge.learned, undefined, 'the server admits more now');
  for (const one of [second, third]) giveBack(one);
});

test('connections that are refused beside open sessions count as a limit, after the second one', async (t) => {
  const tick = fakeTime(t);
  const server = new ScriptedServer();
  server.auto = (number) =>
    server.alive.length > 1 ? failure('unreachable', 'connection refused') : new ScriptedSession(`s${number}`, 1);
  const pool = poolOf(server, { acquireTimeoutMs: 120_000 });
  const held = [ask(pool), ask(pool)];
  await rest();
  assert.ok(held.every(({ leases }) => leases !== undefined));
  const waiting = ask(pool);
  await rest();
  assert.equal(pool.gauge.learned, undefined, 'one may be an accident');
  await tick(1_000);
  assert.equal(pool.gauge.learned, 2);
  giveBack(held[0] as Asked);
  await rest();
  assert.ok(waiting.leases);
});

test('a server that admits one channel per session: fifty requests without an error', async () => {
  const server = new ScriptedServer(8);
  server.auto = (number) => new ScriptedSession(`s${number}`, 8, 1);
  const pool = poolOf(server);
  let most = 0;
  const asked = Array.from({ length: 50 }, () =>
    ask(pool, {}, (one) => {
      for (const { leases } of server.sessions) most = Math.max(most, leases.size);
      setImmediate(() => giveBack(one));
    }),
  );
  await Promise.all(asked.map(({ settled }) => settled));
  assert.deepEqual(
    asked.flatMap(({ error }) => error?.message ?? []),
    [],
  );
  assert.equal(most, 1);
  assert.ok(server.mostOpen <= 8);
});

test('a failed login fails those who shared it; a later one gets its own attempt', async () => {
  const server = new ScriptedServer(2);
  const pool = poolOf(server, { maxSessions: 4 });
  const early = [ask(pool), ask(pool)];
  await rest();
  assert.equal(server.attempts.length, 1);
  const late = ask(pool);
  await rest();
  assert.equal(server.attempts.length, 2);
  server.refuse(failure('login_refused'));
  await rest();
  // The second attempt is still under way, and the early ones share it as well.
  assert.deepEqual(
    early.map(({ error }) => error),
    [undefined, undefined],
  );
  server.refuse(failure('unreachable'));
  await rest();
  assert.deepEqual(
    early.map(({ error }) => error?.code),
    ['unreachable', 'unreachable'],
  );
  assert.equal(late.error?.code, 'unreachable');
  const later = ask(pool);
  await rest();
  assert.equal(later.error, undefined);
  server.admit();
  await rest();
  assert.notEqual(later.leases, undefined);
});

test('a request that arrives during a login with room for it shares its failure', async () => {
  const server = new ScriptedServer(4);
  const pool = poolOf(server);
  const early = ask(pool);
  await rest();
  const late = ask(pool);
  await rest();
  assert.equal(server.attempts.length, 1);
  server.refuse(failure('connect_timeout'));
  await rest();
  assert.deepEqual([early.error?.code, late.error?.code], ['connect_timeout', 'connect_timeout']);
  assert.equal(server.logins, 1);
});

test('a wrong password costs no more logins than were begun together', async () => {
  const server = new ScriptedServer();
  const pool = poolOf(server);
  const asked = Array.from({ length: 50 }, () => ask(pool));
  await rest();
  assert.equal(server.attempts.length, 8);
  while (server.attempts.length > 0) {
    server.refuse(failure('login_refused'));
    await rest();
  }
  assert.equal(
    asked.every(({ error }) => error?.code === 'login_refused'),
    true,
  );
  assert.equal(server.logins, 8);
});

test('beside a live session a failed login fails no request and is not repeated at once', async (t) => {
  const tick = fakeTime(t);
  const server = new ScriptedServer();
  const pool = poolOf(server);
  const holder = ask(pool);
  server.admit();
  await rest();
  const waiter = ask(pool);
  server.refuse(failure('unreachable'));
  await rest();
  assert.equal(waiter.error, undefined);
  assert.equal(server.attempts.length, 0);
  await tick(1_000);
  assert.equal(server.attempts.length, 1);
  giveBack(holder);
  await rest();
  assert.notEqual(waiter.leases, undefined);
});

test('idle sessions end after idleTimeoutMs, and then the pool is unused', async (t) => {
  const tick = fakeTime(t);
  const { pool, session } = await idlePool({ idleTimeoutMs: 10_000 });
  assert.equal(pool.unusedMs, 0);
  await tick(9_000);
  assert.equal(session.alive, true);
  await tick(6_000);
  assert.equal(session.alive, false);
  await tick(7_000);
  assert.ok(pool.unusedMs >= 20_000);
  assert.deepEqual(pool.gauge, { host: 'example:22', open: 0, leased: 0, waiting: 0 });
});

test('an idle session is kept while it is used now and then', async (t) => {
  const tick = fakeTime(t);
  const { pool, session } = await idlePool({ idleTimeoutMs: 10_000 });
  for (let times = 0; times < 5; times++) {
    await tick(9_000);
    giveBack((await served(pool))!);
  }
  assert.equal(session.alive, true);
});

test('closing rejects waiters, cuts logins under way, and closes sessions as they are returned', async () => {
  const server = new ScriptedServer();
  const pool = poolOf(server, { maxSessions: 2 });
  const holder = ask(pool);
  const session = server.admit();
  await rest();
  const waiter = ask(pool);
  await rest();
  assert.equal(server.attempts.length, 1);
  pool.close();
  await rest();
  assert.equal(waiter.error?.code, 'draining');
  assert.equal(server.attempts.length, 0);
  assert.equal(session.alive, true);
  giveBack(holder);
  assert.equal(session.alive, false);
  const late = ask(pool);
  await rest();
  assert.equal(late.error?.code, 'draining');
});

test('a login that succeeds after closing is closed, and a lease being made is not returned to its caller', async () => {
  const server = readyServer();
  const pool = poolOf(server);
  const asked = ask(pool);
  pool.close();
  await rest();
  assert.equal(asked.leases, undefined);
  assert.equal(asked.error?.code, 'draining');
  assert.equal(server.alive.length, 0);
});

test('two leases are taken at once or not at all', async () => {
  const server = readyServer();
  const pool = poolOf(server, { maxSessions: 2 });
  const single = ask(pool);
  await rest();
  const pair = ask(pool, { count: 2 });
  const behind = ask(pool);
  await rest();
  // One slot is free, but it is kept for the pair, which came first.
  assert.deepEqual([pair.leases, behind.leases], [undefined, undefined]);
  giveBack(single);
  await rest();
  assert.equal(pair.leases?.length, 2);
  giveBack(pair);
  await rest();
  assert.notEqual(behind.leases, undefined);
});

test('a pair that no number of sessions can serve is refused, naming the setting', async () => {
  const pool = poolOf(readyServer(), { maxSessions: 1 });
  const pair = ask(pool, { count: 2 });
  await rest();
  assert.equal(pair.error?.code, 'sessions_exhausted');
  assert.match(pair.error?.message ?? '', /maxSessions/);
});

test('a pair on a server that admits one channel and one session is refused', async () => {
  const server = new ScriptedServer(8);
  server.auto = (number) => new ScriptedSession(`s${number}`, 8, 1);
  const pool = poolOf(server, { maxSessions: 1 });
  const pair = ask(pool, { count: 2 });
  await rest();
  assert.equal(pair.error?.code, 'sessions_exhausted');
  assert.equal(server.sessions[0]?.leases.size, 0);
});

test('a lowered limit closes idle sessions at once and busy ones as they are returned', async () => {
  const server = readyServer();
  const pool = poolOf(server, { maxSessions: 4 });
  const asked = Array.from({ length: 4 }, () => ask(pool));
  await rest();
  giveBack(asked[3]!);
  pool.limits = { ...LIMITS, maxSessions: 1 };
  assert.equal(server.alive.length, 3);
  const waiter = ask(pool);
  giveBack(asked[0]!);
  giveBack(asked[1]!);
  await rest();
  assert.equal(server.alive.length, 1);
  giveBack(asked[2]!);
  await rest();
  assert.notEqual(waiter.leases, undefined);
  assert.equal(server.alive.length, 1);
  pool.limits = { ...LIMITS, maxSessions: 2 };
  const more = ask(pool);
  await rest();
  assert.notEqual(more.leases, undefined);
  assert.equal(server.alive.length, 2);
});

test('a raised limit serves those who wait', async () => {
  const server = readyServer();
  const pool = poolOf(server, { maxSessions: 1 });
  const [, waiter] = [ask(pool), ask(pool)];
  await rest();
  assert.equal(waiter.leases, undefined);
  pool.limits = { ...LIMITS, maxSessions: 2 };
  await rest();
  assert.notEqual(waiter.leases, undefined);
});

test('channels that a session gets back serve those who wait', async () => {
  const server = readyServer(2);
  const pool = poolOf(server, { maxSessions: 1 });
  const first = ask(pool);
  await rest();
  const session = server.sessions[0] as ScriptedSession;
  session.capacity = 1;
  const waiter = ask(pool);
  await rest();
  assert.equal(waiter.leases, undefined);
  session.capacity = 2;
  session.hasRoom();
  await rest();
  assert.notEqual(waiter.leases, undefined);
  assert.notEqual(first.leases, undefined);
});

test('a lowered number of channels applies to sessions that are open', async () => {
  const server = readyServer(8);
  const pool = poolOf(server, { maxSessions: 1 });
  const first = ask(pool);
  await rest();
  pool.limits = { ...LIMITS, maxSessions: 1, maxChannelsPerSession: 1 };
  const second = ask(pool);
  await rest();
  assert.equal(second.leases, undefined);
  giveBack(first);
  await rest();
  assert.notEqual(second.leases, undefined);
});

test('a failure of one channel does not affect the transfers on other channels', async () => {
  const { pool, session } = await idlePool({ maxSessions: 1 }, readyServer(4));
  const holder = ask(pool);
  await rest();
  session.leaseFailure = failure('remote_failure', 'no SFTP for this login');
  const refused = ask(pool);
  await rest();
  assert.equal(refused.error?.code, 'remote_failure');
  assert.equal(session.alive, true);
  assert.equal(session.leases.size, 1);
  giveBack(holder);
});

test('a session whose only lease failed is checked before it is used again; found dead, it is replaced', async () => {
  const { pool, server, session } = await idlePool({ maxSessions: 1 }, readyServer(4));
  const failed = (await served(pool))!;
  let answer: (error?: Error) => void = () => undefined;
  session.check = () => new Promise((done, fail) => (answer = (error) => (error === undefined ? done() : fail(error))));
  giveBack(failed, 'discard');
  const next = ask(pool);
  await rest();
  assert.deepEqual([next.leases, server.logins], [undefined, 1]);
  answer(failure('stall_timeout'));
  await rest();
  assert.equal(next.leases?.[0]?.item, 's2.1');
  assert.equal(session.alive, false);
  assert.deepEqual(pool.gauge, { host: 'example:22', open: 1, leased: 1, waiting: 0 });
});

test('a lease that fails beside others causes no check: their bytes are one', async () => {
  const { pool, session } = await idlePool({ maxSessions: 1 }, readyServer(4));
  const neighbour = (await served(pool))!;
  const failed = (await served(pool))!;
  giveBack(failed, 'discard');
  await rest();
  assert.equal(session.checks, 0);
  giveBack(neighbour);
  assert.equal(pool.gauge.leased, 0);
});

test('a lease is returned once, however often it is released', async () => {
  const { pool } = await idlePool();
  const asked = (await served(pool))!;
  const lease = asked.leases?.[0];
  lease?.release('keep');
  lease?.release('discard');
  assert.equal(pool.gauge.leased, 0);
});

test('a busy session above a lowered limit takes no further lease, and is closed after its last one', async () => {
  const server = readyServer(4);
  const pool = poolOf(server, { maxSessions: 2 });
  const asked = Array.from({ length: 5 }, () => ask(pool));
  await rest();
  const [crowded, surplus] = server.sessions as [ScriptedSession, ScriptedSession];
  assert.deepEqual([crowded.leases.size, surplus.leases.size], [4, 1]);
  pool.limits = { ...LIMITS, maxSessions: 1 };
  const waiter = ask(pool);
  await rest();
  assert.deepEqual([waiter.leases], [undefined]);
  giveBack(asked[4]!);
  assert.equal(surplus.alive, false);
  giveBack(asked[0]!);
  await rest();
  assert.equal(waiter.leases?.[0]?.item, 's1.5');
});

/** Work on a lease whose client moves this many bytes per second; undefined: it waits for the server. */
function workAt(rate: number | undefined) {
  const work = {
    asked: undefined as Asked | undefined,
    error: undefined as Error | undefined,
    bytesPerSecond: (overMs: number) => (overMs === GIVE_WAY.afterMs ? rate : undefined),
    giveWay: (error: Error) => {
      work.error = error;
      if (work.asked !== undefined) giveBack(work.asked, 'discard');
    },
  };
  return work;
}

const GIVE_WAY = { belowBytesPerSecond: 1_000, afterMs: 10_000 };

async function slowPool(...rates: (number | undefined)[]) {
  const server = readyServer();
  const pool = poolOf(server, { maxSessions: rates.length }, { giveWay: GIVE_WAY });
  const works = rates.map(workAt);
  for (const work of works) work.asked = ask(pool, { yielding: work });
  await rest();
  assert.equal(pool.gauge.leased, rates.length);
  return { pool, works };
}

test('slow work is ended for waiters, the slowest first, one for each', async (t) => {
  const tick = fakeTime(t);
  const { pool, works } = await slowPool(900, 10, 5_000, 500, undefined);
  const waiting = [ask(pool), ask(pool)];
  await tick(500);
  assert.deepEqual(
    [works.filter(({ error }) => error), waiting[0]?.leases],
    [[], undefined],
    'a short wait takes nothing',
  );
  await tick(1_500);
  await tick(1_000);
  assert.deepEqual(
    works.map(({ error }) => (error as { code?: string } | undefined)?.code),
    [undefined, 'too_slow', undefined, 'too_slow', undefined],
  );
  assert.match(works[1]?.error?.message ?? '', /example:22.*fewer than 1000 bytes a second for 10000 ms/);
  assert.deepEqual(
    waiting.map(({ leases }) => leases?.length),
    [1, 1],
  );
  const more = [ask(pool), ask(pool), ask(pool)];
  await tick(3_000);
  assert.ok(works[0]?.error, 'the next slowest');
  assert.deepEqual(
    [works[2]?.error, works[4]?.error],
    [undefined, undefined],
    'fast work, and work that the server holds up',
  );
  assert.equal(more.filter(({ leases }) => leases !== undefined).length, 1);
  pool.close();
});

test('slow work continues without waiters, and beside a probe', async (t) => {
  const tick = fakeTime(t);
  const { pool, works } = await slowPool(1, 1);
  await tick(60_000);
  const probe = ask(pool, { priority: 'probe' });
  await tick(5_000);
  assert.ok(probe.error);
  assert.deepEqual(
    works.map(({ error }) => error),
    [undefined, undefined],
  );
  // A waiter that leaves in time takes nothing away either.
  const waiting = ask(pool);
  await tick(900);
  waiting.controller.abort(new Error('gone'));
  await tick(5_000);
  assert.deepEqual(
    works.map(({ error }) => error),
    [undefined, undefined],
  );
  pool.close();
});

test('work that takes long to end yields for as many waiters as it will serve', async (t) => {
  const tick = fakeTime(t);
  const { pool, works } = await slowPool(1, 2, 3);
  for (const work of works) work.asked = undefined;
  ask(pool);
  await tick(10_000);
  assert.deepEqual(
    works.map(({ error }) => error !== undefined),
    [true, false, false],
  );
  pool.close();
});
