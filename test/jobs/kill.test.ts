/**
 * Nodes are killed while they work on one job, again and again, and the database is stopped under them: in the end the
 * target equals the source, each file stands in the history once, and all counts agree. JOBS=all: 20,000 files.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { FTP_SERVERS, SFTP_SERVERS, type Disk, type TestServer } from '../servers/catalogue.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { TEST_KEY } from '../storage/databases.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import { held } from '../support/reliability.js';
import { begin, filesOf, history, type JobView, look } from './support.js';

const IS_FULL = process.env['JOBS'] === 'all';
const FILES = Number(process.env['JOB_KILL_FILES'] ?? (IS_FULL ? 20_000 : 2_000));
const KILL_EVERY_MS = Number(process.env['JOB_KILL_EVERY_MS'] ?? (IS_FULL ? 5_000 : 1_500));
const DATABASE_AWAY_MS = IS_FULL ? 20_000 : 3_000;
const ENDS_WITHIN_MS = IS_FULL ? 1_500_000 : 240_000;
const NODES = 3;
const ENDED = ['succeeded', 'partly_failed', 'failed', 'cancelled'];

describe('a sync whose nodes are killed', { timeout: IS_FULL ? 3_600_000 : 600_000 }, () => {
  let postgres: PostgresServer;
  let source: TestServer;
  let target: TestServer;
  const gateways: (TestGateway | undefined)[] = [];
  const contents = new Map<string, Buffer>();

  const startNode = (): Promise<TestGateway> =>
    startGateway({
      env: { GATEWAY_MASTER_KEY: TEST_KEY },
      config: {
        database: { url: postgres.url },
        accounts: [
          {
            email: 'test@example.com',
            plan: 'pro',
            apiKeys: [{ name: 'test', key: KEY }],
            connections: [
              { id: 'from', name: 'From', ...source.connection },
              { id: 'to', name: 'To', ...target.connection },
            ],
          },
        ],
      },
    });

  before(async () => {
    const [sftp, ftp] = [SFTP_SERVERS[1], FTP_SERVERS[0]];
    assert.ok(sftp !== undefined && ftp !== undefined);
    [postgres, source, target] = await Promise.all([startPostgres(), sftp.start(), ftp.start()]);
    for (let number = 0; number < FILES; number++) {
      const name = `${number % 37}/${number % 5}/file-${number}.bin`;
      contents.set(name, randomBytes(number % 200 === 0 ? 2_000_000 : randomInt(1, 6_000)));
    }
    for (const [name, content] of contents) await source.disk.write(`/tree/${name}`, content);
    gateways.push(await startNode());
    gateways.push(...(await Promise.all([startNode(), startNode()])));
  });
  after(async () => {
    for (const gateway of gateways) await gateway?.stop();
    await Promise.all([source?.stop(), target?.stop()]);
    await postgres?.stop();
  });

  test(`${FILES} files, a node killed every ${KILL_EVERY_MS} ms`, async (t) => {
    const order = {
      type: 'sync',
      source: { connectionId: 'from', path: '/tree' },
      destination: { connectionId: 'to', path: '/tree' },
    };
    const { id } = await begin(alive().api, order);
    let kills = 0;
    let job = await see(id);
    while (!ENDED.includes(job.state)) {
      await delay(KILL_EVERY_MS);
      const index = randomInt(NODES);
      const victim = gateways[index];
      assert.ok(victim !== undefined);
      const gone = once(victim.process, 'exit');
      victim.process.kill('SIGKILL');
      await gone;
      victim.api.close();
      kills++;
      gateways[index] = undefined;
      job = await see(id);
      agrees(job);
      gateways[index] = await startNode();
    }
    t.diagnostic(JSON.stringify({ kills, counts: job.counts }));
    await whole(job, target.disk, '/tree');
    held({
      area: 'Faults',
      what: 'nodes are killed (SIGKILL) under a job',
      done: 'a sync by three nodes, one of which is killed every second or two and started again',
      held: 'the target equals the source, each file stands in the history once, all counts agree',
      tries: kills,
    });
  });

  test('the database stops twice under a copy', async () => {
    const order = {
      type: 'copy',
      source: { connectionId: 'from', path: '/tree' },
      destination: { connectionId: 'to', path: '/again' },
    };
    const { id } = await begin(alive().api, order);
    for (const share of [0.1, 0.4]) {
      const isSoFar = async (): Promise<boolean> => {
        const { counts, state } = await see(id);
        return counts.done >= FILES * share || ENDED.includes(state);
      };
      await eventually(isSoFar, 'some files are done', ENDS_WITHIN_MS / 2);
      await postgres.kill();
      await delay(DATABASE_AWAY_MS);
      await postgres.restart();
    }
    let job = await see(id);
    const isOver = async (): Promise<boolean> => ENDED.includes((job = await see(id)).state);
    await eventually(isOver, 'the job ends', ENDS_WITHIN_MS);
    await whole(job, target.disk, '/again');
  });

  const alive = (): TestGateway => gateways.find((gateway) => gateway !== undefined) ?? assert.fail('no node');

  /** Of whichever node can tell. */
  async function see(id: string): Promise<JobView> {
    let job: JobView | undefined;
    await eventually(
      async () => {
        job = await look(alive().api, id).catch(() => undefined);
        return job !== undefined;
      },
      'a node tells of the job',
      60_000,
    );
    return job as JobView;
  }

  function agrees({ counts }: JobView): void {
    const { found, done, skipped, failed } = counts;
    assert.ok(done + skipped + failed <= found, JSON.stringify(counts));
    assert.ok(found <= FILES, JSON.stringify(counts));
  }

  async function whole(job: JobView, disk: Disk, root: string): Promise<void> {
    const { api } = alive();
    const bytes = [...contents.values()].reduce((sum, content) => sum + content.length, 0);
    const failed = await filesOf(api, job.id, 'failed');
    assert.equal(job.state, 'succeeded', JSON.stringify([job, failed.slice(0, 3)]));
    const { found, done, skipped, failed: bad, bytes: moved, bytesTotal } = job.counts;
    assert.deepEqual([found, done + skipped, bad, bytesTotal], [FILES, FILES, 0, moved]);
    if (skipped === 0) assert.equal(moved, bytes);
    const shown = (await disk.files(root)).filter((file) => !file.includes('/.ftg-'));
    assert.equal(shown.length, FILES);
    for (const [name, content] of contents) {
      assert.equal(digestOf(await disk.read(`${root}/${name}`)), digestOf(content), name);
    }
    const items = (await history(api, { type: 'copy' })).filter(({ path }) => path.startsWith(`${root}/`));
    assert.equal(new Set(items.map(({ path }) => path)).size, items.length, 'each file once');
    assert.equal(items.length, done);
    assert.ok(items.every(({ status }) => status === 'success'));
  }
});

const digestOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
