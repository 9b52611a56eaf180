/**
 * Sessions of all pools within one bound. A failure is an account without any, a place that is never returned,
 * or more than there are.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { Budget } from '../../src/budgets/budget.js';
import { type PoolBudgets, SessionPlaces } from '../../src/pools/places.js';
import { Pool } from '../../src/pools/pool.js';
import type { PoolLimits } from '../../src/contract/connection/fields.js';
import { ask, failure, giveBack, LIMITS, rest, ScriptedServer, ScriptedSession, type Asked } from './scripted.js';

interface Rig extends PoolBudgets {
  readonly sessions: Budget;
}

function budgetsOf(sessions: number, waiting = 1_000): Rig {
  const budget = new Budget({ name: 'sessions', unit: 'sessions', capacity: sessions });
  return {
    sessions: budget,
    places: new SessionPlaces(budget),
    waiting: new Budget({ name: 'waiting', unit: 'places of operations that wait', capacity: waiting }),
  };
}

function poolIn(
  budgets: Rig,
  limits: Partial<PoolLimits> = {},
  capacity = 1,
): { pool: Pool<string>; server: ScriptedServer } {
  const server = new ScriptedServer(capacity);
  server.auto = (number) => new ScriptedSession(`s${number}`, capacity);
  const pool = new Pool({
    host: 'example:22',
    limits: { ...LIMITS, ...limits },
    leasesPerSession: capacity,
    open: server.open,
    budgets,
  });
  return { pool, server };
}

/** As many operations at once as are granted. */
async function take(pool: Pool<string>, owner: string, count: number): Promise<Asked[]> {
  const asked = Array.from({ length: count }, () => ask(pool, { owner }));
  await rest();
  return asked;
}
const granted = (asked: readonly Asked[]): Asked[] => asked.filter(({ leases }) => leases !== undefined);

suite('places for sessions', () => {
  test('an account cannot take them all: the next one gets a session at once', async () => {
    const budgets = budgetsOf(10);
    const [a, b] = [poolIn(budgets, { maxSessions: 100 }), poolIn(budgets)];
    assert.equal(granted(await take(a.pool, 'a', 50)).length, 8);
    assert.equal(granted(await take(b.pool, 'b', 1)).length, 1);
    assert.equal(a.pool.gauge.open, 8);
    a.pool.close();
    b.pool.close();
  });

  test('idle sessions of the account that holds most are closed, one for each that is wanted', async () => {
    const budgets = budgetsOf(10);
    const pools = Array.from({ length: 8 }, () => poolIn(budgets));
    for (const { pool } of pools) giveBack((await take(pool, 'a', 1))[0] as Asked);
    assert.equal(budgets.sessions.of('a').used, 8);
    const b = poolIn(budgets, { maxSessions: 5 });
    const asked = await take(b.pool, 'b', 5);
    assert.equal(granted(asked).length, 5);
    assert.equal(budgets.sessions.of('a').used, 3, 'as many as it takes for a share of five');
    // The one that was idle longest went first.
    assert.equal(pools[0]?.pool.gauge.open, 0);
    assert.equal(pools[7]?.pool.gauge.open, 1);
    for (const one of asked) giveBack(one);
    for (const { pool } of [...pools, b]) pool.close();
    assert.equal(budgets.sessions.gauge.used, 0);
  });

  test("an account's own idle sessions are closed too, those of an account that holds less are not", async () => {
    const budgets = budgetsOf(10);
    const idle = poolIn(budgets);
    giveBack((await take(idle.pool, 'b', 1))[0] as Asked);
    const busy = poolIn(budgets, { maxSessions: 100 });
    const asked = await take(busy.pool, 'a', 100);
    const held = granted(asked);
    assert.equal(idle.pool.gauge.open, 1, "b's session stays, though a wants many more");
    for (const { controller } of asked) controller.abort(failure('client_gone'));
    for (const one of held) giveBack(one);
    await rest();
    const other = poolIn(budgets);
    assert.equal(granted(await take(other.pool, 'a', 1)).length, 1);
    for (const { pool } of [idle, busy, other]) pool.close();
  });

  test('a session that becomes idle elsewhere makes room for a waiter', async () => {
    const budgets = budgetsOf(2);
    const [a, b, c] = [poolIn(budgets), poolIn(budgets), poolIn(budgets)];
    const [first] = await take(a.pool, 'a', 1);
    await take(b.pool, 'b', 1);
    const [waits] = await take(c.pool, 'c', 1);
    assert.deepEqual([waits?.leases, c.pool.gauge.open, c.pool.gauge.waiting], [undefined, 0, 1]);
    giveBack(first as Asked);
    await rest();
    assert.equal(waits?.leases?.length, 1);
    for (const { pool } of [a, b, c]) pool.close();
  });

  test('a vain wait reports the bound of the gateway', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
    const budgets = budgetsOf(2);
    const [a, b] = [poolIn(budgets), poolIn(budgets)];
    await take(a.pool, 'a', 1);
    await take(b.pool, 'b', 1);
    const [third] = await take(poolIn(budgets).pool, 'c', 1);
    const [more] = await take(poolIn(budgets).pool, 'a', 1);
    t.mock.timers.tick(LIMITS.acquireTimeoutMs);
    await rest();
    assert.deepEqual([third?.error?.code, more?.error?.code], ['overloaded', 'overloaded']);
    assert.match(third?.error?.message ?? '', /budgets\.sessions/);
    const wide = budgetsOf(10);
    const hog = poolIn(wide, { maxSessions: 100 });
    const [, last] = [await take(hog.pool, 'a', 8), (await take(poolIn(wide).pool, 'a', 1))[0]];
    t.mock.timers.tick(LIMITS.acquireTimeoutMs);
    await rest();
    assert.equal(last?.error?.code, 'share_exceeded');
    a.pool.close();
    b.pool.close();
    hog.pool.close();
  });
});

test('waiting operations are bounded over all pools, by account', async () => {
  const budgets = budgetsOf(1_000, 10);
  const hog = poolIn(budgets, { maxSessions: 1 });
  const asked = await take(hog.pool, 'a', 30);
  assert.equal(granted(asked).length, 1);
  const refused = asked.flatMap(({ error }) => error?.code ?? []);
  assert.deepEqual([new Set(refused), refused.length], [new Set(['share_exceeded']), 22]);
  const other = poolIn(budgets, { maxSessions: 1 });
  const [, waiting] = await take(other.pool, 'b', 2);
  assert.deepEqual([waiting?.error, other.pool.gauge.waiting], [undefined, 1]);
  hog.pool.close();
  other.pool.close();
  await rest();
  assert.equal(budgets.waiting.gauge.used, 0);
});

type Step =
  | { readonly kind: 'ask'; readonly pool: number; readonly owner: string; readonly count: number }
  | { readonly kind: 'release'; readonly which: number; readonly fate: 'keep' | 'discard' }
  | { readonly kind: 'abort'; readonly which: number }
  | { readonly kind: 'admit'; readonly pool: number }
  | { readonly kind: 'refuse'; readonly pool: number; readonly code: 'unreachable' | 'too_many_sessions' }
  | { readonly kind: 'die'; readonly pool: number; readonly which: number }
  | { readonly kind: 'limit'; readonly pool: number; readonly sessions: number }
  | { readonly kind: 'close'; readonly pool: number }
  | { readonly kind: 'time'; readonly ms: number };

const POOLS = 4;
const pool = fc.nat(POOLS - 1);
const which = fc.nat(200);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      pool,
      owner: fc.constantFrom('a', 'a', 'b', 'c'),
      count: fc.constantFrom(1, 1, 1, 2),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('release' as const),
      which,
      fate: fc.constantFrom('keep' as const, 'keep' as const, 'discard' as const),
    }),
  },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('admit' as const), pool }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('abort' as const), which }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('refuse' as const),
      pool,
      code: fc.constantFrom('unreachable' as const, 'too_many_sessions' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('die' as const), pool, which }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('limit' as const), pool, sessions: fc.integer({ min: 1, max: 6 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const), pool }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.constantFrom(100, 1_000, 16_000, 61_000) }),
  },
);

for (const [capacity, sessions] of [
  [1, 5],
  [4, 3],
] as const) {
  test(`in pools of sessions with ${capacity} leases every place is returned in the end`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
    t.mock.method(performance, 'now', () => Date.now());
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 150 }), async (sequence) => {
        const budgets = budgetsOf(sessions, 20);
        const all = Array.from({ length: POOLS }, () => {
          const made = poolIn(budgets, { maxSessions: 4 }, capacity);
          made.server.auto = undefined;
          return made;
        });
        const of = (index: number) => all[index] as (typeof all)[number];
        const asked: Asked[] = [];
        const openNow = (): number => all.reduce((sum, { server }) => sum + server.openNow(), 0);
        for (const one of sequence) {
          if (one.kind === 'ask') asked.push(ask(of(one.pool).pool, { owner: one.owner, count: one.count }));
          else if (one.kind === 'release') {
            const holders = asked.filter(({ leases }) => leases !== undefined);
            const holder = holders[one.which % Math.max(1, holders.length)];
            if (holder !== undefined) giveBack(holder, one.fate);
          } else if (one.kind === 'abort')
            asked[one.which % Math.max(1, asked.length)]?.controller.abort(failure('client_gone'));
          else if (one.kind === 'admit') of(one.pool).server.admit();
          else if (one.kind === 'refuse') of(one.pool).server.refuse(failure(one.code));
          else if (one.kind === 'die') {
            const { alive } = of(one.pool).server;
            alive[one.which % Math.max(1, alive.length)]?.close();
          } else if (one.kind === 'limit') {
            const { pool: limited } = of(one.pool);
            limited.limits = { ...limited.limits, maxSessions: one.sessions };
          } else if (one.kind === 'close') of(one.pool).pool.close();
          else t.mock.timers.tick(one.ms);
          await rest();
          assert.ok(openNow() <= sessions, `${openNow()} sessions on ${sessions} places`);
          assert.equal(budgets.sessions.gauge.used, openNow());
          const waiting = all.reduce((sum, made) => sum + made.pool.gauge.waiting, 0);
          assert.ok(budgets.waiting.gauge.used <= waiting, 'a place in the line is left behind');
        }
        // Logins succeed, leases are returned: every request is served or has its refusal.
        for (const { server } of all) server.auto = (number) => new ScriptedSession(`late${number}`, capacity);
        const isQuiet = (): boolean =>
          all.every(({ pool: made }) => made.gauge.leased === 0 && made.gauge.waiting === 0);
        for (let round = 0; round < 60 && !isQuiet(); round++) {
          for (const { server } of all) while (server.attempts.length > 0) server.admit();
          await rest();
          for (const holder of asked) giveBack(holder);
          await rest();
          t.mock.timers.tick(1_000);
          await rest();
        }
        await rest();
        for (const { pool: made } of all) assert.deepEqual([made.gauge.leased, made.gauge.waiting], [0, 0]);
        for (const { pool: made } of all) made.close();
        await rest();
        assert.deepEqual([openNow(), budgets.sessions.gauge.used, budgets.waiting.gauge.used], [0, 0, 0]);
      }),
      { numRuns: 500, includeErrorInReport: true, endOnFailure: true },
    );
  });
}
