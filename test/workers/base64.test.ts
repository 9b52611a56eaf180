/**
 * Base64 in both directions. Node's own decoder accepts anything, so defects elsewhere were unnoticed damage: a
 * truncated text, the URL-safe alphabet, a line break, text after the padding.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type Duplex, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { hasCode } from '../../src/base/errors.js';
import { createBase64, encodedLength, type Base64 } from '../../src/workers/base64.js';
import { Base64Workers } from '../../src/workers/base64-workers.js';
import { OrderedTransform } from '../../src/workers/ordered-transform.js';
import { bodyOf, collect, cut, settled } from '../http/body-source.js';
import { anyCharacter } from '../support/any-character.js';

const KiB = 1024;
const MiB = 1024 * KiB;
const inline = createBase64({ threads: 0, inlineBelowBytes: 1 });
/** Everything goes to workers, even single groups. */
const workers = createBase64({ threads: 2, inlineBelowBytes: 1 });
after(() => Promise.all([inline.close(), workers.close()]));

const isBad = (error: unknown) => hasCode(error, 'bad_base64');
/** The output of `transform` for the chunks. */
async function convert(chunks: Iterable<Buffer>, transform: Duplex): Promise<Buffer> {
  const [, bytes] = await Promise.all([pipeline(bodyOf(chunks), transform), collect(transform)]);
  return bytes;
}

const through = (base64: Base64, how: 'decode' | 'encode', bytes: Buffer, sizes: readonly number[]) =>
  convert(cut(bytes, sizes), base64[how]());

async function decodeBoth(base64: Base64, text: string | Buffer, sizes: readonly number[]): Promise<Buffer> {
  const [streamed, whole] = await Promise.allSettled([
    through(base64, 'decode', Buffer.from(text), sizes),
    base64.decodeAll(Buffer.from(text)),
  ]);
  assert.deepEqual(streamed.status, whole.status, 'the stream and decodeAll disagree');
  if (streamed.status === 'rejected') throw streamed.reason;
  assert.deepEqual(streamed.value, (whole as PromiseFulfilledResult<Buffer>).value);
  return streamed.value;
}

const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 });

for (const [name, base64, numRuns] of [
  ['in place', inline, 400],
  ['in workers', workers, 40],
] as const) {
  describe(`base64 ${name}`, () => {
    test('gives what Node gives, both ways, however it is cut', async () => {
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), sizes, async (array, sizes) => {
          const bytes = Buffer.from(array);
          const text = Buffer.from(bytes.toString('base64'));
          assert.equal(text.length, encodedLength(bytes.length));
          assert.deepEqual(await decodeBoth(base64, text, sizes), bytes);
          assert.deepEqual(await through(base64, 'encode', bytes, sizes), text);
          assert.deepEqual(await base64.encodeAll(bytes), text);
        }),
        { numRuns },
      );
    });

    test('that is damaged is bad_base64, or encodes to the very same text', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.uint8Array({ maxLength: 60 }),
          fc.nat(80),
          fc.nat(2),
          fc.string({ unit: anyCharacter, maxLength: 2 }),
          sizes,
          async (array, at, length, put, sizes) => {
            const text = Buffer.from(array).toString('base64');
            const damaged = text.slice(0, at) + put + text.slice(at + length);
            const decoded = await decodeBoth(base64, damaged, sizes).catch((error: unknown) =>
              assert.ok(isBad(error), String(error)),
            );
            if (decoded !== undefined) assert.equal(decoded.toString('base64'), damaged);
          },
        ),
        { numRuns: numRuns * 2 },
      );
    });

    const wrong: Record<string, [text: string, position: number]> = {
      'a missing padding': ['QUJDRA', 6],
      'half a padding': ['QUJDRA=', 7],
      'one character too many': ['QUJDR', 5],
      'a line break': ['QUJD\nQUJD', 4],
      'a line break at the end': ['QUJD\n', 5],
      'a space': ['QU JDQUJD', 2],
      'the URL-safe alphabet': ['QUJD-_-_', 4],
      'padding alone': ['====', 0],
      'three paddings': ['Q===', 1],
      'padding in the middle': ['QQ==QUJD', 4],
      'unused bits that are set': ['QUJDQR==', 5],
      'unused bits of three that are set': ['QUJDQUF=', 6],
      'another alphabet': ['QUJDé===', 4],
      'a byte order mark': ['\ufeffQUJDQ', 0],
    };
    for (const [what, [text, position]] of Object.entries(wrong)) {
      test(`refuses ${what} and names a byte`, async () => {
        const whole = await base64.decodeAll(Buffer.from(text)).catch((error: unknown) => error as Error);
        assert.ok(isBad(whole), String(whole));
        const named = Number(/byte (\d+) /.exec(whole.message)![1]);
        assert.ok(Math.abs(named - position) <= 2, `named byte ${named} where ${position} is wrong`);
        for (const sizes of [[1], [3], [4], [7], [2, 100]])
          await assert.rejects(through(base64, 'decode', Buffer.from(text), sizes), isBad);
      });
    }

    test('names the right byte far into a stream', async () => {
      const text = Buffer.from(randomBytes(300 * KiB).toString('base64'));
      text[333_333] = 0x2a;
      for (const size of [1000, 65_537, 200_000]) {
        await assert.rejects(through(base64, 'decode', text, [size]), /at byte 333333 /);
      }
      await assert.rejects(base64.decodeAll(text), /at byte 333333 /);
    });

    test('padding where one step ends and the next begins is refused', async () => {
      const text = Buffer.from(`${'QUJD'.repeat(16 * KiB - 1)}QQ==${'QUJD'.repeat(10)}`);
      await assert.rejects(base64.decodeAll(text), isBad);
      await assert.rejects(through(base64, 'decode', text, [64 * KiB]), isBad);
    });

    test('keeps large pieces in order', async () => {
      const bytes = randomBytes(6 * MiB + 1);
      const text = Buffer.from(bytes.toString('base64'));
      const pieces = [600_000, 5, 70_000, 300_000, 1];
      assert.ok((await through(base64, 'decode', text, pieces)).equals(bytes));
      assert.ok((await through(base64, 'encode', bytes, pieces)).equals(text));
      assert.ok((await base64.decodeAll(text)).equals(bytes));
      assert.ok((await base64.encodeAll(bytes)).equals(text));
    });

    test('waits for a reader that stalls, then delivers the rest', async () => {
      const text = Buffer.from(randomBytes(192 * KiB).toString('base64'));
      let made = 0;
      function* counted(): Generator<Buffer> {
        while (made < 40 * MiB) {
          made += text.length;
          yield Buffer.from(text);
        }
      }
      const decoder = base64.decode();
      const done = pipeline(bodyOf(counted()), decoder);
      const first = await new Promise<Buffer>((resolve) =>
        decoder.once('readable', () => resolve(decoder.read(1) as Buffer)),
      );
      const held = await settled(() => made + base64.gauges.completed);
      assert.ok(made < 10 * text.length, `took ${made} bytes that were not read (${held})`);
      assert.equal(first.length + (await collect(decoder)).length, (made / 4) * 3);
      await done;
    });

    test('leaves nothing behind when it is dropped in the middle', async () => {
      const text = Buffer.from(randomBytes(3 * MiB).toString('base64'));
      const full = new Error('the target is full');
      const sink = new Writable({ write: (_chunk, _encoding, done) => done(full) });
      await assert.rejects(pipeline(bodyOf(cut(text, [512 * KiB])), base64.decode(), sink), full);
      const abort = new AbortController();
      const decoder = base64.decode();
      decoder.once('data', () => abort.abort());
      await assert.rejects(
        pipeline(bodyOf(cut(text, [512 * KiB])), decoder, new Writable({ write() {} }), { signal: abort.signal }),
      );
      await settled(() => base64.gauges.completed);
      assert.equal(base64.gauges.waiting, 0);
    });
  });
}

describe('base64 workers', () => {
  test('start with the first large job and not before', async () => {
    const base64 = createBase64({ threads: 1, inlineBelowBytes: 64 * KiB });
    await base64.decodeAll(Buffer.from('QUJD'));
    await through(base64, 'encode', randomBytes(256 * KiB), [16 * KiB]);
    assert.deepEqual(base64.gauges, { threads: 0, waiting: 0, completed: 0 });
    await base64.encodeAll(randomBytes(64 * KiB));
    assert.deepEqual(base64.gauges, { threads: 1, waiting: 0, completed: 1 });
    await base64.close();
  });

  test('take no memory from the buffers they are given', async () => {
    const shared = Buffer.from('QUJD'.repeat(20));
    await workers.decodeAll(shared.subarray(4, 40));
    await workers.encodeAll(shared.subarray(4, 40));
    assert.equal(shared.toString(), 'QUJD'.repeat(20));
  });

  test('move a buffer that is transferred, unless its memory is shared', async () => {
    const given = Buffer.alloc(12, 'QUJD');
    assert.equal((await workers.decodeAll(given, { move: true })).toString(), 'ABCABCABC');
    assert.equal(given.length, 0);
    const bytes = Buffer.alloc(9, 'ABC');
    assert.equal((await workers.encodeAll(bytes, { move: true })).toString(), 'QUJDQUJDQUJD');
    assert.equal(bytes.length, 0);
    const shared = Buffer.alloc(24, 'QUJD');
    await workers.decodeAll(shared.subarray(0, 12), { move: true });
    assert.equal(shared.toString(), 'QUJDQUJDQUJDQUJDQUJDQUJD');
    // A worker that moved this would take the pool of every small buffer with it.
    await workers.encodeAll(Buffer.from('abc'), { move: true });
    assert.equal(Buffer.from('abc').toString(), 'abc');
  });

  test('that fail give internal, without their words for the client', async () => {
    const failing = new Base64Workers(
      { threads: 1, inlineBelowBytes: 1 },
      new URL('./failing.worker.js', import.meta.url),
    );
    await assert.rejects(
      async () => failing.decode(Buffer.alloc(0), Buffer.from('QUJD'), 0),
      (error) => {
        assert.ok(hasCode(error, 'internal'));
        assert.doesNotMatch(error.clientText, /luck/);
        return true;
      },
    );
    await failing.close();
    const missing = new Base64Workers(
      { threads: 1, inlineBelowBytes: 1 },
      new URL('./no-such.worker.js', import.meta.url),
    );
    await assert.rejects(
      async () => missing.encode(Buffer.alloc(0), Buffer.from('abc')),
      (error) => hasCode(error, 'internal'),
    );
    await missing.close();
  });

  test('that die fail the waiting jobs too', async () => {
    const file = new URL('./dying.worker.js', import.meta.url);
    const dying = new Base64Workers({ threads: 1, inlineBelowBytes: 1 }, file);
    const outcomes = await Promise.allSettled(
      [1, 2, 3, 4].map(async () => dying.encode(Buffer.alloc(0), Buffer.from('abc'))),
    );
    for (const outcome of outcomes) assert.ok(outcome.status === 'rejected' && hasCode(outcome.reason, 'internal'));
    await dying.close();
  });

  test('that are closed fail their jobs and later ones with draining', async () => {
    const base64 = createBase64({ threads: 1, inlineBelowBytes: 1 });
    const running = [1, 2, 3].map(() => base64.decodeAll(Buffer.from('QUJD'.repeat(MiB))));
    const closed = base64.close();
    const outcomes = await Promise.allSettled([...running, base64.decodeAll(Buffer.from('QUJD'))]);
    await closed;
    for (const outcome of outcomes) {
      assert.ok(
        outcome.status === 'rejected' && hasCode(outcome.reason, 'draining'),
        JSON.stringify(outcome).slice(0, 100),
      );
    }
  });
});

describe('an ordered transform', () => {
  test('delivers in order, whichever finishes first, with no more than its bound in flight', async () => {
    const finish: (() => void)[] = [];
    let converted = 0;
    const transform = new OrderedTransform(
      {
        convert: (chunk) => {
          converted++;
          return new Promise((resolve) => finish.push(() => resolve(chunk)));
        },
        finish: () => Buffer.from('!'),
      },
      3,
    );
    const converting = convert(
      ['a', 'b', 'c', 'd', 'e'].map((text) => Buffer.from(text)),
      transform,
    );
    assert.equal(await settled(() => converted), 3);
    finish[2]!();
    finish[1]!();
    assert.equal(await settled(() => converted), 3);
    finish[0]!();
    assert.equal(await settled(() => converted), 5);
    finish[4]!();
    finish[3]!();
    assert.equal((await converting).toString(), 'abcde!');
  });

  test('is destroyed by the first conversion that fails', async () => {
    const failure = new Error('no');
    const transform = new OrderedTransform(
      { convert: () => Promise.reject(failure), finish: () => Buffer.alloc(0) },
      2,
    );
    await assert.rejects(convert([Buffer.from('a'), Buffer.from('b'), Buffer.from('c')], transform), failure);
  });
});
