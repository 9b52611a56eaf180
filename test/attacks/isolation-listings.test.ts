/**
 * One tenant lists endless folders, and another one works. It failed once with twenty pages of ten entries at once: the
 * event loop was blocked for 200 ms a turn, and the other one's requests took a second.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { REPLY, REQUEST } from '../../src/remotes/sftp/wire/wire.js';
import { nameFields, type OddServer, startOddServer } from '../servers/scripted-sftp.js';
import type { ApiAnswer, ApiClient } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { longestHold, MAX_HOLD_MS, startWatchedGateway } from './support/loop.js';
import { assertIsolated, scaled, startTenants } from './support/tenants.js';

const SECONDS = scaled(30, 4);
const AT_ONCE = 20;
/** More of each than the attack can read. */
const MOST_ENTRIES = 100_000_000;
const FEW_ENTRIES = scaled(40_000, 10_000);
/** As many per reply as OpenSSH sends. */
const A_REPLY = 100;

describe('endless listings', { concurrency: 1 }, () => {
  let server: OddServer;

  before(async () => {
    const names = Array.from({ length: A_REPLY }, (_, index) => Buffer.from(`some-file-of-a-long-folder-${index}.csv`));
    const reply = nameFields(names);
    server = await startOddServer({
      odd: (request) => {
        if (request.type !== REQUEST.READDIR) return false;
        request.reply(REPLY.NAME, reply);
        return true;
      },
    });
  });
  after(() => server?.stop());

  const connection = (): object => ({
    id: 'endless',
    name: 'Endless',
    type: 'sftp',
    host: '127.0.0.1',
    port: server.port,
    username: server.username,
    password: 'p',
  });
  const page = (client: ApiClient): Promise<ApiAnswer> => client.get('/api/list/endless?path=/&limit=10');

  test('block no other tenant', async (t) => {
    const tenants = await startTenants({
      config: { limits: { listEntries: MOST_ENTRIES } },
      a: { connections: [connection()] },
    });
    try {
      const attack = async () => {
        const clients = Array.from({ length: AT_ONCE }, () =>
          tenants.gateway.client('ftg_tenant-a-0123456789-abcdefgh'),
        );
        const listings = clients.map((client) => page(client).catch(() => undefined));
        return {
          stop: async () => {
            const [first] = await Promise.all([Promise.race([...listings, Promise.resolve('still listing')])]);
            assert.equal(first, 'still listing', 'the attack was over');
            for (const client of clients) client.close();
            await Promise.all(listings);
          },
        };
      };
      assertIsolated(await tenants.measure(t, { seconds: SECONDS, attack }));
    } finally {
      await tenants.stop();
    }
    held({
      area: 'Attacks',
      what: 'Pages of a folder without end',
      tries: AT_ONCE,
      done: `${AT_ONCE} at once by one tenant, of ten entries each; another one uploads, downloads and lists`,
      held: 'no request of the other one fails, and none takes more than three times as long',
    });
  });

  test('block the event loop only for a moment at a time, and end', async (t) => {
    const gateway = await startWatchedGateway({
      connections: [connection()],
      config: { limits: { listEntries: FEW_ENTRIES } },
    });
    try {
      const client = gateway.api;
      const hold = await longestHold(gateway, async () => {
        const kinds = [
          'limit=10',
          'limit=10&recursive=true',
          'limit=10&pattern=nothing',
          'recursive=true&pattern=nothing',
        ];
        const answers = await Promise.all(
          Array.from({ length: AT_ONCE }, (_, index) =>
            client.get(`/api/list/endless?path=/&${kinds[index % kinds.length]}`),
          ),
        );
        for (const { status, headers, text } of answers) {
          assert.deepEqual([status, headers['x-error-code']], [413, 'too_large'], text);
          assert.match(text, new RegExp(`more than ${FEW_ENTRIES} entries of / .*limits\\.listEntries.*x-ndjson`));
        }
      });
      t.diagnostic(`held for ${Math.round(hold)} ms of the processor`);
      assert.ok(hold < MAX_HOLD_MS, `the event loop was held for ${Math.round(hold)} ms`);
    } finally {
      await gateway.stop();
    }
    held({
      area: 'Attacks',
      what: 'Lists of a folder without end, of all kinds',
      tries: AT_ONCE,
      done: `${AT_ONCE} at once, with limits.listEntries`,
      held: '413 that names the limit and the way without one; the event loop is never held for 50 ms',
    });
  });
});
