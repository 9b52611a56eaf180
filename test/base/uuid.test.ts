/** Ids of requests and transfers. A failure is history items in the wrong order, or two with one id. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isUuid, uuidv7, uuidv7At } from '../../src/base/uuid.js';
import { timeOfId } from '../../src/storage/postgres/clock.js';

/** More than one millisecond can count, and than the pool has random bytes for. */
const MANY = 50_000;

test('ids are UUIDs of version 7, none twice, and sort in the order in which they were made', () => {
  const before = Date.now();
  const ids = Array.from({ length: MANY }, uuidv7);
  assert.ok(ids.every((id) => isUuid(id) && id[14] === '7'));
  assert.equal(new Set(ids).size, MANY);
  assert.deepEqual([...ids].sort(), ids);
  const times = ids.map((id) => timeOfId(id).getTime());
  // A burst may run ahead of the clock by the few milliseconds that its numbers fill.
  assert.ok(times.every((time) => time >= before && time <= Date.now() + MANY / 2_000));
});

test('a clock that is set back does not change the order', (t) => {
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

test('ids of one moment sort by their place, contain that moment, and differ from others of the same place', () => {
  const at = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
  const places = [0, 1, 63, 64, 4_095, 4_096, 1_048_575, 1_048_576, 2 ** 32 - 1];
  const ids = places.map((place) => uuidv7At(at, place));
  assert.ok(
    ids.every((id) => isUuid(id) && id[14] === '7' && timeOfId(id).getTime() === at),
    ids.join(),
  );
  assert.deepEqual([...ids].sort(), ids);
  assert.notEqual(uuidv7At(at, 0), uuidv7At(at, 0));
});

test('an id is of a version from 1 to 8 and of the variant of RFC 9562, or the nil or the max one', () => {
  const good = [
    ...['018f3c5e-7a1b-7c2d-9e3f-0123456789ab', '018F3C5E-7A1B-1C2D-BE3F-0123456789AB'],
    ...['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  ];
  const bad = [
    ...['', 'x', '018f3c5e7a1b7c2d9e3f0123456789ab', '018f3c5e-7a1b-9c2d-9e3f-0123456789ab'],
    ...['018f3c5e-7a1b-7c2d-7e3f-0123456789ab', '018f3c5e-7a1b-0c2d-9e3f-0123456789ab'],
    ...[
      '018f3c5e-7a1b-7c2d-9e3f-0123456789a',
      '018f3c5e-7a1b-7c2d-9e3f-0123456789abc',
      ' 018f3c5e-7a1b-7c2d-9e3f-0123456789ab',
    ],
    ...[
      '018f3c5e-7a1b-7c2d-9e3f-0123456789ag',
      '018f3c5e-7a1b-7c2d-9e3f-0123456789ab\n',
      '{018f3c5e-7a1b-7c2d-9e3f-0123456789ab}',
    ],
  ];
  assert.deepEqual(
    good.filter((id) => !isUuid(id)),
    [],
  );
  assert.deepEqual(bad.filter(isUuid), []);
});
