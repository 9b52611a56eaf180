/**
 * Nodes are killed while they work on one job, again and again, and the database is stopped: in the end the target
 * equals the source, each file is in the history once, and all counts agree. JOBS=all: 20,000 files, over more pairs of
 * servers; JOB_KILL_PAIR: one of them.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { FTP_SERVERS, S3_SERVERS, SFTP_SERVERS } from '../servers/catalogue.js';
import { eventually } from '../support/eventually.js';
import { held } from '../support/reliability.js';
import { type Cluster, startCluster } from './cluster.js';
import { begin, eachOf, ENDED, filesOf, history, type JobView } from './support.js';

const IS_FULL = process.env['JOBS'] === 'all';
const FILES = Number(process.env['JOB_KILL_FILES'] ?? (IS_FULL ? 20_000 : 2_000));
const KILL_EVERY_MS = Number(process.env['JOB_KILL_EVERY_MS'] ?? (IS_FULL ? 5_000 : 1_500));
const DATABASE_AWAY_MS = IS_FULL ? 20_000 : 3_000;
const ENDS_WITHIN_MS = IS_FULL ? 1_500_000 : 240_000;
const SERVERS = { sftp: SFTP_SERVERS[1], ftp: FTP_SERVERS[0], s3: S3_SERVERS[0] };
type Kind = keyof typeof SERVERS;
const PAIRS: readonly (readonly [Kind, Kind])[] = [
  ['sftp', 'ftp'],
  ...(IS_FULL
    ? ([
        ['sftp', 's3'],
        ['s3', 'sftp'],
      ] as const)
    : []),
];
const ASKED = process.env['JOB_KILL_PAIR'];

for (const [from, to] of PAIRS.filter((pair) => ASKED === undefined || ASKED === pair.join('-'))) {
  describe(`jobs whose nodes are killed, ${from} to ${to}`, { timeout: IS_FULL ? 3_600_000 : 900_000 }, () => {
    let cluster: Cluster<'from' | 'to'>;
    const contents = new Map<string, Buffer>();

    before(async () => {
      cluster = await startCluster({ from: SERVERS[from], to: SERVERS[to] });
      for (let number = 0; number < FILES; number++) {
        const name = `${number % 37}/${number % 5}/file-${number}.bin`;
        contents.set(name, randomBytes(number % 200 === 0 ? 2_000_000 : randomInt(1, 6_000)));
      }
      await eachOf(contents, ([name, content]) => cluster.servers.from.disk.write(`/tree/${name}`, content));
    });
    after(() => cluster?.stop());

    test(`${FILES} files, a node killed every ${KILL_EVERY_MS} ms`, async (t) => {
      const { id } = await begin(cluster.api, order('sync', '/tree'));
      let kills = 0;
      const begunAt = performance.now();
      let job = await cluster.see(id);
      while (!ENDED.includes(job.state)) {
        await delay(KILL_EVERY_MS);
        await cluster.kill();
        kills++;
        job = await cluster.see(id);
        agrees(job);
        await cluster.add();
      }
      const seconds = Math.round((performance.now() - begunAt) / 1000);
      t.diagnostic(JSON.stringify({ seconds, kills, counts: job.counts }));
      await whole(job, '/tree');
      held({
        area: 'Faults',
        what: 'nodes are killed (SIGKILL) under a job',
        done: 'a sync by three nodes, one of which is killed every second or two and started again',
        held: 'the target equals the source, each file is in the history once, all counts agree',
        tries: kills,
      });
    });

    test('the database is killed, and then frozen, during a copy', async (t) => {
      const { id } = await begin(cluster.api, order('copy', '/again'));
      const { postgres } = cluster;
      const begunAt = performance.now();
      const soFar = async (share: number): Promise<void> => {
        const isSoFar = async (): Promise<boolean> => {
          const { counts, state } = await cluster.see(id);
          return counts.done >= FILES * share || ENDED.includes(state);
        };
        await eventually(isSoFar, 'some files are done', ENDS_WITHIN_MS / 2);
      };
      await soFar(0.1);
      await postgres.kill();
      await delay(DATABASE_AWAY_MS);
      await postgres.restart();
      await soFar(0.4);
      const thaw = await postgres.freeze();
      await delay(DATABASE_AWAY_MS);
      thaw();
      let job = await cluster.see(id);
      const isOver = async (): Promise<boolean> => ENDED.includes((job = await cluster.see(id)).state);
      await eventually(isOver, 'the job ends', ENDS_WITHIN_MS);
      const seconds = Math.round((performance.now() - begunAt) / 1000);
      t.diagnostic(JSON.stringify({ seconds, counts: job.counts }));
      await whole(job, '/again');
      held({
        area: 'Faults',
        what: 'the database goes away under a job, twice',
        done: 'killed (SIGKILL) and started again some seconds later, and stopped (SIGSTOP) for as long, under a copy by three nodes',
        held: 'the target equals the source, each file is in the history once, all counts agree',
        tries: 2,
      });
    });

    const order = (type: 'sync' | 'copy', path: string): object => ({
      type,
      source: { connectionId: 'from', path: '/tree' },
      destination: { connectionId: 'to', path },
    });

    function agrees({ counts }: JobView): void {
      const { found, done, skipped, failed } = counts;
      assert.ok(done + skipped + failed <= found, JSON.stringify(counts));
      assert.ok(found <= FILES, JSON.stringify(counts));
    }

    async function whole(job: JobView, root: string): Promise<void> {
      const { disk } = cluster.servers.to;
      const bytes = [...contents.values()].reduce((sum, content) => sum + content.length, 0);
      const failed = await filesOf(cluster.api, job.id, 'failed');
      assert.equal(job.state, 'succeeded', JSON.stringify([job, failed.slice(0, 3)]));
      const { found, done, skipped, failed: bad, bytes: moved, bytesTotal } = job.counts;
      assert.deepEqual([found, done + skipped, bad, bytesTotal], [FILES, FILES, 0, moved]);
      if (skipped === 0) assert.equal(moved, bytes);
      const shown = (await disk.files(root)).filter((file) => !file.includes('/.ftg-'));
      assert.equal(shown.length, FILES);
      await eachOf(contents, async ([name, content]) => {
        assert.equal(digestOf(await disk.read(`${root}/${name}`)), digestOf(content), name);
      });
      const items = (await history(cluster.api, { type: 'copy' })).filter(({ path }) => path.startsWith(`${root}/`));
      assert.equal(new Set(items.map(({ path }) => path)).size, items.length, 'each file once');
      assert.equal(items.length, done);
      assert.ok(items.every(({ status }) => status === 'success'));
    }
  });
}

const digestOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
