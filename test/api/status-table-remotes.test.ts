/** The rows of the status table that remote servers cause: 502 and 504, through servers that fail on command. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, mkdirSync, statSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { FTP_SERVERS, SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startProxy, type Proxy } from '../support/proxy.js';
import { freePort } from '../support/ports.js';
import { startScripted, type ScriptedFtp } from '../servers/scripted-ftp.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { startGateway, type ApiAnswer, type TestGateway } from '../support/gateway.js';
import { newest, refused, uploadRaw, type Refusal, type World } from './support.js';
import { eventually } from '../support/eventually.js';
import { startTogether } from '../support/together.js';

const MIB = 1024 * 1024;
const STALL_MS = 2_500;
const AFTER_STALL = new RegExp(`${STALL_MS} ms`);
const STALLS = { stallTimeoutMs: STALL_MS };
const OTHER_HOST_KEY = `SHA256:${'A'.repeat(43)}`;

/** A long stall timeout for all servers, except those that are to count as silent. */
function withPatience(connections: readonly { readonly [key: string]: unknown; readonly pool?: object }[]): object[] {
  return connections.map(({ pool, ...others }) => ({ ...others, pool: { stallTimeoutMs: 120_000, ...pool } }));
}

describe('a failure of the remote server is reported in its words, and leaves nothing', () => {
  let postgres: PostgresServer;
  let ssh: TestServer;
  let ftp: TestServer;
  let tls: TestServer;
  let scripted: ScriptedFtp;
  let proxy: Proxy;
  let gateway: TestGateway;
  let world: World;
  let garbage: net.Server;
  let silent: net.Server;
  let origin: http.Server;
  let originUrl: string;
  const full: string[] = [];
  const silentSockets = new Set<net.Socket>();
  /** The effect of the scripted FTP server on a transfer. */
  let onTransfer: 'usual' | 'cut' | 'stall' = 'usual';

  before(async () => {
    [postgres, ssh, ftp, tls, scripted] = await startTogether([
      startPostgres(),
      (SFTP_SERVERS[0] ?? assert.fail()).start(),
      (FTP_SERVERS[0] ?? assert.fail()).start(),
      (FTP_SERVERS[1] ?? assert.fail()).start(),
      startScripted({
        STOR: async (_path, visitor) => {
          if (onTransfer === 'usual') return visitor.usual();
          visitor.say('150 go');
          const data = await visitor.data();
          await once(data, 'data');
          if (onTransfer === 'cut') for (const socket of [data, visitor.socket]) socket.resetAndDestroy();
          else data.pause();
        },
        RETR: async (_path, visitor) => {
          if (onTransfer === 'usual') return visitor.usual();
          visitor.say('150 go');
          const data = await visitor.data();
          data.write(Buffer.alloc(600_000));
          if (onTransfer === 'cut') {
            data.end();
            await once(data, 'close');
            visitor.socket.destroy();
          }
        },
      }),
    ]);
    proxy = await startProxy(Number(ssh.connection['port']));
    garbage = net.createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\nthis is no file server\r\n');
    });
    silent = net.createServer((socket) => {
      silentSockets.add(socket);
      socket.on('error', () => undefined);
    });
    origin = http.createServer((request, response) => {
      if (request.url === '/cut')
        response.writeHead(200, { 'Content-Length': '100' }).write('half', () => response.destroy());
      else if (request.url === '/silent') response.writeHead(200, { 'Content-Length': '100' }).write('half');
      else response.writeHead(Number(/\d+/.exec(request.url ?? '')?.[0]), 'As asked').end('no');
    });
    for (const server of [garbage, silent, origin]) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    }
    const portOf = (server: net.Server | http.Server): number => (server.address() as net.AddressInfo).port;
    originUrl = `http://127.0.0.1:${portOf(origin)}`;
    const { tlsCaFile: _ca, ...distrusted } = tls.connection;
    const sftp = { type: 'sftp', host: '127.0.0.1', username: 'u', password: 'p' };
    const scriptedLogin = {
      type: 'ftp',
      host: '127.0.0.1',
      port: scripted.port,
      username: 'tester',
      password: 'pass word',
    };
    gateway = await startGateway({
      connections: withPatience([
        { id: 'ssh', name: 'SSH', ...ssh.connection },
        { id: 'ftp', name: 'FTP', ...ftp.connection },
        { id: 'proxied', name: 'Through the proxy', ...ssh.connection, port: proxy.port },
        { id: 'stalling', name: 'Through the proxy, impatient', ...ssh.connection, pool: STALLS, port: proxy.port },
        { id: 'scripted', name: 'Scripted', ...scriptedLogin },
        { id: 'stalling-ftp', name: 'Scripted, impatient', ...scriptedLogin, pool: STALLS },
        { id: 'nameless', name: 'No such name', ...sftp, host: 'no-such-host.invalid' },
        { id: 'refusing', name: 'Closed port', ...sftp, port: await freePort() },
        { id: 'ssh-login', name: 'Wrong password', ...ssh.connection, password: 'wrong' },
        { id: 'ftp-login', name: 'Wrong user', ...ftp.connection, username: 'nobody-here' },
        { id: 'host-key', name: 'Another host key', ...ssh.connection, hostKey: OTHER_HOST_KEY },
        { id: 'distrusted', name: 'Unknown authority', ...distrusted },
        { id: 'ssh-garbage', name: 'No SSH', ...sftp, port: portOf(garbage) },
        { id: 'ftp-garbage', name: 'No FTP', ...scriptedLogin, port: portOf(garbage) },
        { id: 'ssh-silent', name: 'Silent', ...sftp, pool: { connectTimeoutMs: 900 }, port: portOf(silent) },
        {
          id: 'ftp-silent',
          name: 'Silent FTP',
          ...scriptedLogin,
          pool: { connectTimeoutMs: 900 },
          port: portOf(silent),
        },
        {
          id: 's3-refusing',
          name: 'Closed store',
          type: 's3',
          endpoint: `http://127.0.0.1:${await freePort()}`,
          bucket: 'b',
          accessKeyId: 'a',
          secretAccessKey: 's',
        },
      ]),
      config: {
        database: { url: postgres.url },
        // The stall timeout for url uploads.
        pools: { default: { stallTimeoutMs: STALL_MS } },
        network: { urlFetch: { allow: ['127.0.0.1/32'] } },
      },
    });
    world = { api: gateway.api, databaseUrl: postgres.url, disks: [ssh.disk, ftp.disk] };
    await ssh.disk.write('/large', randomBytes(8 * MIB));
    scripted.files.set('/large', randomBytes(MIB));
    for (const server of [ssh, ftp]) {
      const folder = path.join((server.disk as unknown as { root: string }).root, 'full');
      mkdirSync(folder);
      const { uid, gid } = statSync(path.dirname(folder));
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=2m,uid=${uid},gid=${gid}`, 'tmpfs', folder]);
      chownSync(folder, uid, gid);
      full.push(folder);
    }
  });

  after(async () => {
    await gateway?.stop();
    for (const folder of full) execFileSync('umount', [folder]);
    for (const socket of silentSockets) socket.destroy();
    origin?.closeAllConnections();
    for (const server of [garbage, silent, origin]) server?.close();
    await proxy?.stop();
    await Promise.all([ssh, ftp, tls, scripted, postgres].map((server) => server?.stop()));
  });

  const list = (id: string): Promise<ApiAnswer> => gateway.api.get(`/api/list/${id}`);
  const upload = (id: string, content: Buffer, folder = '/'): Promise<ApiAnswer> =>
    uploadRaw(gateway.api, id, { path: folder, filename: 'new.bin' }, content);
  const fails = (send: () => Promise<ApiAnswer>, expected: Omit<Refusal, 'history'>): Promise<ApiAnswer> =>
    refused(world, send, { history: 'failed', ...expected });

  describe('502', () => {
    for (const [id, code, text] of [
      ['nameless', 'dns_failed', /no-such-host\.invalid cannot be resolved/],
      ['refusing', 'unreachable', /127\.0\.0\.1:\d+ cannot be reached.*refused/],
      ['s3-refusing', 'unreachable', /127\.0\.0\.1:\d+ cannot be reached.*refused/],
      ['ssh-login', 'login_refused', /password/],
      ['ftp-login', 'login_refused', /remote said: 530/],
      ['host-key', 'host_key_mismatch', /shows host key SHA256:\S+, but SHA256:A+ is pinned \(hostKey\)/],
      ['distrusted', 'certificate_rejected', /TLS was refused: .*certificate/],
      ['ssh-garbage', 'protocol_error', /SSH/],
      ['ftp-garbage', 'connection_lost', /connection to 127\.0\.0\.1:\d+ was lost/],
    ] as const) {
      test(`${id}: ${code}`, async () => {
        await fails(() => list(id), { code, text });
        await fails(() => upload(id, Buffer.from('x')), { code, text });
      });
    }

    test('the remote resets the connection in the middle of an upload', async () => {
      proxy.after('up', 2 * MIB, (self) => self.fail('reset'));
      await fails(() => upload('proxied', randomBytes(8 * MIB)), {
        code: 'connection_lost',
        text: /connection/,
        cleansUpLater: true,
      });
      assert.equal((await upload('proxied', Buffer.from('good'))).status, 200);
    });

    test('the remote closes the connection in the middle of an upload', async () => {
      proxy.after('up', 2 * MIB, (self) => self.fail('end'));
      await fails(() => upload('proxied', randomBytes(8 * MIB)), {
        code: 'connection_lost',
        text: /connection/,
        cleansUpLater: true,
      });
    });

    test('the remote cuts a download: the client sees a short body, the history why', async () => {
      // Only once the client has its head: a busy gateway may meet the fault before it has sent one.
      const held = new Promise<void>((resolve) => {
        proxy.after('down', MIB / 2, (self) => {
          void self.hold(1);
          resolve();
        });
      });
      const cut = async (): Promise<void> => {
        await held;
        proxy.fail('reset');
        proxy.release();
      };
      assert.match(await shortDownload('proxied', cut), /connection/);
    });

    test('the remote cuts a read before an answer was sent', async () => {
      proxy.after('down', 2 * MIB, (self) => self.fail('reset'));
      await fails(() => gateway.api.get('/api/read/proxied', { query: { path: '/large' } }), {
        code: 'connection_lost',
        text: /connection/,
      });
    });

    test('an FTP server cuts an upload, and ends a download early as if it were complete', async () => {
      onTransfer = 'cut';
      await fails(() => upload('scripted', randomBytes(4 * MIB)), { code: 'connection_lost', text: /connection/ });
      await shortDownload('scripted');
      onTransfer = 'usual';
      assert.equal((await upload('scripted', Buffer.from('good'))).status, 200);
    });

    for (const status of [301, 403, 404, 500]) {
      test(`the URL of a url upload answers ${status}`, async () => {
        const send = (): Promise<ApiAnswer> =>
          gateway.api.post('/api/upload/ssh', { url: `${originUrl}/${status}?token=hidden`, filename: 'f' });
        const answer = await fails(send, {
          code: 'fetch_failed',
          text: new RegExp(`^url http://127.*/${status}: .*${status}`),
        });
        assert.doesNotMatch(answer.text, /hidden/);
      });
    }

    test('the URL of a url upload cuts its answer', async () => {
      const send = (): Promise<ApiAnswer> =>
        gateway.api.post('/api/upload/ssh', { url: `${originUrl}/cut`, filename: 'f' });
      await fails(send, { code: 'fetch_failed', text: /^url .*\/cut: / });
    });

    for (const [id, text] of [
      ['ssh', /remote said: 4 Failure/],
      ['ftp', /remote said: 451 Failure writing to local file/],
    ] as const) {
      test(`the remote's disk is full: ${id}`, async () => {
        for (let round = 0; round < 2; round++) {
          await fails(() => upload(id, randomBytes(4 * MIB), '/full'), {
            code: 'remote_failure',
            text,
          });
        }
        // The space is free again: the failed uploads have left nothing.
        assert.equal((await upload(id, randomBytes(1.5 * MIB), '/full')).status, 200);
      });
    }
  });

  describe('504', () => {
    for (const id of ['ssh-silent', 'ftp-silent']) {
      test(`a server that accepts the connection and is silent: ${id}`, async () => {
        await fails(() => list(id), { code: 'connect_timeout', text: /within 900 ms/ });
      });
    }

    test('a server that goes silent in the middle of an upload', async () => {
      proxy.after('up', 2 * MIB, (self) => (self.isSilent = true));
      const send = async (): Promise<ApiAnswer> => {
        const answer = await upload('stalling', randomBytes(8 * MIB));
        proxy.isSilent = false;
        return answer;
      };
      await fails(send, { code: 'stall_timeout', text: AFTER_STALL, cleansUpLater: true });
      assert.equal((await upload('stalling', Buffer.from('good'))).status, 200);
    });

    test('a server that goes silent in the middle of a read', async () => {
      proxy.after('down', 2 * MIB, (self) => (self.isSilent = true));
      await fails(() => gateway.api.get('/api/read/stalling', { query: { path: '/large' } }), {
        code: 'stall_timeout',
        text: AFTER_STALL,
      });
      proxy.isSilent = false;
      assert.equal((await list('stalling')).status, 200);
    });

    test('an FTP server that goes silent in the middle of a transfer', async () => {
      onTransfer = 'stall';
      await fails(() => upload('stalling-ftp', randomBytes(16 * MIB)), { code: 'stall_timeout', text: AFTER_STALL });
      await fails(() => gateway.api.get('/api/read/stalling-ftp', { query: { path: '/large' } }), {
        code: 'stall_timeout',
        text: AFTER_STALL,
      });
      onTransfer = 'usual';
      assert.equal((await upload('stalling-ftp', Buffer.from('good'))).status, 200);
    });

    test('the URL of a url upload goes silent', async () => {
      const send = (): Promise<ApiAnswer> =>
        gateway.api.post('/api/upload/ssh', { url: `${originUrl}/silent`, filename: 'f' });
      await fails(send, { code: 'stall_timeout', text: new RegExp(`^url .*/silent: .*${STALL_MS} ms`) });
    });

    test('a command that takes longer than its timeout is killed', async () => {
      const marker = `3${Math.floor(Math.random() * 1e6)}`;
      await fails(() => gateway.api.post('/api/exec/ssh', { command: `sleep ${marker}`, timeout: 200 }), {
        code: 'command_timeout',
        text: /200 ms/,
      });
      const stillRuns = (): boolean =>
        execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n').includes(`sleep ${marker}`);
      await eventually(() => !stillRuns(), 'the command is gone');
    });
  });

  /** Resolves with the history item. */
  /** `begun` is called when the answer has begun. */
  async function shortDownload(id: string, begun = async (): Promise<void> => undefined): Promise<string> {
    const response = await gateway.api.open(`/api/download/${id}`, { query: { path: '/large' } });
    assert.equal(response.statusCode, 200);
    await begun();
    let bytes = 0;
    await assert.rejects(async () => {
      for await (const chunk of response) bytes += (chunk as Buffer).length;
    }, /aborted/);
    assert.ok(bytes < Number(response.headers['content-length']), `${bytes}`);
    let said = '';
    await eventually(async () => {
      const [item] = await newest(gateway.api, 1);
      said = item?.errorMessage ?? '';
      return item?.type === 'download' && item.status === 'failed';
    }, 'the download has failed');
    return said;
  }
});
