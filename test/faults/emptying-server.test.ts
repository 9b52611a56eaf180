/**
 * A server that empties every file that is opened for writing, and so loses the content that an append would extend.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { newest } from '../api/support.js';
import { RawClient } from '../http/support/raw-client.js';
import { startRclone, type RcloneServer } from '../servers/rclone.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { KEY, type ApiAnswer } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { startProxy, type Proxy } from '../support/proxy.js';
import { eventually } from '../support/eventually.js';

const MODES = ['off', 'writes'] as const;
const OLD = `${'old '.repeat(100_000)}\n`;

describe('a server that empties files opened for writing', () => {
  const servers = new Map<string, RcloneServer>();
  let gateway: TestAccount;
  let proxy: Proxy;

  before(async () => {
    for (const mode of MODES) servers.set(mode, await startRclone(mode));
    const { port, ...login } = servers.get('off') ?? assert.fail();
    proxy = await startProxy(port);
    gateway = await openAccount({
      connections: [...servers, ['proxied', { ...login, port: proxy.port }] as const].map(
        ([id, { port, username, password }]) => ({
          id,
          name: id,
          type: 'sftp',
          host: '127.0.0.1',
          port,
          username,
          password,
          defaultPath: '/',
        }),
      ),
    });
  });

  after(async () => {
    await gateway?.stop();
    await proxy?.stop();
    for (const server of servers.values()) await server.stop();
  });

  const folderOf = (mode: string): string => (servers.get(mode) ?? assert.fail()).folder;
  const read = async (mode: string, path: string): Promise<unknown> =>
    (await gateway.api.get(`/api/read/${mode}`, { query: { path } })).json['content'];
  const namesIn = async (mode: string): Promise<readonly string[]> => {
    const { json } = await gateway.api.get(`/api/list/${mode}`);
    return (json['files'] as readonly { readonly name: string }[]).map(({ name }) => name);
  };

  for (const mode of MODES) {
    test(`cache ${mode}: appends add, and leave nothing else`, async () => {
      writeFileSync(join(folderOf(mode), 'log'), OLD);
      const append = (content: string): Promise<ApiAnswer> =>
        gateway.api.post(`/api/append/${mode}`, { path: '/log', content });
      for (const content of ['second\n', 'third\n']) {
        const answer = await append(content);
        assert.equal(answer.status, 200, answer.text);
        assert.equal((answer.json['transfer'] as { appendedBytes: number }).appendedBytes, content.length);
      }
      assert.equal(await read(mode, '/log'), `${OLD}second\nthird\n`);
      assert.deepEqual(await namesIn(mode), ['log']);
      assert.equal((await gateway.api.post(`/api/append/${mode}`, { path: '/none', content: 'x' })).status, 404);
    });
  }

  const hidden = (): readonly string[] => readdirSync(folderOf('off')).filter((name) => name.startsWith('.ftg-'));

  test('a client that leaves in the middle of an append leaves the file unchanged', async () => {
    const file = join(folderOf('off'), 'left');
    writeFileSync(file, OLD);
    const client = await RawClient.open(gateway.port);
    // More than the gateway keeps in memory.
    const body = `{"path":"/left","encoding":"text","content":"${'new '.repeat(500_000)}`;
    client.send(
      `POST /api/append/off HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.keyOf(KEY)}\r\nContent-Type: application/json\r\n`,
      `Content-Length: ${body.length + 2}\r\n\r\n${body}`,
    );
    await eventually(() => hidden().length > 0, 'some of it is put aside');
    client.socket.resetAndDestroy();
    const hasFailed = async (): Promise<boolean> =>
      (await newest(gateway.api, 10)).some(({ filename, status }) => filename === 'left' && status === 'failed');
    await eventually(hasFailed, 'the append has failed');
    assert.equal(readFileSync(file, 'utf8'), OLD);
    await eventually(() => hidden().length === 0, 'nothing is left');
    held({
      area: 'Faults',
      what: 'the server empties every file that is opened for writing',
      done: 'appends to it, to their end and cut',
      held: 'found out on a file of its own; old and new bytes take the place of the old file together, or not at all',
      tries: 3,
    });
  });

  test('a file that is only dated again meanwhile, twice, is appended to', async () => {
    const file = join(folderOf('off'), 'dated');
    writeFileSync(file, OLD);
    const date = (minutes: number): void => {
      const later = new Date(Date.now() + minutes * 60_000);
      utimesSync(file, later, later);
    };
    proxy.after('up', OLD.length + 100_000, () => date(1));
    // While the content is compared.
    proxy.after('down', 1.5 * OLD.length, () => date(2));
    const content = 'new '.repeat(50_000);
    const answer = await gateway.api.post('/api/append/proxied', { path: '/dated', content });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(readFileSync(file, 'utf8'), OLD + content);
  });

  test('concurrent writes of others are kept', async () => {
    const file = join(folderOf('off'), 'shared');
    writeFileSync(file, OLD);
    // By then the old content has been read and written back, and some of the new.
    proxy.after('up', OLD.length + 100_000, () => writeFileSync(file, 'of others'));
    const answer = await gateway.api.post('/api/append/proxied', { path: '/shared', content: 'new '.repeat(50_000) });
    assert.equal(answer.status, 502, answer.text);
    assert.match(answer.text, /changed by others/);
    assert.equal(readFileSync(file, 'utf8'), 'of others');
    await eventually(() => hidden().length === 0, 'nothing is left');
  });
});
