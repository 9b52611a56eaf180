/** Jobs paused, resumed, cancelled and watched while they run; and how many of an account run at once. */
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';
import { FTP_SERVERS, SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import { begin, ended, filesOf, history, look, run } from './support.js';
import { startTogether } from '../support/together.js';

const FILES = 30;
const SIZE = 100_000;
/** Six seconds for all of them: a test asks for several things meanwhile. */
const SLOW = (FILES * SIZE) / 6;

const ACTIONS = 7;
const SMALL_KEY = 'ftg_small-key-0123456789-abcdefgh';

describe('jobs under way', () => {
  let source: TestServer;
  let target: TestServer;
  let gateway: TestGateway;

  before(async () => {
    [source, target] = await startTogether([
      SFTP_SERVERS[1]?.start(),
      FTP_SERVERS[0]?.start(),
    ] as Promise<TestServer>[]).then(([one, other]) => [one ?? assert.fail(), other ?? assert.fail()] as const);
    gateway = await startGateway({
      config: {
        jobs: { runningPerAccount: 1, waitingPerAccount: 2 },
        limits: { plans: { small: { connections: 0, monthlyActions: ACTIONS } } },
        accounts: [
          {
            email: 'test@example.com',
            plan: 'pro',
            apiKeys: [{ name: 'test', key: KEY }],
            connections: both('from', 'to'),
          },
          {
            email: 'small@example.com',
            plan: 'small',
            apiKeys: [{ name: 'small', key: SMALL_KEY }],
            connections: both('a', 'b'),
          },
        ],
      },
    });
    for (let number = 0; number < FILES; number++)
      await source.disk.write(`/slow/${number}`, Buffer.alloc(SIZE, number));
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all([source?.stop(), target?.stop()]);
  });

  const both = (from: string, to: string): object[] => [
    { id: from, name: 'From', ...source.connection },
    { id: to, name: 'To', ...target.connection },
  ];
  const order = (path: string, bytesPerSecond = SLOW): object => ({
    type: 'copy',
    bytesPerSecond,
    source: { connectionId: 'from', path: '/slow' },
    destination: { connectionId: 'to', path },
  });
  const post = async (id: string, what: string, status = 200): Promise<void> => {
    const answer = await gateway.api.post(`/api/jobs/${id}/${what}`, {});
    assert.equal(answer.status, status, answer.text);
  };
  const hasBegun = async (id: string): Promise<boolean> => (await look(gateway.api, id)).counts.done > 0;

  test('a speed limit applies to all its files together', async () => {
    const begunAt = performance.now();
    const job = await run(gateway.api, order('/limited', (FILES * SIZE) / 3));
    const seconds = (performance.now() - begunAt) / 1000;
    assert.equal(job.state, 'succeeded', JSON.stringify(job));
    assert.ok(seconds > 2.5, `${seconds} s`);
  });

  test('paused, nothing more is begun within a second; resumed, it ends, with each file once', async () => {
    const { id } = await begin(gateway.api, order('/paused'));
    await eventually(() => hasBegun(id), 'a file is done');
    await post(id, 'pause');
    assert.equal((await look(gateway.api, id)).state, 'paused');
    let before = -1;
    await eventually(async () => {
      const { done } = (await look(gateway.api, id)).counts;
      const rests = done === before;
      before = done;
      await new Promise((over) => setTimeout(over, 500));
      return rests;
    }, 'what runs has ended');
    assert.ok(before < FILES, 'it was paused on the way');
    await post(id, 'pause');
    await post(id, 'resume');
    const job = await ended(gateway.api, id);
    assert.deepEqual([job.state, job.counts.done], ['succeeded', FILES]);
    const items = (await history(gateway.api, { type: 'copy' })).filter(({ path }) => path.startsWith('/paused/'));
    assert.equal(items.length, FILES);
    await post(id, 'pause', 409);
    await post(id, 'cancel', 409);
    await post(id, 'retry', 409);
  });

  test('cancelled, it leaves no half file, and retry does exactly the rest', async () => {
    const { id } = await begin(gateway.api, order('/cancelled'));
    const isUnderWay = async (): Promise<boolean> => {
      const { found, done } = (await look(gateway.api, id)).counts;
      return found === FILES && done > 0;
    };
    await eventually(isUnderWay, 'all are found, and one is done');
    await post(id, 'retry', 409);
    await post(id, 'cancel');
    assert.equal((await look(gateway.api, id)).state, 'cancelled');
    const pathsOf = async (job: string, state: string): Promise<string[]> =>
      (await filesOf(gateway.api, job, state)).map(({ path }) => path).sort();
    // Files under way are taken back, or were done at that moment.
    await eventually(async () => {
      const standing = (await target.disk.files('/cancelled')).map((file) => file.slice('/cancelled/'.length));
      assert.ok(standing.length < FILES);
      return standing.sort().join() === (await pathsOf(id, 'done')).join();
    }, 'half files are gone');
    const { counts } = await look(gateway.api, id);
    const done = await pathsOf(id, 'done');
    const rest = await pathsOf(id, 'waiting');
    assert.deepEqual([counts.done, counts.found, counts.skipped], [done.length, FILES, 0]);
    assert.equal(done.length + rest.length, FILES, 'each is one or the other');

    const answer = await gateway.api.post(`/api/jobs/${id}/retry`, {});
    assert.equal(answer.status, 202, answer.text);
    const retried = (answer.json['job'] as { id: string }).id;
    const again = await ended(gateway.api, retried);
    const bytes = rest.length * SIZE;
    assert.deepEqual(
      [again.state, again.counts],
      [
        'succeeded',
        { found: rest.length, done: rest.length, skipped: 0, failed: 0, deleted: 0, bytes, bytesTotal: bytes },
      ],
    );
    assert.deepEqual(await pathsOf(retried, 'done'), rest, 'those alone');
    assert.deepEqual((await look(gateway.api, id)).counts, counts, 'the former job stays as it ended');
    assert.equal(counts.failed, 0, 'files under way are not done, and have not failed');
    for (let number = 0; number < FILES; number++) {
      assert.ok((await target.disk.read(`/cancelled/${number}`)).equals(Buffer.alloc(SIZE, number)), `${number}`);
    }
    const items = (await history(gateway.api, { type: 'copy', status: 'success' })).filter(({ path }) =>
      path.startsWith('/cancelled/'),
    );
    assert.deepEqual([items.length, new Set(items.map(({ path }) => path)).size], [FILES, FILES], 'each copied once');
    await post(retried, 'retry', 409);
  });

  test('further jobs wait, and too many are refused', async () => {
    const first = await begin(gateway.api, order('/first', SLOW / 2));
    const second = await begin(gateway.api, order('/second', 0));
    const third = await begin(gateway.api, order('/third', 0));
    assert.deepEqual([first.state, second.state, third.state], ['running', 'queued', 'queued']);
    const answer = await gateway.api.post('/api/jobs', order('/fourth'));
    assert.equal(answer.status, 429, answer.text);
    assert.ok(Number(answer.headers['retry-after']) >= 1);
    await post(third.id, 'cancel');
    assert.equal((await ended(gateway.api, second.id)).state, 'succeeded');
    assert.equal((await look(gateway.api, first.id)).state, 'succeeded');
    assert.equal((await look(gateway.api, third.id)).state, 'cancelled');
  });

  test('watchers get the job and its files until the end', async () => {
    const { id } = await begin(gateway.api, order('/watched'));
    // Files that end before the stream is open are not in it.
    await post(id, 'pause');
    let resumed: Promise<void> | undefined;
    const text = await new Promise<string>((resolve, reject) => {
      let all = '';
      http
        .get(`${gateway.url}/api/jobs/${id}/events`, { headers: { Authorization: `Bearer ${KEY}` } }, (answer) => {
          assert.equal(answer.headers['content-type'], 'text/event-stream');
          answer.setEncoding('utf8').on('data', (part: string) => {
            all += part;
            resumed ??= post(id, 'resume');
            resumed.catch(reject);
          });
          answer.on('end', () => resolve(all)).on('error', reject);
        })
        .on('error', reject);
    });
    const events = [...text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(([, name, data]) => ({
      name,
      data: JSON.parse(data ?? '') as Record<string, unknown>,
    }));
    const last = events.filter(({ name }) => name === 'job').at(-1);
    assert.equal(last?.data['state'], 'succeeded');
    const paths = events.filter(({ name }) => name === 'file').map(({ data }) => data['path']);
    assert.ok(paths.length > FILES / 2 && new Set(paths).size === paths.length, `${paths.length}`);
  });

  test('the month of the account ends: exactly the allowed files are done', async () => {
    const api = gateway.client(SMALL_KEY);
    const places = { source: { connectionId: 'a', path: '/slow' }, destination: { connectionId: 'b', path: '/month' } };
    const job = await run(api, { type: 'copy', ...places });
    assert.deepEqual(
      [job.state, job.counts.done, job.counts.failed],
      ['partly_failed', ACTIONS, 0],
      JSON.stringify(job),
    );
    assert.match(job.error ?? '', /actions of this month/);
    assert.equal((await target.disk.files('/month')).length, ACTIONS);
    assert.equal((await history(api)).length, ACTIONS);
  });

  test('a history item names its job', async () => {
    const job = await run(gateway.api, order('/copied', 0));
    const item = (await history(gateway.api)).find(({ path }) => path === '/copied/7') ?? assert.fail();
    const { json } = await gateway.api.get(`/api/transfers/${item.id}`);
    const transfer = json['transfer'] as Record<string, unknown>;
    assert.deepEqual([transfer['jobId'], transfer['path'], transfer['status']], [job.id, '/copied/7', 'success']);
    assert.equal((await gateway.api.get(`/api/transfers/${job.id}`)).status, 404);
  });

  test('metrics show how many run, wait and failed', async () => {
    await run(gateway.api, { ...order('/x'), source: { connectionId: 'from', path: '/not-there' } });
    await eventually(async () => {
      const { text } = await gateway.api.get('/metrics');
      return (
        /^ftg_jobs_running 0$/m.test(text) && /^ftg_jobs_failed [1-9]/m.test(text) && /^ftg_jobs_waiting 0$/m.test(text)
      );
    }, 'the gauges tell');
  });
});
