/** Receipts beside other work: neither many at once nor a long chain block the event loop, or need much memory. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';
import { assertServing, startWatchedGateway } from '../attacks/support/loop.js';
import { SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { withSql } from '../storage/databases.js';
import { KEY, type TestGateway } from '../support/gateway.js';
import { startTogether } from '../support/together.js';

const RECEIPTS = 100_000;
/** For the chain's 190 MiB; the collector is slow. */
const MOST_MIB = 120;

describe('receipts in great numbers', () => {
  let server: TestServer;
  let database: PostgresServer;
  let gateway: TestGateway;
  before(async () => {
    [server, database] = await startTogether([SFTP_SERVERS[0]!.start(), startPostgres()]);
    gateway = await startWatchedGateway({
      connections: [{ id: 'c1', name: 'Server', ...server.connection, digests: 'always' }],
      config: { database: { url: database.url } },
      env: { GATEWAY_MASTER_KEY: 'ab'.repeat(32) },
    });
  });
  after(async () => {
    await gateway?.stop();
    await database?.stop();
    await server?.stop();
  });

  const rssMiB = (): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1]) / 1024;

  test('the rows of 1,000 writes that end at once', async () => {
    await assertServing(gateway, () =>
      Promise.all(
        Array.from({ length: 1000 }, async (_, number) => {
          const body = { path: `/many/f${number}`, content: `${number}` };
          const { status, text } = await gateway.api.post('/api/write/c1', body);
          assert.equal(status, 200, text);
        }),
      ),
    );
  });

  test(`a chain of ${RECEIPTS} receipts, for a fast reader and for one that pauses`, async () => {
    await withSql(database.url, async (sql) => {
      await sql`create temporary table more as
        select c.sequence + n as sequence, gen_random_uuid() as id
        from receipt_chains c, generate_series(1, ${RECEIPTS}::int) n`;
      await sql`insert into receipts (account_id, sequence, transfer_id, recorded_at, receipt)
        select r.account_id, m.sequence, m.id, now(), r.receipt from receipts r, more m where r.sequence = 1`;
      await sql`create temporary table one as select t.* from transfers t
        join receipts r on r.transfer_id = t.id where r.sequence = 1`;
      const columns = await sql<{ name: string }[]>`
        select column_name as name from information_schema.columns
        where table_name = 'transfers' and table_schema = current_schema() order by ordinal_position`;
      const chosen = columns.map(({ name }) => (name === 'id' ? 'm.id' : `o.${name}`));
      await sql.unsafe(`insert into transfers select ${chosen.join(', ')} from one o, more m`);
      await sql`analyze receipts, transfers`;
    });
    const before = rssMiB();
    let most = 0;
    const read = (stallMs: number): Promise<number> =>
      new Promise((resolve, reject) => {
        const headers = { Authorization: `Bearer ${KEY}` };
        const request = http.get({ port: gateway.port, path: '/api/receipts', headers }, (response) => {
          let lines = 0;
          let wait = stallMs;
          response.on('data', (chunk: Buffer) => {
            for (const byte of chunk) if (byte === 0x0a) lines += 1;
            most = Math.max(most, rssMiB());
            if (wait === 0) return;
            response.pause();
            setTimeout(() => {
              most = Math.max(most, rssMiB());
              response.resume();
            }, wait);
            wait = 0;
          });
          response.on('end', () => resolve(lines));
          response.on('error', reject);
        });
        request.on('error', reject);
      });
    for (const stallMs of [0, 3000]) {
      await assertServing(gateway, async () => assert.ok((await read(stallMs)) > RECEIPTS));
      assert.ok(most - before < MOST_MIB, `${Math.round(before)} MiB grew to ${Math.round(most)}`);
    }
  });
});
