/** Every way in which the gateway makes files and folders gives them the rights of the SFTP connection. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { run } from '../jobs/support.js';
import { SFTP_SERVER, startSshd, type TestSshd } from '../servers/sshd.js';
import { type Browser, KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { Tus } from '../uploads/support.js';

const EMAIL = 'test@example.com';
const PASSWORD = 'a password for the owner';
const CONTENT = Buffer.from('content');

describe('rights of an SFTP connection', () => {
  let server: TestSshd;
  let gateway: TestGateway;
  let owner: Browser;

  before(async () => {
    server = await startSshd([], `${SFTP_SERVER} -u 077`);
    const { port, username, clientKeyFile: privateKeyFile, files: rootPath } = server;
    const common = { type: 'sftp', host: '127.0.0.1', port, username, privateKeyFile, rootPath, defaultPath: '/' };
    gateway = await startGateway({
      config: {
        accounts: [
          {
            email: EMAIL,
            plan: 'pro',
            password: PASSWORD,
            apiKeys: [{ name: 'test', key: KEY }],
            connections: [
              { id: 'c1', name: 'Shared', ...common, fileMode: '0644', folderMode: '755' },
              { id: 'plain', name: 'Plain', ...common },
            ],
          },
        ],
      },
    });
    owner = await gateway.login(EMAIL, PASSWORD);
    mkdirSync(join(rootPath, 'source/sub'), { recursive: true });
    writeFileSync(join(rootPath, 'source/sub/a.txt'), CONTENT);
    chmodSync(join(rootPath, 'source/sub/a.txt'), 0o600);
  });
  after(async () => {
    await gateway?.stop();
    await server?.stop();
  });

  const modeAt = (file: string): string => (statSync(join(server.files, file)).mode & 0o7777).toString(8);
  const ok = ({ status, text }: { readonly status: number; readonly text: string }): void =>
    assert.ok(status >= 200 && status < 300, text);
  const made = (folder: string, file: string): void => {
    assert.equal(modeAt(join(folder, file)), '644', file);
    assert.equal(modeAt(folder), '755', folder);
  };

  test('upload', async () => {
    const headers = { 'Content-Type': 'application/octet-stream' };
    ok(await gateway.api.send('/api/upload/c1?path=/up&filename=a.txt', { method: 'POST', headers, body: CONTENT }));
    made('up', 'a.txt');
  });

  test('write, and append to it', async () => {
    ok(await gateway.api.post('/api/write/c1', { path: '/written/a.txt', content: 'one' }));
    made('written', 'a.txt');
    chmodSync(join(server.files, 'written/a.txt'), 0o640);
    ok(await gateway.api.post('/api/append/c1', { path: '/written/a.txt', content: 'two' }));
    assert.equal(modeAt('written/a.txt'), '640');
  });

  test('mkdir', async () => {
    ok(await gateway.api.post('/api/mkdir/c1', { path: '/one/two' }));
    assert.deepEqual([modeAt('one'), modeAt('one/two')], ['755', '755']);
  });

  test('copy', async () => {
    const body = { source_connection_id: 'plain', source_path: '/source/sub/a.txt' };
    ok(await gateway.api.post('/api/copy', { ...body, dest_connection_id: 'c1', dest_path: '/copied/a.txt' }));
    made('copied', 'a.txt');
  });

  test('a job', async () => {
    const source = { connectionId: 'plain', path: '/source' };
    const { state } = await run(gateway.api, {
      type: 'copy',
      source,
      destination: { connectionId: 'c1', path: '/job' },
    });
    assert.equal(state, 'succeeded');
    made('job/sub', 'a.txt');
    assert.equal(modeAt('job'), '755');
  });

  test('a resumable upload', async () => {
    const tus = new Tus(gateway.api);
    const url = await tus.begin({ filename: 'a.txt', path: '/tus' }, CONTENT.length);
    ok(await tus.patch(url, 0, CONTENT));
    made('tus', 'a.txt');
  });

  test('a move makes the folders, and leaves the rights of the file', async () => {
    writeFileSync(join(server.files, 'moved.txt'), CONTENT);
    chmodSync(join(server.files, 'moved.txt'), 0o604);
    ok(await gateway.api.post('/api/move/c1', { from: '/moved.txt', to: '/moved/to/a.txt' }));
    assert.deepEqual([modeAt('moved/to/a.txt'), modeAt('moved/to'), modeAt('moved')], ['604', '755', '755']);
  });

  test('they are checked where they are entered', async () => {
    const { port, username } = server;
    const login = { type: 'sftp', host: '127.0.0.1', port, username, password: 'p' };
    ok(await owner.post('/manage/connections', { id: 'mine', name: 'Mine', ...login }));
    const edit = (change: object) => owner.patch('/manage/connections/mine', change);
    for (const mode of ['999', 'rw', '64', '06400', '', '0o640', '-640', ' 640', 640, true]) {
      for (const name of ['fileMode', 'folderMode']) {
        const { status, text } = await edit({ [name]: mode });
        assert.equal(status, 400, `${name} ${String(mode)}: ${text}`);
        assert.ok(text.includes(name), text);
      }
    }
    // The gateway could not write, or not enter, what it has made.
    for (const fileMode of ['0440', '0200', '0044']) assert.equal((await edit({ fileMode })).status, 400, fileMode);
    for (const folderMode of ['0640', '0555', '2070'])
      assert.equal((await edit({ folderMode })).status, 400, folderMode);
    const kept = await edit({ fileMode: '600', folderMode: '2770' });
    assert.equal(kept.status, 200, kept.text);
    assert.match(kept.text, /"fileMode":"600","folderMode":"2770"/);
    assert.equal((await edit({ fileMode: null, folderMode: null })).status, 200);
  });
});
