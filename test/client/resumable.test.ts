/** Resumable uploads of the typed client, over a line that breaks. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { FileTransferGateway, FtgError } from '../../src/client/index.js';
import { eventually } from '../support/eventually.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { KEY } from '../support/gateway.js';
import { startProxy, type Proxy } from '../support/proxy.js';

const MIB = 1024 * 1024;
let gateway: TestAccount;
let proxy: Proxy;
let ftg: FileTransferGateway;
let folder: string;

before(async () => {
  gateway = await openAccount({ sandbox: true });
  proxy = await startProxy(gateway.port);
  const retry = { delayMs: 20 };
  ftg = new FileTransferGateway({ baseUrl: `http://127.0.0.1:${proxy.port}`, apiKey: gateway.keyOf(KEY), retry });
  folder = await mkdtemp(path.join(tmpdir(), 'ftg-client-'));
});
after(async () => {
  await proxy?.stop();
  await gateway?.stop();
  await rm(folder, { recursive: true, force: true });
});

const storedBytes = async (name: string): Promise<Buffer> =>
  (await gateway.api.get('/api/download/sandbox', { query: { path: name } })).bytes;

test('a file continues where the line broke, more often than one call is retried', async () => {
  const content = randomBytes(24 * MIB);
  const file = path.join(folder, 'large.bin');
  await writeFile(file, content);
  let breaks = 0;
  const next = (): void => {
    proxy.after('up', 3 * MIB, () => {
      proxy.fail('reset');
      if (++breaks < 6) next();
    });
  };
  next();
  const urls: string[] = [];
  let last = 0;
  const transfer = await ftg.uploadResumable(
    'sandbox',
    { size: content.length, from: (start) => createReadStream(file, { start }) },
    {
      filename: 'large.bin',
      path: '/resumable',
      mtime: '2026-01-31T12:00:00Z',
      onUrl: (url) => urls.push(url),
      onProgress: ({ bytes, total }) => {
        assert.equal(total, content.length);
        last = bytes;
      },
    },
  );
  assert.deepEqual([breaks, urls.length, last], [6, 1, content.length]);
  assert.deepEqual(
    [transfer.path, transfer.fileSize, transfer.status],
    ['/resumable/large.bin', content.length, 'success'],
  );
  assert.ok((await storedBytes('/resumable/large.bin')).equals(content));
});

test('a Blob in pieces; an empty one; names beyond ASCII', async () => {
  const content = randomBytes(3 * MIB + 7);
  for (const [filename, bytes] of [
    ['ünï-日本.bin', content],
    ['leer.bin', Buffer.alloc(0)],
  ] as const) {
    const options = { filename, path: '/resumable', pieceBytes: MIB };
    const transfer = await ftg.uploadResumable('sandbox', new Blob([bytes]), options);
    assert.deepEqual([transfer.path, transfer.fileSize], [`/resumable/${filename}`, bytes.length]);
    assert.ok((await storedBytes(`/resumable/${filename}`)).equals(bytes));
  }
});

test('another process continues by the URL; if nothing is left of the upload, it starts again', async () => {
  const content = randomBytes(8 * MIB);
  const stop = new AbortController();
  let url = '';
  const first = ftg.uploadResumable('sandbox', new Blob([content]), {
    filename: 'later.bin',
    path: '/resumable',
    pieceBytes: 2 * MIB,
    signal: stop.signal,
    onUrl: (given) => (url = given),
    onProgress: ({ bytes }) => bytes > 5 * MIB && stop.abort(new Error('the lid was closed')),
  });
  await assert.rejects(first, /the lid was closed/);
  // The abandoned request may still be running when the client has given it up.
  await eventually(async () => {
    const { headers } = await gateway.api.send(url, { method: 'HEAD', headers: { 'Tus-Resumable': '1.0.0' } });
    return Number(headers['upload-offset']) > 4 * MIB;
  }, 'the third piece is stored');
  const before = proxy.upBytes;
  const transfer = await ftg.uploadResumable('sandbox', new Blob([content]), {
    filename: 'later.bin',
    path: '/resumable',
    url,
  });
  assert.equal(transfer.fileSize, content.length);
  assert.ok(proxy.upBytes - before < 5 * MIB, `${proxy.upBytes - before} bytes were sent again`);
  assert.ok((await storedBytes('/resumable/later.bin')).equals(content));
  const gone = '/api/uploads/sandbox/0199c2f4-6f5e-7c1a-9a51-0d2f64b1d001';
  const anew = await ftg.uploadResumable('sandbox', new Blob(['x']), { filename: 'anew.bin', url: gone });
  assert.equal(anew.fileSize, 1);
});

test('impossible requests are reported, and not retried', async () => {
  await ftg.upload('sandbox', 'there', { filename: 'there.txt', path: '/resumable' });
  const options = { filename: 'there.txt', path: '/resumable', overwrite: false };
  await assert.rejects(ftg.uploadResumable('sandbox', new Blob(['other']), options), (error) => {
    assert.ok(error instanceof FtgError);
    assert.deepEqual([error.code, error.skipped], ['already_exists', true]);
    return true;
  });
  assert.equal((await storedBytes('/resumable/there.txt')).toString(), 'there');
});
