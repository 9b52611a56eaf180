/**
 * Any order of requests, returns, departures, failures and deaths keeps the pool's promises. A failure is a
 * session above the limit, a waiter that is never served, or a lease that is never returned.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Priority } from '../../src/pools/waiters.js';
import {
  ask,
  failure,
  giveBack,
  LIMITS,
  poolOf,
  rest,
  ScriptedServer,
  ScriptedSession,
  type Asked,
} from './scripted.js';

type Step =
  | { readonly kind: 'ask'; readonly count: number; readonly priority: Priority; readonly prove: boolean }
  | { readonly kind: 'release'; readonly which: number; readonly fate: 'keep' | 'discard' }
  | { readonly kind: 'abort'; readonly which: number }
  | { readonly kind: 'admit' }
  | { readonly kind: 'refuse'; readonly code: 'unreachable' | 'too_many_sessions' }
  | { readonly kind: 'die'; readonly which: number }
  | { readonly kind: 'failLease'; readonly which: number; readonly code: 'connection_lost' | 'remote_failure' }
  | { readonly kind: 'failChecks'; readonly which: number }
  | { readonly kind: 'limit'; readonly sessions: number }
  | { readonly kind: 'time'; readonly ms: number };

const dead = (): Promise<void> => Promise.reject(failure('protocol_error'));
const which = fc.nat(200);
const steps = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('ask' as const),
        count: fc.constantFrom(1, 1, 1, 2),
        priority: fc.constantFrom<Priority>('request', 'request', 'background'),
        prove: fc.boolean(),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('release' as const),
        which,
        fate: fc.constantFrom('keep' as const, 'keep' as const, 'discard' as const),
      }),
    },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('admit' as const) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('abort' as const), which }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('refuse' as const),
        code: fc.constantFrom('unreachable' as const, 'too_many_sessions' as const),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('die' as const), which }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('failLease' as const),
        which,
        code: fc.constantFrom('connection_lost' as const, 'remote_failure' as const),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('failChecks' as const), which }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('limit' as const), sessions: fc.integer({ min: 1, max: 8 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.constantFrom(100, 1_000, 6_000, 61_000) }),
    },
  ),
  { minLength: 10, maxLength: 120 },
);

for (const capacity of [1, 4]) {
  test(`no sequence of events breaks a pool of sessions with ${capacity} leases`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
    t.mock.method(performance, 'now', () => Date.now());
    await fc.assert(
      fc.asyncProperty(steps, async (sequence: readonly Step[]) => {
        const server = new ScriptedServer(capacity);
        // No waiter gives up here: its timeout would hide that it was lost.
        const pool = poolOf(server, { acquireTimeoutMs: 2 ** 31 - 1 });
        const asked: Asked[] = [];
        let most = LIMITS.maxSessions;
        const pick = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(1, list.length)];

        for (const step of sequence) {
          if (step.kind === 'ask') asked.push(ask(pool, step));
          else if (step.kind === 'release') {
            const holder = pick(
              asked.filter(({ leases }) => leases !== undefined),
              step.which,
            );
            if (holder !== undefined) giveBack(holder, step.fate);
          } else if (step.kind === 'abort') pick(asked, step.which)?.controller.abort(failure('client_gone'));
          else if (step.kind === 'admit') server.admit();
          else if (step.kind === 'refuse') server.refuse(failure(step.code));
          else if (step.kind === 'die') pick(server.alive, step.which)?.close();
          else if (step.kind === 'failLease') {
            const session = pick(server.alive, step.which);
            if (session !== undefined) session.leaseFailure = failure(step.code);
          } else if (step.kind === 'failChecks') {
            const session = pick(server.alive, step.which);
            if (session !== undefined) session.check = dead;
          } else if (step.kind === 'limit') {
            // Sessions above a lowered limit may stay while in use, but none are added.
            most = Math.max(step.sessions, Math.min(most, server.openNow()));
            pool.limits = { ...pool.limits, maxSessions: step.sessions };
          } else t.mock.timers.tick(step.ms);
          await rest();
          most = Math.max(pool.limits.maxSessions, Math.min(most, server.openNow()));
          assert.ok(server.openNow() <= most, `${server.openNow()} sessions open, at most ${most} allowed`);
          for (const session of server.alive) assert.ok(session.leases.size <= session.capacity);
        }

        // The end: logins succeed, leases are returned. Every waiter must be served, in any state of the pool, even if
        // no idle session passes its check.
        for (const session of server.alive) session.leaseFailure = undefined;
        server.auto = (number) => {
          const session = new ScriptedSession(`late${number}`, capacity);
          session.check = dead;
          return session;
        };
        for (
          let round = 0;
          round < 400 && asked.some((one) => one.leases !== undefined || pool.gauge.waiting > 0);
          round++
        ) {
          while (server.attempts.length > 0) server.admit();
          await rest();
          for (const holder of asked) giveBack(holder);
          await rest();
          t.mock.timers.tick(1_000);
          await rest();
        }
        const { leased, waiting } = pool.gauge;
        assert.deepEqual({ leased, waiting }, { leased: 0, waiting: 0 });
        await Promise.all(asked.map(({ settled }) => settled));
        for (const { leases } of server.sessions) assert.equal(leases.size, 0, 'a lease leaked');
        for (const { error } of asked) {
          if (error !== undefined) assert.notEqual(error.code, 'internal', error.message);
        }
        pool.close();
        await rest();
        assert.equal(server.openNow(), 0, 'a session outlived its pool');
      }),
      { numRuns: 1_000, includeErrorInReport: true },
    );
  });
}

test('waiters are served in order of arrival, requests before background work', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom<Priority>('request', 'background'), { minLength: 2, maxLength: 60 }),
      fc.integer({ min: 1, max: 4 }),
      async (priorities, sessions) => {
        const server = new ScriptedServer();
        server.auto = (number) => new ScriptedSession(`s${number}`, 1);
        const pool = poolOf(server, { maxSessions: sessions });
        const holders = Array.from({ length: sessions }, () => ask(pool));
        await rest();
        const order: number[] = [];
        const asked = priorities.map((priority) =>
          ask(pool, { priority }, (one) => {
            order.push(one.arrived);
            giveBack(one);
          }),
        );
        for (const holder of holders) giveBack(holder);
        await Promise.all(asked.map(({ settled }) => settled));
        const expected = (['request', 'background'] as const).flatMap((wanted) =>
          asked.filter((_, index) => priorities[index] === wanted).map(({ arrived }) => arrived),
        );
        assert.deepEqual(order, expected);
        pool.close();
      },
    ),
    { numRuns: 100 },
  );
});

test('200 at once on 8 sessions: never a ninth, and all are served', async () => {
  const server = new ScriptedServer();
  server.auto = (number) => new ScriptedSession(`s${number}`, 1);
  const pool = poolOf(server);
  let most = 0;
  const asked = Array.from({ length: 200 }, () =>
    ask(pool, {}, (one) => {
      most = Math.max(most, pool.gauge.leased);
      setImmediate(() => giveBack(one));
    }),
  );
  await Promise.all(asked.map(({ settled }) => settled));
  assert.deepEqual(
    asked.filter(({ error }) => error !== undefined),
    [],
  );
  assert.equal(server.mostOpen, 8);
  assert.equal(most, 8);
  await rest();
  assert.deepEqual(pool.gauge, { host: 'example:22', open: 8, leased: 0, waiting: 0 });
  pool.close();
});
