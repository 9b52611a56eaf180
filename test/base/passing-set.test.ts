import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PassingSet } from '../../src/base/passing-set.js';

test('each function removes its own item, once, in any order', () => {
  const set = new PassingSet<string>();
  const [one, two, three, again] = ['one', 'two', 'three', 'one'].map((item) => set.add(item));
  assert.equal(set.size, 4);
  one?.();
  one?.();
  assert.deepEqual(set.items().sort(), ['one', 'three', 'two']);
  three?.();
  again?.();
  assert.deepEqual(set.items(), ['two']);
  two?.();
  assert.equal(set.size, 0);
});

test('after all were taken, a former item removes nothing', () => {
  const set = new PassingSet<string>();
  const former = set.add('former');
  assert.deepEqual(set.takeAll(), ['former']);
  set.add('later');
  former();
  assert.deepEqual(set.items(), ['later']);
});
