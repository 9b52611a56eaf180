/**
 * Servers whose numbers make arithmetic expensive: a handshake is computed on the event loop, before the server has
 * proven its identity. A failure is a gateway that answers no request for seconds.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import tls from 'node:tls';
import { after, before, describe, test } from 'node:test';
import { positiveInteger, sshString } from '../../src/base/ssh-blob.js';
import type { TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { assertServing, startWatchedGateway } from './support/loop.js';
import { MESSAGE, startRawSsh, type RawSshServer } from './support/raw-ssh.js';

/** 2^bits - 1: for these numbers of bits a known prime. */
const mersenne = (bits: number): Buffer => {
  const bytes = Buffer.alloc(Math.ceil(bits / 8), 0xff);
  bytes[0] = 0xff >> (8 * bytes.length - bits);
  return bytes;
};

describe('Diffie-Hellman groups that the server chooses', () => {
  let gateway: TestGateway;
  let ssh: RawSshServer;
  let secure: tls.Server;
  let primeBits = 4423;

  before(async () => {
    ssh = await startRawSsh(
      { kex: 'diffie-hellman-group-exchange-sha256,diffie-hellman-group-exchange-sha1' },
      (type, send) => {
        if (type !== MESSAGE.GEX_REQUEST) return;
        const prime = positiveInteger(mersenne(primeBits));
        send(Buffer.concat([Buffer.from([MESSAGE.GEX_GROUP]), sshString(prime), sshString(Buffer.from([2]))]));
      },
    );
    secure = tls.createServer({
      ...rsaCertificate(),
      maxVersion: 'TLSv1.2',
      ciphers: 'DHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-GCM-SHA384',
      dhparam: dhParameters(mersenne(9941)),
    });
    secure.on('tlsClientError', () => undefined);
    await new Promise<void>((listening) => secure.listen(0, '127.0.0.1', listening));
    const { port } = secure.address() as AddressInfo;
    const login = { host: '127.0.0.1', username: 'u', password: 'p' };
    const store = { region: 'us-east-1', bucket: 'b', accessKeyId: 'a', secretAccessKey: 's', forcePathStyle: true };
    gateway = await startWatchedGateway({
      config: {
        network: { urlFetch: { allow: ['127.0.0.0/8'] } },
        pools: { default: { connectTimeoutMs: 10_000 } },
      },
      connections: [
        { id: 'sftp', name: 'sftp', type: 'sftp', ...login, port: ssh.port },
        { id: 'legacy', name: 'legacy', type: 'sftp', ...login, port: ssh.port, algorithms: 'legacy' },
        { id: 'ftps', name: 'ftps', type: 'ftp', ...login, port, tls: 'implicit', tlsVerify: false },
        { id: 's3', name: 's3', type: 's3', ...store, endpoint: `https://127.0.0.1:${port}`, tlsVerify: false },
      ],
    });
  });
  after(async () => {
    await gateway?.stop();
    ssh?.stop();
    secure?.close();
  });

  for (const bits of [4423, 9941]) {
    test(`SSH: a prime of ${bits} bits is refused without a computation`, async () => {
      primeBits = bits;
      for (const connection of ['sftp', 'legacy']) {
        await assertServing(gateway, async () => {
          const { headers, text } = await gateway.api.get(`/api/list/${connection}?path=/`);
          assert.equal(headers['x-error-code'], 'protocol_error', text);
        });
      }
      assert.ok(!ssh.seen.includes(MESSAGE.GEX_REQUEST), 'a group was asked for');
    });
  }

  test('TLS: a group of 9,941 bits is refused without a computation', async () => {
    for (const connection of ['ftps', 's3']) {
      await assertServing(gateway, async () => {
        const { status, text } = await gateway.api.get(`/api/list/${connection}?path=/`);
        assert.equal(status, 502, text);
      });
    }
    const { port } = secure.address() as AddressInfo;
    await assertServing(gateway, async () => {
      const url = `https://127.0.0.1:${port}/f.bin`;
      const { status, text } = await gateway.api.post('/api/upload/s3', { url, filename: 'f', path: '/' });
      assert.equal(status, 502, text);
    });
  });

  after(() =>
    held({
      area: 'Attacks',
      what: 'Diffie-Hellman groups that the server chooses',
      done: 'SSH group exchange with primes of 4,423 and 9,941 bits, TLS with DHE of 9,941 bits; SFTP, FTPS, S3 and url uploads',
      held: 'no group is taken from a server: the handshake is refused, the event loop is never held for 50 ms',
      tries: 7,
    }),
  );
});

/** Self-signed, for an RSA key. */
function rsaCertificate(): { readonly cert: string; readonly key: string } {
  const request = ['req', '-x509', '-nodes', '-newkey', 'rsa:2048', '-subj', '/CN=127.0.0.1', '-keyout', '-'];
  const both = execFileSync('openssl', request, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return { cert: both, key: both };
}

/** PKCS#3 in PEM: a sequence of the prime and the generator 2. */
function dhParameters(prime: Buffer): Buffer {
  const digits = positiveInteger(prime);
  const integer = Buffer.concat([Buffer.from([2, 0x82, digits.length >> 8, digits.length & 255]), digits]);
  const content = Buffer.concat([integer, Buffer.from([2, 1, 2])]);
  const der = Buffer.concat([Buffer.from([0x30, 0x82, content.length >> 8, content.length & 255]), content]);
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return Buffer.from(['-----BEGIN DH PARAMETERS-----', ...lines, '-----END DH PARAMETERS-----', ''].join('\n'));
}
