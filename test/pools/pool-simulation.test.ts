/**
 * Dozens of clients on a few sessions of a server that is slow to accept logins, sometimes admits no further session,
 * drops connections and lets idle ones die unnoticed; all in simulated time. There is always room for every client
 * within the wait, so acquire_timeout means that the pool has forgotten one.
 *
 * POOL_SEEDS sets how many servers are tried (default 20).
 */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Pool } from '../../src/pools/pool.js';
import type { Session } from '../../src/pools/session.js';
import { failure, LIMITS, rest, ScriptedSession } from './scripted.js';

const SEEDS = Number(process.env['POOL_SEEDS'] ?? 20);
const STEP_MS = 20;
const RUN_MS = 30_000;
const ACQUIRE_TIMEOUT_MS = 10_000;
/** For all leases of the pool together; each client in turn would still be served well within the wait. */
const CLIENTS_PER_LEASE = 8;
const MOST_WORK_MS = 200;
const LAST_TURNS = 25;

/** Numbers from 0 to below 1 (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

interface Outcome {
  readonly served: number;
  readonly logins: number;
  /** Codes of failure, and how often. */
  readonly failures: ReadonlyMap<string, number>;
}

async function simulate(t: TestContext, seed: number): Promise<Outcome> {
  const random = randomFrom(seed);
  const between = (least: number, most: number): number => least + Math.floor(random() * (most - least + 1));
  const isChance = (probability: number): boolean => random() < probability;
  const capacity = isChance(0.5) ? 1 : 4;
  const maxSessions = between(1, 4);
  const alive = new Set<ScriptedSession>();
  let logins = 0;
  let served = 0;
  const failures = new Map<string, number>();

  const open = async (): Promise<Session<string>> => {
    const number = ++logins;
    await sleep(between(20, 1_500));
    if (isChance(0.1)) throw failure('too_many_sessions');
    if (isChance(0.05)) throw failure('unreachable');
    const session = new ScriptedSession(`s${number}`, capacity);
    session.check = async () => {
      await sleep(between(1, 300));
      if (isChance(0.3)) throw failure('connection_lost');
    };
    alive.add(session);
    session.onClose(() => alive.delete(session));
    return session;
  };
  const limits = { ...LIMITS, maxSessions, idleTimeoutMs: 2_000, acquireTimeoutMs: ACQUIRE_TIMEOUT_MS };
  const pool = new Pool({ host: 'example:22', limits, leasesPerSession: capacity, open });

  let isOver = false;
  const client = async (): Promise<void> => {
    while (!isOver) {
      // Now and then all pause until sessions end, or must be checked.
      await sleep(isChance(0.02) ? between(1_000, 7_000) : between(0, 50));
      try {
        const leases = await pool.acquire({ signal: AbortSignal.any([]), prove: isChance(0.1) });
        await sleep(between(1, MOST_WORK_MS));
        for (const lease of leases) lease.release(isChance(0.05) ? 'discard' : 'keep');
        served++;
      } catch (error) {
        const { code } = error as { readonly code: string };
        failures.set(code, (failures.get(code) ?? 0) + 1);
      }
    }
  };
  const clients = Array.from({ length: maxSessions * capacity * CLIENTS_PER_LEASE }, client);
  const turn = async (): Promise<void> => {
    t.mock.timers.tick(STEP_MS);
    await rest();
  };
  for (let now = 0; now < RUN_MS; now += STEP_MS) {
    for (const session of alive) if (isChance(0.003)) session.close();
    await turn();
  }
  isOver = true;
  let areGone = false;
  void Promise.all(clients).then(() => (areGone = true));
  for (let turns = 0; !areGone; turns++) {
    assert.ok(turns * STEP_MS < 2 * ACQUIRE_TIMEOUT_MS, `seed ${seed}: a client waits for ever`);
    await turn();
  }
  // After a last failed lease its session is still checked.
  for (let turns = 0; turns < LAST_TURNS; turns++) await turn();
  assert.deepEqual([pool.gauge.leased, pool.gauge.waiting], [0, 0]);
  pool.close();
  return { served, logins, failures };
}

test('no waiter is forgotten by a pool whose server comes and goes', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
  t.mock.method(performance, 'now', () => Date.now());
  let served = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const outcome = await simulate(t, seed);
    // A failed login is reported while no other session is alive; a vain wait is not a possible result.
    const codes = [...outcome.failures.keys()].filter((code) => code !== 'unreachable');
    assert.deepEqual(codes, [], `seed ${seed}: ${JSON.stringify([...outcome.failures])}`);
    served += outcome.served;
  }
  t.diagnostic(`${served} leases served`);
});
