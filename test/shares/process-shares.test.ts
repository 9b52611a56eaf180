/** One limit of sessions over several processes: always kept, and divided so that none starves. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { ShareHolder } from '../../src/shares/permits.js';
import { Pool } from '../../src/pools/pool.js';
import { ProcessShares } from '../../src/shares/process-shares.js';
import type { PoolLimits } from '../../src/contract/connection/fields.js';
import { SharesBroker } from '../../src/shares/shares.js';
import { playThrough, STEP, step } from '../pools/histories.js';
import { ask, failure, giveBack, LIMITS, rest, ScriptedServer, ScriptedSession } from '../pools/scripted.js';

type ClaimStore = ConstructorParameters<typeof ProcessShares>[1];

type Claim = Parameters<ClaimStore['claim']>[1];

/** Connects the processes, in place of the database. */
class Meeting {
  readonly #processes: number;
  isAway = false;
  /** Round trips. */
  claims = 0;
  looks = 0;
  readonly #logins = new Map<string, Map<number, Claim>>();

  constructor(processes: number) {
    this.#processes = processes;
  }

  storeOf(me: number): ClaimStore {
    return {
      processes: this.#processes,
      claim: async (login, claim, decide) => {
        this.claims++;
        await this.#answer();
        const all = this.#logins.get(login) ?? new Map<number, Claim>();
        this.#logins.set(login, all);
        if (claim.held + claim.waiting === 0) all.delete(me);
        else {
          all.set(me, claim);
          const inOrder = [...all].sort(([one], [other]) => one - other);
          const held = decide(inOrder.map(([process, claimed]) => ({ ...claimed, isMine: process === me })));
          all.set(me, { ...claim, held, waiting: claim.held + claim.waiting - held });
        }
        await this.#answer();
      },
      wantedByOthers: async (logins) => {
        this.looks++;
        await this.#answer();
        return logins.filter((login) =>
          [...(this.#logins.get(login) ?? [])].some(([process, { waiting }]) => process !== me && waiting > 0),
        );
      },
    };
  }

  async #answer(): Promise<void> {
    await turn();
    if (this.isAway) throw failure('database_away');
  }
}

function processesOn(server: ScriptedServer, count: number, limits: Partial<PoolLimits>) {
  const meeting = new Meeting(count);
  const processes = Array.from({ length: count }, (_, index) => {
    const broker = new SharesBroker();
    const shares = new ProcessShares(broker, meeting.storeOf(index));
    const me = {};
    const holder = new ShareHolder(1, (message) => queueMicrotask(() => broker.receive(me, message)));
    broker.join(me, (message) => holder.receive(message));
    const pool = new Pool({
      host: 'example:22',
      limits: { ...LIMITS, ...limits },
      leasesPerSession: server.capacity,
      open: server.open,
      permits: holder.of('login'),
    });
    return { pool, shares };
  });
  return {
    meeting,
    pools: processes.map(({ pool }) => pool),
    stop: () => {
      for (const { pool, shares } of processes) {
        pool.close();
        shares.stop();
      }
    },
  };
}

function serverOf(capacity: number): ScriptedServer {
  const server = new ScriptedServer(capacity);
  server.auto = (number) => new ScriptedSession(`s${number}`, capacity);
  return server;
}

function fakeTime(t: TestContext): void {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1_000_000 });
  t.mock.method(performance, 'now', () => Date.now());
}

async function pass(t: TestContext, ms: number, stepMs = 25): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    t.mock.timers.tick(stepMs);
    await rest();
    await rest();
  }
}

test('one claim for each session that is opened, none for a lease', async (t) => {
  fakeTime(t);
  const server = serverOf(1);
  const { meeting, pools, stop } = processesOn(server, 1, { maxSessions: 3 });
  const [pool] = pools as [Pool<string>];
  for (let round = 0; round < 20; round++) {
    const asked = ask(pool);
    await rest();
    await rest();
    assert.ok(asked.leases, 'without waiting for a timer');
    giveBack(asked);
  }
  assert.equal(meeting.claims, 1);
  await pass(t, 4_000, 250);
  assert.equal(meeting.looks, 0, 'alone it does not look for others');
  stop();
});

test('a process that holds all sessions idle closes one for another that asks', async (t) => {
  fakeTime(t);
  const server = serverOf(1);
  const { pools, stop } = processesOn(server, 2, { maxSessions: 3 });
  const [one, two] = pools as [Pool<string>, Pool<string>];
  const held = [ask(one), ask(one), ask(one)];
  await pass(t, 100);
  for (const asked of held) giveBack(asked);
  assert.equal(server.alive.length, 3);
  const other = ask(two);
  await pass(t, 1_000);
  assert.ok(other.leases, 'within a second');
  assert.equal(one.gauge.open, 2, 'it keeps those that are not needed');
  assert.equal(server.mostOpen, 3);
  stop();
});

test('busy sessions are divided as their leases end', async (t) => {
  fakeTime(t);
  const server = serverOf(1);
  const { pools, stop } = processesOn(server, 3, { maxSessions: 6 });
  const [one, two, three] = pools as [Pool<string>, Pool<string>, Pool<string>];
  const running = Array.from({ length: 6 }, () => ask(one));
  await pass(t, 100);
  assert.ok(running.every(({ leases }) => leases));
  const all = [one, two, three].map((pool) => Array.from({ length: 6 }, () => ask(pool)));
  await pass(t, 2_000);
  assert.equal(server.logins, 6, 'all are in use');
  for (const asked of running) giveBack(asked);
  await pass(t, 2_000);
  for (const asked of all)
    assert.ok(
      asked.some(({ leases }) => leases),
      'every process got one',
    );
  assert.equal(server.mostOpen, 6);
  stop();
});

test('two pairs that hold one session each do not wait for each other', async (t) => {
  fakeTime(t);
  const server = serverOf(1);
  const { pools, stop } = processesOn(server, 2, { maxSessions: 2, acquireTimeoutMs: 60_000 });
  const [one, two] = pools as [Pool<string>, Pool<string>];
  const singles = [ask(one), ask(two)];
  await pass(t, 100);
  const pairs = [ask(one, { count: 2 }), ask(two, { count: 2 })] as const;
  for (const asked of singles) giveBack(asked);
  await pass(t, 5_000);
  assert.ok(pairs[0].leases, 'the first');
  giveBack(pairs[0]);
  await pass(t, 5_000);
  assert.ok(pairs[1].leases, 'then the second');
  assert.equal(server.mostOpen, 2);
  stop();
});

test('without the database all keep what they have and open up to their even part', async (t) => {
  fakeTime(t);
  const server = serverOf(1);
  const { meeting, pools, stop } = processesOn(server, 3, { maxSessions: 6 });
  meeting.isAway = true;
  const all = pools.map((pool) => Array.from({ length: 4 }, () => ask(pool)));
  await pass(t, 2_000);
  const served = (): number[] => all.map((asked) => asked.filter(({ leases }) => leases).length);
  assert.deepEqual(served(), [2, 2, 2]);
  meeting.isAway = false;
  await pass(t, 2_000);
  assert.deepEqual(served(), [2, 2, 2]);
  for (const asked of all[0] ?? []) giveBack(asked);
  await pass(t, 3_000);
  for (const asked of all[0] ?? []) giveBack(asked);
  await pass(t, 3_000);
  assert.deepEqual(served(), [0, 3, 3], 'what one does not need goes to the others');
  assert.equal(server.mostOpen, 6);
  stop();
});

test('for any events the limit holds and every request is served in the end', async (t) => {
  fakeTime(t);
  const scenario = fc.record({
    steps: fc.array(STEP, { minLength: 10, maxLength: 60 }),
    maxSessions: fc.integer({ min: 2, max: 5 }),
    capacity: fc.constantFrom(1, 1, 3),
  });
  const property = fc.asyncProperty(scenario, async ({ steps, maxSessions, capacity }) => {
    const server = serverOf(capacity);
    const { pools, stop } = processesOn(server, 3, { maxSessions, acquireTimeoutMs: 600_000 });
    const tickFor = (ticks: number): Promise<void> => pass(t, 125 * ticks, 125);
    await playThrough(steps, { server, pools, maxSessions, pass: tickFor, patience: 400 });
    stop();
    await rest();
    assert.ok(server.mostOpen <= maxSessions);
  });
  const asks = Array.from({ length: 6 }, (_, at) => step('ask', at === 1 ? { pool: 1, count: 2 } : {}));
  const endsAtOnce = [
    ...asks,
    step('ask'),
    step('die', { which: 46 }),
    step('time', { which: 40 }),
    step('die', { which: 7 }),
  ];
  // A session that ended between its login and its adoption kept its permit for ever.
  const found = { steps: [...endsAtOnce, step('ask')], maxSessions: 2, capacity: 1 };
  await fc.assert(property, { numRuns: 60, examples: [[found]] });
});
