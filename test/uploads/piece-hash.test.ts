/** The hash that is saved and continued. */
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { describe, test } from 'node:test';
import { PieceHash } from '../../src/uploads/piece-hash.js';

const MIB = 1024 * 1024;
const NOTHING = Buffer.alloc(0);
const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe('the hash of a file that arrives in pieces', () => {
  test('is that of all its bytes, wherever it is saved and continued', async () => {
    const bytes = randomBytes(300_000);
    let hash = await PieceHash.of(NOTHING);
    const other = await PieceHash.of(NOTHING);
    for (let at = 0; at < bytes.length;) {
      const chunk = bytes.subarray(at, at + randomInt(1, 5000));
      at += chunk.length;
      hash.update(chunk);
      // Both share the hasher.
      other.update(randomBytes(100));
      hash.keep();
      hash = await PieceHash.of(hash.saved);
      assert.equal(hash.offset, at);
      assert.equal(hash.value.toString('hex'), digestOf(bytes.subarray(0, at)));
    }
    assert.equal((await PieceHash.of(NOTHING)).value.toString('hex'), digestOf(NOTHING));
  });

  test('returns to a state within the stored bytes, and reports what was read from there', async () => {
    const bytes = randomBytes(1000);
    const hash = await PieceHash.of(NOTHING);
    for (const [from, to] of [
      [0, 300],
      [300, 600],
      [600, 1000],
    ] as const) {
      hash.update(bytes.subarray(from, to));
      hash.keep();
    }
    hash.rewindTo(599);
    assert.deepEqual([hash.offset, hash.readBytes], [300, 0]);
    hash.updateByRead(bytes.subarray(300, 599));
    hash.update(bytes.subarray(599));
    hash.keep();
    const again = await PieceHash.of(hash.saved);
    assert.deepEqual([again.offset, again.readBytes], [1000, 299]);
    assert.equal(again.value.toString('hex'), digestOf(bytes));
    again.rewindTo(299);
    assert.deepEqual([again.offset, again.readBytes, again.saved.length], [0, 0, 0]);
  });

  test('keeps few states, and one near any place where the server may have stopped', async () => {
    const hash = await PieceHash.of(NOTHING);
    for (let at = 0; at < 2000; at++) {
      hash.update(Buffer.alloc(100));
      hash.keepSpaced(0);
      assert.ok(hash.saved.length <= 16 * 132, `${hash.saved.length}`);
    }
    for (const lost of [0, 50, 1000, 20_000]) {
      const restored = await PieceHash.of(hash.saved);
      restored.rewindTo(200_000 - lost);
      assert.ok(200_000 - restored.offset <= 4 * lost + 100, `${lost} lost, and ${restored.offset} kept`);
    }
    hash.keepSpaced(200_000);
    assert.equal(hash.saved.length, 132);
  });

  test('states of another build are ignored', async () => {
    const hash = await PieceHash.of(NOTHING);
    hash.update(randomBytes(100));
    hash.keep();
    const { saved } = hash;
    saved[16] = (saved[16] ?? 0) ^ 1;
    assert.equal((await PieceHash.of(saved)).offset, 0);
    assert.equal((await PieceHash.of(hash.saved.subarray(1))).offset, 0);
  });

  test('no chunk that a writer takes at once blocks the event loop', async (t) => {
    const hash = await PieceHash.of(NOTHING);
    const chunk = randomBytes(MIB);
    // Processor time: other tests use the machine at the same time.
    const since = process.cpuUsage();
    for (let at = 0; at < 50; at++) hash.update(chunk);
    const { user, system } = process.cpuUsage(since);
    const ms = (user + system) / 50 / 1000;
    t.diagnostic(`1 MiB in ${ms.toFixed(1)} ms`);
    assert.ok(ms < 20, `${ms} ms`);
  });
});
