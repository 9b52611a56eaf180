/** Empty writes to TLS that a stream carries, as through a jump host: node:tls fails an assertion because of them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Duplex } from 'node:stream';
import { test, type TestContext } from 'node:test';
import tls from 'node:tls';
import { createDialer } from '../../../src/remotes/dial/dial.js';
import { createSecurity } from '../../../src/remotes/ftp/session/security.js';
import { makeCertificate } from '../../servers/ftp.js';
import { ftpConnection } from '../support/harness.js';

/** A record that TLS answers with an alert. */
const GARBAGE = Buffer.from('1703030020'.padEnd(74, 'f'), 'hex');

/** Carries the bytes of a socket, and notes how many each write has. */
class Stream extends Duplex {
  readonly lengths: number[] = [];
  readonly #socket: net.Socket;

  constructor(port: number) {
    super({ allowHalfOpen: false });
    this.#socket = net.connect(port, '127.0.0.1');
    this.#socket.on('error', () => undefined);
    this.#socket.on('data', (chunk: Buffer) => {
      this.emit('arrival');
      this.push(chunk);
    });
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.lengths.push(chunk.length);
    this.#socket.write(chunk, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}

async function streamToServer(t: TestContext): Promise<Stream> {
  const place = mkdtempSync(path.join(tmpdir(), 'ftg-empty-'));
  const { keyFile, chainFile } = makeCertificate(place);
  const [key, cert] = [readFileSync(keyFile), readFileSync(chainFile)];
  rmSync(place, { recursive: true });
  const server = tls.createServer({ key, cert }, (served) => served.on('error', () => undefined).resume());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const stream = new Stream((server.address() as net.AddressInfo).port);
  t.after(() => {
    stream.destroy();
    server.close();
  });
  return stream;
}

const asSocket = (stream: Stream): net.Socket => stream as Duplex as net.Socket;

test('behind a jump host: an alert while the end of a body is written', async (t) => {
  const stream = await streamToServer(t);
  const network = { localAddress: '', connections: { allowPrivate: true, deny: [] } };
  const dialer = createDialer({ ...network, urlFetch: { allow: [] }, webhooks: { allow: [] } }, () => []);
  const secured = await dialer.connectTls('server.example', 443, {
    purpose: 'connection',
    owner: 'a1',
    signal: new AbortController().signal,
    timeoutMs: 60_000,
    tunnel: { name: 'a jump host', connect: async () => asSocket(stream) },
    tls: { rejectUnauthorized: false },
  });
  secured.resume();
  await new Promise((done) => secured.write('a body', done));
  const failed = once(secured, 'error');
  secured.cork();
  secured.write('');
  secured.write('');
  secured.uncork();
  secured.write('');
  stream.push(GARBAGE);
  const [error] = (await failed) as [NodeJS.ErrnoException];
  assert.match(error.code ?? '', /^ERR_SSL_/);
  assert.ok(!stream.lengths.includes(0));
});

test('FTP: empty chunks during the handshake of a data connection', async (t) => {
  const stream = await streamToServer(t);
  const server = { port: 21, username: 'u', password: 'p', tls: 'explicit', ca: undefined } as const;
  const secured = createSecurity(ftpConnection(server, { tlsVerify: false })).secureData(asSocket(stream));
  stream.on('arrival', () => secured.write(''));
  secured.resume();
  await once(secured, 'secureConnect');
  await new Promise((done) => secured.write('content', done));
  assert.ok(!stream.lengths.includes(0));
});
