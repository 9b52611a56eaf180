/**
 * Which limits apply to a pool. A failure is a tenant with more sessions, or longer waits, than the operator
 * allows.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PoolLimits } from '../../src/contract/connection/fields.js';
import { limitsFor } from '../../src/remotes/pool-limits.js';
import { LIMITS, sftpConnection } from './support/harness.js';

const HOST = 'sftp.example.com:22';
const of = (pool: Partial<PoolLimits>, isConfigured: boolean, hosts: Partial<PoolLimits> = {}): PoolLimits =>
  limitsFor(sftpConnection({ port: 22, username: 'u' }, { pool, isConfigured }), HOST, {
    default: LIMITS,
    hosts: { [HOST]: hosts },
  });
const part = fc.record(
  Object.fromEntries(Object.keys(LIMITS).map((name) => [name, fc.integer({ min: 1, max: 500_000 })])),
  { requiredKeys: [] },
) as fc.Arbitrary<Partial<PoolLimits>>;

test("a tenant's connection never exceeds what the operator set, and may ask for less", () => {
  fc.assert(
    fc.property(part, part, (own, hosts) => {
      const operators = { ...LIMITS, ...hosts };
      const limits = of(own, false, hosts);
      for (const name of Object.keys(LIMITS) as (keyof PoolLimits)[]) {
        assert.equal(limits[name], Math.min(operators[name], own[name] ?? Infinity), name);
      }
    }),
  );
});

test("the operator's own connection may exceed the defaults, but not the limits of its host", () => {
  const wide = { maxSessions: 60, maxWaiting: 10_000, stallTimeoutMs: 500_000 };
  assert.deepEqual(of(wide, true), { ...LIMITS, ...wide });
  assert.deepEqual(of(wide, true, { maxSessions: 2, stallTimeoutMs: 1_000 }), { ...LIMITS, ...wide, maxSessions: 2 });
  assert.equal(of({ maxSessions: 1 }, true, { maxSessions: 2 }).maxSessions, 1);
});
