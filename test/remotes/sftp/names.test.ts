/** A READDIR reply with any byte changed: every entry that it counts, or an error; never a shorter list. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { takeListing } from '../../../src/remotes/sftp/wire/replies.js';
import { MalformedReply, REPLY, ReplyReader } from '../../../src/remotes/sftp/wire/wire.js';

const SIZE_AND_MODE_AND_TIMES = 0b1101;

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const text = (value: string): Buffer => Buffer.concat([uint32(value.length), Buffer.from(value)]);

const entry = (name: string): Buffer =>
  Buffer.concat([
    ...[text(name), text(`-rw-r--r-- 1 u g 1234 Nov 20 10:15 ${name}`)],
    ...[SIZE_AND_MODE_AND_TIMES, 0, 1234, 0o100644, 1_700_000_000, 1_700_000_000].map(uint32),
  ]);

const NAMES = ['a.txt', 'keep.csv', 'z z.bin'];
const reply = (count = NAMES.length): Buffer =>
  Buffer.concat([Buffer.from([REPLY.NAME]), uint32(count), ...NAMES.map(entry)]);

test('unchanged', () => {
  const names = takeListing(new ReplyReader(reply()));
  assert.deepEqual(
    Array.from(names, ({ rawName, attributes }) => [rawName.toString(), attributes.size]),
    NAMES.map((name) => [name, 1234]),
  );
});

test('with another count', () => {
  for (const count of [0, 1, 2, 4, 1_000_000]) {
    assert.throws(() => takeListing(new ReplyReader(reply(count))), MalformedReply, String(count));
  }
});

test('with any byte changed, or cut anywhere', () => {
  const whole = reply();
  fc.assert(
    fc.property(fc.nat(whole.length - 2), fc.integer({ min: 1, max: 255 }), fc.boolean(), (at, flip, isCut) => {
      const packet = isCut ? Buffer.from(whole.subarray(0, at + 1)) : Buffer.from(whole);
      if (!isCut) packet[at + 1] = (packet[at + 1] ?? 0) ^ flip;
      try {
        const names = takeListing(new ReplyReader(packet));
        assert.deepEqual([names.length, [...names].length], [3, 3], `${at} ${flip} ${isCut}`);
      } catch (error) {
        if (!(error instanceof MalformedReply)) throw error;
      }
    }),
    { numRuns: 3_000 },
  );
});
