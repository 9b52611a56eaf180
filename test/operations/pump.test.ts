import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { PassThrough, Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { GatewayError, hasCode } from '../../src/base/errors.js';
import { UNCOUNTED } from '../../src/budgets/memory.js';
import { parseContentDigest, pump } from '../../src/operations/pump.js';
import { ROOT } from '../../src/remotes/path.js';
import { limitRate, RateFlow } from '../../src/remotes/rate-limit.js';
import type { Remote } from '../../src/remotes/remote.js';
import { BorrowingSink, lentBody } from './lent-bytes.js';

const CHUNK = 512 * 1024;
/** What all transfers receive in one turn of the event loop. */
const SHARE = 8 * CHUNK;
const NEVER = new AbortController().signal;

class Sink extends Writable {
  readonly chunks: Buffer[] = [];
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.chunks.push(chunk);
    setImmediate(done);
  }
  get text(): string {
    return Buffer.concat(this.chunks).toString();
  }
}

const body = (...parts: readonly string[]): Readable => Readable.from(parts.map((part) => Buffer.from(part)));
const digestOf = (text: string, algorithm: 'sha256' | 'sha512' = 'sha256') => ({
  algorithm,
  value: createHash(algorithm).update(text).digest(),
});

test('moves the bytes, counts them, and checks the digest', async () => {
  for (const algorithm of ['sha256', 'sha512'] as const) {
    const sink = new Sink();
    const seen: number[] = [];
    const digest = digestOf('one two', algorithm);
    const bytes = await pump(body('one ', 'two'), sink, {
      signal: NEVER,
      size: 7,
      digest,
      onBytes: (n) => seen.push(n),
    });
    assert.deepEqual([bytes, sink.text, seen], [7, 'one two', [4, 7]]);
  }
  assert.equal(await pump(body(), new Sink(), { signal: NEVER, size: 0, digest: digestOf('') }), 0);
});

test('a wrong digest, too few, too many bytes, a body over its limit', async () => {
  const run = (options: Partial<Parameters<typeof pump>[2]>): Promise<number> =>
    pump(body('one ', 'two'), new Sink(), { signal: NEVER, ...options });
  const cases = [
    [{ digest: digestOf('other') }, 'digest_mismatch'],
    [{ size: 8 }, 'size_mismatch'],
    [{ size: 6 }, 'size_mismatch'],
    [{ size: 0 }, 'size_mismatch'],
    [{ maxBytes: 6 }, 'too_large'],
  ] as const;
  for (const [options, code] of cases) await assert.rejects(run(options), (error) => hasCode(error, code));
  assert.equal(await run({ maxBytes: 7 }), 7);
  assert.equal(await run({ maxBytes: 0 }), 7);
});

test('the first failure ends both ends and is reported', async () => {
  const first = new GatewayError('client_gone', 'the client left');
  const source = new PassThrough();
  const sink = new Sink();
  const moving = pump(source, sink, { signal: NEVER });
  source.write('half');
  setImmediate(() => source.destroy(first));
  await assert.rejects(moving, (error) => error === first);
  assert.equal(sink.destroyed, true);

  const refusal = new GatewayError('no_space', 'the disk is full');
  const endless = new Readable({ read: () => void setImmediate(() => endless.push(Buffer.alloc(1_000))) });
  const full = new Writable({ write: (_chunk, _encoding, done) => done(refusal) });
  await assert.rejects(pump(endless, full, { signal: NEVER }), (error) => error === refusal);
  assert.equal(endless.destroyed, true);

  const before = new PassThrough();
  before.on('error', () => undefined);
  before.destroy(first);
  await new Promise(setImmediate);
  await assert.rejects(pump(before, new Sink(), { signal: NEVER }), (error) => error === first);
});

test('an abort ends both with its own reason', async () => {
  const controller = new AbortController();
  const source = new PassThrough();
  const sink = new Sink();
  const moving = pump(source, sink, { signal: controller.signal });
  source.write('half');
  const reason = new GatewayError('draining', 'the gateway stops');
  setImmediate(() => controller.abort(reason));
  await assert.rejects(moving, (error) => error === reason);
  assert.deepEqual([source.destroyed, sink.destroyed], [true, true]);
});

test('a slow target slows down the source', async () => {
  let produced = 0;
  const source = new Readable({
    highWaterMark: 64 << 10,
    read() {
      produced += 64 << 10;
      this.push(produced > 8 << 20 ? null : Buffer.alloc(64 << 10));
    },
  });
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  let isStuck = true;
  const sink = new Writable({
    highWaterMark: 64 << 10,
    write: (_chunk, _encoding, done) => (isStuck ? void promise.then(() => done()) : done()),
  });
  const moving = pump(source, sink, { signal: NEVER });
  for (let turns = 0; turns < 100; turns++) await new Promise(setImmediate);
  assert.ok(produced <= 1 << 20, `${produced} bytes are held for a target that takes none`);
  isStuck = false;
  resolve();
  assert.equal(await moving, 8 << 20);
});

test('Content-Digest: the strongest known algorithm counts, unknown ones do not', () => {
  const [short, long] = [digestOf('x'), digestOf('x', 'sha512')];
  const field = (name: string, value: Buffer): string => `${name}=:${value.toString('base64')}:`;
  assert.equal(parseContentDigest(undefined), undefined);
  assert.equal(parseContentDigest('md5=:AAAA:'), undefined);
  assert.deepEqual(parseContentDigest(field('sha-256', short.value)), short);
  for (const both of [
    `${field('sha-512', long.value)}, ${field('sha-256', short.value)}`,
    `${field('sha-256', short.value)},${field('md5', Buffer.alloc(16))}, ${field('sha-512', long.value)}`,
  ]) {
    assert.deepEqual(parseContentDigest(both), long);
  }
  for (const bad of ['', 'sha-256', 'sha-256=abc', 'sha-256=:!:', field('sha-256', long.value), 'sha-256=:AAAA:,']) {
    assert.throws(
      () => parseContentDigest(bad),
      (error) => hasCode(error, 'bad_request'),
      bad,
    );
  }
});

test('a target may take bytes from memory that is used again; all of them arrive once, in order', async () => {
  const content = Array.from({ length: 2_000 }, (_, index) => `${index} `).join('');
  for (const most of [0, 1, 50, Infinity]) {
    const sink = new BorrowingSink(most);
    const size = content.length;
    const bytes = await pump(lentBody(Buffer.from(content), [100, 3, 17]), sink, {
      signal: NEVER,
      size,
      digest: digestOf(content),
    });
    assert.equal(bytes, size);
    assert.equal(Buffer.concat(sink.chunks).toString(), content);
    assert.equal(sink.borrowed > 0, most > 0);
  }
  const short = pump(lentBody(Buffer.from('12345678'), [3]), new BorrowingSink(Infinity), {
    signal: NEVER,
    maxBytes: 7,
  });
  await assert.rejects(short, (error) => hasCode(error, 'too_large'));
});

test('a body of which all was taken at once waits for memory, and goes on', async () => {
  let isFree = true;
  const hold = { ...UNCOUNTED, resize: (bytes: number) => bytes === 0 || isFree };
  const sink = new BorrowingSink(Infinity);
  const borrow = sink.borrow.bind(sink);
  sink.borrow = (chunk) => {
    isFree = sink.chunks.length !== 3;
    return borrow(chunk);
  };
  const body = lentBody(Buffer.alloc(1_000), [100], hold);
  const moving = pump(body, sink, { signal: NEVER, size: 1_000 });
  while (isFree) await new Promise(setImmediate);
  isFree = true;
  // What the front end does once a second.
  body.feed();
  assert.equal(await moving, 1_000);
});

test('bytes that are taken at once need no memory', async () => {
  const require = (bytes: number): void => assert.equal(bytes, 0);
  const body = lentBody(Buffer.alloc(1_000), [100], { ...UNCOUNTED, require });
  assert.equal(await pump(body, new BorrowingSink(Infinity), { signal: NEVER, size: 1_000 }), 1_000);
});

for (const most of [0, Infinity]) {
  test(`bodies that all have bytes share the turns of the event loop (${most === 0 ? 'copied' : 'lent'})`, async () => {
    const size = 8 * CHUNK + 1;
    const sinks = Array.from({ length: 40 }, () => new BorrowingSink(most));
    const taken = (): number[] => sinks.map(({ chunks }) => chunks.reduce((sum, { length }) => sum + length, 0));
    const gone = new AbortController();
    const reason = new GatewayError('client_gone', 'the client left');
    const moving = sinks.map((sink, index) => {
      const signal = index === 30 ? gone.signal : NEVER;
      return pump(lentBody(Buffer.alloc(size), [CHUNK]), sink, { signal, size });
    });
    const ends = Promise.allSettled(moving);
    let isOver = false;
    void ends.then(() => (isOver = true));
    for (let before = 0; !isOver;) {
      await new Promise(setImmediate);
      const bytes = taken();
      const all = bytes.reduce((sum, one) => sum + one, 0);
      // What one turn allows may arrive in the next one.
      assert.ok(all - before <= 2 * SHARE, `${all - before} bytes in one turn`);
      before = all;
      // Some still wait for their first turn.
      if (Math.max(...bytes) > 0 && bytes[30] === 0) gone.abort(reason);
      const others = bytes.filter((_, index) => index !== 30);
      assert.ok(Math.max(...others) - Math.min(...others) <= 3 * CHUNK, bytes.join(' '));
    }
    const failed = (await ends).filter(({ status }) => status === 'rejected');
    assert.deepEqual(failed, [{ status: 'rejected', reason }]);
    assert.deepEqual(new Set(taken().filter((_, index) => index !== 30)), new Set([size]));
  });
}

test('what has ended while it waited for its job takes nothing more from the rate of its target', async () => {
  const calls: string[] = [];
  const rates = {
    take: async () => void calls.push('take'),
    leave: () => void calls.push('leave'),
  };
  const sink = Object.assign(new Sink(), { commit: () => undefined });
  const remote = { read: () => undefined, write: async () => sink } as unknown as Remote;
  const flow = (): RateFlow => new RateFlow(rates, 'a1/c1', 1_000_000);
  const writer = await limitRate(remote, { flow, signal: NEVER }).write(ROOT, {});
  let goOn: (() => void) | undefined;
  const pace = (): Promise<void> => {
    setImmediate(() => sink.destroy(new Error('the server is gone')));
    return new Promise((done) => (goOn = done));
  };
  await assert.rejects(pump(body('content'), writer, { signal: NEVER, pace }), /the server is gone/);
  goOn?.();
  await new Promise(setImmediate);
  assert.deepEqual(calls, ['leave']);
});
