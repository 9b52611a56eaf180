/**
 * The server's identity in a receipt is the one that it showed on the session that did the work: also on a pooled
 * session that is older than the server's present key, and on a new one beside it.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes, randomUUID, X509Certificate } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import tls from 'node:tls';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { makeCertificate, startProftpd, type FtpServer } from '../servers/ftp.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { shareSwift, type SharedSwift } from '../servers/swift.js';
import { eventually } from '../support/eventually.js';
import { startGateway, type ApiAnswer, type TestGateway } from '../support/gateway.js';
import { startTogether } from '../support/together.js';

interface Reported {
  readonly server: { readonly type: string; readonly hostKey?: string; readonly certificate?: string };
  readonly source?: { readonly type: string; readonly host: string; readonly certificate?: string };
}

const secret = 'no-one-else-may-read-this';

describe('the identity of the server', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-proof-'));
  const identities = ['one', 'other', 'web'].map((name) => {
    const base = path.join(folder, name);
    execFileSync('mkdir', [base]);
    const made = makeCertificate(base);
    const certificate = readFileSync(made.chainFile, 'utf8');
    return { ...made, key: readFileSync(made.keyFile, 'utf8'), cert: certificate, shown: fingerprintOf(certificate) };
  });
  const [one, other, web] = identities as [(typeof identities)[0], (typeof identities)[0], (typeof identities)[0]];
  let sshd: TestSshd;
  let ftp: FtpServer;
  let swift: SharedSwift;
  const bucket = `files-${randomUUID()}`;
  let front: tls.Server;
  let site: https.Server;
  let gateway: TestGateway;
  const hostKeys: string[] = [];
  /** The certificate for a new socket of the store, and the one of the socket that a file came over. */
  let current: (typeof identities)[0];
  const carried = new Map<string, string>();

  before(async () => {
    [sshd, ftp, swift] = await startTogether([startSshd(), startProftpd({ tls: 'explicit' }), shareSwift()]);
    const nextKey = path.join(folder, 'host_key');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', nextKey]);
    hostKeys.push(hostKeyOf(sshd.hostKeyFile), hostKeyOf(nextKey));
    const { endpoint, region, accessKeyId, secretAccessKey } = swift;
    const client = new S3Client({
      endpoint,
      region,
      forcePathStyle: true,
      credentials: { accessKeyId, secretAccessKey },
    });
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    client.destroy();
    current = one;
    front = tls.createServer({ key: one.key, cert: one.cert }, (socket) => {
      const { shown } = current;
      socket.on('data', (chunk: Buffer) => {
        const name = /^GET \/files-[^/]+\/certified\/(f\d)[? ]/.exec(chunk.toString('latin1'))?.[1];
        if (name !== undefined) carried.set(name, shown);
      });
      const store = net.connect(Number(new URL(endpoint).port), '127.0.0.1');
      socket.pipe(store).pipe(socket);
      for (const end of [socket, store]) end.on('error', () => (socket.destroy(), store.destroy()));
    });
    site = https.createServer({ key: web.key, cert: web.cert }, (_, response) => response.end('from elsewhere'));
    for (const server of [front, site]) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    gateway = await startGateway({
      connections: [
        {
          id: 'sftp',
          name: 'SFTP',
          type: 'sftp',
          host: '127.0.0.1',
          port: sshd.port,
          username: sshd.username,
          privateKeyFile: sshd.clientKeyFile,
          rootPath: sshd.files,
          hostKey: hostKeys,
          digests: 'always',
        },
        {
          id: 'ftp',
          name: 'FTPS',
          type: 'ftp',
          host: '127.0.0.1',
          port: ftp.port,
          tls: 'explicit',
          username: ftp.username,
          password: ftp.password,
          tlsVerify: false,
          digests: 'always',
        },
        {
          id: 's3',
          name: 'S3',
          type: 's3',
          endpoint: `https://127.0.0.1:${portOf(front)}`,
          region,
          bucket,
          accessKeyId,
          secretAccessKey,
          tlsVerify: false,
          digests: 'always',
        },
      ],
      config: {
        network: { urlFetch: { allow: ['127.0.0.1/32'] } },
        // A second file needs a second session.
        pools: { default: { maxChannelsPerSession: 1 } },
      },
      env: { NODE_EXTRA_CA_CERTS: path.join(folder, 'web', 'ca.pem') },
    });
  });
  after(async () => {
    await gateway?.stop();
    for (const server of [front, site]) server?.close();
    site?.closeAllConnections();
    for (const server of [sshd, ftp, swift]) await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const reported = async (answer: ApiAnswer): Promise<Reported> => {
    assert.equal(answer.status, 200, answer.text);
    const { id } = answer.json['transfer'] as { id: string };
    const { status, text } = await gateway.api.get(`/api/transfers/${id}/receipt`);
    assert.equal(status, 200, text);
    return payloadOf(text);
  };
  const put = (connection: string, body: Buffer | PassThrough, length?: number): Promise<ApiAnswer> =>
    gateway.api.send(`/api/upload/${connection}`, {
      method: 'POST',
      query: { path: '/in', filename: randomBytes(8).toString('hex') },
      headers: {
        'Content-Type': 'application/octet-stream',
        ...(length === undefined ? {} : { 'Content-Length': String(length) }),
      },
      body,
    });
  const inUse = async (connection: string): Promise<void> => {
    await eventually(async () => {
      const { json } = await gateway.api.get('/api/transfers', {
        query: { status: 'pending', connection_id: connection },
      });
      return json['total'] === 1;
    }, 'the upload runs');
  };

  const changes: readonly {
    readonly connection: string;
    readonly shown: (server: Reported['server']) => string | undefined;
    readonly keys: () => readonly [string, string];
    readonly change: () => void;
  }[] = [
    {
      connection: 'sftp',
      shown: ({ hostKey }) => hostKey,
      keys: () => [hostKeys[0]!, hostKeys[1]!],
      change: () => {
        copyFileSync(path.join(folder, 'host_key'), sshd.hostKeyFile);
        const pid = readFileSync(path.join(path.dirname(sshd.hostKeyFile), 'pid'), 'utf8');
        process.kill(Number(pid), 'SIGHUP');
      },
    },
    {
      connection: 'ftp',
      shown: ({ certificate }) => certificate,
      keys: () => [fingerprintOf(readFileSync(path.join(path.dirname(ftp.folder), 'cert.pem'), 'utf8')), other.shown],
      change: () => {
        copyFileSync(other.chainFile, path.join(path.dirname(ftp.folder), 'cert.pem'));
        copyFileSync(other.keyFile, path.join(path.dirname(ftp.folder), 'key.pem'));
        process.kill(Number(readFileSync(path.join(path.dirname(ftp.folder), 'pid'), 'utf8')), 'SIGHUP');
      },
    },
  ];
  for (const { connection, shown, keys, change } of changes) {
    test(`${connection}: the key that its session has seen, even if the server shows another one now`, async () => {
      const [former, present] = keys();
      const seen = async (answer: ApiAnswer): Promise<string | undefined> => shown((await reported(answer)).server);
      assert.equal(await seen(await put(connection, Buffer.from('a'))), former);
      change();
      assert.equal(await seen(await put(connection, Buffer.from('b'))), former, 'the session is the same');
      // While a slow transfer holds that session, another one is opened.
      const slow = new PassThrough();
      const size = 3_000_000;
      const running = put(connection, slow, size);
      slow.write(Buffer.alloc(size - 1));
      await inUse(connection);
      let next: string | undefined;
      await eventually(async () => {
        const answer = await put(connection, Buffer.from('c'));
        // A restarting server refuses for a moment.
        if (answer.status === 200) next = await seen(answer);
        return next !== undefined;
      }, 'another session');
      slow.end('z');
      assert.deepEqual([await seen(await running), next], [former, present]);
    });
  }

  // A store's requests use many sockets, and some of them are older than others.
  test('s3: the certificate of the socket that the bytes have come over', async () => {
    const names = Array.from({ length: 8 }, (_, number) => `f${number}`);
    for (const filename of names) {
      const headers = { 'Content-Type': 'application/octet-stream' };
      const query = { path: '/certified', filename };
      const answer = await gateway.api.send('/api/upload/s3', { method: 'POST', query, headers, body: filename });
      assert.equal((await reported(answer)).server.certificate, one.shown);
    }
    current = other;
    front.setSecureContext({ key: other.key, cert: other.cert });
    const seen = new Set<string | undefined>();
    const download = async (name: string): Promise<void> => {
      const answer = await gateway.api.get('/api/download/s3', { query: { path: `/certified/${name}` } });
      assert.equal(answer.text, name);
    };
    await Promise.all(names.map(download));
    const { json } = await gateway.api.get('/api/transfers', { query: { type: 'download', connection_id: 's3' } });
    for (const { id, filename } of json['transfers'] as { id: string; filename: string }[]) {
      const { text } = await gateway.api.get(`/api/transfers/${id}/receipt`);
      const { server } = payloadOf(text);
      assert.equal(server.certificate, carried.get(filename), filename);
      seen.add(server.certificate);
    }
    assert.deepEqual([...seen].sort(), [one.shown, other.shown].sort());
  });

  test('the server of a url, by its certificate, without any part of the url that may be a secret', async () => {
    const host = `127.0.0.1:${portOf(site)}`;
    const url = `https://user:${secret}@${host}/${secret}?token=${secret}`;
    const answer = await gateway.api.post('/api/upload/sftp', { url, path: '/in', filename: 'fetched' });
    const { source, ...receipt } = await reported(answer);
    assert.deepEqual(source, { type: 'url', host, certificate: web.shown });
    assert.doesNotMatch(JSON.stringify(receipt), new RegExp(secret));
  });
});

function payloadOf(receipt: string): Reported {
  return JSON.parse(Buffer.from(receipt.split('.')[1]!, 'base64url').toString()) as Reported;
}

function fingerprintOf(certificate: string): string {
  return createHash('sha256').update(new X509Certificate(certificate).raw).digest('hex');
}

/** In the form of OpenSSH. */
function hostKeyOf(file: string): string {
  writeFileSync(`${file}.public`, execFileSync('ssh-keygen', ['-y', '-f', file]));
  return execFileSync('ssh-keygen', ['-lf', `${file}.public`], { encoding: 'utf8' }).split(' ')[1]!;
}

function portOf(server: net.Server): number {
  return (server.address() as AddressInfo).port;
}
