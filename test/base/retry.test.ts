import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryingUntil, retrying } from '../../src/base/retry.js';
import { parseRetryAfter, retryDelay, type RetrySchedule } from '../../src/base/retry-schedule.js';

const NOW = 1_800_000_000_000;
const delays = (schedule: RetrySchedule, failures: number, random = 0): readonly (number | undefined)[] =>
  Array.from({ length: failures }, (_, index) => retryDelay(schedule, index + 1, 0, () => random));

test('a list of delays ends, or its last one repeats', () => {
  assert.deepEqual(delays({ delaysMs: [100, 500] }, 3), [100, 500, undefined]);
  assert.deepEqual(delays({ delaysMs: [100, 500], isEndless: true }, 3), [100, 500, 500]);
  assert.deepEqual(delays({ delaysMs: [] }, 1), [undefined]);
});

test('doubled delays grow up to the longest one, however many failures there are', () => {
  assert.deepEqual(delays({ firstMs: 250, longestMs: 2_000 }, 5), [250, 500, 1_000, 2_000, 2_000]);
  assert.equal(retryDelay({ firstMs: 250, longestMs: 2_000 }, 1e9), 2_000);
});

test('delays are spread between the two bounds', () => {
  const schedule = { firstMs: 100, longestMs: 200, spread: [0.5, 1.5] } as const;
  assert.deepEqual(delays(schedule, 3, 0), [50, 100, 100]);
  assert.deepEqual(delays(schedule, 3, 1), [150, 300, 300]);
});

test('Retry-After lengthens a delay, never shortens it, and adds no try', () => {
  const schedule = { delaysMs: [1_000] };
  assert.equal(retryDelay(schedule, 1, 5_000), 5_000);
  assert.equal(retryDelay(schedule, 1, 10), 1_000);
  assert.equal(retryDelay(schedule, 1, 9e12), 86_400_000);
  assert.equal(retryDelay(schedule, 2, 5_000), undefined);
});

test('work is tried again until it succeeds, fails for another reason, or the schedule ends', async () => {
  const schedule = { delaysMs: [0, 0] };
  let tries = 0;
  const failing = (times: number, code: string) => async () => {
    if (++tries <= times) throw new Error(code);
    return tries;
  };
  const isBusy = (error: unknown): boolean => (error as Error).message === 'busy';
  assert.equal(await retrying(schedule, failing(2, 'busy'), isBusy), 3);
  tries = 0;
  await assert.rejects(retrying(schedule, failing(3, 'busy'), isBusy), /busy/);
  assert.equal(tries, 3);
  tries = 0;
  await assert.rejects(retrying(schedule, failing(1, 'broken'), isBusy), /broken/);
  assert.equal(tries, 1);
});

test('an abort ends the delay with its reason', async () => {
  const ending = new AbortController();
  const schedule = { firstMs: 3_600_000, longestMs: 3_600_000 };
  const fails = async (): Promise<never> => {
    setImmediate(() => ending.abort(new Error('stopped')));
    throw new Error('busy');
  };
  await assert.rejects(
    retrying(schedule, fails, () => true, ending.signal),
    /stopped/,
  );
  await assert.rejects(
    retryingUntil(schedule, async () => undefined, ending.signal),
    /stopped/,
  );
});

test('a look is repeated until it finds something, or the schedule ends', async () => {
  const found = [undefined, undefined, 'it'];
  assert.equal(await retryingUntil({ firstMs: 0, longestMs: 0 }, async () => found.shift()), 'it');
  assert.deepEqual(found, []);
  const missing = ['a', 'b', 'c'];
  const misses = async (): Promise<undefined> => void missing.shift();
  assert.equal(await retryingUntil({ delaysMs: [0] }, misses), undefined);
  assert.deepEqual(missing, ['c']);
});

test('Retry-After is seconds or a date', () => {
  assert.equal(parseRetryAfter('120', NOW), 120_000);
  assert.equal(parseRetryAfter(new Date(NOW + 5000).toUTCString(), NOW), 5000);
  assert.equal(parseRetryAfter(new Date(NOW - 5000).toUTCString(), NOW), 0);
  assert.equal(parseRetryAfter('soon', NOW), undefined);
  assert.equal(parseRetryAfter(undefined, NOW), undefined);
});
