/** One address without a key that opens thousands of connections, each with a head that is sent one byte at a time. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { FRONT_END } from '../support/front-end.js';
import { held } from '../support/reliability.js';
import { openCrowd } from './support/crowd.js';
import { ADDRESSES, assertIsolated, scaled, startTenants } from './support/tenants.js';
import { eventually } from '../support/eventually.js';

const BOUND = 256;
const COUNT = scaled(5_000, 1_000);
const trickle = { everyMs: 2_000, piece: Buffer.from('a') };
/** node:http has one event loop. */
const THREADS = FRONT_END === 'node' ? [1] : [1, 2];

describe('connections without a key', () => {
  for (const threads of THREADS) {
    test(`one address gets ${BOUND} of ${COUNT}, and others are served (server.threads ${threads})`, async (t) => {
      const tenants = await startTenants({ config: { server: { threads, connectionsPerAddress: BOUND } } });
      const { gateway } = tenants;
      const descriptors = (): number => readdirSync(`/proc/${gateway.pid}/fd`).length;
      let most = 0;
      try {
        const report = await tenants.measure(t, {
          seconds: scaled(30, 4),
          attack: async () => {
            const before = descriptors();
            const text = (): string => 'GET /healthz HTTP/1.1\r\nHost: x\r\nX: ';
            const crowd = await openCrowd(gateway.port, COUNT, { address: ADDRESSES.nobody, text, trickle });
            await eventually(() => crowd.open <= BOUND, 'what is beyond is closed');
            most = descriptors() - before;
            return { stop: () => crowd.close() };
          },
        });
        assertIsolated(report);
        assert.ok(most <= BOUND + 50, `${most} descriptors`);
        const { text } = await tenants.b.get('/metrics');
        const [, refused] = /^ftg_client_connections_refused_total\{reason="address"\} (\d+)$/m.exec(text) ?? [];
        assert.ok(Number(refused) >= COUNT - BOUND, `${refused} were refused`);
        const lines = gateway.output().match(/client connections were refused/g) ?? [];
        assert.ok(lines.length <= threads, `${lines.length} lines`);
      } finally {
        await tenants.stop();
      }
      held({
        area: 'Attacks',
        what: 'Connections by the thousand from one address without a key',
        done: 'a crowd of sockets that send their heads a byte at a time, while another tenant works',
        held: 'those beyond server.connectionsPerAddress are closed at once; the other tenant is served as before; memory and descriptors stay bounded',
        tries: COUNT,
      });
    });
  }
});
