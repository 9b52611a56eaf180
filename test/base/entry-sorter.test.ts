import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { EntrySorter } from '../../src/base/entry-sorter.js';

suite('the order of a listing', () => {
  test('any listing is sorted by bytes, each entry once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ minLength: 1, maxLength: 6 })), async (keys) => {
        const sorter = new EntrySorter();
        for (const key of keys) await sorter.add({ key: Buffer.from(key), size: key.length, modifiedMs: 5 });
        const out: string[] = [];
        for await (const batch of sorter.batches()) out.push(...batch.map(({ key }) => key.toString('hex')));
        assert.deepEqual(out, [...new Set(keys.map((key) => Buffer.from(key).toString('hex')))].sort());
      }),
      { numRuns: 200 },
    );
  });

  test('a listing too long for memory is sorted on the disk and complete', async () => {
    const sorter = new EntrySorter();
    const total = 300_000;
    // A stride that is coprime to the total: every number once, unordered.
    for (let index = 0; index < total; index++) {
      const number = (index * 7919) % total;
      const key = Buffer.from(`some/longer/folder/name/file-${String(number).padStart(7, '0')}.csv`);
      await sorter.add({ key, size: number, modifiedMs: number * 1000 });
    }
    let next = 0;
    for await (const batch of sorter.batches()) {
      for (const { key, size, modifiedMs } of batch) {
        assert.equal(size, next);
        assert.equal(modifiedMs, next * 1000);
        assert.ok(key.toString().endsWith(`${String(next).padStart(7, '0')}.csv`));
        next += 1;
      }
    }
    assert.equal(next, total);
    await sorter.close();
  });
});
