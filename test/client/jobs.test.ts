/** Whole folders through the typed client: jobs, lists in pages and lines, archives, times; and broken streams. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { FileTransferGateway, FtgError, type FileInfo, type Job, type JobEvent } from '../../src/client/index.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { KEY } from '../support/gateway.js';
import { cut, error, ok, startFaultServer, type Reply } from './fault-server.js';

const WRITTEN = '2024-02-29T12:34:56.000Z';

let gateway: TestAccount;
let shell: TestSshd;
let ftg: FileTransferGateway;

before(async () => {
  shell = await startSshd();
  const privateKey = readFileSync(shell.clientKeyFile, 'utf8');
  const ssh = { type: 'sftp', host: '127.0.0.1', port: shell.port, username: shell.username, privateKey };
  gateway = await openAccount({
    connections: [{ id: 'shell', name: 'Shell', ...ssh, defaultPath: shell.files }],
    sandbox: true,
  });
  ftg = new FileTransferGateway({ baseUrl: gateway.url, apiKey: gateway.keyOf(KEY) });
});

after(async () => {
  await gateway.stop();
  await shell.stop();
});

const there = (path: string): string => join(shell.files, path);

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const job = (state: Job['state']) => ({ id: 'j', state }) as Job;

test('a job is begun, waited for and inspected', async () => {
  for (const name of ['one.csv', 'sub/two.csv', 'sub/three.tmp']) {
    await ftg.upload('sandbox', name, { path: '/tree', filename: name.slice(name.lastIndexOf('/') + 1) });
  }
  const source = { connectionId: 'sandbox', path: '/tree' };
  const destination = { connectionId: 'shell', path: 'copied' };
  const begun = await ftg.jobs.create({ type: 'copy', source, destination, exclude: ['*.tmp'], name: 'nightly' });
  const ended = await ftg.jobs.wait(begun.id);
  assert.deepEqual([ended.state, ended.counts.done, ended.name], ['succeeded', 2, 'nightly']);
  assert.equal(readFileSync(there('copied/one.csv'), 'utf8'), 'one.csv');
  assert.deepEqual((await ftg.jobs.get(begun.id)).counts, ended.counts);
  const files = await all(ftg.jobs.files(begun.id, { limit: 1 }));
  assert.deepEqual(files.map(({ path, state }) => [path, state]).sort(), [
    ['one.csv', 'done'],
    ['two.csv', 'done'],
  ]);
  const next = await ftg.jobs.create({ type: 'delete', source: destination });
  assert.equal((await ftg.jobs.wait(next.id)).state, 'succeeded');
  const listed = await all(ftg.jobs.list({ limit: 1 }));
  assert.deepEqual(
    listed.map(({ id }) => id),
    [next.id, begun.id],
  );
  await assert.rejects(ftg.jobs.cancel(begun.id), { code: 'not_running' });
  await assert.rejects(ftg.jobs.wait('nothing'), { code: 'unknown_item' });
});

test('a job is paused, resumed and cancelled, and a new one processes the remaining files', async () => {
  mkdirSync(there('many'));
  for (let at = 0; at < 40; at++) writeFileSync(there(`many/${at}`), 'x'.repeat(10_000));
  const place = { connectionId: 'shell', path: 'many' };
  const destination = { connectionId: 'sandbox', path: '/many' };
  const { id } = await ftg.jobs.create({ type: 'copy', source: place, destination, bytesPerSecond: 20_000 });
  assert.equal((await ftg.jobs.pause(id)).state, 'paused');
  assert.match((await ftg.jobs.resume(id)).state, /^(queued|running)$/);
  await ftg.jobs.cancel(id);
  assert.equal((await ftg.jobs.wait(id)).state, 'cancelled');
});

test('a list comes in pages, in lines, and by pattern', async () => {
  mkdirSync(there('tree/a/b'), { recursive: true });
  for (const name of ['tree/1.csv', 'tree/a/2.csv', 'tree/a/b/3.csv', 'tree/a/b/4.txt']) writeFileSync(there(name), '');
  const options = { recursive: true, pattern: '**/*.csv' };
  const pages = await all(ftg.listPages('shell', 'tree', { ...options, limit: 2 }));
  const below = ({ path }: FileInfo): string => path.slice(`${pages[0]?.path ?? ''}/`.length);
  assert.deepEqual(
    pages.map(({ files }) => files.map(below)),
    [['1.csv', 'a/2.csv'], ['a/b/3.csv']],
  );
  const lines = await all(ftg.listStream('shell', 'tree', options));
  assert.deepEqual(lines.map(below).sort(), ['1.csv', 'a/2.csv', 'a/b/3.csv']);
  for await (const one of ftg.listStream('shell', 'tree', { recursive: true })) {
    assert.ok(one.path.length > 0);
    break;
  }
  await assert.rejects(all(ftg.listPages('shell', 'nowhere')), { code: 'not_found' });
  await assert.rejects(all(ftg.listStream('shell', 'nowhere')), { code: 'not_found' });
});

test('a folder is downloaded as an archive, and deleted with everything below it', async () => {
  const archive = await ftg.downloadArchive('shell', ['tree/a', 'tree/1.csv']);
  const file = there('a.zip');
  writeFileSync(file, await archive.bytes());
  const names = execFileSync('unzip', ['-Z1', file], { encoding: 'utf8' }).trim().split('\n').sort();
  assert.deepEqual(
    names.filter((name) => !name.endsWith('/')),
    ['1.csv', 'a/2.csv', 'a/b/3.csv', 'a/b/4.txt'],
  );
  await assert.rejects(ftg.delete('shell', 'tree'), { code: 'is_a_folder' });
  const { deleted } = await ftg.delete('shell', 'tree', { recursive: true });
  assert.ok((deleted ?? 0) >= 6);
});

test('files get their time, and a job can make a copy', async () => {
  const { modifiedAt } = await ftg.upload('shell', 'x', { filename: 'timed', mtime: WRITTEN });
  assert.equal(modifiedAt, WRITTEN);
  await ftg.write('shell', 'written', 'x', { mtime: WRITTEN });
  assert.equal(statSync(there('written')).mtime.toISOString(), WRITTEN);
  const begun = await ftg.beginCopy({
    source_connection_id: 'shell',
    source_path: 'timed',
    dest_connection_id: 'sandbox',
    dest_path: '/later',
  });
  assert.equal((await ftg.jobs.wait(begun.id)).state, 'succeeded');
  assert.equal(await (await ftg.download('sandbox', '/later')).text(), 'x');
});

test('schedules are created, changed, run and deleted', async () => {
  await ftg.upload('sandbox', 'x', { path: '/nightly', filename: 'x' });
  const source = { connectionId: 'sandbox', path: '/nightly' };
  const job = { type: 'copy', source, destination: { connectionId: 'shell', path: 'nightly' } } as const;
  const times = await ftg.schedules.preview({ cron: '@daily', timeZone: 'Europe/Berlin' });
  assert.equal(times.length, 5);
  const made = await ftg.schedules.create({ name: 'n', cron: '@daily', job });
  const changed = await ftg.schedules.change(made.id, { isActive: false });
  assert.deepEqual([made.nextRuns.length, changed.nextRuns.length], [5, 0]);
  const begun = await ftg.schedules.run(made.id);
  const ended = await ftg.jobs.wait(begun.id);
  assert.deepEqual([ended.state, ended.scheduleId], ['succeeded', made.id]);
  assert.deepEqual(
    (await ftg.schedules.list()).map(({ id }) => id),
    [made.id],
  );
  await ftg.schedules.delete(made.id);
  await assert.rejects(ftg.schedules.run(made.id), { code: 'unknown_item' });
});

test('a job whose stream is missing, or breaks, is polled', async (t) => {
  const half: Reply = (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(`retry: 2000\n\nevent: job\ndata: ${JSON.stringify(job('running'))}\n\n`, () =>
      setImmediate(() => response.socket?.destroy()),
    );
  };
  const replies = [error(429, 'rate_limited', { 'Retry-After': '60' }), ok({ job: job('queued') }), half];
  const server = await startFaultServer(t, [...replies, cut, ok({ job: job('succeeded') })]);
  const client = new FileTransferGateway({ baseUrl: server.url, apiKey: 'ftg_x', retry: { delayMs: 1 } });
  const events: JobEvent[] = await all(client.jobs.events('j'));
  assert.deepEqual(
    events.map((event) => (event.type === 'job' ? event.job.state : event.type)),
    ['queued', 'running', 'succeeded'],
  );
  const asked = server.asked.map(({ url }) => url);
  assert.deepEqual(asked, ['/api/jobs/j/events', '/api/jobs/j', '/api/jobs/j/events', '/api/jobs/j', '/api/jobs/j']);
});

test('an abort ends the wait for a job, with its own reason', async (t) => {
  const silent: Reply = (response) =>
    void response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': \n');
  const server = await startFaultServer(t, [silent]);
  const client = new FileTransferGateway({ baseUrl: server.url, apiKey: 'ftg_x' });
  const reason = new Error('enough');
  await assert.rejects(client.jobs.wait('j', { signal: AbortSignal.abort(reason) }), reason);
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 50);
  await assert.rejects(client.jobs.wait('j', { signal: controller.signal }), reason);
});

test('lines that break off are a failure, never a short list', async (t) => {
  const line = `${JSON.stringify({ name: 'a', path: '/a' })}\n`;
  const broken: Reply = (response) => {
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
    response.write(line, () => setImmediate(() => response.socket?.destroy()));
  };
  const unfinished: Reply = (response) => void response.writeHead(200).end(`${line}{"name":`);
  for (const reply of [broken, unfinished]) {
    const server = await startFaultServer(t, [reply]);
    const client = new FileTransferGateway({ baseUrl: server.url, apiKey: 'ftg_x' });
    const seen: string[] = [];
    await assert.rejects(
      async () => {
        for await (const { name } of client.listStream('c')) seen.push(name);
      },
      (thrown) => thrown instanceof FtgError && thrown.code === 'network_error',
    );
    assert.deepEqual(seen, ['a']);
  }
});

test('a job is begun once: a lost answer does not begin another', async (t) => {
  const server = await startFaultServer(t, [cut, ok({ job: job('queued') })]);
  const client = new FileTransferGateway({ baseUrl: server.url, apiKey: 'ftg_x', retry: { delayMs: 1 } });
  const source = { connectionId: 'c', path: '/x' };
  await assert.rejects(client.jobs.create({ type: 'delete', source }), { code: 'network_error' });
  assert.equal(server.asked.length, 1);
});
