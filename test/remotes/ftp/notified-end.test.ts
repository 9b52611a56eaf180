/** TLS that ends without close_notify was cut; a plain end must not count as the regular end of the data. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import tls from 'node:tls';
import { withNotifiedEnd } from '../../../src/remotes/ftp/session/notified-end.js';
import { makeCertificate } from '../../servers/ftp.js';

const CONTENT = 'a line\r\n'.repeat(10_000);
const TRUNCATED = new Error('truncated');

/**
 * What a reader gets from a server whose connection to us `passesEnd`, or is closed as soon as the content has arrived.
 */
async function read(passesEnd: boolean, version: tls.SecureVersion): Promise<string> {
  const place = mkdtempSync(path.join(tmpdir(), 'ftg-notified-'));
  const { keyFile, chainFile } = makeCertificate(place);
  const key = readFileSync(keyFile);
  const server = tls.createServer({ key, cert: readFileSync(chainFile), maxVersion: version, minVersion: version });
  server.on('secureConnection', (secured) => {
    secured.on('error', () => undefined);
    if (passesEnd) secured.end(CONTENT);
    else secured.write(CONTENT);
  });
  const sockets: net.Socket[] = [];
  const relay = net.createServer((client) => {
    const upstream = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
    sockets.push(client, upstream);
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.pipe(upstream);
    let bytes = 0;
    upstream.on('data', (chunk: Buffer) => {
      client.write(chunk);
      bytes += chunk.length;
      if (!passesEnd && bytes > CONTENT.length) client.end();
    });
    upstream.on('end', () => client.end());
  });
  try {
    await Promise.all([once(server.listen(0), 'listening'), once(relay.listen(0), 'listening')]);
    const socket = net.connect((relay.address() as net.AddressInfo).port, '127.0.0.1');
    const wrap = (bytes: Duplex): tls.TLSSocket => tls.connect({ socket: bytes, rejectUnauthorized: false });
    return await text(withNotifiedEnd(socket, wrap, TRUNCATED));
  } finally {
    for (const socket of sockets) socket.destroy();
    relay.close();
    server.close();
    rmSync(place, { recursive: true });
  }
}

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`${version}: an end that is notified`, async () => {
    assert.equal((await read(true, version)).length, CONTENT.length);
  });

  test(`${version}: only the end of the socket`, async () => {
    await assert.rejects(read(false, version), TRUNCATED);
  });
}
