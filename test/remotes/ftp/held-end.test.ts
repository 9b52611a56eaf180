/** The socket of an upload over TLS ends after the TLS of both sides: the order in which a relay sees it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import tls from 'node:tls';
import { withHeldEnd } from '../../../src/remotes/ftp/session/held-end.js';
import { makeCertificate } from '../../servers/ftp.js';
import { eventually } from '../../support/eventually.js';

const CONTENT = Buffer.alloc(3_000_000, 'content');
const NEVER_MS = 600_000;

interface Rig {
  readonly secured: tls.TLSSocket;
  readonly log: string[];
  /** Behind which the client is. */
  readonly relayed: net.Socket;
  readonly served: tls.TLSSocket;
}

/** `endsTls`: whether the server ends TLS when the client has. */
async function connect(t: TestContext, endsTls: boolean, mostMs: number): Promise<Rig> {
  const place = mkdtempSync(path.join(tmpdir(), 'ftg-held-'));
  const { keyFile, chainFile } = makeCertificate(place);
  const [key, cert] = [readFileSync(keyFile), readFileSync(chainFile)];
  rmSync(place, { recursive: true });
  const log: string[] = [];
  const sockets: net.Socket[] = [];
  const server = tls.createServer({ key, cert, allowHalfOpen: !endsTls });
  let received = 0;
  server.on('secureConnection', (served) => {
    served.on('error', () => undefined).on('data', (chunk: Buffer) => (received += chunk.length));
    served.on('end', () => log.push(`TLS ended behind ${received} bytes`));
  });
  const relay = net.createServer({ allowHalfOpen: true }, (client) => {
    const upstream = net.connect({ port: portOf(server), host: '127.0.0.1', allowHalfOpen: true });
    sockets.push(client, upstream);
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.on('end', () => log.push('the socket ended'));
    client.pipe(upstream).pipe(client);
  });
  for (const one of [server, relay]) await once(one.listen(0, '127.0.0.1'), 'listening');
  const isServed = once(server, 'secureConnection');
  const socket = net.connect(portOf(relay), '127.0.0.1');
  const wrap = (bytes: NonNullable<tls.ConnectionOptions['socket']>) =>
    tls.connect({ socket: bytes, rejectUnauthorized: false });
  const secured = withHeldEnd(socket, wrap, mostMs);
  secured.on('error', () => undefined).resume();
  t.after(() => {
    for (const one of [secured, ...sockets]) one.destroy();
    relay.close();
    server.close();
  });
  await once(secured, 'secureConnect');
  const [served] = (await isServed) as [tls.TLSSocket];
  return { secured, log, relayed: sockets[0] ?? assert.fail(), served };
}

const portOf = (server: net.Server): number => (server.address() as net.AddressInfo).port;
const TLS_ENDED = `TLS ended behind ${CONTENT.length} bytes`;

test('the socket ends once the server has ended TLS', async (t) => {
  const { secured, log } = await connect(t, true, NEVER_MS);
  secured.end(CONTENT);
  await eventually(() => log.length === 2, 'both have ended');
  assert.deepEqual(log, [TLS_ENDED, 'the socket ended']);
});

test('a server that never ends TLS does not hold it up for ever', async (t) => {
  const { secured, log } = await connect(t, false, 100);
  secured.end(CONTENT);
  await eventually(() => log.includes('the socket ended'), 'the socket has ended');
});

test('the end of TLS is confirmed at once: the last reply of a server may come before its own end', async (t) => {
  const { secured, log } = await connect(t, false, NEVER_MS);
  secured.end(CONTENT);
  await once(secured, 'finish');
  await eventually(() => log.length > 0, 'the server has all of it');
  assert.deepEqual(log, [TLS_ENDED]);
});

test('a server that ends TLS first', async (t) => {
  const { secured, served, log } = await connect(t, false, NEVER_MS);
  served.end();
  await eventually(() => log.includes('the socket ended'), 'the socket has ended');
  assert.equal(secured.readableEnded, true);
});

test('garbage behind the end of TLS is an error of the socket', async (t) => {
  const { secured, log, relayed } = await connect(t, false, NEVER_MS);
  secured.end(CONTENT);
  await eventually(() => log.length > 0, 'the server has all of it');
  const failed = once(secured, 'error');
  relayed.write(Buffer.from('1703030020'.padEnd(74, 'f'), 'hex'));
  const [error] = (await failed) as [NodeJS.ErrnoException];
  assert.match(error.code ?? '', /^ERR_SSL_/);
});
