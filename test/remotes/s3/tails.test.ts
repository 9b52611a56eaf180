/** The cost of several short pieces, before they form a part. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sumOfSizes } from '../../../src/base/numbers.js';
import { countedTails, firstTakenIn } from '../../../src/remotes/s3/files/tails.js';
import type { StoredTail } from '../../../src/remotes/remote.js';

/** Pieces up to a part of this many bytes: the most objects at a time, and the bytes sent for each byte. */
function gather(partBytes: number, sizeOf: (piece: number) => number): { most: number; ratio: number } {
  const noted = new Map<number, StoredTail>();
  let most = 0;
  let sent = 0;
  for (let piece = 0; ; piece += 1) {
    const tails = countedTails([...noted.values()], 7);
    const start = sumOfSizes(tails);
    const size = sizeOf(piece);
    if (start + size >= partBytes) return { most, ratio: sent / start };
    const slot = firstTakenIn(tails, size);
    const tail = { slot, part: 7, start: sumOfSizes(tails.slice(0, slot)), size: size + sumOfSizes(tails.slice(slot)) };
    noted.set(slot, tail);
    assert.equal(sumOfSizes(countedTails([...noted.values()], 7)), start + size);
    sent += tail.size;
    most = Math.max(most, slot + 1);
  }
}

const MIB = 1024 * 1024;

test('a few pieces are sent once each', () => {
  assert.deepEqual(
    gather(8 * MIB, () => MIB),
    { most: 7, ratio: 1 },
  );
});

test('many need few objects, and a byte is sent once more for each eightfold of its piece', () => {
  assert.ok(gather(8 * MIB, () => 64 * 1024).ratio < 3);
  const { most, ratio } = gather(64 * MIB, () => 4096);
  assert.ok(most <= 32 && ratio < 7, `${most} objects, ${ratio}`);
});

test('the same for pieces of any length', () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    let state = seed;
    const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
    const { most, ratio } = gather(8 * MIB, () => Math.ceil(2 ** (random() * 20)));
    assert.ok(most <= 33 && ratio < 8, `seed ${seed}: ${most} objects, ${ratio}`);
  }
});

test('tails before another part, or merged ones, do not count', () => {
  const tail = (slot: number, part: number, start: number, size: number): StoredTail => ({ slot, part, start, size });
  assert.deepEqual(countedTails([tail(0, 1, 0, 5)], 2), []);
  assert.deepEqual(countedTails([tail(1, 2, 5, 1)], 2), []);
  const merged = [tail(0, 2, 0, 9), tail(1, 2, 5, 3), tail(2, 2, 8, 1)];
  assert.deepEqual(countedTails(merged, 2), [merged[0]]);
  const grown = [tail(2, 2, 8, 1), tail(1, 2, 9, 4), tail(0, 2, 0, 9)];
  assert.deepEqual(countedTails(grown, 2), [grown[2], grown[1]]);
});
