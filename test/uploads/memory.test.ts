/** Memory grows neither with the length of a resumable upload nor with the number of uploads. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { patterned } from '../remotes/support/harness.js';
import { OPENSSH, S3_SERVERS, type ServerEntry, type TestServer, VSFTPD } from '../servers/catalogue.js';
import { memoryOf, resetPeakMemory, startGateway, type TestGateway } from '../support/gateway.js';
import { Tus } from './support.js';

const MIB = 1024 * 1024;
/** The same as for any upload (conformance/memory). */
const ALLOWED = 100 * MIB;
/** What bodies and parts may hold together, in addition. */
const BUDGET = 64 * MIB;
const servers = [OPENSSH[1], VSFTPD[0], S3_SERVERS[0]].filter((entry) => entry !== undefined);

function suite(entry: ServerEntry): void {
  describe(`memory of resumable uploads to ${entry.name}`, { concurrency: 1 }, () => {
    let server: TestServer;
    let gateway: TestGateway;
    let idle: number;

    before(async () => {
      server = await entry.start();
      gateway = await startGateway({
        connections: [{ id: 'c1', name: 'Server', ...server.connection }],
        config: { budgets: { memoryBytes: BUDGET } },
      });
      await send('warm.bin', 16 * MIB, 8 * MIB);
      idle = memoryOf(gateway.pid).now;
    });
    after(async () => {
      await gateway?.stop();
      await server?.stop();
    });

    /** Like a client that is refused now and then: it asks for the offset, and continues. */
    async function send(filename: string, length: number, pieceBytes: number): Promise<void> {
      const tus = new Tus(gateway.client());
      const url = await tus.begin({ filename }, length);
      for (let offset = 0, tries = 0; offset < length;) {
        const size = Math.min(pieceBytes, length - offset);
        const headers = { 'Content-Length': String(size) };
        const answer = await tus.patch(url, offset, patterned(size).body, headers);
        if (answer.status === 204) offset += size;
        else {
          assert.ok([429, 503].includes(answer.status) && ++tries < 200, `${answer.status} ${answer.text}`);
          offset = await tus.offset(url);
        }
      }
    }

    const grown = (): number => memoryOf(gateway.pid).peak - idle;
    const shown = (bytes: number): string => `${Math.round(bytes / MIB)} MiB over idle`;

    test('512 MiB, in pieces of 128', async (t) => {
      resetPeakMemory(gateway.pid);
      await send('long.bin', 512 * MIB, 128 * MIB);
      t.diagnostic(shown(grown()));
      assert.ok(grown() < ALLOWED, shown(grown()));
    });

    test('sixteen of 32 MiB at once, in pieces of 10', async (t) => {
      resetPeakMemory(gateway.pid);
      await Promise.all(Array.from({ length: 16 }, (_, at) => send(`many-${at}.bin`, 32 * MIB, 10 * MIB)));
      t.diagnostic(shown(grown()));
      // A part and the pieces that it is joined from are in memory together for a moment.
      assert.ok(grown() < 2 * BUDGET + ALLOWED, shown(grown()));
    });
  });
}

for (const entry of servers) suite(entry);
