/**
 * A server, or a connection, that changes one bit of the data. Without a second check the history records what was
 * sent; with `verify: readback` the upload fails and the former file is kept.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { S3_SERVERS } from '../servers/catalogue.js';
import { startVsftpd } from '../servers/ftp.js';
import { startFlippingSshd } from '../servers/flipping-sftp.js';
import { eventually } from '../support/eventually.js';
import { openAccount, type TestAccount } from '../support/account.js';
import type { ApiAnswer } from '../support/gateway.js';
import { startProxy } from '../support/proxy.js';
import { reprDigest, Tus } from '../uploads/support.js';

const MARK = 'the-bit-that-turns';
const MIB = 1024 * 1024;

interface Damaging {
  readonly connection: object;
  stop(): Promise<void>;
}

const servers: Readonly<Record<string, () => Promise<Damaging>>> = {
  'OpenSSH, whose program damages what it writes': async () => {
    const server = await startFlippingSshd(MARK);
    return {
      connection: {
        type: 'sftp',
        host: '127.0.0.1',
        port: server.port,
        username: server.username,
        privateKeyFile: server.clientKeyFile,
        rootPath: server.files,
        defaultPath: '/',
      },
      stop: () => server.stop(),
    };
  },
  'vsftpd, over a line that damages': async () => {
    const server = await startVsftpd();
    const proxy = await startProxy(server.port, { ftp: true, flips: { mark: MARK, direction: 'up' } });
    return {
      connection: {
        type: 'ftp',
        host: '127.0.0.1',
        port: proxy.port,
        username: server.username,
        password: server.password,
        defaultPath: '/',
      },
      stop: async () => {
        await proxy.stop();
        await server.stop();
      },
    };
  },
  // The store itself refuses data that were damaged on the way to it: every upload has its Content-MD5.
  'Swift, which gives back something else': async () => {
    const server = await S3_SERVERS[0]!.start();
    const proxy = await startProxy(Number(new URL(String(server.connection['endpoint'])).port), {
      flips: { mark: MARK, direction: 'down' },
    });
    return {
      connection: { ...server.connection, endpoint: `http://127.0.0.1:${proxy.port}` },
      stop: async () => {
        await proxy.stop();
        await server.stop();
      },
    };
  },
};

for (const [name, start] of Object.entries(servers)) {
  describe(name, () => {
    let server: Damaging;
    let gateway: TestAccount;
    before(async () => {
      server = await start();
      gateway = await openAccount({
        connections: [
          { id: 'plain', name: 'Plain', ...server.connection, digests: 'always' },
          { id: 'checked', name: 'Checked', ...server.connection, verify: 'readback' },
        ],
      });
    });
    after(async () => {
      await gateway?.stop();
      await server?.stop();
    });
    const upload = (connection: string, filename: string, body: Buffer): Promise<ApiAnswer> =>
      gateway.api.send(`/api/upload/${connection}`, {
        method: 'POST',
        query: { path: '/box', filename },
        headers: { 'Content-Type': 'application/octet-stream' },
        body,
      });
    const stored = async (filename: string): Promise<Buffer> => {
      const answer = await gateway.api.get('/api/download/plain', { query: { path: `/box/${filename}` } });
      assert.equal(answer.status, 200, answer.text);
      return answer.bytes;
    };

    test('a resumable upload', async () => {
      const damaged = Buffer.concat([randomBytes(6 * MIB), Buffer.from(MARK), randomBytes(3 * MIB)]);
      const sound = randomBytes(9 * MIB);
      const send = async (connection: string, body: Buffer, path: string): Promise<ApiAnswer> => {
        const tus = new Tus(gateway.api, connection);
        const url = await tus.begin({ path, filename: 'file' }, body.length);
        assert.equal((await tus.patch(url, 0, body.subarray(0, 5 * MIB))).status, 204);
        const last = await tus.patch(url, 5 * MIB, body.subarray(5 * MIB));
        assert.equal((await tus.head(url)).status, last.status === 204 ? 200 : 404);
        return last;
      };
      const taken = await send('plain', damaged, '/unseen');
      assert.equal(taken.headers['repr-digest'], reprDigest(damaged), taken.text);
      assert.equal((await send('checked', sound, '/pieces')).status, 204);
      const refused = await send('checked', damaged, '/pieces');
      assert.deepEqual([refused.status, refused.headers['x-error-code']], [502, 'readback_mismatch'], refused.text);
      assert.match(refused.text, new RegExp(createHash('sha256').update(damaged).digest('hex')));
      const { bytes } = await gateway.api.get('/api/download/plain', { query: { path: '/pieces/file' } });
      assert.ok(bytes.equals(sound));
      const { json } = await gateway.api.get('/api/list/plain', { query: { path: '/pieces' } });
      assert.deepEqual(
        (json['files'] as { name: string }[]).map(({ name }) => name),
        ['file'],
      );
    });

    for (const size of [1000, 2 * MIB]) {
      test(`${size} bytes`, async () => {
        const damaged = Buffer.concat([Buffer.from(MARK), randomBytes(size)]);
        const sound = randomBytes(size);
        const taken = await upload('plain', 'unseen', damaged);
        assert.equal(taken.status, 200, taken.text);
        const digest = createHash('sha256').update(damaged).digest('base64');
        assert.equal(taken.headers['repr-digest'], `sha-256=:${digest}:`);
        assert.notDeepEqual(await stored('unseen'), damaged);

        assert.equal((await upload('checked', 'file', sound)).status, 200);
        const refused = await upload('checked', 'file', damaged);
        assert.deepEqual([refused.status, refused.headers['x-error-code']], [502, 'readback_mismatch'], refused.text);
        assert.match(refused.text, new RegExp(createHash('sha256').update(damaged).digest('hex')));
        assert.deepEqual(await stored('file'), sound);
        const names = async (): Promise<string> => {
          const { json } = await gateway.api.get('/api/list/plain', { query: { path: '/box' } });
          return (json['files'] as { name: string }[]).map((file) => file.name).join();
        };
        await eventually(async () => (await names()) === 'file,unseen', 'nothing hidden is left');
      });
    }
  });
}
