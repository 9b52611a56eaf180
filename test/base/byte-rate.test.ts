import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ByteRate } from '../../src/base/byte-rate.js';

/** A clock that `pass` moves; timers follow it. */
function clock(t: TestContext): { readonly pass: (ms: number) => Promise<void> } {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  return {
    pass: async (ms) => {
      for (const until = now + ms; now < until;) {
        now += 1;
        t.mock.timers.tick(1);
        await Promise.resolve();
        await Promise.resolve();
      }
    },
  };
}

/** A flow that takes as much as it can; returns the bytes that it has moved. */
function greedy(rate: ByteRate, flow: string, slice: number, bytesPerSecond: number): { bytes: number } {
  const moved = { bytes: 0 };
  const next = (): void =>
    void rate.take(flow, slice, bytesPerSecond).then(() => {
      moved.bytes += slice;
      next();
    });
  next();
  return moved;
}

test('a flow moves what the rate allows, and a tenth of a second more at the start', async (t) => {
  const { pass } = clock(t);
  const moved = greedy(new ByteRate(), 'a', 1_000, 10_000);
  await pass(10_000);
  assert.ok(moved.bytes >= 100_000 && moved.bytes <= 102_000, `${moved.bytes} bytes`);
});

test('a rest earns no more than that', async (t) => {
  const { pass } = clock(t);
  const rate = new ByteRate();
  await rate.take('a', 1_000, 10_000);
  await pass(60_000);
  const moved = greedy(rate, 'a', 1_000, 10_000);
  await pass(1_000);
  assert.ok(moved.bytes <= 12_000, `${moved.bytes} bytes`);
});

test('flows get equal bytes for requests of any size, also one that joins late', async (t) => {
  const { pass } = clock(t);
  const rate = new ByteRate();
  const [large, small] = [greedy(rate, 'large', 4_000, 10_000), greedy(rate, 'small', 500, 10_000)];
  await pass(20_000);
  assert.ok(Math.abs(large.bytes - small.bytes) <= 4_500, `${large.bytes} and ${small.bytes} bytes`);
  const late = greedy(rate, 'late', 1_000, 10_000);
  const before = small.bytes;
  await pass(30_000);
  assert.ok(Math.abs(late.bytes - (small.bytes - before)) <= 5_000, `${late.bytes} bytes of the late one`);
});

test('a flow that leaves waits no longer, and takes nothing from the others', async (t) => {
  const { pass } = clock(t);
  const rate = new ByteRate();
  await rate.take('a', 20_000, 10_000);
  const left = rate.take('gone', 1_000_000, 10_000);
  const stayed = rate.take('b', 1_000, 10_000);
  let isServed = false;
  void stayed.then(() => (isServed = true));
  rate.leave('gone');
  await left;
  assert.equal(isServed, false);
  await pass(2_000);
  assert.equal(isServed, true);
});

test('it is idle once no flow uses it and all bytes are paid for', async (t) => {
  const { pass } = clock(t);
  const rate = new ByteRate();
  await rate.take('a', 10_000, 10_000);
  rate.leave('a');
  assert.equal(rate.isIdle, false);
  await pass(1_000);
  assert.equal(rate.isIdle, true);
});
