/** Url uploads and webhooks through the gateway's own proxy: real proxies, and scripted ones that misbehave. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test, type TestContext } from 'node:test';
import { GatewayError } from '../../../src/base/errors.js';
import type { Referring } from '../../../src/connections/connection.js';
import { ReferencedSecrets } from '../../../src/connections/secrets/referenced-secrets.js';
import { createSender } from '../../../src/events/send.js';
import { createUrlFetcher } from '../../../src/operations/fetch-url.js';
import { createDialer, type Dialer } from '../../../src/remotes/dial/dial.js';
import type { Proxy } from '../../../src/remotes/dial/proxy.js';
import { makeCertificate } from '../../servers/ftp.js';
import { type NetworkProxy, startDante, startMicrosocks, startTinyproxy } from '../../servers/network-proxies.js';
import { type ProxyAnswer, type ScriptedProxy, startScriptedProxy } from '../../servers/scripted-proxy.js';
import { withCode } from '../../support/errors.js';
import { eventually } from '../../support/eventually.js';

const ASKED = { owner: 'account', signal: new AbortController().signal };
const PASSWORD = 'file:/run/secrets/proxy';

interface Given {
  readonly allow?: readonly string[];
  readonly proxied?: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly ownReceiver?: { readonly address: string; readonly port: number; readonly owner: string };
  /** Reads the secret that a reference leads to. */
  readonly read?: (reference: string) => Promise<string>;
}

/** Connections may not reach private addresses: the proxy is the operator's, and may be at one. */
function dialerThrough(
  t: TestContext,
  proxy: Proxy & Referring,
  { allow = ['127.0.0.1'], read = () => Promise.reject(new Error('no secret')), ...rules }: Given = {},
): Dialer {
  const secrets = new ReferencedSecrets({
    read,
    refreshMinutes: 15,
    betweenReadsMs: 0,
    configured: [],
    log: () => undefined,
  });
  t.after(() => secrets.stop());
  return createDialer(
    {
      localAddress: '',
      connections: { allowPrivate: false, deny: ['127.0.0.0/8'] },
      urlFetch: { allow },
      webhooks: { allow },
      ownProxy: { proxy, secrets },
      ...rules,
    },
    () => [],
    async (name) => {
      throw new Error(`${name} was looked up by the gateway`);
    },
  );
}

const LATE_MS = 60_000;
/** The proxy itself answers a connect within this time, even on a busy machine. */
const HANGS_MS = 3_000;

function fetcherOf(
  t: TestContext,
  dialer: Dialer,
  limits: { connectTimeoutMs?: number; stallTimeoutMs?: number } = {},
) {
  const made = createUrlFetcher({ dialer, connectTimeoutMs: LATE_MS, stallTimeoutMs: LATE_MS, ...limits });
  t.after(() => made.close());
  return (url: string) => made.fetch(new URL(url), ASKED);
}

function senderOf(t: TestContext, dialer: Dialer, timeoutMs = LATE_MS) {
  const made = createSender({ dialer, timeoutMs, requireHttps: false });
  t.after(() => made.close());
  return (url: string) => made.send(url, {}, '{"a":1}', ASKED);
}

/** A server of files, and a receiver of webhooks. */
async function serve(t: TestContext, handle: http.RequestListener): Promise<number> {
  const server = http.createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

for (const [name, start] of [
  ['tinyproxy', startTinyproxy],
  ['microsocks', startMicrosocks],
  ['dante', startDante],
] as const) {
  describe(`url uploads and webhooks through ${name}`, () => {
    let proxy: NetworkProxy;
    before(async () => (proxy = await start()));
    after(() => proxy.stop());
    const own = () => ({ url: proxy.url, username: proxy.username, password: proxy.password });

    test('a file behind a redirect, and a message', async (t) => {
      const bodies: string[] = [];
      const port = await serve(t, (request, response) => {
        if (request.method === 'POST') request.on('data', (chunk: Buffer) => bodies.push(chunk.toString()));
        if (request.url === '/first') response.writeHead(302, { location: '/then/file.txt' }).end();
        else response.end('content');
      });
      const dialer = dialerThrough(t, own());
      const { body, filename, host } = await fetcherOf(t, dialer)(`http://localhost:${port}/first`);
      assert.deepEqual([String(await buffer(body)), filename, host], ['content', 'file.txt', `localhost:${port}`]);
      const { status } = await senderOf(t, dialer)(`http://localhost:${port}/hook`);
      assert.deepEqual([status, bodies], [200, ['{"a":1}']]);
      await eventually(() => proxy.log().includes(String(port)), `a line of it in ${name}'s log`);
    });

    test('the certificate must be for the name of the server', async (t) => {
      const place = mkdtempSync(path.join(tmpdir(), 'ftg-own-proxy-'));
      t.after(() => rmSync(place, { recursive: true }));
      const { ca, chainFile, keyFile } = makeCertificate(place);
      const files = { cert: readFileSync(chainFile), key: readFileSync(keyFile) };
      const server = https.createServer(files, (_request, response) => response.end()).listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.after(() => server.close());
      const { port } = server.address() as AddressInfo;
      const dialer = dialerThrough(t, own(), { allow: ['127.0.0.0/8'] });
      const options = { ...ASKED, purpose: 'webhook', timeoutMs: LATE_MS } as const;
      const socket = await dialer.connectTls('localhost', port, { ...options, tls: { ca } });
      assert.equal(socket.authorized, true);
      socket.destroy();
      await assert.rejects(dialer.connectTls('localhost', port, options), withCode('certificate_rejected'));
      const other = { ...options, tls: { ca, servername: 'other.example' } };
      await assert.rejects(
        dialer.connectTls('localhost', port, other),
        withCode('certificate_rejected', /other\.example/),
      );
    });
  });
}

test('without a valid login the error names the proxy, never the password or where it is read', async (t) => {
  const proxy = await startTinyproxy();
  t.after(() => proxy.stop());
  const own = { url: proxy.url, username: proxy.username };
  const isRefused = (error: unknown): boolean => {
    assert.ok(error instanceof GatewayError);
    assert.doesNotMatch(error.clientText, /not-this|secret/);
    assert.equal(error.step, 'proxy');
    return withCode(
      'unreachable',
      /^the proxy http:\S+ gets no valid login from this gateway, .*network\.proxy/,
    )(error);
  };
  const reading = (read: Given['read']) => dialerThrough(t, { ...own, references: { password: PASSWORD } }, { read });
  for (const dialer of [
    dialerThrough(t, { ...own, password: 'not-this' }),
    reading(async () => 'not-this'),
    reading(async () => Promise.reject(new GatewayError('login_refused', 'does not exist'))),
  ])
    for (const attempt of [fetcherOf(t, dialer), senderOf(t, dialer)])
      await assert.rejects(attempt('http://localhost:9/'), isRefused);
});

test('a password that has changed is read again when the proxy refuses the old one', async (t) => {
  const proxy = await startTinyproxy();
  t.after(() => proxy.stop());
  const port = await serve(t, (_request, response) => response.end('content'));
  const passwords = ['the old one', proxy.password];
  const dialer = dialerThrough(
    t,
    { url: proxy.url, username: proxy.username, references: { password: PASSWORD } },
    { read: async () => passwords.shift() ?? proxy.password },
  );
  const { body } = await fetcherOf(t, dialer)(`http://localhost:${port}/a`);
  assert.equal(String(await buffer(body)), 'content');
  assert.deepEqual(passwords, []);
});

describe('proxies that misbehave', () => {
  const CONNECTED = 'HTTP/1.1 200 OK\r\n\r\n';
  const through = async (t: TestContext, ...answers: readonly ProxyAnswer[]): Promise<[Dialer, ScriptedProxy]> => {
    const proxy = await startScriptedProxy(t, ...answers);
    return [dialerThrough(t, { url: `http://127.0.0.1:${proxy.port}` }), proxy];
  };

  test('names go to the proxy; garbage, a refusal and an early end are errors that name it', async (t) => {
    const cases = [
      ['SSH-2.0-OpenSSH\r\n', 'protocol_error', /does not answer like an HTTP proxy/],
      ['HTTP/1.1 403 Forbidden\r\n\r\n', 'unreachable', /does not connect to files\.example:80: its rules forbid it/],
      [undefined, 'unreachable', /closed the connection/],
    ] as const;
    for (const [answer, code, text] of cases) {
      const [dialer, proxy] = await through(t, answer);
      for (const attempt of [fetcherOf(t, dialer), senderOf(t, dialer)]) {
        await assert.rejects(attempt('http://files.example/a'), withCode(code, text));
        await assert.rejects(attempt('http://files.example/a'), withCode(code, /^the proxy http:\/\/127/));
      }
      assert.match(proxy.asked[0] ?? '', /^CONNECT files\.example:80 HTTP/);
    }
  });

  test('one that hangs has the time of a connect, or of the delivery', async (t) => {
    const [dialer] = await through(t);
    await assert.rejects(
      fetcherOf(t, dialer, { connectTimeoutMs: HANGS_MS })('http://files.example/a'),
      withCode('connect_timeout', /the proxy .* did not connect to files\.example:80 within 3000 ms/),
    );
    await assert.rejects(
      senderOf(t, dialer, 50)('http://files.example/a'),
      (error) => error instanceof GatewayError && ['connect_timeout', 'stall_timeout'].includes(error.code),
    );
  });

  test('one that closes in the middle of a download, and of a delivery', async (t) => {
    const [dialer] = await through(t, CONNECTED, { last: 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf' });
    const { body } = await fetcherOf(t, dialer)('http://files.example/a');
    await assert.rejects(buffer(body), (error) => {
      assert.ok(error instanceof GatewayError && error.passes);
      return withCode('fetch_failed', /cut the transfer/)(error);
    });
    const [cutting] = await through(t, CONNECTED, undefined);
    await assert.rejects(senderOf(t, cutting)('http://files.example/a'), withCode('unreachable'));
    const [silent] = await through(t, CONNECTED);
    await assert.rejects(
      fetcherOf(t, silent, { stallTimeoutMs: 100 })('http://files.example/a'),
      withCode('stall_timeout'),
    );
  });

  test('a name that is too long for SOCKS5 is no refused login', async (t) => {
    const proxy = await startScriptedProxy(t, [5, 0]);
    const dialer = dialerThrough(t, { url: `socks5://127.0.0.1:${proxy.port}` });
    const attempt = fetcherOf(t, dialer)(`http://${'a'.repeat(256)}/`);
    await assert.rejects(attempt, withCode('unreachable', /: the name is too long for SOCKS5$/));
  });

  test('one that is not there', async (t) => {
    const dialer = dialerThrough(t, { url: 'socks5://127.0.0.1:9' });
    await assert.rejects(
      senderOf(t, dialer)('http://files.example/a'),
      withCode('unreachable', /^the proxy socks5:\/\/127\.0\.0\.1:9: .*refused/),
    );
  });
});

describe('the network rules behind the proxy', () => {
  const LITERAL = ['127.0.0.1', '10.1.2.3', '169.254.169.254', '[::1]', '[::ffff:10.1.2.3]', '2130706433', 'localhost'];
  // Squid removes all dots at the end of a name.
  const PRIVATE = [...LITERAL, '127.0.0.1.', '169.254.169.254..', 'localhost...'];

  test('private addresses are refused in any notation, also as the target of a redirect, and the proxy is not asked', async (t) => {
    const proxy = await startScriptedProxy(t);
    const dialer = dialerThrough(t, { url: `http://127.0.0.1:${proxy.port}` }, { allow: [] });
    for (const host of PRIVATE) {
      const url = `http://${host}/x`;
      await assert.rejects(fetcherOf(t, dialer)(url), withCode('address_denied'));
      await assert.rejects(senderOf(t, dialer)(url), withCode('address_denied'));
      const check = dialer.check(new URL(url).hostname, 80, { ...ASKED, purpose: 'url', timeoutMs: LATE_MS });
      await assert.rejects(check, withCode('address_denied'));
    }
    assert.deepEqual(proxy.sockets, []);
    const redirecting = await startScriptedProxy(t, 'HTTP/1.1 200 OK\r\n\r\n', {
      last: 'HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest\r\n\r\n',
    });
    const followed = dialerThrough(t, { url: `http://127.0.0.1:${redirecting.port}` }, { allow: [] });
    await assert.rejects(fetcherOf(t, followed)('http://files.example/'), withCode('address_denied'));
    assert.equal(redirecting.sockets.length, 1);
  });

  test('network.proxied limits names; a name that may be asked for is not looked up', async (t) => {
    const proxied = { allow: ['*.partner.example'], deny: ['secret.partner.example', 'bücher.partner.example'] };
    const dialer = dialerThrough(t, { url: 'http://127.0.0.1:9' }, { proxied });
    for (const purpose of ['url', 'webhook'] as const) {
      const options = { ...ASKED, purpose, timeoutMs: LATE_MS };
      await dialer.check('a.partner.example', 443, options);
      const inOtherForms = ['SECRET.partner.example..', 'ｓecret.partner.example', 'secret。partner.example'];
      const ofUrl = new URL('http://bücher.partner.example').hostname;
      for (const host of ['secret.partner.example', ...inOtherForms, ofUrl, 'other.example', '127.0.0.1']) {
        await assert.rejects(dialer.check(host, 443, options), withCode('address_denied', /behind a proxy/), host);
      }
    }
  });

  test('connections have their own proxy, and do not use this one', async (t) => {
    const proxy = await startScriptedProxy(t);
    const dialer = dialerThrough(t, { url: `http://127.0.0.1:${proxy.port}` });
    const options = { ...ASKED, purpose: 'connection', timeoutMs: LATE_MS } as const;
    await assert.rejects(dialer.connect('127.0.0.1', 22, options), withCode('address_denied'));
    assert.deepEqual(proxy.sockets, []);
  });

  test('the receiver inside the gateway is reached directly', async (t) => {
    const port = await serve(t, (_request, response) => response.writeHead(204).end());
    const ownReceiver = { address: '127.0.0.1', port, owner: ASKED.owner };
    const dialer = dialerThrough(t, { url: 'http://127.0.0.1:9' }, { allow: [], ownReceiver });
    assert.equal((await senderOf(t, dialer)(`http://127.0.0.1:${port}/`)).status, 204);
  });
});
