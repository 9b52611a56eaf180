/** A job's row that is locked, as while very much is found at once: other work is not blocked by it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import postgres from 'postgres';
import { SFTP_SERVERS } from '../servers/catalogue.js';
import { eventually } from '../support/eventually.js';
import { KEY } from '../support/gateway.js';
import { type Cluster, startCluster } from './cluster.js';
import { begin, ended, look, run } from './support.js';

const FILES = 40;
const SIZE = 50_000;
/** How long a job takes by its limit: it must still run when its row is locked, with a few of its files done. */
const SECONDS = 10;
/** For a job that is cancelled. */
const LONG_SECONDS = 40;
const OTHER = 'ftg_other-key-0123456789-abcdefgh';
const WRITER = 'ftg_writer-key-0123456789-abcdefg';

describe('jobs beside other requests', { timeout: 900_000 }, () => {
  let cluster: Cluster<'from' | 'to'>;
  let sql: postgres.Sql;

  before(async () => {
    const apiKeys = [
      { name: 'test', key: KEY },
      { name: 'writer', key: WRITER, scopes: ['write'] },
    ];
    const other = { email: 'other@example.com', plan: 'pro', apiKeys: [{ name: 'other', key: OTHER }] };
    const options = { nodes: 1, account: { apiKeys }, other };
    cluster = await startCluster({ from: SFTP_SERVERS[1], to: SFTP_SERVERS[1] }, options);
    sql = postgres(cluster.postgres.url, { max: 1 });
    // Connected before the jobs, which would go on meanwhile.
    await sql`select 1`;
    const { disk } = cluster.servers.from;
    for (const name of ['one', 'two']) await disk.write(`/small/${name}`, name);
    for (let number = 0; number < FILES; number++) await disk.write(`/tree/${number}`, Buffer.alloc(SIZE));
  });
  after(async () => {
    await sql?.end();
    await cluster?.stop();
  });

  const leases = async (): Promise<number> => {
    const { text } = await cluster.api.get('/metrics');
    return [...text.matchAll(/^ftg_pool_leases\S* (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const order = (path: string, seconds = SECONDS): object => ({
    type: 'copy',
    bytesPerSecond: (FILES * SIZE) / seconds,
    source: { connectionId: 'from', path: '/tree' },
    destination: { connectionId: 'to', path },
  });

  test('an upload is recorded while the rows of a job wait for its lock', async () => {
    const { id } = await begin(cluster.api, order('/locked'));
    await eventually(async () => (await look(cluster.api, id)).counts.done > 3, 'some files are done');
    await locking(id, async () => {
      const headers = { 'Content-Type': 'application/octet-stream' };
      const request = { method: 'POST', query: { filename: 'beside' }, headers, body: Buffer.alloc(100) };
      const answer = await cluster.api.send('/api/upload/to', request);
      assert.equal(answer.status, 200, answer.text);
    });
    const job = await ended(cluster.api, id);
    assert.deepEqual([job.state, job.counts.done], ['succeeded', FILES]);
  });

  /** While others must not touch the row of a job. */
  async function locking<T>(id: string, act: (tx: postgres.TransactionSql) => Promise<T>): Promise<T> {
    return (await sql.begin(async (tx) => {
      await tx`select from jobs where id = ${id} for update`;
      const waits = async (): Promise<boolean> => {
        const [row] = await tx<{ count: number }[]>`select count(*)::int as count from pg_locks where not granted`;
        return (row?.count ?? 0) > 0;
      };
      await eventually(waits, 'rows of the job wait');
      return act(tx);
    })) as T;
  }

  test('a job of another account ends meanwhile', async () => {
    const other = cluster.node(0).client(OTHER);
    const { id } = await begin(cluster.api, order('/locked-again'));
    await eventually(async () => (await look(cluster.api, id)).counts.done > 3, 'some files are done');
    await locking(id, async () => {
      const places = {
        source: { connectionId: 'other-from', path: '/small' },
        destination: { connectionId: 'other-to', path: '/small' },
      };
      const job = await run(other, { type: 'copy', ...places });
      assert.deepEqual([job.state, job.counts.done], ['succeeded', 2]);
    });
    assert.deepEqual((await ended(cluster.api, id)).counts.done, FILES);
  });

  test('a cancellation ends the work at once, even if the database is slow', async () => {
    const { id } = await begin(cluster.api, order('/slow', LONG_SECONDS));
    await eventually(async () => (await look(cluster.api, id)).counts.done > 3, 'some files are done');
    const cancelling = await locking(id, async () => {
      const asked = cluster.api.post(`/api/jobs/${id}/cancel`, {});
      await eventually(async () => (await leases()) === 0, 'its sessions are back');
      const { disk } = cluster.servers.to;
      const isClean = async (): Promise<boolean> =>
        (await disk.files('/slow')).every((name) => !name.includes('.ftg-'));
      await eventually(isClean, 'nothing half-written is left');
      const before = (await disk.files('/slow')).length;
      assert.ok(before < FILES, 'it was cancelled on the way');
      assert.equal((await look(cluster.api, id)).state, 'running');
      return { asked };
    });
    const answer = await cancelling.asked;
    // A statement may wait for a lock for a limited time only.
    assert.ok([200, 503].includes(answer.status), answer.text);
    if (answer.status === 503) assert.equal((await cluster.api.post(`/api/jobs/${id}/cancel`, {})).status, 200);
    assert.equal((await look(cluster.api, id)).state, 'cancelled');
  });

  test('if the database refuses a cancellation, the job continues and leaves nothing out', async () => {
    const { id } = await begin(cluster.api, order('/refused'));
    await eventually(async () => (await look(cluster.api, id)).counts.done > 3, 'some files are done');
    const answer = await locking(id, () => cluster.api.post(`/api/jobs/${id}/cancel`, {}));
    assert.equal(answer.status, 503, answer.text);
    const job = await ended(cluster.api, id);
    assert.deepEqual([job.state, job.counts.done], ['succeeded', FILES]);
  });

  test('a caller that may not begin a job may not retry it either', async () => {
    const { id } = await begin(cluster.api, order('/again', LONG_SECONDS));
    assert.equal((await cluster.api.post(`/api/jobs/${id}/cancel`, {})).status, 200);
    const writer = cluster.node(0).client(WRITER);
    assert.equal((await writer.post('/api/jobs', order('/again'))).status, 403);
    const answer = await writer.post(`/api/jobs/${id}/retry`, {});
    assert.equal(answer.status, 403, answer.text);
    assert.equal((await cluster.api.post(`/api/jobs/${id}/retry`, {})).status, 202);
  });
});
