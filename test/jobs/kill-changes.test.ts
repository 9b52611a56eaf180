/**
 * Jobs that move and delete, paused, resumed, cancelled and retried while nodes are killed: at every moment each file
 * is complete at its source or at its target, and in the end all of them are where they belong. JOBS=all: more files,
 * more pairs.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { FTP_SERVERS, S3_SERVERS, SFTP_SERVERS, type Disk } from '../servers/catalogue.js';
import { eventually } from '../support/eventually.js';
import { held } from '../support/reliability.js';
import { type Cluster, startCluster } from './cluster.js';
import { begin, eachOf, ENDED, filesOf, history, type JobView } from './support.js';

const IS_FULL = process.env['JOBS'] === 'all';
const FILES = Number(process.env['JOB_KILL_FILES'] ?? (IS_FULL ? 4_000 : 400));
const STEPS = IS_FULL ? 40 : 8;
const ENDS_WITHIN_MS = IS_FULL ? 1_500_000 : 240_000;
const SERVERS = { sftp: SFTP_SERVERS[1], ftp: FTP_SERVERS[0], s3: S3_SERVERS[0] };
type Kind = keyof typeof SERVERS;
const PAIRS: readonly (readonly [Kind, Kind])[] = [
  ['sftp', 'ftp'],
  ...(IS_FULL
    ? ([
        ['ftp', 's3'],
        ['s3', 'sftp'],
      ] as const)
    : []),
];
/** The changes of a job, in turn; `kill` also follows each of the others. */
const CHANGES = ['kill', 'pause', 'cancel'] as const;

for (const [from, to] of PAIRS) {
  describe(`changed jobs whose nodes are killed, ${from} to ${to}`, { timeout: ENDS_WITHIN_MS * 4 }, () => {
    let cluster: Cluster<'from' | 'to'>;

    before(async () => {
      cluster = await startCluster({ from: SERVERS[from], to: SERVERS[to] }, { nodes: 2 });
    });
    after(() => cluster?.stop());

    async function lay(root: string): Promise<ReadonlyMap<string, string>> {
      const digests = new Map<string, string>();
      const contents = new Map<string, Buffer>();
      for (let number = 0; number < FILES; number++) {
        const content = randomBytes(number % 50 === 0 ? 700_000 : randomInt(1, 4_000));
        contents.set(`${number % 7}/${number % 3}/file-${number}.bin`, content);
      }
      for (const [name, content] of contents) digests.set(name, digestOf(content));
      await eachOf(contents, ([name, content]) => cluster.servers.from.disk.write(`${root}/${name}`, content));
      return digests;
    }

    const replace = async (): Promise<void> => {
      await cluster.kill();
      await cluster.add();
    };
    const ask = async (id: string, change: string): Promise<JobView | undefined> => {
      const answer = await cluster.api.post(`/api/jobs/${id}/${change}`, {}).catch(() => undefined);
      return answer !== undefined && answer.status < 300 ? (answer.json['job'] as JobView) : undefined;
    };
    const goesOn = async (id: string, than: number): Promise<JobView> => {
      let job = await cluster.see(id);
      const isOn = async (): Promise<boolean> => {
        job = await cluster.see(id);
        return job.counts.done + job.counts.deleted > than || ENDED.includes(job.state);
      };
      await eventually(isOn, `job ${id} goes on`, ENDS_WITHIN_MS / 2);
      return job;
    };

    /**
     * Changes the job, and kills nodes, until it has done everything; resolves with its last job, and the number of
     * kills.
     */
    async function harass(
      order: object,
    ): Promise<{ readonly job: JobView; readonly kills: number; readonly ids: string[] }> {
      let job = await begin(cluster.api, order);
      const ids = [job.id];
      let kills = 0;
      for (let step = 0; ; step++) {
        job = await goesOn(job.id, job.counts.done + job.counts.deleted);
        if (ENDED.includes(job.state)) {
          if (job.state === 'succeeded') return { job, kills, ids };
          const retried = await ask(job.id, 'retry');
          if (retried === undefined) continue;
          job = retried;
          ids.push(job.id);
          continue;
        }
        if (step >= STEPS) continue;
        const change = CHANGES[step % CHANGES.length];
        if (change !== 'kill') await ask(job.id, String(change));
        await replace();
        kills++;
        if (change === 'pause') await ask(job.id, 'resume');
      }
    }

    async function standing(disk: Disk, root: string): Promise<readonly string[]> {
      const files = await disk.files(root).catch(() => []);
      return files.filter((file) => !/\/$|\/\.ftg-|\?upload$/.test(file)).map((file) => file.slice(root.length + 1));
    }

    test(`${FILES} files are moved`, async (t) => {
      const digests = await lay('/tree');
      const { job, kills, ids } = await harass({
        type: 'move',
        source: { connectionId: 'from', path: '/tree' },
        destination: { connectionId: 'to', path: '/moved' },
      });
      t.diagnostic(JSON.stringify({ kills, jobs: ids.length, counts: job.counts }));
      const { from: source, to: target } = cluster.servers;
      assert.deepEqual(await standing(source.disk, '/tree'), []);
      assert.deepEqual([...(await standing(target.disk, '/moved'))].sort(), [...digests.keys()].sort());
      await eachOf(digests, async ([name, digest]) => {
        assert.equal(digestOf(await target.disk.read(`/moved/${name}`)), digest, name);
      });
      for (const id of ids) {
        assert.deepEqual(await filesOf(cluster.api, id, 'failed'), []);
      }
      const moved = (await history(cluster.api, { type: 'move', status: 'success' })).filter(({ path }) =>
        path.startsWith('/moved/'),
      );
      assert.equal(new Set(moved.map(({ path }) => path)).size, FILES, 'each file is in the history');
      held({
        area: 'Faults',
        what: 'a move is paused, resumed, cancelled and tried again while nodes are killed (SIGKILL)',
        done: 'a move by two nodes, one of which is killed after each change and started again',
        held: 'no file is lost or damaged: in the end all are at the target, and none at the source',
        tries: kills,
      });
    });

    test(`${FILES} files are deleted, and none of their neighbours`, async (t) => {
      await lay('/gone');
      await cluster.servers.from.disk.write('/gone-not/file.txt', 'stays');
      const { job, kills, ids } = await harass({ type: 'delete', source: { connectionId: 'from', path: '/gone' } });
      t.diagnostic(JSON.stringify({ kills, jobs: ids.length, counts: job.counts }));
      assert.deepEqual(await standing(cluster.servers.from.disk, '/gone'), []);
      assert.equal((await cluster.servers.from.disk.read('/gone-not/file.txt')).toString(), 'stays');
      held({
        area: 'Faults',
        what: 'a deletion is paused, resumed, cancelled and tried again while nodes are killed (SIGKILL)',
        done: 'a deletion by two nodes, one of which is killed after each change and started again',
        held: 'all that was to go is gone, and nothing else',
        tries: kills,
      });
    });
  });
}

const digestOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
