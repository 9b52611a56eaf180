/**
 * Archives of folders that change, break off or contain odd names: incomplete archives never look complete, and nothing
 * is unpacked elsewhere.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { readByPython } from '../../conformance/tree-rules.js';
import { startSshd, type TestSshd } from '../../servers/sshd.js';
import { eventually } from '../../support/eventually.js';
import { openAccount, type TestAccount } from '../../support/account.js';
import { startProxy, type Proxy } from '../../support/proxy.js';

const run = promisify(execFile);
const MIB = 1024 * 1024;

describe('archives of an OpenSSH server', () => {
  let sshd: TestSshd;
  let proxy: Proxy;
  let gateway: TestAccount;
  let folder: string;
  let count = 0;

  before(async () => {
    sshd = await startSshd();
    proxy = await startProxy(sshd.port);
    gateway = await openAccount({
      connections: [
        {
          id: 'c1',
          name: 'Server',
          type: 'sftp',
          host: '127.0.0.1',
          port: proxy.port,
          username: sshd.username,
          privateKeyFile: sshd.clientKeyFile,
          defaultPath: sshd.files,
          pool: { maxSessions: 1 },
        },
      ],
    });
  });
  after(async () => {
    await gateway?.stop();
    await proxy?.stop();
    await sshd?.stop();
  });

  const newFolder = (): string => {
    folder = path.join(sshd.files, `tree-${++count}`);
    mkdirSync(folder);
    return folder;
  };
  const query = (): Record<string, string> => ({ path: folder, format: 'zip' });
  const newest = async (): Promise<Record<string, unknown>> => {
    const { json } = await gateway.api.get('/api/transfers', { query: { type: 'download', limit: '1' } });
    return (json['transfers'] as Record<string, unknown>[])[0] ?? {};
  };

  /** The history has the failure of a download after that one. */
  const hasFailed = (before: Record<string, unknown>): Promise<void> =>
    eventually(async () => {
      const { id, status } = await newest();
      return id !== before['id'] && status === 'failed';
    }, 'the history shows the archive as failed');

  /** Reads a head, lets `damage` happen while the client waits, and takes the rest. */
  async function takeBroken(damage: () => void): Promise<void> {
    const before = await newest();
    const answer: IncomingMessage = await gateway.api.open('/api/download/c1', { query: query() });
    assert.equal(answer.statusCode, 200);
    await once(answer, 'readable');
    damage();
    await assert.rejects(answer.toArray(), /aborted/);
    assert.equal(answer.complete, false);
    await hasFailed(before);
    assert.equal((await gateway.api.get('/api/exists/c1', { query: { path: folder } })).status, 200);
  }

  /** More than all buffers between the server and a client that does not read. */
  function plantLarge(): void {
    newFolder();
    writeFileSync(path.join(folder, 'a'), Buffer.alloc(48 * MIB, 'a'));
    writeFileSync(path.join(folder, 'b'), Buffer.alloc(MIB, 'b'));
  }

  test('a server that is cut half way breaks the connection', async () => {
    plantLarge();
    await takeBroken(() => proxy.fail('reset'));
    assert.match(String((await newest())['errorMessage']), /lost|closed|reset/i);
  });

  test('so does a file that shrinks while it is read, and one that disappears before it is', async () => {
    plantLarge();
    await takeBroken(() => truncateSync(path.join(folder, 'a'), 1_000));
    plantLarge();
    await takeBroken(() => rmSync(path.join(folder, 'b')));
    assert.match(String((await newest())['errorMessage']), /tree-\d+\/b/);
  });

  test('unfinished uploads are not in it, and their end is no failure', async () => {
    plantLarge();
    const hidden = ['.ftg-0123abcd-0123456789ab.c', '.ftg-up-0123456789ab.c'].map((name) =>
      path.join(folder, 'c', name),
    );
    mkdirSync(path.join(folder, 'c'));
    for (const file of hidden) writeFileSync(file, 'part');
    const answer = await gateway.api.open('/api/download/c1', { query: query() });
    await once(answer, 'readable');
    for (const file of hidden) rmSync(file);
    writeFileSync(`${folder}.zip`, await buffer(answer));
    const top = path.basename(folder);
    const names = (await readByPython(`${folder}.zip`)).map(([name]) => name);
    assert.deepEqual(names.toSorted(), ['', 'a', 'b', 'c/'].map((name) => `${top}/${name}`).sort());
  });

  test('a client that leaves releases the session', async () => {
    plantLarge();
    const before = await newest();
    const answer = await gateway.api.open('/api/download/c1', { query: query() });
    await once(answer, 'readable');
    answer.destroy();
    await hasFailed(before);
    assert.match(String((await newest())['errorMessage']), /client left/);
    assert.equal((await gateway.api.get('/api/exists/c1', { query: { path: folder } })).status, 200);
  });

  test('names unpack inside the folder: backslashes, other encodings, what looks like an escape', async () => {
    newFolder();
    const names = ['..\\..\\up', 'C:\\x', 'a%5Cb', 'a\\b', '%255C', '%41', '-x', ' '].map((name) => Buffer.from(name));
    names.push(Buffer.from([0x61, 0xff]), Buffer.from([0x61, 0xfe]), Buffer.from('a%FF'));
    for (const name of names) writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), name]), name);
    const raw = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xe4])]);
    mkdirSync(raw);
    writeFileSync(Buffer.concat([raw, Buffer.from('/inside')]), 'inside');
    const answer = await gateway.api.get('/api/download/c1', { query: query() });
    assert.equal(answer.status, 200, answer.text);
    const unpacked = path.join(sshd.files, `unpacked-${count}`);
    mkdirSync(unpacked);
    writeFileSync(`${unpacked}.zip`, answer.bytes);
    const top = path.basename(folder);
    const expected = [
      ...['..%5C..%5Cup', 'C:%5Cx', 'a%255Cb', 'a%5Cb', '%25255C', '%41', '-x', ' ', 'a%FF', 'a%FE', 'a%25FF'],
      ...['', '%E4/', '%E4/inside'],
    ];
    const read = (await readByPython(`${unpacked}.zip`)).map(([name]) => name);
    assert.deepEqual(read.toSorted(), expected.map((name) => `${top}/${name}`).sort());
    await run('unzip', ['-q', `${unpacked}.zip`, '-d', unpacked]);
    assert.deepEqual(readdirSync(unpacked), [top]);
  });

  test('links: to a file it is that file, to a folder an empty one, to nothing a line in the list of missing entries', async () => {
    newFolder();
    writeFileSync(path.join(folder, 'file'), 'four');
    symlinkSync('file', path.join(folder, 'to-file'));
    symlinkSync('..', path.join(folder, 'to-folder'));
    symlinkSync('nowhere', path.join(folder, 'to-nothing'));
    const answer = await gateway.api.get('/api/download/c1', { query: query() });
    assert.equal(answer.status, 200, answer.text);
    writeFileSync(`${folder}.zip`, answer.bytes);
    const top = path.basename(folder);
    assert.deepEqual(
      (await readByPython(`${folder}.zip`)).slice(0, -1).map(([name, size]) => [name, size]),
      [
        [`${top}/`, 0],
        [`${top}/file`, 4],
        [`${top}/to-file`, 4],
        [`${top}/to-folder/`, 0],
      ],
    );
    const { stdout } = await run('unzip', ['-p', `${folder}.zip`, '_missing.txt']);
    assert.ok(stdout.endsWith(`\n"${top}/to-nothing": a link that leads nowhere\n`), stdout);
  });
});
