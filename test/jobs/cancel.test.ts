/**
 * Jobs paused and cancelled by one node while another one works on them: within a second nothing more is done, nothing
 * half-written is left on any server, and the sessions are returned to their pools.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { FTP_SERVERS, S3_SERVERS, SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { eventually } from '../support/eventually.js';
import { type Proxy, startProxy } from '../support/proxy.js';
import { held } from '../support/reliability.js';
import { type Cluster, startCluster } from './cluster.js';
import { begin, eachOf, ended, history, type JobView, look } from './support.js';

const MIB = 1024 * 1024;
const LARGE = 48 * MIB;
/** For jobs that are cancelled before they have moved the large file. */
const SLOW = LARGE / 512;
const HUGE = 40_000;
const MANY = 3_000;
/** Pieces of a connection with which a login and a part of the names have passed, but not all of them. */
const LISTED_PIECES = 100;

const SERVERS = { sftp: SFTP_SERVERS[1], other: SFTP_SERVERS[1], ftp: FTP_SERVERS[0], s3: S3_SERVERS[0] };
type Name = keyof typeof SERVERS | 'huge';

describe('jobs that another node stops', { timeout: 900_000 }, () => {
  let cluster: Cluster<Name>;
  /** In front of the server with the huge folder. */
  let proxy: Proxy;

  before(async () => {
    const start = async (): Promise<TestServer> => {
      const server = await (SFTP_SERVERS[1] ?? assert.fail()).start();
      proxy = await startProxy(Number(server.connection['port']));
      const stop = async (): Promise<void> => {
        await proxy.stop();
        await server.stop();
      };
      return { ...server, connection: { ...server.connection, port: proxy.port }, stop };
    };
    cluster = await startCluster({ ...SERVERS, huge: { name: 'huge', start } }, { nodes: 2 });
    for (const name of ['sftp', 'ftp', 's3'] as const) {
      await cluster.servers[name].disk.write('/large/file', Buffer.alloc(LARGE, 'x'));
    }
    const { disk } = cluster.servers.sftp;
    const names = (count: number): number[] => Array.from({ length: count }, (_, number) => number);
    await eachOf(names(HUGE), (number) => cluster.servers.huge.disk.write(`/huge/file-${number}`, ''));
    await eachOf(names(MANY), (number) => disk.write(`/many/${number % 7}/file-${number}`, `content ${number}`));
  });
  after(() => cluster?.stop());

  const copy = (from: Name, path: string, to: Name, target: string, more: object = {}): object => ({
    type: 'copy',
    source: { connectionId: from, path },
    destination: { connectionId: to, path: target },
    ...more,
  });
  const tell = async (index: number, id: string, what: string): Promise<void> => {
    const answer = await cluster.node(index).api.post(`/api/jobs/${id}/${what}`, {});
    assert.equal(answer.status, 200, answer.text);
  };
  const leases = async (): Promise<number> => {
    const texts = await Promise.all(cluster.nodes.map(async ({ api }) => (await api.get('/metrics')).text));
    const found = [...texts.join('\n').matchAll(/^ftg_pool_leases\S* (\d+)$/gm)].map(([, count]) => Number(count));
    return found.reduce((sum, count) => sum + count, 0);
  };
  /** Resolves with the time it took. */
  async function soon(look: () => Promise<boolean>, what: string): Promise<number> {
    const from = performance.now();
    await eventually(look, what);
    return Math.round(performance.now() - from);
  }

  for (const [from, to] of [
    ['sftp', 'ftp'],
    ['sftp', 's3'],
    ['s3', 'other'],
    ['ftp', 'other'],
  ] as const) {
    test(`cancelled in the middle of a large file, ${from} to ${to}`, async (t) => {
      const took: number[] = [];
      // One of the two has it.
      for (const index of [0, 1]) {
        const root = `/cancelled-${from}-${index}`;
        const { id } = await begin(cluster.api, copy(from, '/large', to, root, { bytesPerSecond: SLOW }));
        const { disk } = cluster.servers[to];
        await eventually(async () => (await disk.files(root)).length > 0 || (await leases()) > 1, 'it is on its way');
        await delay(1000);
        await tell(index, id, 'cancel');
        took.push(await soon(async () => (await leases()) === 0, 'its sessions are back'));
        await soon(async () => (await disk.files(root)).length === 0, 'nothing half-written is left');
        const { state, counts } = await look(cluster.api, id);
        assert.deepEqual([state, counts.done, counts.bytes], ['cancelled', 0, 0]);
      }
      t.diagnostic(`sessions back after ${took.join(' and ')} ms`);
      held({
        area: 'Faults',
        what: 'a job is cancelled in the middle of a large file',
        done: 'by each of two nodes, one of which copies, on SFTP, FTP and S3',
        held: 'soon the sessions are back in their pools, and nothing half-written is on the server',
        tries: 2,
      });
    });
  }

  test('cancelled while a huge folder is listed', async (t) => {
    for (const index of [0, 1]) {
      // The listing goes on no further until the cancel is answered.
      const isListing = proxy.hold(LISTED_PIECES);
      const { id } = await begin(cluster.api, copy('huge', '/huge', 'other', '/huge', { dryRun: true }));
      await isListing;
      await eventually(async () => (await look(cluster.api, id)).counts.found > 0, 'some are found');
      await tell(index, id, 'cancel');
      proxy.release();
      const took = await soon(async () => (await leases()) === 0, 'the listing has ended');
      assert.equal((await look(cluster.api, id)).state, 'cancelled');
      let found = -1;
      // Without a session nothing is listed; the last entries may be counted later.
      await soon(async () => {
        const before = found;
        ({ found } = (await look(cluster.api, id)).counts);
        await delay(700);
        return found === before;
      }, 'nothing more is found');
      t.diagnostic(`after ${found} of ${HUGE} files, within ${took} ms`);
    }
  });

  test('paused, resumed and paused by turns under many files', async (t) => {
    const { id } = await begin(cluster.api, copy('sftp', '/many', 'other', '/many'));
    const done = async (): Promise<JobView['counts']> => (await look(cluster.api, id)).counts;
    const copies = async (): Promise<number> => (await cluster.servers.other.disk.files('/many')).length;
    for (const index of [0, 1]) {
      const before = (await done()).done;
      await eventually(async () => (await done()).done > before + 100, 'some are done');
      await tell(index, id, 'pause');
      const took = await soon(async () => (await leases()) === 0, 'what had begun has ended');
      const there = await copies();
      // The records of the last work may follow.
      await soon(async () => (await done()).done === there, 'what is stored is counted');
      await delay(700);
      t.diagnostic(`paused at ${there} of ${MANY}: the sessions are back after ${took} ms`);
      assert.deepEqual([await copies(), (await done()).done], [there, there], 'nothing more is done');
      assert.equal((await look(cluster.api, id)).state, 'paused');
      await tell(1 - index, id, 'resume');
    }
    const job = await ended(cluster.api, id);
    assert.deepEqual([job.state, job.counts.done], ['succeeded', MANY]);
    const items = (await history(cluster.api, { type: 'copy' })).filter(({ path }) => path.startsWith('/many/'));
    assert.deepEqual([items.length, new Set(items.map(({ path }) => path)).size], [MANY, MANY]);
  });

  test('cancelled while the database does not answer: as soon as it answers again', async () => {
    const order = copy('sftp', '/large', 'other', '/stalled', { bytesPerSecond: SLOW });
    const { id } = await begin(cluster.api, order);
    const { disk } = cluster.servers.other;
    await eventually(async () => (await disk.files('/stalled')).length > 0, 'it is on its way');
    const thaw = await cluster.postgres.freeze();
    const asked = cluster.node(0).api.post(`/api/jobs/${id}/cancel`, {});
    await delay(2_000);
    thaw();
    const { status, text } = await asked;
    assert.ok([200, 503].includes(status), text);
    if (status === 503) await tell(1, id, 'cancel');
    await soon(async () => (await leases()) === 0, 'its sessions are back');
    await soon(async () => (await disk.files('/stalled')).length === 0, 'nothing half-written is left');
    assert.equal((await look(cluster.api, id)).state, 'cancelled');
  });

  test('a job that is cancelled is no failure of the gateway', () => {
    const lines = cluster.nodes.flatMap((node) => node.output().split('\n'));
    assert.deepEqual(
      lines.filter((line) => line.includes('a slice of a job failed')),
      [],
    );
  });
});
