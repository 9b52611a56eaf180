/** Ids of requests and transfers. Failing looks like history items in the wrong order, or two of one id. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validate, version } from 'uuid';
import { uuidv7 } from '../../src/base/uuid.js';
import { timeOfId } from '../../src/storage/postgres/clock.js';

/** More than one millisecond can count, and than the pool holds random bytes for. */
const MANY = 50_000;

test('ids are UUIDs of version 7, none twice, and sort in the order in which they were made', () => {
  const before = Date.now();
  const ids = Array.from({ length: MANY }, uuidv7);
  assert.ok(ids.every((id) => validate(id) && version(id) === 7));
  assert.equal(new Set(ids).size, MANY);
  assert.deepEqual([...ids].sort(), ids);
  const times = ids.map((id) => timeOfId(id).getTime());
  // A burst may run ahead of the clock by the few milliseconds that its numbers fill.
  assert.ok(times.every((time) => time >= before && time <= Date.now() + MANY / 2_000));
});

test('a clock that is set back changes nothing of the order', (t) => {
  const first = uuidv7();
  const at = Date.now();
  t.mock.method(Date, 'now', () => at - 60_000);
  const second = uuidv7();
  assert.ok(second > first, `${second} behind ${first}`);
});

test('the last twelve digits and those before differ from id to id: they are random', () => {
  const tails = new Set(Array.from({ length: MANY }, () => uuidv7().slice(19)));
  assert.equal(tails.size, MANY);
});
