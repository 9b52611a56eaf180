/**
 * Shares by account and, within each, by host or receiver. A failure is one of them that blocks another one.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NestedBudget } from '../../src/budgets/nested-budget.js';

const NEVER = new AbortController().signal;

const budget = (capacity: number): NestedBudget => new NestedBudget({ name: 'checks', unit: 'checks', capacity });

test('an account with many silent parts leaves room for another account, and for one more part of its own', () => {
  const turns = budget(16);
  for (let round = 0; round < 4; round++) for (let part = 0; part < 6; part++) turns.tryTake('a', `silent-${part}`);
  assert.ok(turns.used >= 10, `${turns.used} of 16`);
  assert.notEqual(turns.tryTake('a', 'good'), undefined, 'a part of its own that holds nothing');
  assert.notEqual(turns.tryTake('b', 'any'), undefined, 'another account');
});

test('one account with one part gets most of it', () => {
  const turns = budget(16);
  while (turns.tryTake('a', 'host') !== undefined);
  assert.ok(turns.used >= 9, `${turns.used} of 16`);
  assert.ok(!turns.mayTakePart('a', 'host') && turns.mayTakePart('a', 'another'));
  assert.ok(turns.mayTake('b'));
});

test('a waiter is served when something is returned, and leaves with its signal', async () => {
  const turns = budget(1);
  const first = turns.tryTake('a', 'host');
  assert.equal(turns.room, 0);
  const second = turns.wait('b', 'host', NEVER);
  const leaving = new AbortController();
  const third = turns.wait('c', 'host', leaving.signal);
  leaving.abort(new Error('left'));
  await assert.rejects(third, /left/);
  first?.release();
  (await second).release();
  assert.deepEqual([turns.used, turns.room], [0, 1]);
});
