/** A listing with lines that the gateway cannot read never looks complete, in any use. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ended, filesOf, run } from '../jobs/support.js';
import { FTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startScripted, type ScriptedFtp } from '../servers/scripted-ftp.js';
import { eventually } from '../support/eventually.js';
import { startGateway, type ApiAnswer, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';

/** No name can be read from it. */
const UNREADABLE = '#@!keep.csv';
const GOOD = ['-rw-r--r-- 1 a a 4 Feb 03 2026 a.txt', 'drwxr-xr-x 1 a a 4096 Feb 03 2026 sub'];

describe('a listing with an unreadable line', () => {
  let scripted: ScriptedFtp;
  let other: TestServer;
  let gateway: TestGateway;
  const place = mkdtempSync(path.join(tmpdir(), 'ftg-incomplete-'));
  /** The listing of every folder but /in/sub. */
  let lines: readonly string[] = [...GOOD, UNREADABLE];

  before(async () => {
    let folder = '/';
    scripted = await startScripted({
      CWD: (name, { usual }) => {
        folder = name;
        return usual();
      },
      LIST: async (_options, { say, data }) => {
        const sent = folder === '/in/sub' ? ['-rw-r--r-- 1 a a 4 Feb 03 2026 deep.txt'] : lines;
        say('150 go');
        const socket = await data();
        socket.end(sent.map((line) => `${line}\r\n`).join(''));
        say('226 done');
      },
      RMD: (name, { say }) => say(scripted.folders.has(name) ? '550 Directory not empty.' : '550 no'),
    });
    for (const one of ['/in', '/in/sub']) scripted.folders.add(one);
    for (const file of ['/in/a.txt', '/in/keep.csv', '/in/sub/deep.txt']) scripted.files.set(file, Buffer.from('four'));
    other = await (FTP_SERVERS[0] ?? assert.fail()).start();
    const { port, username, password } = scripted;
    gateway = await startGateway({
      connections: [
        {
          id: 'odd',
          name: 'Odd',
          type: 'ftp',
          host: '127.0.0.1',
          port,
          username,
          password,
          tls: 'none',
          defaultPath: '/',
        },
        { id: 'good', name: 'Good', ...other.connection },
      ],
    });
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all([other?.stop(), scripted?.stop()]);
    rmSync(place, { recursive: true });
  });

  const list = (query: Record<string, string>, headers: Record<string, string> = {}): Promise<ApiAnswer> =>
    gateway.api.get('/api/list/odd', { query: { path: '/in', ...query }, headers });

  test('every form of a list has the count', async () => {
    for (const query of [{}, { recursive: 'true' }, { limit: '10' }, { pattern: '*' }]) {
      const { status, headers, json, text } = await list(query as Record<string, string>);
      assert.deepEqual([status, headers['x-incomplete'], json['incomplete']], [200, '1', 1], text);
    }
    const answer = await list({ recursive: 'true' }, { accept: 'application/x-ndjson' });
    const sent = answer.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(sent.at(-1), { incomplete: 1 });
    assert.equal(sent.length, 4);
    await eventually(() => gateway.output().includes('a listing is incomplete'), 'its line in the log');
    lines = GOOD;
    const whole = await list({});
    assert.deepEqual([whole.headers['x-incomplete'], 'incomplete' in whole.json], [undefined, false]);
    lines = [...GOOD, UNREADABLE];
  });

  test('an archive lists it', async () => {
    const answer = await gateway.api.get('/api/download/odd', { query: { format: 'zip', path: '/in' } });
    assert.equal(answer.status, 200, answer.text);
    const file = path.join(place, 'in.zip');
    writeFileSync(file, answer.bytes);
    const missing = execFileSync('unzip', ['-p', file, '_missing.txt'], { encoding: 'utf8' });
    assert.match(missing, /"in\/#@!keep\.csv": the gateway cannot read/);
  });

  const sync = { type: 'sync', source: { connectionId: 'odd', path: '/in' }, deleteExtra: true };
  const order = { ...sync, destination: { connectionId: 'good', path: '/to' } };

  test('a sync fails it and deletes nothing that it may be', async () => {
    for (const name of ['keep.csv', 'old.csv', 'sub/old.csv']) await other.disk.write(`/to/${name}`, 'good copy');
    const job = await run(gateway.api, order);
    const failed = await filesOf(gateway.api, job.id, 'failed');
    assert.deepEqual([job.state, failed.length], ['partly_failed', 1], JSON.stringify([job, failed]));
    assert.match(failed[0]?.error ?? '', /#@!keep\.csv/);
    const left = await other.disk.files('/to');
    assert.deepEqual(left, ['/to/a.txt', '/to/keep.csv', '/to/old.csv', '/to/sub/deep.txt', '/to/sub/old.csv']);
    held({
      area: 'Faults',
      what: 'FTP listing with a line that cannot be read',
      done: 'sync with `deleteExtra` from that folder',
      held: 'the line fails as a file of the job, nothing is deleted, the job ends `partly_failed`',
      tries: 1,
    });
  });

  test('nothing is lost in a destination that cannot be listed completely', async () => {
    for (const name of ['a.txt', 'keep.csv']) await other.disk.write(`/from/${name}`, 'four');
    const back = {
      ...sync,
      source: { connectionId: 'good', path: '/from' },
      destination: { connectionId: 'odd', path: '/in' },
    };
    lines = ['-rw-r--r-- 1 a a 4 Feb 03 2026 extra.txt', UNREADABLE];
    scripted.files.set('/in/extra.txt', Buffer.from('four'));
    const job = await run(gateway.api, back);
    lines = [...GOOD, UNREADABLE];
    assert.deepEqual([job.state, job.counts.deleted], ['partly_failed', 0], JSON.stringify(job));
    assert.ok(scripted.files.has('/in/extra.txt'));
    scripted.files.delete('/in/extra.txt');
  });

  test('a recursive delete does not claim that the folder is gone', async () => {
    scripted.folders.add('/gone');
    lines = [UNREADABLE, '-rw-r--r-- 1 a a 4 Feb 03 2026 a.txt'];
    scripted.files.set('/gone/a.txt', Buffer.from('four'));
    const answer = await gateway.api.post('/api/delete/odd', { path: '/gone', recursive: true });
    lines = [...GOOD, UNREADABLE];
    assert.equal(answer.status, 409, answer.text);
    assert.match(answer.text, /#@!keep\.csv/);
    const job = await gateway.api.post('/api/jobs', { type: 'delete', source: { connectionId: 'odd', path: '/in' } });
    const { id } = job.json['job'] as { readonly id: string };
    assert.equal((await ended(gateway.api, id)).state, 'partly_failed');
  });
});
