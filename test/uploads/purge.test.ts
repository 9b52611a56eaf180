/** Very many uploads that have expired are removed, and nothing waits for that. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import postgres from 'postgres';
import { startWatchedGateway, assertServing } from '../attacks/support/loop.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { tellDue, TEST_KEY } from '../storage/databases.js';
import { eventually, PATIENCE_MS } from '../support/eventually.js';
import type { TestGateway } from '../support/gateway.js';
import { startProxy, type Proxy } from '../support/proxy.js';

const UNFINISHED = 4_000;
const OF_AWAY = 1_000;
const DONE = 5_000;
/** Less is noise of a busy machine. */
const NOISE_MS = 1_500;

describe('10,000 expired uploads', { concurrency: 1 }, () => {
  let sshd: TestSshd;
  let proxy: Proxy;
  let database: PostgresServer;
  let sql: postgres.Sql;
  let gateway: TestGateway;

  before(async () => {
    [sshd, database] = await Promise.all([startSshd(), startPostgres()]);
    proxy = await startProxy(sshd.port);
    proxy.isSilent = true;
    const { username, clientKeyFile: privateKeyFile, files: rootPath } = sshd;
    const ssh = { type: 'sftp', host: '127.0.0.1', username, privateKeyFile, rootPath };
    gateway = await startWatchedGateway({
      connections: [
        { id: 'c1', name: 'Here', ...ssh, port: sshd.port },
        { id: 'away', name: 'Away', ...ssh, port: proxy.port },
      ],
      env: { GATEWAY_MASTER_KEY: TEST_KEY },
      config: { database: { url: database.url } },
    });
    sql = postgres(database.url, { max: 1, onnotice: () => undefined });
  });
  after(async () => {
    await sql?.end();
    await gateway?.stop();
    await proxy?.stop();
    await Promise.all([sshd?.stop(), database?.stop()]);
  });

  /** `age`: how long ago they have expired, in seconds. */
  async function lay(count: number, connectionId: string, state: string, age: number): Promise<void> {
    await sql`
      insert into uploads (id, account_id, connection_id, path, hidden, metadata, overwrite, length, state, expires_at)
      select gen_random_uuid(), (select account_id from connections where id = ${connectionId}), ${connectionId},
        '/p/' || n || '.bin', '/p/.ftg-up-' || n || '.bin', '', true, 10, ${state}, now() - make_interval(secs => ${age})
      from generate_series(1, ${count}::int) as n`;
  }
  const left = async (connectionId: string): Promise<number> =>
    (await sql`select from uploads where connection_id = ${connectionId}`).length;

  test('they are removed while clients are served and the loop stays free; those of a server that is away delay no others', async (t) => {
    const list = async (): Promise<number> => {
      const askedAt = performance.now();
      const listed = await gateway.api.get('/api/list/c1', { query: { path: '/' } });
      assert.equal(listed.status, 200, listed.text);
      return performance.now() - askedAt;
    };
    const p95 = (times: readonly number[]): number =>
      times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0;
    const alone: number[] = [];
    for (let round = 0; round < 40; round++) alone.push(await list());
    await assertServing(gateway, async () => {
      await lay(OF_AWAY, 'away', 'open', 7200);
      await lay(UNFINISHED, 'c1', 'open', 3600);
      await lay(DONE, 'c1', 'done', 3600);
      await tellDue(sql, 'uploads');
      const startedAt = performance.now();
      const times: number[] = [];
      while ((await left('c1')) > 0) {
        assert.ok(performance.now() - startedAt < PATIENCE_MS, `${await left('c1')} are left`);
        times.push(await list());
      }
      const slow = p95(times);
      const seconds = (performance.now() - startedAt) / 1000;
      t.diagnostic(`gone after ${seconds.toFixed(1)} s; p95 of a list meanwhile ${slow.toFixed(1)} ms`);
      assert.ok(slow < Math.max(NOISE_MS, 3 * p95(alone)), `p95 of a list: ${slow} ms, and ${p95(alone)} ms alone`);
    });
  });

  test('when it is back, they are removed too', async () => {
    const claimed = (await sql`select from uploads where connection_id = 'away' and writer is not null`).length;
    assert.ok(claimed <= 50, `${claimed} are claimed`);
    assert.equal(await left('away'), OF_AWAY);
    proxy.isSilent = false;
    proxy.fail('reset');
    await sql`update uploads set lease_until = now() where connection_id = 'away'`;
    await eventually(async () => (await left('away')) === 0, 'they are gone');
  });
});
