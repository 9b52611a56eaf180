/**
 * Fair shares: an owner that comes late or asks for little finds room, even if others hold much. A failure is one owner
 * with everything.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { Budget, type Grant } from '../../src/budgets/budget.js';
import { hasCode } from '../../src/base/errors.js';

const budget = (capacity: number, reserve = 0): Budget =>
  new Budget({ name: 'requests', unit: 'requests', capacity, reserve });
const signal = new AbortController().signal;

/** Takes until nothing more is granted. */
function takeAll(from: Budget, owner: string): Grant[] {
  const grants: Grant[] = [];
  for (let grant = from.tryTake({ owner }); grant !== undefined; grant = from.tryTake({ owner })) grants.push(grant);
  return grants;
}

suite('a budget', () => {
  test('gives one owner four fifths, and the next one room at once', () => {
    const slots = budget(100);
    assert.equal(takeAll(slots, 'a').length, 80);
    assert.equal(takeAll(slots, 'b').length, 16);
    assert.equal(slots.gauge.used, 96);
  });

  test('approaches equal shares as grants are returned and taken again', () => {
    const slots = budget(90);
    const held = { a: takeAll(slots, 'a'), b: [] as Grant[] };
    for (let round = 0; round < 500; round++) {
      const [more, less] = held.a.length > held.b.length ? [held.a, held.b] : [held.b, held.a];
      more.pop()?.release();
      less.push(...takeAll(slots, less === held.a ? 'a' : 'b'));
    }
    // Four ninths each, except for grants under way.
    const shares = [held.a.length, held.b.length];
    assert.ok(Math.min(...shares) >= 39 && Math.max(...shares) <= 41, String(shares));
  });

  test('keeps its last place for an owner that holds nothing', () => {
    const slots = budget(2);
    assert.equal(takeAll(slots, 'a').length, 1);
    assert.ok(slots.tryTake({ owner: 'b' }));
    assert.equal(slots.tryTake({ owner: 'c' }), undefined);
  });

  test('says whether the whole or the share is used up', () => {
    const slots = budget(10);
    takeAll(slots, 'a');
    assert.throws(
      () => slots.take({ owner: 'a' }),
      (error) => hasCode(error, 'share_exceeded') && error.status === 429 && error.retryAfterMs !== undefined,
    );
    takeAll(slots, 'b');
    takeAll(slots, 'c');
    assert.throws(
      () => slots.take({ owner: 'd' }),
      (error) => hasCode(error, 'overloaded') && error.status === 503 && error.retryAfterMs !== undefined,
    );
    assert.equal(slots.of('d').refused, 1);
    assert.ok(slots.gauge.refused.share >= 3 && slots.gauge.refused.full >= 1);
  });

  test('keeps its reserve for essential claims', () => {
    const slots = budget(10, 2);
    for (const owner of 'abcdefgh') slots.take({ owner });
    assert.equal(slots.tryTake({ owner: 'i' }), undefined);
    assert.ok(slots.tryTake({ owner: 'i', isEssential: true }));
    assert.ok(slots.tryTake({ owner: 'a', isEssential: true }));
    assert.equal(slots.tryTake({ owner: 'b', isEssential: true }), undefined);
  });

  test('lets a grant grow and shrink within the share', () => {
    const bytes = budget(1000);
    const grant = bytes.take({ owner: 'a', amount: 100 });
    assert.ok(grant.resize(800));
    assert.ok(!grant.resize(801));
    assert.equal(grant.amount, 800);
    assert.ok(grant.resize(10));
    assert.equal(bytes.gauge.used, 10);
    grant.release();
    grant.release();
    assert.ok(!grant.resize(5));
    assert.equal(bytes.gauge.used, 0);
  });

  test('serves the owner that holds least first, then in order', async () => {
    const slots = budget(5);
    const [first] = takeAll(slots, 'a');
    const others = ['b', 'c'].flatMap((owner) => slots.tryTake({ owner }) ?? []);
    assert.equal(slots.gauge.used, 5);
    const served: string[] = [];
    const wait = (owner: string): Promise<void> =>
      slots.wait({ owner }, { signal }).then((grant) => {
        served.push(owner);
        grant.release();
      });
    const all = [wait('a'), wait('d'), wait('b')];
    first?.release();
    await Promise.all(all.slice(1, 2));
    for (const grant of others) grant.release();
    await Promise.all(all);
    assert.equal(served[0], 'd');
    assert.equal(slots.gauge.waiting, 0);
  });

  test('a waiter leaves with its signal, and after its time', async () => {
    const slots = budget(1);
    slots.take({ owner: 'a' });
    const leaving = new AbortController();
    const left = slots.wait({ owner: 'b' }, { signal: leaving.signal });
    leaving.abort(new Error('left'));
    await assert.rejects(left, /left/);
    await assert.rejects(slots.wait({ owner: 'b' }, { signal, timeoutMs: 1 }), (error) => hasCode(error, 'overloaded'));
    assert.equal(slots.gauge.waiting, 0);
  });

  test('for any claims: never above the capacity, nothing lost', () => {
    const step = fc.record({
      owner: fc.constantFrom('a', 'b', 'c'),
      amount: fc.integer({ min: 1, max: 20 }),
      gives: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const bytes = budget(100);
        const held: Grant[] = [];
        let sum = 0;
        for (const { owner, amount, gives } of steps) {
          if (gives) {
            const grant = held.shift();
            sum -= grant?.amount ?? 0;
            grant?.release();
          } else {
            const grant = bytes.tryTake({ owner, amount });
            if (grant !== undefined) held.push(grant);
            sum += grant?.amount ?? 0;
          }
          assert.equal(bytes.gauge.used, sum);
          assert.ok(sum <= 100);
        }
        for (const grant of held) grant.release();
        assert.equal(bytes.gauge.owners, 0);
      }),
    );
  });

  test('never holds an amount that is not finite, or negative', () => {
    const numbers = fc.oneof(
      fc.constantFrom(NaN, Infinity, -Infinity, -1),
      fc.integer({ min: 0, max: 40 }),
      fc.double(),
    );
    const step = fc.tuple(fc.constantFrom('take', 'tryTake', 'resize', 'release'), fc.constantFrom('a', 'b'), numbers);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const slots = budget(100, 5);
        const grants: Grant[] = [];
        for (const [what, owner, amount] of steps) {
          try {
            if (what === 'take') grants.push(slots.take({ owner, amount }));
            else if (what === 'tryTake') grants.push(...[slots.tryTake({ owner, amount }) ?? []].flat());
            else if (what === 'resize') grants.at(-1)?.resize(amount);
            else grants.shift()?.release();
          } catch (error) {
            const isSound = Number.isFinite(amount) && amount >= 0;
            assert.ok(hasCode(error, 'overloaded', 'share_exceeded') || (error instanceof RangeError && !isSound));
          }
          const { used } = slots.gauge;
          assert.ok(used >= 0 && used <= 100, String(used));
        }
        for (const grant of grants) grant.release();
        // Fractions leave a rounding error.
        assert.ok(slots.gauge.used < 1e-9, String(slots.gauge.used));
      }),
    );
  });
});
