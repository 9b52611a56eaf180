/** A connection with an encoding, over HTTP: names are text in every request, and jobs name what cannot be copied. */
import assert from 'node:assert/strict';
import { chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { startVsftpd, type FtpServer } from '../servers/ftp.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { openAccount, type TestAccount } from '../support/account.js';
import type { ApiAnswer } from '../support/gateway.js';
import { startTogether } from '../support/together.js';
import { filesOf, run } from './support.js';

const NAME = 'Отчёт';
const BYTES = Buffer.from('cef2f7b8f2', 'hex').toString('latin1');

suite('a connection with an encoding', () => {
  let sshd: TestSshd;
  let ftp: FtpServer;
  let gateway: TestAccount;

  before(async () => {
    [sshd, ftp] = await startTogether([startSshd(), startVsftpd()]);
    const local = { host: '127.0.0.1', defaultPath: '/' };
    const { port, username, password } = ftp;
    const legacy = { ...local, type: 'ftp', port, username, password, tls: 'none' };
    const privateKey = readFileSync(sshd.clientKeyFile, 'utf8');
    const shell = { port: sshd.port, username: sshd.username, rootPath: sshd.files, privateKey };
    gateway = await openAccount({
      connections: [
        { ...legacy, id: 'cyrillic', name: 'Cyrillic', encoding: 'windows-1251' },
        { ...legacy, id: 'utf-8', name: 'UTF-8' },
        { ...legacy, id: 'japanese', name: 'Japanese', encoding: 'Shift_JIS' },
        { ...local, ...shell, id: 'sftp', name: 'SFTP', type: 'sftp' },
      ],
    });
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all([sshd?.stop(), ftp?.stop()]);
  });

  const onDisk = (path: string): Buffer => Buffer.from(`${ftp.folder}/${path}`, 'latin1');
  const namesIn = (path: string): string[] => readdirSync(onDisk(path), { encoding: 'latin1' }).sort();

  function lay(path: string, content: string): void {
    const { uid, gid } = statSync(ftp.folder);
    const folder = path.slice(0, path.lastIndexOf('/'));
    mkdirSync(onDisk(folder), { recursive: true });
    writeFileSync(onDisk(path), content);
    for (const one of [folder, path]) chownSync(onDisk(one), uid, gid);
  }

  const upload = (query: Record<string, string>): Promise<ApiAnswer> =>
    gateway.api.send('/api/upload/cyrillic', {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      query,
      body: Buffer.from('text'),
    });

  test('upload, list, download, move, archive and delete', async () => {
    const { api } = gateway;
    const path = `/in/${NAME}.txt`;
    const query = { path: '/in', filename: `${NAME}.txt` };
    const up = await upload(query);
    assert.equal(up.status, 200, up.text);
    assert.deepEqual(namesIn('in'), [`${BYTES}.txt`]);
    const list = await api.get('/api/list/cyrillic', { query: { path: '/in' } });
    const [file] = list.json['files'] as { name: string; path: string; rawName?: string }[];
    assert.deepEqual([file?.name, file?.path, file?.rawName], [`${NAME}.txt`, path, undefined]);
    assert.equal((await api.get('/api/download/cyrillic', { query: { path } })).text, 'text');
    const archive = await api.get('/api/download/cyrillic', { query: { path: '/in', format: 'zip' } });
    assert.ok(archive.bytes.includes(`${NAME}.txt`), 'its names are UTF-8');
    const move = await api.post('/api/move/cyrillic', { from: path, to: `/in/${NAME}/ё.txt` });
    assert.equal(move.status, 200, move.text);
    assert.deepEqual(namesIn(`in/${BYTES}`), ['\xb8.txt']);
    const gone = await api.post('/api/delete/cyrillic', { path: `/in/${NAME}`, recursive: true });
    assert.equal(gone.status, 200, gone.text);
    assert.deepEqual(namesIn('in'), []);
  });

  test('a path that the encoding cannot express is 400, and names the character', async () => {
    const query = { path: '/日本.txt' };
    const answers = [
      await gateway.api.get('/api/exists/cyrillic', { query }),
      await upload({ filename: '日本.txt' }),
      await gateway.api.post('/api/jobs', { type: 'delete', source: { connectionId: 'cyrillic', path: '/日本' } }),
    ];
    for (const answer of answers) {
      assert.deepEqual([answer.status, answer.headers['x-error-code']], [400, 'bad_path'], answer.text);
      assert.match(answer.text, /日.*U\+65E5.*windows-1251/);
    }
    assert.ok(!namesIn('').some((name) => name.includes('?')));
  });

  test('jobs copy names as text, and a second sync finds nothing to do', async () => {
    lay(`jobs/${BYTES}/${BYTES}.txt`, 'one');
    const source = { connectionId: 'cyrillic', path: '/jobs' };
    const destination = { connectionId: 'sftp', path: '/copied' };
    const sync = { type: 'sync', source, destination, deleteExtra: true };
    const first = await run(gateway.api, sync);
    assert.deepEqual([first.state, first.counts.done], ['succeeded', 1], JSON.stringify(first));
    assert.equal(readFileSync(`${sshd.files}/copied/${NAME}/${NAME}.txt`, 'utf8'), 'one');
    const again = await run(gateway.api, sync);
    assert.deepEqual(
      [again.state, again.counts.done, again.counts.deleted],
      ['succeeded', 0, 0],
      JSON.stringify(again),
    );
    writeFileSync(`${sshd.files}/copied/日本.txt`, 'x');
    mkdirSync(`${sshd.files}/copied/日本`);
    const order = { type: 'copy', source: destination, destination: { ...source, path: '/back' } };
    const back = await run(gateway.api, order);
    assert.equal(back.state, 'partly_failed', JSON.stringify(back));
    assert.deepEqual(namesIn(`back/${BYTES}`), [`${BYTES}.txt`]);
    const failed = await filesOf(gateway.api, back.id, 'failed');
    assert.deepEqual(failed.map(({ path }) => path).sort(), ['日本', '日本.txt']);
    for (const { error } of failed) assert.match(error ?? '', /holds "日" \(U\+65E5\), which windows-1251/);
  });

  test('a name that is no text keeps its bytes within the encoding, and is refused for another one', async () => {
    // It is UTF-8, and no text in Shift_JIS.
    const inUtf8 = Buffer.from('あ.txt').toString('latin1');
    lay(`raw/${inUtf8}`, 'in UTF-8');
    lay(`raw/${Buffer.from('82a02e747874', 'hex').toString('latin1')}`, 'in Shift_JIS');
    const source = { connectionId: 'japanese', path: '/raw' };
    const move = { type: 'move', source, destination: { ...source, path: '/moved' } };
    const moved = await run(gateway.api, move);
    assert.deepEqual([moved.state, moved.counts.done], ['succeeded', 2], JSON.stringify(moved));
    assert.equal(readFileSync(onDisk(`moved/${inUtf8}`), 'utf8'), 'in UTF-8');
    const list = await gateway.api.get('/api/list/japanese', { query: { path: '/moved' } });
    const files = list.json['files'] as { path: string; rawName?: string }[];
    for (const { path, rawName } of files) {
      const query = rawName === undefined ? { path } : { path, rawName };
      const content = rawName === undefined ? 'in Shift_JIS' : 'in UTF-8';
      assert.equal((await gateway.api.get('/api/download/japanese', { query })).text, content);
    }
    const order = { type: 'copy', source: move.destination, destination: { connectionId: 'sftp', path: '/from-jis' } };
    const copied = await run(gateway.api, order);
    assert.equal(copied.state, 'partly_failed', JSON.stringify(copied));
    assert.deepEqual(readdirSync(`${sshd.files}/from-jis`), ['あ.txt']);
    const [failed] = await filesOf(gateway.api, copied.id, 'failed');
    assert.match(failed?.error ?? '', /is no text in shift_jis, so it has no name in utf-8/);
  });

  test('a sync deletes what the destination alone has, also if the source could not have it', async () => {
    lay('mirrored/a.txt', 'a');
    mkdirSync(`${sshd.files}/mirror/日本`, { recursive: true });
    writeFileSync(`${sshd.files}/mirror/日本/日本.txt`, 'x');
    writeFileSync(`${sshd.files}/mirror/日本.txt`, 'x');
    const source = { connectionId: 'cyrillic', path: '/mirrored' };
    const destination = { connectionId: 'sftp', path: '/mirror' };
    const sync = await run(gateway.api, { type: 'sync', source, destination, deleteExtra: true });
    assert.deepEqual([sync.state, sync.counts.deleted], ['succeeded', 2], JSON.stringify(sync));
    assert.deepEqual(readdirSync(`${sshd.files}/mirror`), ['a.txt']);
  });

  test('a name is as long as its bytes in the encoding of the destination', async () => {
    const name = `${BYTES.slice(0, 1).repeat(200)}.txt`;
    lay(`long/${name}`, 'long');
    const source = { connectionId: 'cyrillic', path: '/long' };
    const copy = await run(gateway.api, { type: 'copy', source, destination: { ...source, path: '/long-copy' } });
    assert.equal(copy.state, 'succeeded', JSON.stringify(copy));
    assert.deepEqual(namesIn('long-copy'), [name]);
    const other = await run(gateway.api, {
      type: 'copy',
      source,
      destination: { connectionId: 'sftp', path: '/long' },
    });
    const [failed] = await filesOf(gateway.api, other.id, 'failed');
    assert.match(failed?.error ?? '', /longer than 255 bytes/);
  });

  test('one file under two names is not copied onto itself, and not deleted after it', async () => {
    // The bytes of the UTF-8 name are two letters of windows-1251.
    const inUtf8 = Buffer.from('б.txt').toString('latin1');
    lay(`two/${inUtf8}`, 'the only one');
    const source = { connectionId: 'cyrillic', path: '/two/Р±.txt' };
    const destination = { connectionId: 'utf-8', path: '/two/б.txt' };
    const move = await run(gateway.api, { type: 'move', source, destination, onConflict: 'replace' });
    assert.deepEqual([move.state, readFileSync(onDisk(`two/${inUtf8}`), 'utf8')], ['failed', 'the only one']);
    assert.match(move.error ?? '', /would be copied onto itself/);
  });

  test('a rawName that is text in the encoding means the file with that text', async () => {
    lay(`known/${BYTES}.txt`, 'text');
    const rawName = Buffer.from(`${BYTES}.txt`, 'latin1').toString('base64');
    const query = { path: `/known/${'\ufffd'.repeat(BYTES.length)}.txt`, rawName };
    const found = await gateway.api.get('/api/exists/cyrillic', { query });
    assert.equal(found.status, 200, found.text);
    assert.match(found.text, new RegExp(`"/known/${NAME}.txt"`));
    assert.doesNotMatch(found.text, /rawName/);
  });
});
