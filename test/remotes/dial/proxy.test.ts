/** Connections through a proxy: real ones with servers of each protocol behind them, and scripted ones that misbehave. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type net from 'node:net';
import { after, before, describe, test, type TestContext } from 'node:test';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { GatewayError } from '../../../src/base/errors.js';
import type { Connection, FtpConnection } from '../../../src/connections/connection.js';
import { createDialer, type Dialer } from '../../../src/remotes/dial/dial.js';
import { parseRemotePath, ROOT } from '../../../src/remotes/path.js';
import { createRemotes, type Remotes, type UseOptions } from '../../../src/remotes/registry.js';
import { streamOf } from '../../../src/remotes/whole.js';
import { type FtpServer, startVsftpd } from '../../servers/ftp.js';
import { type NetworkProxy, startDante, startMicrosocks, startTinyproxy } from '../../servers/network-proxies.js';
import { startScriptedProxy } from '../../servers/scripted-proxy.js';
import { S3Stub } from '../../servers/scripted-s3.js';
import { startSshd } from '../../servers/sshd.js';
import { withCode } from '../../support/errors.js';
import { eventually } from '../../support/eventually.js';
import { ftpConnection, LIMITS, sftpConnection, testDeps, TestLeftovers } from '../support/harness.js';
import { connectionTo } from '../support/s3-rig.js';
import { entriesOf } from '../../support/seam.js';

const NEVER = new AbortController().signal;
const use: UseOptions = { signal: NEVER, leftovers: () => new TestLeftovers() };
const OPEN = {
  localAddress: '',
  connections: { allowPrivate: true, deny: [] as string[] },
  urlFetch: { allow: [] },
  webhooks: { allow: [] },
};
/** The gateway must not look up the names of servers behind a proxy. */
const noLookups = async (name: string): Promise<never> => {
  throw new Error(`${name} was looked up by the gateway`);
};
const options = (url: string, timeoutMs = 60_000) => ({
  purpose: 'connection' as const,
  owner: 'account',
  signal: NEVER,
  timeoutMs,
  proxy: { url, username: 'through', password: 'pr0xy-word' },
});

function remotesOf(t: TestContext): Remotes {
  const dialer = createDialer(OPEN, () => [], noLookups);
  const remotes = createRemotes({ ...testDeps({ dialer }), limits: { default: LIMITS, hosts: {} } });
  t.after(() => remotes.close());
  return remotes;
}

const through = ({ url, username, password }: NetworkProxy) => ({ proxy: { url, username }, proxyPassword: password });

const ftpThrough = (server: FtpServer, proxy: NetworkProxy): FtpConnection =>
  ftpConnection(server, { host: 'localhost', ...through(proxy) });

/** Stores a file, reads it back and finds it in the listing. */
async function goesThrough(t: TestContext, connection: Connection, folder = '/'): Promise<void> {
  const bytes = Buffer.from('through a proxy\n'.repeat(100_000));
  const path = parseRemotePath(`${folder}sent.txt`, ROOT, 'path');
  await remotesOf(t).use(connection, use, async (remote) => {
    const writer = await remote.write(path, { size: bytes.length });
    await pipeline(Readable.from([bytes], { objectMode: false }), writer);
    await writer.commit({ size: bytes.length });
    const source = await remote.read(path);
    assert.deepEqual(await buffer(streamOf(source)), bytes);
    const names: string[] = [];
    for await (const { name } of entriesOf(remote.list(parseRemotePath(folder, ROOT, 'path')))) names.push(name);
    assert.ok(names.includes('sent.txt'), names.join());
  });
}

for (const [name, start] of [
  ['tinyproxy', startTinyproxy],
  ['microsocks', startMicrosocks],
] as const) {
  describe(`${name}, which asks for a login and resolves the names`, () => {
    let proxy: NetworkProxy;
    before(async () => (proxy = await start()));
    after(() => proxy.stop());

    test('SFTP', async (t) => {
      const server = await startSshd();
      t.after(() => server.stop());
      await goesThrough(t, sftpConnection(server, { host: 'localhost', ...through(proxy) }), `${server.files}/`);
      await eventually(() => proxy.log().includes(`localhost:${server.port}`), `a line of it in ${name}'s log`);
    });

    test('FTP with its data connections', async (t) => {
      const server = await startVsftpd();
      t.after(() => server.stop());
      await goesThrough(t, ftpThrough(server, proxy));
      // Upload, download and listing each had one.
      const data = new RegExp(`localhost:(?!${server.port}\\b)\\d+`, 'g');
      await eventually(() => (proxy.log().match(data) ?? []).length >= 3, `data connections in ${name}'s log`);
    });

    test('S3', async (t) => {
      const store = await S3Stub.start();
      t.after(() => store.stop());
      const port = new URL(store.endpoint).port;
      await goesThrough(t, {
        ...connectionTo({ endpoint: `http://localhost:${port}`, bucket: 'bucket' }),
        ...through(proxy),
      });
      await eventually(() => proxy.log().includes(`localhost:${port}`), `a line of it in ${name}'s log`);
    });

    test('a wrong login, none, and a server that is not there', async () => {
      const dialer = createDialer(OPEN, () => [], noLookups);
      const wrong = { ...options(proxy.url), proxy: { url: proxy.url, username: 'through', password: 'not-this' } };
      const refused = await dialer.connect('localhost', 9, wrong).catch((error: unknown) => error);
      withCode('login_refused', /^the proxy .* refused its login/)(refused);
      assert.ok(!JSON.stringify(refused).includes('not-this'));
      await assert.rejects(
        dialer.connect('localhost', 9, { ...wrong, proxy: { url: proxy.url } }),
        withCode('login_refused', /asks for a login/),
      );
      await assert.rejects(
        dialer.connect('localhost', 9, options(proxy.url)),
        withCode('unreachable', /the proxy .* does not connect to localhost:9/),
      );
    });
  });
}

test('dante, which asks for no login: FTP with explicit TLS', async (t) => {
  const proxy = await startDante();
  t.after(() => proxy.stop());
  const server = await startVsftpd({ tls: 'explicit' });
  t.after(() => server.stop());
  await goesThrough(t, ftpThrough(server, proxy));
  await eventually(() => proxy.log().includes(String(server.port)), "a line of it in dante's log");
});

test('tinyproxy whose rules forbid the port', async (t) => {
  const proxy = await startTinyproxy(['ConnectPort 443']);
  t.after(() => proxy.stop());
  await assert.rejects(
    createDialer(OPEN, () => [], noLookups).connect('localhost', 9, options(proxy.url)),
    withCode('unreachable', /its rules forbid it/),
  );
});

describe('proxies that misbehave', () => {
  const dialer = createDialer(OPEN, () => []);

  const reach = (kind: 'http' | 'socks5', port: number, timeoutMs?: number): Promise<net.Socket> =>
    dialer.connect('server.example', 22, options(`${kind}://127.0.0.1:${port}`, timeoutMs));

  test('bytes behind the answer belong to the server', async (t) => {
    const http = await startScriptedProxy(t, 'HTTP/1.1 200 OK\r\nX-A: b\r\n\r\nSSH-2.0-first\r\n');
    const socks = await startScriptedProxy(
      t,
      [5, 2],
      [1, 0],
      [5, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...Buffer.from('SSH-2.0-first\r\n')],
    );
    for (const [kind, { port }] of [
      ['http', http],
      ['socks5', socks],
    ] as const) {
      const socket = await reach(kind, port);
      t.after(() => socket.destroy());
      const [first] = (await once(socket, 'data')) as [Buffer];
      assert.equal(first.toString(), 'SSH-2.0-first\r\n');
    }
  });

  test('an answer in pieces', async (t) => {
    const proxy = await startScriptedProxy(t);
    const reached = reach('http', proxy.port);
    await eventually(() => proxy.sockets.length === 1, 'the proxy has been reached');
    for (const piece of ['HT', 'TP/1.0 2', '00 OK\r', '\n\r', '\nhello']) {
      proxy.sockets[0]?.write(piece);
      await new Promise(setImmediate);
    }
    const socket = await reached;
    t.after(() => socket.destroy());
    const [first] = (await once(socket, 'data')) as [Buffer];
    assert.equal(first.toString(), 'hello');
  });

  test('garbage, endless heads and early ends are errors that name the proxy', async (t) => {
    const cases = [
      ['http', ['SSH-2.0-OpenSSH\r\n'], 'protocol_error', /like an HTTP proxy.*SSH-2\.0/],
      ['http', [`HTTP/1.1 200 OK\r\n${'x'.repeat(20_000)}`], 'protocol_error', /HTTP proxy/],
      ['http', ['HTTP/1.1 nonsense\r\n\r\n'], 'protocol_error', /HTTP proxy/],
      ['http', [undefined], 'unreachable', /closed the connection/],
      ['http', ['HTTP/1.1 502 Bad Gateway\r\n\r\n'], 'unreachable', /cannot reach the server/],
      ['socks5', ['HTTP/1.1 400 Bad Request\r\n\r\n'], 'protocol_error', /like a SOCKS5 proxy/],
      ['socks5', [[5, 1]], 'protocol_error', /login method 1/],
      ['socks5', [[5, 255]], 'login_refused', /refused its login/],
      [
        'socks5',
        [
          [5, 2],
          [1, 1],
        ],
        'login_refused',
        /refused its login/,
      ],
      [
        'socks5',
        [
          [5, 0],
          [5, 2],
        ],
        'unreachable',
        /rules forbid/,
      ],
      [
        'socks5',
        [
          [5, 0],
          [5, 5, 0, 1],
        ],
        'unreachable',
        /connection refused/,
      ],
      [
        'socks5',
        [
          [5, 0],
          [5, 0, 0, 9, 0],
        ],
        'protocol_error',
        /SOCKS5/,
      ],
      ['socks5', [[5, 0], undefined], 'unreachable', /closed the connection/],
    ] as const;
    for (const [kind, answers, code, text] of cases) {
      const proxy = await startScriptedProxy(t, ...answers);
      await assert.rejects(reach(kind, proxy.port), withCode(code, text));
      await eventually(
        () => proxy.sockets.every(({ closed, readableEnded }) => closed || readableEnded),
        'the socket is closed',
      );
    }
  });

  test('an answer that repeats the question does not show the login', async (t) => {
    const login = Buffer.from('through:pr0xy-word').toString('base64');
    for (const answer of [`Basic ${login}\r\npr0xy-word\r\n\r\n`, `HTTP/1.1 407 ${login}\r\n\r\n`]) {
      const proxy = await startScriptedProxy(t, answer);
      await assert.rejects(reach('http', proxy.port), (error) => {
        assert.ok(error instanceof GatewayError);
        const shown = `${error.message} ${error.remote?.text}`;
        return shown.includes('…') && !shown.includes(login) && !shown.includes('pr0xy-word');
      });
    }
  });

  test('one that hangs has the time of the dial, and no more', async (t) => {
    for (const kind of ['http', 'socks5'] as const) {
      const { port } = await startScriptedProxy(t);
      await assert.rejects(
        reach(kind, port, 50),
        withCode('connect_timeout', /the proxy .* did not connect to server\.example:22 within 50 ms/),
      );
    }
  });

  test('one that is not there', async () => {
    await assert.rejects(reach('http', 9), withCode('unreachable', /^the proxy http:\/\/127\.0\.0\.1:9: .*refused/));
  });
});

describe('the rules for what is behind a proxy', () => {
  const isDenied = (dialer: Dialer, host: string, port = 22, url = 'http://127.0.0.1:9'): Promise<void> =>
    assert.rejects(dialer.connect(host, port, options(url)), withCode('address_denied'));
  const isTried = (dialer: Dialer, host: string): Promise<void> =>
    assert.rejects(dialer.connect(host, 22, options('http://127.0.0.1:9')), withCode('unreachable'));

  test('a proxy at a denied address', async () => {
    const dialer = createDialer({ ...OPEN, connections: { allowPrivate: false, deny: [] } }, () => []);
    await isDenied(dialer, 'server.example', 22, 'socks5://127.0.0.1:1080');
    await isDenied(
      createDialer(OPEN, () => []),
      'server.example',
      22,
      'http://169.254.169.254:80',
    );
  });

  test('addresses that no connection may reach, in any notation', async () => {
    const dialer = createDialer({ ...OPEN, connections: { allowPrivate: true, deny: ['10.0.0.0/8'] } }, () => []);
    for (const host of [
      '169.254.169.254',
      '0xa9fea9fe',
      '2852039166',
      '[::ffff:169.254.169.254]',
      '10.1.2.3',
      'fd00:ec2::254',
    ]) {
      await isDenied(dialer, host);
    }
    await isTried(dialer, '192.168.1.1');
  });

  test("the gateway's own listener", async () => {
    const dialer = createDialer(OPEN, () => [{ address: '127.0.0.1', port: 8080 }]);
    for (const host of ['127.0.0.1', 'localhost', 'LOCALHOST.', 'a.localhost']) await isDenied(dialer, host, 8080);
  });

  test("the operator's lists of names and addresses", async () => {
    const proxied = { allow: ['*.partner.example', 'sftp.example', '10.7.0.0/16'], deny: ['secret.partner.example'] };
    const dialer = createDialer({ ...OPEN, proxied }, () => []);
    for (const host of ['a.partner.example', 'A.B.Partner.Example.', 'sftp.example', '10.7.0.7'])
      await isTried(dialer, host);
    for (const host of ['partner.example', 'secret.partner.example', 'x.sftp.example', '10.8.0.1'])
      await isDenied(dialer, host);
  });
});
