import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../src/base/errors.js';
import { WriteProbe } from '../../src/storage/postgres/write-probe.js';

test('no write is tried without a fault; then one for all callers, at most once a second', async (t) => {
  let now = 10_000;
  t.mock.method(performance, 'now', () => now);
  const refusal = new GatewayError('database_away', 'disk full');
  let answer: GatewayError | undefined = refusal;
  let asked = 0;
  const probe = new WriteProbe(async () => {
    asked += 1;
    return answer;
  });
  await probe.check(false);
  assert.equal(asked, 0);
  probe.refused(refusal);
  const many = await Promise.allSettled(Array.from({ length: 20 }, () => probe.check(false)));
  assert.ok(many.every(({ status }) => status === 'rejected'));
  await assert.rejects(probe.check(true), refusal);
  assert.equal(asked, 1);
  answer = undefined;
  now += 1_000;
  await probe.check(false);
  await probe.check(false);
  assert.equal(asked, 2);
  probe.close();
});
