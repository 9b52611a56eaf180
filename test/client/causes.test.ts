/** An error says why there was no answer, and a silent gateway does not block a caller for ever. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { type ClientOptions, FileTransferGateway, FtgError, type NetworkReason } from '../../src/client/index.js';
import { writeCertificate } from '../http/support/certificate.js';
import { freePort } from '../support/ports.js';
import { cut, error, ok, type Reply, startFaultServer } from './fault-server.js';

type Call = (ftg: FileTransferGateway) => Promise<unknown>;

const me: Call = (ftg) => ftg.me();
const SHORT_MS = 150;
const LARGE = new Uint8Array(8 * 1024 * 1024);

async function failure(baseUrl: string, call: Call, options: Partial<ClientOptions> = {}): Promise<FtgError> {
  const ftg = new FileTransferGateway({ baseUrl, apiKey: 'ftg_x', retry: { attempts: 1 }, ...options });
  const thrown: unknown = await call(ftg).then(
    () => assert.fail('it did not fail'),
    (error: unknown) => error,
  );
  assert.ok(thrown instanceof FtgError, String(thrown));
  assert.equal(thrown.code, 'network_error', thrown.message);
  return thrown;
}

async function fails(baseUrl: string, reason: NetworkReason, text: RegExp, call = me): Promise<void> {
  const thrown = await failure(baseUrl, call);
  assert.equal(thrown.reason, reason, thrown.message);
  assert.match(thrown.message, text);
}

async function listen(t: TestContext, server: net.Server): Promise<number> {
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket: net.Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test('without a listener, the address is named', async () => {
  const port = await freePort();
  await fails(
    `http://127.0.0.1:${port}`,
    'refused',
    new RegExp(`refused by 127\\.0\\.0\\.1:${port}: is the gateway running`),
  );
  await fails(`http://localhost:${port}`, 'refused', new RegExp(`refused by .*:${port}`));
});

test('an unknown host', async () => {
  await fails('http://no-such-host.invalid:8080', 'dns', /no-such-host\.invalid:8080/);
});

test('an untrusted certificate, and a server without TLS', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ftg-causes-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { certFile, keyFile } = writeCertificate(folder, 'localhost');
  const tls = https.createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) });
  const [secure, plain] = [await listen(t, tls), await listen(t, http.createServer())];
  await fails(`https://127.0.0.1:${secure}`, 'tls', new RegExp(`certificate of 127\\.0\\.0\\.1:${secure} .*self`));
  await fails(`https://127.0.0.1:${plain}`, 'tls', /does it speak https there/);
  await fails(`http://127.0.0.1:${secure}`, 'closed', /too early/);
});

test('a connection that ends too early, and an answer', async (t) => {
  const server = await startFaultServer(t, [cut]);
  await fails(server.url, 'closed', /closed the connection too early/);
  const half = await startFaultServer(t, [
    (response) => response.writeHead(200).write('{"a', () => response.destroy()),
  ]);
  await fails(half.url, 'closed', /closed the connection too early/);
});

const changes: Record<string, Call> = {
  'an upload that streams': (ftg) => ftg.upload('c', LARGE, { filename: 'x' }),
  'an upload of bytes': (ftg) => ftg.upload('c', 'text', { filename: 'x' }),
  'a JSON body': (ftg) => ftg.delete('c', '/x'),
  'no body': (ftg) => ftg.jobs.cancel('j'),
};
for (const [what, call] of Object.entries(changes)) {
  for (const status of [301, 302, 303, 307, 308]) {
    test(`a change with ${what} does not follow a ${status}`, async (t) => {
      const server = await startFaultServer(t, [
        (response) => response.writeHead(status, { Location: '/x' }).end(),
        (response) => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}'),
      ]);
      await fails(server.url, 'redirect', /redirects/, call);
      assert.equal(server.asked.length, 1);
    });
  }
}

test('an answer of another HTTP server', async (t) => {
  const server = await startFaultServer(t, [(response) => response.writeHead(404).end('<html>')]);
  const ftg = new FileTransferGateway({ baseUrl: server.url, apiKey: 'ftg_x' });
  await assert.rejects(ftg.me(), { code: 'invalid_answer', status: 404, message: /is http.*\/api\/me one/ });
});

const silent: Record<string, { readonly server: () => net.Server; readonly call: Call }> = {
  'no head of an answer': { server: () => http.createServer(() => undefined), call: me },
  'half of an answer': {
    server: () => http.createServer((_, response) => void response.writeHead(200).write('{"email":')),
    call: me,
  },
  'half of a file': {
    server: () =>
      http.createServer((_, response) => void response.writeHead(200, { 'Content-Length': 9 }).write('half')),
    call: async (ftg) => (await ftg.download('c', '/x')).bytes(),
  },
  'half of a list': {
    server: () => http.createServer((_, response) => void response.writeHead(200).write('{}\n{"')),
    call: async (ftg) => {
      for await (const _ of ftg.listStream('c')) continue;
    },
  },
  'a body that the server does not read': {
    server: () => net.createServer((socket) => void socket.pause()),
    call: (ftg) => ftg.upload('c', LARGE, { filename: 'x' }),
  },
  'no answer to a whole body': {
    server: () => http.createServer((request) => void request.resume()),
    call: (ftg) => ftg.upload('c', LARGE, { filename: 'x' }),
  },
};

for (const [name, { server, call }] of Object.entries(silent)) {
  test(`silence is a time-out: ${name}`, async (t) => {
    const baseUrl = `http://127.0.0.1:${await listen(t, server())}`;
    const thrown = await failure(baseUrl, call, { timeoutMs: SHORT_MS });
    assert.equal(thrown.reason, 'timeout', thrown.message);
    assert.match(thrown.message, /nothing moved for 0\.15 s/);
  });
}

test('pauses of the caller’s own source or of a slow reader are no silence', async (t) => {
  // Long enough that a busy machine does not count as silent.
  const [timeoutMs, pauseMs] = [15_000, 16_000];
  const client = async (reply: Reply): Promise<FileTransferGateway> => {
    const { url } = await startFaultServer(t, [reply]);
    return new FileTransferGateway({ baseUrl: url, apiKey: 'ftg_x', timeoutMs, retry: { attempts: 1 } });
  };
  async function* slow(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a');
    await delay(pauseMs);
    yield Buffer.from('b');
  }
  const upload = async (): Promise<void> => {
    const ftg = await client(ok({ transfer: { id: '1' } }));
    await ftg.upload('c', slow(), { filename: 'x' });
  };
  const download = async (): Promise<void> => {
    const ftg = await client((response) => response.writeHead(200).end(LARGE));
    let bytes = 0;
    for await (const chunk of (await ftg.download('c', '/x')).body) {
      if (bytes === 0) await delay(pauseMs);
      bytes += chunk.length;
    }
    assert.equal(bytes, LARGE.length);
  };
  await Promise.all([upload(), download()]);
});

test('a time-out is retried like any other failure of the line', async (t) => {
  const server = await startFaultServer(t, [() => undefined, ok({ email: 'a@example.com' })]);
  const ftg = new FileTransferGateway({ baseUrl: server.url, apiKey: 'ftg_x', timeoutMs: 0, retry: { delayMs: 1 } });
  // For the second try as well, so long enough for a busy machine.
  assert.equal((await ftg.me({ timeoutMs: 15_000 })).email, 'a@example.com');
  assert.equal(server.asked.length, 2);
});

test('the signal takes precedence over the time-out', async (t) => {
  const server = await startFaultServer(t, [() => undefined]);
  const ftg = new FileTransferGateway({ baseUrl: server.url, apiKey: 'ftg_x' });
  await assert.rejects(ftg.me({ signal: AbortSignal.timeout(SHORT_MS) }), { name: 'TimeoutError' });
});

test('an invalid address or key is reported at once, without the key', () => {
  const make = (baseUrl: string, apiKey: string) => () => new FileTransferGateway({ baseUrl, apiKey });
  for (const url of ['', 'files.example.com', 'ftp://files.example.com']) {
    assert.throws(make(url, 'ftg_x'), { name: 'TypeError', message: /baseUrl must be an http or https URL/ });
  }
  assert.throws(
    make('http://x', 'ftg_secret\n'),
    (thrown) => thrown instanceof TypeError && !/secret/.test(thrown.message),
  );
});

test('an abandoned download closes its connection, and does not count as complete', async (t) => {
  const closed: Promise<unknown>[] = [];
  const server = await startFaultServer(t, [
    (response) => {
      closed.push(once(response, 'close'));
      response.writeHead(200, { 'Content-Length': 10 }).write('half');
    },
  ]);
  const ftg = new FileTransferGateway({ baseUrl: server.url, apiKey: 'ftg_x' });
  let reading: Promise<Uint8Array>;
  {
    await using file = await ftg.download('c', '/x');
    assert.equal(file.length, 10);
  }
  {
    using file = await ftg.download('c', '/x');
    reading = file.bytes();
    reading.catch(() => undefined);
  }
  await assert.rejects(reading, /given up/);
  await Promise.all(closed);
  assert.equal(closed.length, 2);
});

test('abandoning a download after its end does nothing', async (t) => {
  const server = await startFaultServer(t, [(response) => response.end('whole'), error(404, 'not_found')]);
  const ftg = new FileTransferGateway({ baseUrl: server.url, apiKey: 'ftg_x' });
  await using file = await ftg.download('c', '/x');
  assert.equal(await file.text(), 'whole');
  await file.cancel();
});

test('an error whose text does not arrive is still an error', { timeout: 900_000 }, async (t) => {
  const server = await startFaultServer(t, [
    (response) => {
      response.writeHead(500, { 'X-Error-Code': 'internal_error', 'Content-Length': 100 }).write('{');
    },
  ]);
  const ftg = new FileTransferGateway({ baseUrl: server.url, apiKey: 'ftg_x', timeoutMs: 15_000 });
  await assert.rejects(ftg.me(), { status: 500, code: 'internal_error' });
});
