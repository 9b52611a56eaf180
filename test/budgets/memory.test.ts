/**
 * What one request holds in several places, under one owner after another. A failure is bytes that count twice,
 * or stay counted.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Budget } from '../../src/budgets/budget.js';
import { Memory } from '../../src/budgets/memory.js';
import { hasCode } from '../../src/base/errors.js';

const budgetOf = (capacity: number): Budget => new Budget({ name: 'memoryBytes', unit: 'bytes in memory', capacity });

suite('memory of a request', () => {
  test('is the sum of its places, and is returned at once', () => {
    const budget = budgetOf(100);
    const memory = new Memory(budget, 'a');
    const [body, answer] = [memory.hold(), memory.hold()];
    assert.ok(body.resize(30) && answer.resize(20) && body.resize(10));
    assert.equal(budget.of('a').used, 30);
    memory.release();
    assert.equal(budget.gauge.used, 0);
    assert.equal(answer.resize(40), false);
    assert.equal(budget.gauge.used, 0);
  });

  test('an optional amount is refused silently, a required one with the reason', () => {
    const budget = budgetOf(100);
    const hold = new Memory(budget, 'a').hold();
    assert.ok(hold.resize(80));
    assert.equal(hold.resize(81), false);
    assert.equal(hold.bytes, 80);
    assert.equal(budget.of('a').refused, 0);
    assert.throws(
      () => hold.require(81),
      (error) => hasCode(error, 'share_exceeded'),
    );
    assert.throws(
      () => hold.require(101),
      (error) => hasCode(error, 'overloaded'),
    );
    assert.deepEqual(budget.of('a'), { used: 80, refused: 2 });
  });

  test('an optional amount leaves as much again to the owner', () => {
    const budget = budgetOf(100);
    const hold = new Memory(budget, 'a').hold();
    assert.ok(hold.stretch(40));
    assert.equal(hold.stretch(41), false);
    assert.ok(hold.stretch(30) && hold.resize(80));
  });

  test('moves to the authenticated owner, completely', () => {
    const budget = budgetOf(100);
    const memory = new Memory(budget, 'address 192.0.2.1');
    const hold = memory.hold();
    hold.require(60);
    memory.moveTo('a');
    assert.deepEqual([budget.of('address 192.0.2.1').used, budget.of('a').used, hold.bytes], [0, 60, 60]);
    assert.ok(hold.resize(10));
    assert.equal(budget.of('a').used, 10);
  });

  test('refuses bytes that are not finite, or negative, and keeps what it held', () => {
    const budget = budgetOf(100);
    const memory = new Memory(budget, 'a');
    const [body, answer] = [memory.hold(), memory.hold()];
    assert.ok(body.resize(40) && answer.resize(10));
    for (const bytes of [NaN, Infinity, -Infinity, -5]) {
      assert.throws(() => answer.resize(bytes), RangeError);
      assert.throws(() => answer.stretch(bytes), RangeError);
      assert.throws(() => answer.require(bytes), RangeError);
      assert.equal(budget.gauge.used, 50, String(bytes));
    }
    memory.release();
    assert.equal(budget.gauge.used, 0);
  });
});
