/** Checksums of parts that become those of the object. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Checksum } from '../../src/s3/body/checksums.js';
import { combine, isCombined } from '../../src/s3/body/crc-combine.js';

const SIZES = [0, 1, 7, 64, 1_000, 1_000, 0, 65_537, 1_000, 3];

async function sumOf(algorithm: string, bytes: Buffer): Promise<Buffer> {
  const sum = await Checksum.open(`x-amz-checksum-${algorithm}`);
  sum.update(bytes);
  return Buffer.from(sum.value(), 'base64');
}

for (const algorithm of ['crc32', 'crc32c', 'crc64nvme']) {
  test(`${algorithm} of pieces of any length`, async () => {
    const add = combine(algorithm);
    let [whole, bytes] = [await sumOf(algorithm, Buffer.alloc(0)), Buffer.alloc(0)];
    for (const size of SIZES) {
      const piece = randomBytes(size);
      bytes = Buffer.concat([bytes, piece]);
      whole = add(whole, await sumOf(algorithm, piece), size);
      assert.deepEqual(whole, await sumOf(algorithm, bytes), `${bytes.length} bytes`);
    }
  });
}

test('digests cannot be combined', () => {
  assert.ok(!isCombined('sha256') && !isCombined('toString'));
  assert.throws(() => combine('sha1'));
});
