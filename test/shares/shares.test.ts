/** One limit of sessions over the pools of several threads: always kept, and divided so that none starves. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { ShareHolder } from '../../src/shares/permits.js';
import { Pool } from '../../src/pools/pool.js';
import type { PoolLimits } from '../../src/contract/connection/fields.js';
import type { ToBroker } from '../../src/shares/share-messages.js';
import { SharesBroker } from '../../src/shares/shares.js';
import { playThrough, STEP } from '../pools/histories.js';
import {
  ask,
  failure,
  giveBack,
  LIMITS,
  rest,
  ScriptedServer,
  ScriptedSession,
  type Asked,
} from '../pools/scripted.js';

interface Thread {
  readonly pool: Pool<string>;
  readonly member: object;
}

/** Threads that exchange messages as real ones do: later, in order. */
function threadsOn(server: ScriptedServer, count: number, limits: Partial<PoolLimits>, loginMs = 0) {
  const broker = new SharesBroker();
  const sent: ToBroker[] = [];
  const threads = Array.from({ length: count }, (): Thread => {
    const member = {};
    const holder = new ShareHolder(count, (message) => {
      sent.push(message);
      setImmediate(() => broker.receive(member, message));
    });
    broker.join(member, (message) => setImmediate(() => holder.receive(message)));
    const pool = new Pool({
      host: 'example:22',
      limits: { ...LIMITS, ...limits },
      leasesPerSession: server.capacity,
      open: (signal) => {
        if (loginMs > 0) setTimeout(() => server.admit(), loginMs);
        return server.open(signal);
      },
      permits: holder.of('login'),
      giveWay: { belowBytesPerSecond: 1_000, afterMs: 10_000 },
    });
    return { pool, member };
  });
  return { broker, threads, sent };
}

/** Accepts logins at once, up to what the server admits. */
function serverOf(capacity: number, admits = Infinity): ScriptedServer {
  const server = new ScriptedServer(capacity);
  server.auto = (number) =>
    server.alive.length < admits ? new ScriptedSession(`s${number}`, capacity) : failure('too_many_sessions');
  return server;
}

async function pass(t: TestContext, ms: number, stepMs = 250): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    t.mock.timers.tick(stepMs);
    await rest();
  }
}

function fakeTime(t: TestContext): void {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1_000_000 });
  t.mock.method(performance, 'now', () => Date.now());
}

/** Requests a lease, keeps it for a time, and requests again, until stopped. */
function keepBusy(pool: Pool<string>, count: number, leaseMs: number) {
  let isOver = false;
  const load = { served: 0, longestWaitMs: 0, stop: () => void (isOver = true) };
  const next = (): void => {
    const since = Date.now();
    ask(pool, { count }, (asked) => {
      load.served++;
      load.longestWaitMs = Math.max(load.longestWaitMs, Date.now() - since);
      setTimeout(() => {
        giveBack(asked);
        if (!isOver) next();
      }, leaseMs);
    });
  };
  next();
  return load;
}

test('a thread that holds all sessions idle closes one for another that asks', async (t) => {
  fakeTime(t);
  const server = serverOf(1);
  const { threads } = threadsOn(server, 2, { maxSessions: 3 });
  const [one, two] = threads as [Thread, Thread];
  const held = [ask(one.pool), ask(one.pool), ask(one.pool)];
  await rest();
  for (const asked of held) giveBack(asked);
  assert.equal(server.alive.length, 3);
  const other = ask(two.pool);
  await rest();
  assert.ok(other.leases, 'without waiting for a timer');
  assert.equal(one.pool.gauge.open, 2, 'it keeps those that are not needed');
  assert.equal(server.mostOpen, 3);
});

test('work with a slow client is ended for requests that wait on another thread, and for no others', async (t) => {
  fakeTime(t);
  const server = serverOf(1);
  const { threads } = threadsOn(server, 2, { maxSessions: 3 });
  const [one, two] = threads as [Thread, Thread];
  const ended: number[] = [];
  const held = [10, 20, 5_000].map((rate) => {
    const asked: Asked = ask(one.pool, {
      yielding: {
        bytesPerSecond: () => rate,
        giveWay: () => {
          ended.push(rate);
          giveBack(asked, 'discard');
        },
      },
    });
    return asked;
  });
  await pass(t, 60_000);
  assert.deepEqual([ended, held.every(({ leases }) => leases !== undefined)], [[], true]);
  const other = ask(two.pool);
  await pass(t, 10_000);
  assert.equal(other.leases?.length, 1);
  assert.equal(ended.length, 1, 'it is owed one session');
  assert.ok((ended[0] ?? Infinity) < 1_000);
  await pass(t, 60_000);
  assert.equal(ended.length, 1);
});

test('busy sessions are divided evenly as their leases end', async (t) => {
  fakeTime(t);
  const server = serverOf(1);
  const { threads } = threadsOn(server, 2, { maxSessions: 4 });
  const [one, two] = threads as [Thread, Thread];
  const first = Array.from({ length: 20 }, () => ask(one.pool, {}, (asked) => setImmediate(() => giveBack(asked))));
  const running = Array.from({ length: 4 }, () => ask(one.pool));
  await rest();
  await Promise.all(first.map(({ settled }) => settled));
  await rest();
  const queued = Array.from({ length: 10 }, () => ask(one.pool));
  const others = Array.from({ length: 10 }, () => ask(two.pool));
  await rest();
  assert.equal(others.filter(({ leases }) => leases).length, 0, 'all are in use');
  for (const asked of running) giveBack(asked);
  await pass(t, 500);
  assert.equal(others.filter(({ leases }) => leases).length, 2);
  assert.equal(queued.filter(({ leases }) => leases).length, 2);
  assert.equal(server.mostOpen, 4);
});

test('one session whose channels are never all idle is still shared', async (t) => {
  fakeTime(t);
  const server = serverOf(8);
  const { threads } = threadsOn(server, 2, { maxSessions: 1, acquireTimeoutMs: 15_000 });
  const served = [0, 0];
  let isOver = false;
  // Each requests the next lease before it returns the one it has.
  const overlap = (index: number, former?: Asked): void => {
    const { pool } = threads[index] as Thread;
    ask(pool, {}, (asked) => {
      served[index] = (served[index] ?? 0) + 1;
      setTimeout(() => {
        if (!isOver) overlap(index, asked);
        else giveBack(asked);
      }, 100);
    });
    if (former !== undefined) giveBack(former);
  };
  for (const index of [0, 0, 1, 1]) overlap(index);
  await pass(t, 10_000);
  isOver = true;
  await pass(t, 3_000);
  assert.ok(Math.min(...served) >= 5, `leases of each: ${served.join(', ')}`);
  assert.equal(server.mostOpen, 1);
});

test('sessions that one thread has taken are requested back when the server admits no more', async (t) => {
  fakeTime(t);
  const server = serverOf(1, 2);
  const { threads } = threadsOn(server, 2, { maxSessions: 8 });
  const [one, two] = threads as [Thread, Thread];
  const held = [ask(one.pool), ask(one.pool)];
  await rest();
  for (const asked of held) giveBack(asked);
  const other = ask(two.pool);
  await pass(t, 1_000);
  assert.ok(other.leases);
  const pair = ask(two.pool, { count: 3 });
  await rest();
  assert.equal(pair.error?.code, 'sessions_exhausted', 'the learned limit is known to all');
});

test('two pairs that hold one session each do not wait for each other', async (t) => {
  fakeTime(t);
  const server = serverOf(1);
  const { threads } = threadsOn(server, 2, { maxSessions: 2 });
  const [one, two] = threads as [Thread, Thread];
  const singles = [ask(one.pool), ask(two.pool)];
  await rest();
  const served: Asked[] = [];
  const pairs = [one, two].map(({ pool }) => ask(pool, { count: 2 }, (asked) => served.push(asked)));
  for (const asked of singles) giveBack(asked);
  await pass(t, 2_000);
  assert.equal(served.length, 1);
  for (const asked of served) giveBack(asked);
  await pass(t, 2_000);
  assert.equal(served.length, 2);
  assert.deepEqual(
    pairs.map(({ error }) => error),
    [undefined, undefined],
  );
  assert.equal(server.mostOpen, 2);
});

test('a lowered limit is kept over all threads', async (t) => {
  fakeTime(t);
  const server = serverOf(1);
  const { threads } = threadsOn(server, 2, { maxSessions: 4 });
  const held = threads.flatMap(({ pool }) => [ask(pool), ask(pool)]);
  await rest();
  for (const asked of held) giveBack(asked);
  assert.equal(server.alive.length, 4);
  for (const { pool } of threads) pool.limits = { ...pool.limits, maxSessions: 2 };
  await pass(t, 500);
  assert.equal(server.alive.length, 2);
});

test('permits of a thread that died are free', async (t) => {
  fakeTime(t);
  const server = serverOf(1);
  const { broker, threads } = threadsOn(server, 2, { maxSessions: 1 });
  const [one, two] = threads as [Thread, Thread];
  ask(one.pool);
  await rest();
  const other = ask(two.pool);
  await rest();
  assert.equal(other.leases, undefined);
  broker.leave(one.member);
  await rest();
  assert.ok(other.leases);
});

test('a thread that holds enough sends nothing for a lease', async (t) => {
  fakeTime(t);
  const server = serverOf(1);
  const { threads, sent } = threadsOn(server, 2, { maxSessions: 4 });
  const { pool } = threads[0] as Thread;
  for (let lease = 0; lease < 100; lease++) {
    const held = [ask(pool), ask(pool)];
    await rest();
    for (const asked of held) giveBack(asked);
    if (lease === 0) sent.length = 0;
  }
  assert.equal(server.logins, 2);
  assert.deepEqual(sent, []);
});

test('a request of one thread is served before a check of another that waits longer', async (t) => {
  fakeTime(t);
  const server = serverOf(1);
  const { threads } = threadsOn(server, 3, { maxSessions: 1 });
  const [one, two, three] = threads as [Thread, Thread, Thread];
  const running = ask(one.pool);
  await rest();
  const check = ask(two.pool, { priority: 'background' });
  await pass(t, 500);
  const request = ask(three.pool);
  await pass(t, 1_000);
  giveBack(running);
  await rest();
  assert.ok(request.leases && !check.leases);
  giveBack(request);
  await pass(t, 500);
  assert.ok(check.leases);
});

test('a waiter behind an endless lease gets a session of another thread whose leases end', async (t) => {
  fakeTime(t);
  const server = serverOf(1);
  const { threads } = threadsOn(server, 2, { maxSessions: 2 });
  const [one, two] = threads as [Thread, Thread];
  ask(one.pool);
  const loads = [1, 1, 1].map((count) => keepBusy(two.pool, count, 100));
  await rest();
  const behind = ask(one.pool);
  await pass(t, 2_000, 50);
  assert.ok(behind.leases);
  for (const load of loads) load.stop();
});

test('the first of several sessions in use to become idle goes to another thread', async (t) => {
  fakeTime(t);
  const server = serverOf(1);
  const { threads } = threadsOn(server, 2, { maxSessions: 3 });
  const [one, two] = threads as [Thread, Thread];
  const running = [ask(one.pool), ask(one.pool), ask(one.pool)] as const;
  await rest();
  const other = ask(two.pool);
  await pass(t, 500);
  giveBack(running[2]);
  await rest();
  assert.ok(other.leases);
  assert.equal(one.pool.gauge.open, 2);
});

test('a pair gets both sessions although others pass them round', async (t) => {
  fakeTime(t);
  const server = serverOf(1);
  const { threads } = threadsOn(server, 4, { maxSessions: 2 });
  const [one, ...others] = threads as [Thread, ...Thread[]];
  const loads = others.flatMap(({ pool }) => [keepBusy(pool, 1, 100), keepBusy(pool, 1, 170)]);
  await pass(t, 3_000, 10);
  const pair = ask(one.pool, { count: 2 });
  await pass(t, 3_000, 10);
  assert.equal(pair.leases?.length, 2);
  for (const load of loads) load.stop();
});

test('a permit that its thread no longer wants serves another one, above its share', async (t) => {
  fakeTime(t);
  const server = serverOf(1);
  const { threads } = threadsOn(server, 3, { maxSessions: 3 });
  const [one, two, three] = threads as [Thread, Thread, Thread];
  const running = [ask(one.pool), ask(one.pool), ask(three.pool)] as const;
  await rest();
  await pass(t, 1_500);
  const queued = [ask(one.pool), ask(one.pool), ask(one.pool)] as const;
  ask(three.pool);
  const leaving = ask(two.pool);
  await rest();
  leaving.controller.abort(failure('client_gone'));
  giveBack(running[0]);
  await rest();
  await rest();
  assert.ok(queued[0].leases);
  assert.equal(server.logins, 4);
});

for (const { maxSessions, capacity } of [
  { maxSessions: 2, capacity: 1 },
  { maxSessions: 5, capacity: 1 },
  { maxSessions: 1, capacity: 2 },
]) {
  test(`constant load of singles and pairs on ${maxSessions} × ${capacity}: all are served alike, logins are few`, async (t) => {
    fakeTime(t);
    const server = serverOf(capacity);
    const { threads } = threadsOn(server, 3, { maxSessions });
    const loads = threads.flatMap(({ pool }) => [1, 1, 1, 2].map((count) => keepBusy(pool, count, 50)));
    await pass(t, 20_000, 25);
    const served = loads.map((load) => load.served);
    assert.ok(Math.min(...served) >= 0.7 * Math.max(...served), `leases of each: ${served.join(', ')}`);
    const longestWaitMs = Math.max(...loads.map((load) => load.longestWaitMs));
    assert.ok(longestWaitMs < 4_000, `about a second for each of the other threads, not ${longestWaitMs} ms`);
    // A needed session stays for a second: at most 2.5 logins for each second of turns.
    assert.ok(server.logins <= 50, `${server.logins} logins`);
    for (const load of loads) load.stop();
  });
}

test('for any events the limit holds and every request is served in the end', async (t) => {
  fakeTime(t);
  const scenario = fc.record({
    steps: fc.array(STEP, { minLength: 10, maxLength: 80 }),
    maxSessions: fc.integer({ min: 2, max: 5 }),
    capacity: fc.constantFrom(1, 1, 3),
    loginMs: fc.constantFrom(0, 0, 600),
  });
  const property = fc.asyncProperty(scenario, async ({ steps, maxSessions, capacity, loginMs }) => {
    const server = loginMs === 0 ? serverOf(capacity) : new ScriptedServer(capacity);
    const { threads } = threadsOn(server, 3, { maxSessions, acquireTimeoutMs: 600_000 }, loginMs);
    const pools = threads.map(({ pool }) => pool);
    await playThrough(steps, { server, pools, maxSessions, pass: (ticks) => pass(t, 250 * ticks), patience: 200 });
    for (const pool of pools) pool.close();
    await rest();
    assert.ok(server.mostOpen <= maxSessions);
  });
  await fc.assert(property, { numRuns: 200 });
});
