import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scheduleOf, verdictOf } from '../../src/events/verdict.js';

const TABLE = scheduleOf([5000, 300_000]);
const NOW = 1_800_000_000_000;
const failed = (attempt: number, random: number, retryAfterMs?: number) =>
  verdictOf({ status: 500, retryAfterMs }, attempt, TABLE, NOW, () => random);

test('the pauses are those of the table, a tenth more or less', () => {
  assert.deepEqual(failed(1, 0), { kind: 'retry', at: new Date(NOW + 4500) });
  assert.deepEqual(failed(1, 1), { kind: 'retry', at: new Date(NOW + 5500) });
  assert.deepEqual(failed(2, 0.5), { kind: 'retry', at: new Date(NOW + 300_000) });
  assert.deepEqual(failed(3, 0.5), { kind: 'dead' });
});

test('Retry-After lengthens a pause, never shortens it, and counts for a day at most', () => {
  assert.deepEqual(failed(1, 0.5, 60_000), { kind: 'retry', at: new Date(NOW + 60_000) });
  assert.deepEqual(failed(1, 0.5, 1), { kind: 'retry', at: new Date(NOW + 5000) });
  assert.deepEqual(failed(1, 0.5, 9e12), { kind: 'retry', at: new Date(NOW + 86_400_000) });
});

test('2xx is delivered, 410 ends, everything else is retried', () => {
  const verdict = (status: number | null) => verdictOf({ status, retryAfterMs: undefined }, 1, TABLE, NOW).kind;
  for (const status of [200, 201, 204, 299]) assert.equal(verdict(status), 'delivered');
  assert.equal(verdict(410), 'gone');
  for (const status of [null, 100, 301, 302, 304, 400, 404, 429, 500, 503]) assert.equal(verdict(status), 'retry');
});
