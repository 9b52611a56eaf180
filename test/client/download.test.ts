/**
 * Downloads of the typed client over a line that breaks at random bytes: they continue after the last received byte,
 * and never combine two versions of a file. S3 has a strong validator; files on SFTP and FTP have a weak one, once they
 * are old enough.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { FileTransferGateway, FtgError, type Download, type FtgErrorCode } from '../../src/client/index.js';
import { OPENSSH, S3_SERVERS, VSFTPD, type ServerEntry, type TestServer } from '../servers/catalogue.js';
import { eventually } from '../support/eventually.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { KEY } from '../support/gateway.js';
import { startProxy, type Proxy } from '../support/proxy.js';
import { held } from '../support/reliability.js';
import { startFaultServer, type Reply } from './fault-server.js';

const MIB = 1024 * 1024;
const BYTES = 24 * MIB;
const CUTS = 8;

async function codeOf(promise: Promise<unknown>): Promise<FtgErrorCode> {
  const failed = await promise.then(
    () => assert.fail('it was taken for whole'),
    (thrown: unknown) => thrown,
  );
  assert.ok(failed instanceof FtgError, String(failed));
  return failed.code;
}

function suite(entry: ServerEntry): void {
  describe(`downloads from ${entry.name}`, { concurrency: 1 }, () => {
    let server: TestServer;
    let gateway: TestAccount;
    let proxy: Proxy;
    let ftg: FileTransferGateway;
    const content = randomBytes(BYTES);
    const path = (): string => `${server.base ?? ''}/cut/large.bin`;

    before(async () => {
      server = await entry.start();
      gateway = await openAccount({ connections: [{ id: 'c1', name: 'Server', ...server.connection }] });
      proxy = await startProxy(gateway.port);
      ftg = new FileTransferGateway({
        baseUrl: `http://127.0.0.1:${proxy.port}`,
        apiKey: gateway.keyOf(KEY),
        retry: { delayMs: 20 },
      });
    });
    after(async () => {
      await proxy?.stop();
      await gateway?.stop();
      await server?.stop();
    });

    /** Stores the bytes. Resolves once the gateway returns a version of the file. */
    async function storeVersioned(bytes: Buffer): Promise<void> {
      await server.disk.write(path(), bytes);
      const hasTag = async (): Promise<boolean> => {
        const { headers } = await gateway.api.send('/api/download/c1', { method: 'HEAD', query: { path: path() } });
        return headers.etag !== undefined;
      };
      await eventually(hasTag, 'the file has a tag');
    }

    async function readAtLeast(download: Download, least: number): Promise<{ readonly rest: () => Promise<Buffer> }> {
      const reader = download.body.getReader();
      const chunks: Uint8Array[] = [];
      for (let bytes = 0; bytes < least;) {
        const { value } = await reader.read();
        assert.ok(value !== undefined);
        chunks.push(value);
        bytes += value.byteLength;
      }
      return {
        rest: async () => {
          for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value);
          return Buffer.concat(chunks);
        },
      };
    }

    test('a file continues where the line broke, more often than one call is retried', async () => {
      await storeVersioned(content);
      let cuts = 0;
      const next = (): void => {
        proxy.after('down', randomInt(1, (2 * BYTES) / CUTS), () => {
          if (cuts === CUTS) return;
          cuts += 1;
          proxy.fail(cuts % 2 === 0 ? 'reset' : 'end');
          next();
        });
      };
      next();
      let last = 0;
      const asked: string[] = [];
      const expected: string[] = [];
      const watched = new FileTransferGateway({
        baseUrl: `http://127.0.0.1:${proxy.port}`,
        apiKey: gateway.keyOf(KEY),
        retry: { delayMs: 20 },
        fetch: (input, init) => {
          const { method = 'GET', headers } = init ?? {};
          const range = new Headers(headers).get('range');
          if (method === 'GET' && range !== null) {
            asked.push(range);
            expected.push(`bytes=${last}-${BYTES - 1}`);
          }
          return fetch(input, init);
        },
      });
      const download = await watched.download('c1', path(), {
        onProgress: ({ bytes, total }) => {
          assert.equal(total, BYTES);
          assert.ok(bytes > last);
          last = bytes;
        },
      });
      const hash = createHash('sha256');
      for await (const chunk of Readable.fromWeb(download.body)) hash.update(chunk as Buffer);
      assert.equal(hash.digest('hex'), createHash('sha256').update(content).digest('hex'));
      assert.equal(last, BYTES);
      assert.ok(cuts > 0);
      // Bytes in the buffers of a broken line are lost; no others are requested again.
      assert.deepEqual(asked, expected);
      assert.ok(asked.length > 0);
      held({
        area: 'Faults',
        what: 'the line breaks under a download of the typed client',
        done: 'at random bytes, from SFTP, FTP and S3',
        held: 'it continues after the last byte that arrived, and only if the validator is unchanged; the file is whole',
        tries: CUTS,
      });
    });

    test('a range continues too; and another process continues by its version', async () => {
      await storeVersioned(content);
      const [start, end] = [MIB + 7, 20 * MIB + 1];
      proxy.after('down', 5 * MIB, () => proxy.fail('reset'));
      const part = await ftg.download('c1', path(), { range: { start, end } });
      assert.ok(Buffer.from(await part.bytes()).equals(content.subarray(start, end + 1)));

      const first = await ftg.download('c1', path());
      const version = JSON.parse(JSON.stringify(first.version)) as NonNullable<Download['version']>;
      await first.body.cancel();
      let progress = 0;
      const second = await ftg.download('c1', path(), {
        resume: { bytes: 10 * MIB, version },
        onProgress: ({ bytes, total }) => {
          assert.equal(total, BYTES);
          progress = bytes;
        },
      });
      assert.equal(second.length, BYTES - 10 * MIB);
      proxy.after('down', 5 * MIB, () => proxy.fail('reset'));
      assert.ok(Buffer.from(await second.bytes()).equals(content.subarray(10 * MIB)));
      assert.equal(progress, BYTES);
    });

    test('a file that has changed meanwhile fails; two versions are never combined', async () => {
      for (const size of [BYTES, BYTES - 1, 2 * MIB]) {
        await storeVersioned(content);
        const download = await ftg.download('c1', path());
        const { version } = download;
        assert.ok(version !== undefined);
        const reading = await readAtLeast(download, 4 * MIB);
        proxy.isDown = true;
        proxy.fail('reset');
        await server.disk.write(path(), randomBytes(size));
        proxy.isDown = false;
        assert.equal(await codeOf(reading.rest()), 'file_changed', `${size} bytes`);
        const resume = { bytes: 4 * MIB, version };
        assert.equal(await codeOf(ftg.download('c1', path(), { resume })), 'file_changed', `${size} bytes`);
      }
    });

    test('attempts are limited, and the signal ends them earlier', async () => {
      await storeVersioned(content);
      const download = await ftg.download('c1', path());
      const reading = await readAtLeast(download, MIB);
      proxy.isDown = true;
      proxy.fail('reset');
      assert.equal(await codeOf(reading.rest()), 'network_error');
      proxy.isDown = false;

      const stop = new AbortController();
      const patient = new FileTransferGateway({
        baseUrl: `http://127.0.0.1:${proxy.port}`,
        apiKey: gateway.keyOf(KEY),
        retry: { delayMs: 600_000, maxDelayMs: 600_000 },
      });
      const other = await readAtLeast(await patient.download('c1', path(), { signal: stop.signal }), MIB);
      proxy.fail('reset');
      const reason = new Error('enough');
      const failed = assert.rejects(other.rest(), (thrown) => thrown === reason);
      await eventually(() => proxy.open === 0, 'the line is broken');
      stop.abort(reason);
      await failed;
    });
  });
}

for (const entry of [OPENSSH[0], VSFTPD[0], S3_SERVERS[0]]) if (entry !== undefined) suite(entry);

describe('conditions under which a download may continue', () => {
  const HALF = Buffer.alloc(50, 'a');
  /** Announces 100 bytes, and breaks off after half of them. */
  const half =
    (headers: Record<string, string>): Reply =>
    (response, request) => {
      response.sendDate = false;
      response.writeHead(200, { 'Content-Length': '100', ...headers });
      response.write(HALF, () => request.socket.destroy());
    };
  const rest =
    (status: number, headers: Record<string, string>): Reply =>
    (response, { method }) => {
      response.sendDate = false;
      const range = { 'Content-Range': 'bytes 50-99/100', 'Content-Length': '50' };
      if (method === 'HEAD') response.writeHead(200, { 'Content-Length': '100', ...headers });
      else response.writeHead(status, { ...(status === 206 ? range : {}), ...headers });
      response.end(method === 'HEAD' ? undefined : status === 206 ? HALF : Buffer.alloc(100, 'b'));
    };
  const [MODIFIED, SOON, LATER] = [
    'Sat, 31 Jan 2026 12:00:00 GMT',
    'Sat, 31 Jan 2026 12:01:00 GMT',
    'Sun, 01 Feb 2026 12:00:00 GMT',
  ];
  const WEAK = { ETag: 'W/"1"', 'Last-Modified': MODIFIED };

  for (const [name, replies, outcome] of [
    ['no validator', [half({}), rest(206, {})], 'network_error'],
    ['a date that is young', [half({ 'Last-Modified': MODIFIED, Date: SOON })], 'network_error'],
    ['a date, and none of the answer', [half({ 'Last-Modified': MODIFIED })], 'network_error'],
    ['a coding', [half({ ETag: '"1"', 'Content-Encoding': 'identity' })], 'network_error'],
    ['a strong tag', [half({ ETag: '"1"' }), rest(206, { ETag: '"1"' })], 'whole'],
    ['a strong tag, then another one', [half({ ETag: '"1"' }), rest(206, { ETag: '"2"' })], 'file_changed'],
    ['a strong tag, then none', [half({ ETag: '"1"' }), rest(206, {})], 'file_changed'],
    ['a strong tag, then the whole file', [half({ ETag: '"1"' }), rest(200, { ETag: '"2"' })], 'file_changed'],
    ['a weak tag', [half(WEAK), rest(206, WEAK)], 'whole'],
    ['a weak tag, then its date', [half(WEAK), rest(206, { 'Last-Modified': MODIFIED })], 'whole'],
    ['a weak tag, then another one', [half(WEAK), rest(206, { ...WEAK, ETag: 'W/"2"' })], 'file_changed'],
    ['a weak tag, then another date', [half(WEAK), rest(206, { 'Last-Modified': SOON })], 'file_changed'],
    ['a weak tag, then nothing', [half(WEAK), rest(206, {})], 'file_changed'],
    [
      'a weak tag, and another one once all is there',
      [half(WEAK), rest(206, WEAK), rest(206, { ETag: 'W/"2"' })],
      'file_changed',
    ],
    [
      'a date that is old, then a tag that came of age',
      [half({ 'Last-Modified': MODIFIED, Date: LATER }), rest(206, WEAK)],
      'whole',
    ],
  ] as const) {
    test(`${name}: ${outcome}`, async (t) => {
      const server = await startFaultServer(t, replies);
      const ftg = new FileTransferGateway({ baseUrl: server.url, apiKey: 'k', retry: { delayMs: 1 } });
      const { body } = await ftg.download('c', '/x');
      const read = buffer(Readable.fromWeb(body));
      if (outcome === 'whole') assert.ok((await read).equals(Buffer.alloc(100, 'a')));
      else assert.equal(await codeOf(read), outcome);
      const [, second] = server.asked;
      if (outcome === 'network_error') assert.equal(second, undefined);
      else assert.equal(second?.headers.range, 'bytes=50-99');
      const isStrong = name.startsWith('a strong');
      if (second !== undefined) assert.equal(second.headers['if-range'], isStrong ? '"1"' : undefined);
    });
  }
});
