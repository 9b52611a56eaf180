/**
 * A looks up names whose name server is silent. B's connection has a name too and logs in again all the time; it
 * continues to work.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startNameServer } from '../resolver/support/name-server.js';
import { A, assertIsolated, scaled, startTenants } from './support/tenants.js';

const AT_ONCE = scaled(200, 60);

test('unanswered look-ups block no other account', async (t) => {
  const names = await startNameServer((name) =>
    name === 'files.b.example' ? { addresses: ['127.0.0.1'], ttl: 0 } : undefined,
  );
  t.after(() => names.stop());
  const tenants = await startTenants({
    config: { network: { nameServers: [names.address] } },
    // No session is kept, so that each operation dials.
    bConnection: { host: 'files.b.example', pool: { idleTimeoutMs: 1 } },
  });
  t.after(() => tenants.stop());
  const statuses = new Map<number, number>();
  const report = await tenants.measure(t, {
    seconds: scaled(60, 8),
    attack: async () => {
      let isOver = false;
      const work = async (worker: number): Promise<void> => {
        for (let turn = 0; !isOver; turn++) {
          const url = `http://silent-${worker}-${turn}.a.example/file`;
          const { status } = await tenants.a.post('/api/upload/files', { url, filename: 'f' }, { key: A.key });
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      };
      const workers = Array.from({ length: AT_ONCE }, (_, worker) => work(worker));
      return {
        stop: async () => {
          isOver = true;
          await Promise.all(workers);
        },
      };
    },
  });
  t.diagnostic(`A was answered ${JSON.stringify([...statuses])}; ${names.asked.length} questions came`);
  assert.ok(
    names.asked.filter((name) => name === 'files.b.example').length > 10,
    'B looked its name up again and again',
  );
  assertIsolated(report);
  assert.deepEqual(
    [...statuses.keys()].filter((status) => ![429, 502, 503, 504].includes(status)),
    [],
  );
});
