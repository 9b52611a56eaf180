/** Requests that arrive at once, spread over turns of the event loop. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { BeginTurns } from '../../src/http/begin-turns.js';

/** Longer than one turn begins requests. */
function work(): void {
  const end = performance.now() + 6;
  while (performance.now() < end);
}

test('single requests begin at once', async () => {
  const turns = new BeginTurns();
  for (let count = 0; count < 3; count++) {
    assert.equal(turns.next(), undefined);
    work();
    await turn();
  }
});

test('requests after much work of the same turn begin in later turns, few in each, in order', async () => {
  const turns = new BeginTurns();
  assert.equal(turns.next(), undefined);
  work();
  const begun: number[] = [];
  const ends = Array.from({ length: 100 }, async (_, number) => {
    const next = turns.next();
    assert.ok(next !== undefined, 'it waits');
    await next;
    begun.push(number);
  });
  const perTurn: number[] = [];
  while (begun.length < 100) {
    const before = begun.length;
    await turn();
    perTurn.push(begun.length - before);
  }
  await Promise.all(ends);
  assert.deepEqual(
    begun,
    Array.from({ length: 100 }, (_, number) => number),
  );
  assert.ok(perTurn.length >= 10 && Math.max(...perTurn) <= 16, perTurn.join(' '));
  await turn();
  assert.equal(turns.next(), undefined);
});

test('a request that arrives while others wait begins after them, even in a young turn', async () => {
  const turns = new BeginTurns();
  void turns.next();
  work();
  const order: string[] = [];
  const first = turns.next()?.then(() => order.push('first'));
  await Promise.resolve();
  const second = turns.next()?.then(() => order.push('second'));
  await Promise.all([first, second]);
  assert.deepEqual(order, ['first', 'second']);
});
