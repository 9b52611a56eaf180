/** A keeps as many sessions and waiting places as it can get; B logs in again for each operation and works on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCrowd } from './support/crowd.js';
import { A, ADDRESSES, assertIsolated, CONNECTION, scaled, startTenants } from './support/tenants.js';

const UPLOADS = scaled(250, 60);
const SESSIONS = 20;
const WAITING = 40;

test('stalled uploads on every session block no other account', async (t) => {
  const tenants = await startTenants({
    config: { budgets: { sessions: SESSIONS, waiting: WAITING } },
    // The operator lets this host have more sessions than there are.
    aConnection: { pool: { maxSessions: UPLOADS, maxChannelsPerSession: 1 } },
    // No session is kept, so that each operation needs a place.
    bConnection: { pool: { idleTimeoutMs: 1 } },
  });
  t.after(() => tenants.stop());
  let statuses: Record<string, number> = {};
  let open = 0;
  const report = await tenants.measure(t, {
    seconds: scaled(60, 8),
    attack: async () => {
      const crowd = await openCrowd(tenants.gateway.port, UPLOADS, {
        address: ADDRESSES.a,
        text: (index) =>
          `POST /api/upload/${CONNECTION}?filename=stalled${index} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${A.key}\r\n` +
          'Content-Type: application/octet-stream\r\nContent-Length: 1048576\r\n\r\n',
        trickle: { everyMs: 500, piece: Buffer.alloc(64) },
      });
      return {
        stop: async () => {
          const metrics = await tenants.gateway.api.get('/metrics');
          open = Number(/^ftg_budget_used\{[^}]*budget="sessions"[^}]*\} (\d+)/m.exec(metrics.text)?.[1]);
          statuses = crowd.statuses();
          await crowd.close();
        },
      };
    },
  });
  t.diagnostic(`${open} sessions open at the end; A was answered ${JSON.stringify(statuses)}`);
  assert.ok(open >= SESSIONS / 2 && open <= SESSIONS, `${open} sessions`);
  assert.ok((statuses['429'] ?? 0) > 0, 'A hears that it has its share');
  assertIsolated(report);
});
