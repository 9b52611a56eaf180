import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type net from 'node:net';
import { buffer } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { GatewayError } from '../../src/base/errors.js';
import { createDialer } from '../../src/remotes/dial/dial.js';
import { createUrlFetcher, parseHttpUrl, type UrlFetcher } from '../../src/operations/fetch-url.js';
import { ended, startUpgrading } from '../servers/upgrading.js';
import { withCode } from '../support/errors.js';

const ASKED = { owner: 'account', signal: new AbortController().signal };

function fetcher(t: TestContext, stallTimeoutMs = 60_000, allow: readonly string[] = ['127.0.0.1']): UrlFetcher {
  const rules = {
    localAddress: '',
    connections: { allowPrivate: true, deny: [] },
    urlFetch: { allow },
    webhooks: { allow: [] },
  };
  const made = createUrlFetcher({ dialer: createDialer(rules, () => []), connectTimeoutMs: 60_000, stallTimeoutMs });
  t.after(() => made.close());
  return made;
}

async function serve(t: TestContext, handle: http.RequestListener): Promise<string> {
  const server = http.createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
}

test('a whole file, its size and its name', async (t) => {
  const seen: http.IncomingHttpHeaders[] = [];
  const origin = await serve(t, (request, response) => {
    seen.push(request.headers);
    response.end('content');
  });
  const file = await fetcher(t).fetch(new URL(`${origin}/a/b%20c.txt?secret=1`), ASKED);
  assert.equal(String(await buffer(file.body)), 'content');
  assert.deepEqual([file.size, file.filename], [7, 'b c.txt']);
  assert.equal(seen[0]?.['accept-encoding'], 'identity');
  assert.equal(seen[0]?.['host'], new URL(origin).host);
});

test('a login in the URL is sent, also one with odd encoding, and is never in an error', async (t) => {
  const seen: (string | undefined)[] = [];
  const origin = await serve(t, (request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(403).end();
  });
  for (const login of ['us%40er:p%3Aw', '%zz:x']) {
    const attempt = fetcher(t).fetch(new URL(`${origin.replace('//', `//${login}@`)}/x?token=secret`), ASKED);
    await assert.rejects(attempt, (error) => {
      assert.doesNotMatch((error as Error).message, /secret|zz|us/);
      return withCode('fetch_failed', /answered 403/)(error);
    });
  }
  assert.deepEqual(
    seen.map((value) => Buffer.from(value?.slice(6) ?? '', 'base64').toString()),
    ['us@er:p:w', '%zz:x'],
  );
});

test('five redirects are followed, the name is the last one, a sixth is refused', async (t) => {
  const origin = await serve(t, (request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) response.end('there');
    else response.writeHead(302, { location: `/${left - 1}` }).end();
  });
  const file = await fetcher(t).fetch(new URL(`${origin}/5`), ASKED);
  assert.equal(String(await buffer(file.body)), 'there');
  assert.equal(file.filename, '0');
  await assert.rejects(fetcher(t).fetch(new URL(`${origin}/6`), ASKED), withCode('fetch_failed', /more than 5 times/));
});

test('every redirect target is checked', async (t) => {
  const locations = ['http://169.254.169.254/', 'http://127.0.0.2/', 'http://[::1]/', 'http://2130706434/'];
  const origin = await serve(t, (request, response) =>
    response.writeHead(307, { location: locations[Number(request.url?.slice(1))] }).end(),
  );
  for (const index of locations.keys()) {
    await assert.rejects(fetcher(t).fetch(new URL(`${origin}/${index}`), ASKED), withCode('address_denied'));
  }
  await assert.rejects(fetcher(t, 1_000, []).fetch(new URL(origin), ASKED), withCode('address_denied'));
  const files = await serve(t, (_request, response) =>
    response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  );
  await assert.rejects(fetcher(t).fetch(new URL(files), ASKED), withCode('bad_request', /http or https/));
});

test('anything but a complete 2xx is refused', async (t) => {
  const origin = await serve(t, (request, response) => response.writeHead(Number(request.url?.slice(1))).end('no'));
  for (const status of [206, 300, 304, 404, 500, 503]) {
    const attempt = fetcher(t).fetch(new URL(`${origin}/${status}`), ASKED);
    await assert.rejects(attempt, withCode('fetch_failed', new RegExp(`answered ${status}`)));
  }
});

test('a length that is not a number, or that is wrong', async (t) => {
  const origin = await serve(t, (request, response) => {
    const { socket } = response;
    if (request.url === '/odd') socket?.end('HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nx');
    else if (request.url === '/chunked') socket?.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel');
    else socket?.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort');
  });
  await assert.rejects(fetcher(t).fetch(new URL(`${origin}/odd`), ASKED), withCode('fetch_failed'));
  for (const path of ['/short', '/chunked']) {
    const { body } = await fetcher(t).fetch(new URL(origin + path), ASKED);
    await assert.rejects(buffer(body), withCode('fetch_failed', /cut the transfer/));
  }
});

test('a server that becomes silent, before or in the body, is a stall_timeout', async (t) => {
  const origin = await serve(t, (request, response) => {
    if (request.url === '/body') response.writeHead(200, { 'content-length': '10' }).write('half');
  });
  await assert.rejects(fetcher(t, 100).fetch(new URL(`${origin}/head`), ASKED), withCode('stall_timeout', /100 ms/));
  const { body } = await fetcher(t, 3_000).fetch(new URL(`${origin}/body`), ASKED);
  await assert.rejects(buffer(body), withCode('stall_timeout'));
});

test('a slow reader is not taken for a silent server', async (t) => {
  const origin = await serve(t, (_request, response) => response.end(Buffer.alloc(4 << 20)));
  const { body } = await fetcher(t, 3_000).fetch(new URL(origin), ASKED);
  await new Promise((resume) => setTimeout(resume, 3_500));
  assert.equal((await buffer(body)).length, 4 << 20);
});

test('a server that becomes silent after a slow reader has paused is a stall_timeout', async (t) => {
  const half = 1 << 20;
  const origin = await serve(t, (_request, response) =>
    response.writeHead(200, { 'content-length': String(2 * half) }).write(Buffer.alloc(half)),
  );
  const { body } = await fetcher(t, 1_000).fetch(new URL(origin), ASKED);
  await once(body, 'readable');
  await new Promise((resume) => setTimeout(resume, 1_500));
  await assert.rejects(buffer(body), withCode('stall_timeout'));
});

test('an abort ends the fetch with its own reason, at every step', async (t) => {
  const origin = await serve(t, (request, response) => {
    if (request.url === '/body') response.writeHead(200, { 'content-length': '10' }).write('half');
  });
  const reason = new GatewayError('client_gone', 'the client left');
  const early = new AbortController();
  const waiting = fetcher(t).fetch(new URL(`${origin}/head`), { ...ASKED, signal: early.signal });
  setTimeout(() => early.abort(reason), 30);
  await assert.rejects(waiting, (error) => error === reason);
  const late = new AbortController();
  const { body } = await fetcher(t).fetch(new URL(`${origin}/body`), { ...ASKED, signal: late.signal });
  late.abort(reason);
  await assert.rejects(buffer(body), (error) => error === reason);
});

test('compressed bytes are stored only under a name that says so', async (t) => {
  const bytes = gzipSync('content');
  const origin = await serve(t, (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bytes),
  );
  await assert.rejects(
    fetcher(t).fetch(new URL(`${origin}/page.html`), ASKED),
    withCode('fetch_failed', /gzip.*identity/),
  );
  const { body } = await fetcher(t).fetch(new URL(`${origin}/backup.tar.gz`), ASKED);
  assert.deepEqual(await buffer(body), bytes);
});

test('closing cuts what is being fetched', async (t) => {
  const origin = await serve(t, (_request, response) =>
    response.writeHead(200, { 'content-length': '10' }).write('half'),
  );
  const made = fetcher(t);
  const { body } = await made.fetch(new URL(origin), ASKED);
  made.close();
  await assert.rejects(buffer(body), withCode('fetch_failed'));
});

test('only http and https URLs are URLs', () => {
  assert.equal(parseHttpUrl('https://example.com/a', 'url').host, 'example.com');
  for (const text of ['', 'ftp://example.com/', 'file:///etc/passwd', '/relative', 'http://', 'javascript:1']) {
    assert.throws(() => parseHttpUrl(text, 'url'), withCode('bad_request', /^url must be/));
  }
});

test('a server that changes the protocol is refused at once', async (t) => {
  const server = await startUpgrading(t);
  await assert.rejects(
    ended(fetcher(t).fetch(server.url, ASKED), server),
    withCode('fetch_failed', /cannot be spoken to/),
  );
});
