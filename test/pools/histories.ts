/** Random histories of requests over three pools that share one limit, with any connection between them. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Pool } from '../../src/pools/pool.js';
import { ask, failure, giveBack, rest, type Asked, type ScriptedServer } from './scripted.js';

export const STEP = fc.record({
  kind: fc.constantFrom('ask', 'ask', 'ask', 'release', 'release', 'abort', 'die', 'time'),
  pool: fc.nat(2),
  which: fc.nat(100),
  count: fc.constantFrom(1, 1, 1, 2),
  priority: fc.constantFrom('request' as const, 'request' as const, 'background' as const),
});

type Step = typeof STEP extends fc.Arbitrary<infer T> ? T : never;

export function step(kind: Step['kind'], more: Partial<Step> = {}): Step {
  return { kind, pool: 0, which: 0, count: 1, priority: 'request', ...more };
}

interface World {
  readonly server: ScriptedServer;
  readonly pools: readonly Pool<string>[];
  readonly maxSessions: number;
  /** Lets this many ticks pass. */
  readonly pass: (ticks: number) => Promise<void>;
  /** Ticks within which every request must be served once no lease is kept. */
  readonly patience: number;
}

/** The limit holds after every step, and every waiter that did not leave is served in the end. */
export async function playThrough(steps: readonly Step[], world: World): Promise<void> {
  const { server, pools, maxSessions, pass, patience } = world;
  const open: Asked[] = [];
  for (const { kind, pool, which, count, priority } of steps) {
    const asked = open[which % Math.max(1, open.length)];
    if (kind === 'ask') open.push(ask(pools[pool] as Pool<string>, { count, priority }));
    else if (kind === 'time') await pass(which % 8);
    else if (kind === 'die') server.alive[which % Math.max(1, server.alive.length)]?.close();
    else if (asked !== undefined && kind === 'abort') asked.controller.abort(failure('client_gone'));
    else if (asked !== undefined) giveBack(asked);
    if (which % 3 === 0) await rest();
    assert.ok(server.mostOpen <= maxSessions, `${server.mostOpen} sessions`);
  }
  let settled = 0;
  for (const asked of open) void asked.settled.then(() => settled++);
  for (let round = 0; round < patience && settled < open.length; round++) {
    for (const asked of open) giveBack(asked);
    await pass(1);
  }
  assert.equal(settled, open.length, 'somebody is never served');
  for (const { error } of open) assert.ok(error === undefined || error.code === 'client_gone', error?.message);
}
