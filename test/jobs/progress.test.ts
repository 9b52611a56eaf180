/**
 * The progress of a job during one large file: its bytes count as they pass, and none count twice after a node has
 * died.
 */
import assert from 'node:assert/strict';
import http from 'node:http';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { contentOf, MIB } from '../faults/rig.js';
import { FTP_SERVERS, SFTP_SERVERS } from '../servers/catalogue.js';
import { eventually } from '../support/eventually.js';
import { KEY } from '../support/gateway.js';
import { type Cluster, startCluster } from './cluster.js';
import { begin, ENDED, history, type JobView, run } from './support.js';

const SIZE = 12 * MIB;
const SMALL = 10_000;
const SMALL_FILES = 5;
const TOTAL = SIZE + SMALL_FILES * SMALL;

interface Progressing extends JobView {
  readonly bytesPerSecond: number;
  readonly etaSeconds: number | null;
  readonly startedAt: string;
  readonly finishedAt: string;
}

describe('a large file of a job', { timeout: 900_000 }, () => {
  let cluster: Cluster<'from' | 'to'>;

  before(async () => {
    cluster = await startCluster({ from: SFTP_SERVERS[1], to: FTP_SERVERS[0] }, { nodes: 2 });
    const { disk } = cluster.servers.from;
    await disk.write('/tree/large.bin', contentOf('large', SIZE));
    for (let number = 0; number < SMALL_FILES; number++) {
      await disk.write(`/tree/${number}.bin`, contentOf(String(number), SMALL));
    }
  });
  after(() => cluster?.stop());

  const order = (path: string, bytesPerSecond: number): object => ({
    type: 'copy',
    bytesPerSecond,
    source: { connectionId: 'from', path: '/tree' },
    destination: { connectionId: 'to', path },
  });

  /** Every view of it, until the job has ended. */
  async function follow(id: string, seen: (job: Progressing) => Promise<void> | void): Promise<Progressing> {
    for (;;) {
      const job = (await cluster.see(id)) as Progressing;
      if (ENDED.includes(job.state)) return job;
      await seen(job);
      await eventually(async () => differs(job, (await cluster.see(id)) as Progressing), 'the job goes on');
    }
  }

  test('shows its bytes, its speed and the time that is left before it ends', async () => {
    const speed = 1.5 * MIB;
    const { id } = await begin(cluster.api, order('/seen', speed));
    const reported = watch(id);
    const shown: Progressing[] = [];
    const end = await follow(id, (job) => void shown.push(job));
    assert.deepEqual([end.state, end.counts.done, end.counts.bytes], ['succeeded', SMALL_FILES + 1, TOTAL]);
    assert.equal(end.counts.bytesTotal, TOTAL);
    const steps = new Set(shown.map(({ counts }) => counts.bytes));
    assert.ok(steps.size >= 4, `it grows on the way: ${[...steps].join(' ')}`);
    for (const { counts } of shown) assert.ok(counts.bytes <= TOTAL, JSON.stringify(counts));
    const average = (TOTAL / (Date.parse(end.finishedAt) - Date.parse(end.startedAt))) * 1_000;
    const late = shown.filter(({ counts }) => counts.bytes > SIZE / 2 && counts.bytes < SIZE);
    assert.ok(late.length > 0);
    for (const { bytesPerSecond, etaSeconds, counts } of late) {
      // A busy machine may be slower than the limit, but never faster.
      assert.ok(bytesPerSecond < speed * 2, `${bytesPerSecond} bytes a second`);
      assert.equal(etaSeconds, bytesPerSecond > 0 ? Math.ceil((TOTAL - counts.bytes) / bytesPerSecond) : null);
    }
    assert.ok(Math.max(...late.map((job) => job.bytesPerSecond)) > average / 3, `less than ${average} bytes a second`);
    const events = (await reported)
      .map(({ counts }) => counts.bytes)
      .filter((bytes) => bytes > 100_000 && bytes < SIZE);
    assert.ok(new Set(events).size >= 4, `those who watch see it too: ${events.join(' ')}`);
  });

  test('counts once although the nodes that work on it are killed', async () => {
    const { id } = await begin(cluster.api, order('/killed', 0.5 * MIB));
    let kills = 0;
    const end = await follow(id, async ({ counts }) => {
      assert.ok(counts.bytes <= TOTAL, `after ${kills} kills ${counts.bytes} of ${TOTAL}`);
      if (kills > 0 || counts.bytes < SIZE / 2) return;
      for (kills = 0; cluster.nodes.length > 0; kills++) await cluster.kill();
      await cluster.add();
      await cluster.add();
    });
    assert.equal(kills, 2);
    const { found, done, bytes, bytesTotal } = end.counts;
    assert.deepEqual([found, done, bytes, bytesTotal], [SMALL_FILES + 1, SMALL_FILES + 1, TOTAL, TOTAL]);
    const items = await history(cluster.api, { type: 'copy' });
    assert.equal(items.filter(({ path }) => path === '/killed/large.bin').length, 1);
    const again = (await run(cluster.api, { ...order('/killed', 0), type: 'sync' })) as Progressing;
    assert.deepEqual([again.state, again.counts.done], ['succeeded', 0], 'what is there is whole');
  });

  async function watch(id: string): Promise<Progressing[]> {
    const headers = { Authorization: `Bearer ${KEY}` };
    const { port } = cluster.node(0);
    const request = http.get({ host: '127.0.0.1', port, path: `/api/jobs/${id}/events`, headers, agent: false });
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    let text = '';
    for await (const part of answer.setEncoding('utf8')) text += String(part);
    return [...text.matchAll(/^event: job\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? '') as Progressing);
  }
});

function differs(one: Progressing, other: Progressing): boolean {
  return one.state !== other.state || JSON.stringify(one.counts) !== JSON.stringify(other.counts);
}
