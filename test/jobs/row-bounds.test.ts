/** A tenant cannot fill the database with findings of jobs: the tree of a hostile server is endless. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { REPLY, REQUEST } from '../../src/remotes/sftp/wire/wire.js';
import { nameFields, type OddServer, startOddServer } from '../servers/scripted-sftp.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import { begin, ended, type JobView, look, run } from './support.js';

type Coded = JobView & { readonly errorCode: string | null };

const FILES_PER_JOB = 5_000;
const ROWS_PER_ACCOUNT = 12_000;
/** Written at once. */
const BATCH = 2_000;
const FOLDER_MODE = 0o040755;

describe('findings of jobs are bounded', () => {
  let server: OddServer;
  let gateway: TestGateway;
  let full: TestGateway;
  let names = 0;

  const endless = (length: number): ReturnType<typeof nameFields> =>
    nameFields(Array.from({ length: 100 }, () => Buffer.from(`${names++}`.padStart(length, 'n'))));

  before(async () => {
    server = await startOddServer({
      odd: ({ type, fields, reply }) => {
        if (type === REQUEST.STAT || type === REQUEST.LSTAT) {
          if (!fields.string().toString().startsWith('/endless')) return false;
          reply(REPLY.ATTRS, [0x4, FOLDER_MODE]);
          return true;
        }
        if (type === REQUEST.OPENDIR) {
          reply(REPLY.HANDLE, [fields.string()]);
          return true;
        }
        if (type !== REQUEST.READDIR) return false;
        reply(REPLY.NAME, endless(fields.string().toString() === '/endless-long' ? 250 : 10));
        return true;
      },
    });
    const connections = [
      { id: 'odd', name: 'odd', type: 'sftp', host: '127.0.0.1', port: server.port, username: 'odd', password: 'x' },
    ];
    const jobs = { filesPerJob: FILES_PER_JOB, rowsPerAccount: ROWS_PER_ACCOUNT };
    [gateway, full] = await Promise.all([
      startGateway({ connections, config: { jobs } }),
      startGateway({ connections, config: { jobs: { pauseBelowFreeBytes: Number.MAX_SAFE_INTEGER } } }),
    ]);
  });
  after(async () => {
    await Promise.all([gateway?.stop(), full?.stop()]);
    await server?.stop();
  });

  const order = (path = '/endless'): object => ({
    type: 'delete',
    dryRun: true,
    source: { connectionId: 'odd', path },
  });
  const kept = async (): Promise<readonly JobView[]> => {
    const { status, json, text } = await gateway.api.get('/api/jobs', { query: { limit: '100' } });
    assert.equal(status, 200, text);
    return json['jobs'] as JobView[];
  };

  test('one job ends, and names the limit', async () => {
    const job = (await run(gateway.api, order())) as Coded;
    assert.equal(job.errorCode, 'too_large', JSON.stringify(job));
    assert.match(job.error ?? '', /more than 5000 files and folders \(jobs\.filesPerJob\)/);
    assert.ok(job.counts.found <= FILES_PER_JOB, JSON.stringify(job));
    assert.ok(job.counts.found > 0, JSON.stringify(job));
  });

  test('long names count as more', async () => {
    const job = (await run(gateway.api, order('/endless-long'))) as Coded;
    assert.equal(job.errorCode, 'too_large', JSON.stringify(job));
    assert.ok(job.counts.found < FILES_PER_JOB * 0.6, JSON.stringify(job));
  });

  test('an account keeps a limited number: its oldest jobs make room, and one after the other ends', async () => {
    const ids: string[] = [];
    // Running jobs may hold all rows of the account: a new one is refused until the first of them has ended.
    const beginWithRoom = async (): Promise<JobView> => {
      let job: JobView | undefined;
      await eventually(async () => {
        const { status, json, text } = await gateway.api.post('/api/jobs', order());
        assert.ok(status === 202 || status === 429, text);
        if (status === 202) job = json['job'] as JobView;
        return job !== undefined;
      }, 'a job is taken');
      return job ?? assert.fail();
    };
    for (let round = 0; round < 3; round++) {
      const begun = await Promise.all(Array.from({ length: 4 }, beginWithRoom));
      ids.push(...begun.map(({ id }) => id));
      for (const { id } of begun) {
        const over = async (): Promise<boolean> => {
          const answer = await gateway.api.get(`/api/jobs/${id}`);
          return answer.status === 404 || !['queued', 'running'].includes((answer.json['job'] as JobView).state);
        };
        await eventually(over, `job ${id} is over`);
      }
    }
    const jobs = await kept();
    const found = jobs.reduce((sum, { counts }) => sum + counts.found, 0);
    assert.ok(found <= ROWS_PER_ACCOUNT + BATCH, `${found} rows are kept`);
    assert.ok(jobs.length < ids.length, 'the oldest are forgotten');
    for (const { state, counts } of jobs) {
      // The last one may find the account full of the others' findings, and find nothing itself.
      assert.equal(state, counts.found > 0 ? 'partly_failed' : 'failed', JSON.stringify(jobs));
    }
  });

  test('while the disk of the database is nearly full nothing is listed', async () => {
    const { id } = await begin(full.api, order());
    await eventually(() => full.output().includes('jobs list nothing while the disk'), 'the log says so');
    assert.equal((await look(full.api, id)).counts.found, 0);
    const answer = await full.api.post(`/api/jobs/${id}/cancel`, {});
    assert.equal(answer.status, 200, answer.text);
    assert.equal((await ended(full.api, id)).state, 'cancelled');
  });
});
