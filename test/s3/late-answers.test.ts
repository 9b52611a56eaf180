/**
 * Answers of commands that take long: the head and white space come in time, and the end says how it went. The server
 * is held by a proxy, on both front ends.
 */
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { bytesOf, type Shot, Signer } from '../attacks/support/s3-signer.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { eventually } from '../support/eventually.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { type Proxy, startProxy } from '../support/proxy.js';
import { clientOf, PAIR } from './suite.js';

const BUCKET = 'c1';
const MIB = 1024 * 1024;
const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';

for (const frontEnd of ['uws', 'node'] as const) {
  describe(`late answers: ${frontEnd}`, { concurrency: 1 }, () => {
    let sshd: TestSshd;
    let proxy: Proxy;
    let gateway: TestGateway;
    let client: S3Client;
    let signer: Signer;
    const content = randomBytes(5 * MIB);

    before(async () => {
      sshd = await startSshd();
      mkdirSync(join(sshd.files, 'root'));
      proxy = await startProxy(sshd.port);
      const { username, clientKeyFile: privateKeyFile } = sshd;
      const place = { host: '127.0.0.1', port: proxy.port, rootPath: `${sshd.files}/root` };
      gateway = await startGateway({
        connections: [{ id: BUCKET, name: 'Server', type: 'sftp', username, privateKeyFile, ...place }],
        apiKeys: [{ name: 'test', key: KEY, s3: PAIR }],
        config: { s3: { enabled: true }, server: { frontEnd } },
      });
      // While a test waits, the gateway closes connections that are idle.
      client = clientOf(gateway, PAIR, { requestHandler: { httpAgent: { keepAlive: false } } });
      signer = new Signer(gateway.port, PAIR);
      await client.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'source.bin', Body: content }));
    });
    after(async () => {
      proxy?.release();
      client?.destroy();
      await gateway?.stop();
      await proxy?.stop();
      await sshd?.stop();
    });

    const onDisk = (key: string): Buffer => readFileSync(join(sshd.files, 'root', key));

    /** An upload with one part, and the request that completes it. */
    async function partedUpload(Key: string) {
      const at = { Bucket: BUCKET, Key };
      const { UploadId = '' } = await client.send(new CreateMultipartUploadCommand(at));
      const sent = await client.send(new UploadPartCommand({ ...at, UploadId, PartNumber: 1, Body: content }));
      const order = { ...at, UploadId, MultipartUpload: { Parts: [{ PartNumber: 1, ETag: sent.ETag }] } };
      const part = `<Part><PartNumber>1</PartNumber><ETag>${sent.ETag}</ETag></Part>`;
      const body = `<CompleteMultipartUpload>${part}</CompleteMultipartUpload>`;
      const complete: Shot = { method: 'POST', path: `/s3/${BUCKET}/${Key}`, query: `uploadId=${UploadId}`, body };
      return { at, UploadId, order, complete };
    }

    /** Sends a request; what has come so far, and the whole answer. */
    function open(shot: Shot) {
      const socket = net.connect(gateway.port, '127.0.0.1');
      const pieces: Buffer[] = [];
      socket.on('data', (piece) => pieces.push(piece));
      socket.write(bytesOf(signer.sign({ ...shot, headers: { connection: 'close', ...shot.headers } })));
      return { socket, whole: text(socket), soFar: () => Buffer.concat(pieces).toString('latin1') };
    }

    /** The body without the framing of its chunks. */
    function bodyOf(answer: string): string {
      const [, body = ''] = answer.split(/\r\n\r\n(.*)/s);
      return body.replace(/(?:^|\r\n)[\da-f]+\r\n/g, '');
    }

    test('a copy, a copied part and a completion answer 200 and white space before they end', async () => {
      const [copied, completed] = [await partedUpload('parts.bin'), await partedUpload('complete.bin')];
      const headers = { 'x-amz-copy-source': `${BUCKET}/source.bin` };
      const query = `partNumber=2&uploadId=${copied.UploadId}`;
      const held = proxy.hold(1);
      const answers = [
        { root: 'CopyObjectResult', ...open({ method: 'PUT', path: `/s3/${BUCKET}/copy.bin`, headers }) },
        { root: 'CopyPartResult', ...open({ method: 'PUT', path: `/s3/${BUCKET}/parts.bin`, query, headers }) },
        { root: 'CompleteMultipartUploadResult', ...open(completed.complete) },
      ];
      await held;
      // A second wait would take as long on the other front end.
      const mark = frontEnd === 'uws' ? `${DECLARATION}\n ` : DECLARATION;
      await eventually(() => answers.every(({ soFar }) => bodyOf(soFar()).includes(mark)), 'all have begun');
      assert.ok(answers.every(({ soFar }) => soFar().startsWith('HTTP/1.1 200 ')));
      proxy.release();
      for (const { root, whole } of answers) {
        const body = bodyOf(await whole);
        assert.ok(body.startsWith(DECLARATION), body);
        assert.match(body.slice(DECLARATION.length), new RegExp(`^\\s+<${root} .*</${root}>`));
      }
      assert.ok(onDisk('copy.bin').equals(content));
      assert.ok(onDisk('complete.bin').equals(content));
    });

    test('one that fails after its head ends in an error, which the SDK throws, and goes on when it is repeated', async () => {
      const { order, complete } = await partedUpload('failed.bin');
      const held = proxy.hold(1);
      const raw = open(complete);
      const bySdk = client.send(new CompleteMultipartUploadCommand(order)).then(
        () => assert.fail('it must fail'),
        (error: Error) => error.name,
      );
      await held;
      await eventually(() => bodyOf(raw.soFar()).includes(DECLARATION), 'the head has come');
      proxy.isDown = true;
      proxy.fail('reset');
      proxy.release();
      assert.match(bodyOf(await raw.whole), /^<\?xml[^>]*>\s+<Error><Code>ServiceUnavailable<\/Code>/);
      assert.equal(await bySdk, 'ServiceUnavailable');
      await assert.rejects(client.send(new CopyObjectCommand({ ...order, Key: 'x', CopySource: `${BUCKET}/none` })));
      proxy.isDown = false;
      await client.send(new CompleteMultipartUploadCommand(order));
      assert.ok(onDisk('failed.bin').equals(content));
    });

    test('a client that leaves after the head ends its request, and the repetition makes the file', async () => {
      const { order, complete } = await partedUpload('left.bin');
      const held = proxy.hold(1);
      const { socket, soFar, whole } = open(complete);
      await held;
      await eventually(() => bodyOf(soFar()).includes(DECLARATION), 'the head has come');
      whole.catch(() => undefined);
      socket.on('error', () => undefined).resetAndDestroy();
      await once(socket, 'close');
      proxy.release();
      const done = await client.send(new CompleteMultipartUploadCommand(order));
      const again = await client.send(new CompleteMultipartUploadCommand(order));
      assert.equal(again.ETag, done.ETag);
      assert.ok(onDisk('left.bin').equals(content));
      const { json } = await gateway.api.get('/api/transfers', { query: { type: 'upload', status: 'success' } });
      const items = (json['transfers'] as { path: string }[]).filter(({ path }) => path === '/left.bin');
      assert.equal(items.length, 1);
    });
  });
}
