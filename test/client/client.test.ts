/** The typed client against a running gateway. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Readable } from 'node:stream';
import { FileTransferGateway, FtgError } from '../../src/client/index.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { KEY } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import { assertFlatMemory } from '../support/memory.js';

const MiB = 1024 * 1024;

let gateway: TestAccount;
let shell: TestSshd;
let ftg: FileTransferGateway;

before(async () => {
  shell = await startSshd();
  const privateKey = readFileSync(shell.clientKeyFile, 'utf8');
  const ssh = { type: 'sftp', host: '127.0.0.1', port: shell.port, username: shell.username, privateKey };
  gateway = await openAccount({
    connections: [{ id: 'shell', name: 'Shell', ...ssh, defaultPath: shell.files }],
    sandbox: true,
    email: 'test@example.com',
  });
  ftg = new FileTransferGateway({ baseUrl: gateway.url, apiKey: gateway.keyOf(KEY) });
});

after(async () => {
  await gateway.stop();
  await shell.stop();
});

function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'none',
    (thrown: unknown) => (thrown instanceof FtgError ? thrown.code : String(thrown)),
  );
}

test('every kind of body arrives completely', async () => {
  const bytes = randomBytes(300_000);
  const bodies = {
    buffer: bytes,
    arrayBuffer: new Uint8Array(bytes).buffer,
    blob: new Blob([bytes]),
    file: new File([bytes], 'ignored'),
    readable: Readable.from([bytes.subarray(0, 7), bytes.subarray(7)]),
    webStream: new Blob([bytes]).stream(),
    function: () => new Blob([bytes]),
  };
  for (const [filename, body] of Object.entries(bodies)) {
    const { size, path } = await ftg.upload('sandbox', body, { filename, path: '/bodies' });
    assert.deepEqual([size, path], [bytes.length, `/bodies/${filename}`]);
    const download = await ftg.download('sandbox', path);
    assert.deepEqual([download.filename, download.length], [filename, bytes.length]);
    assert.ok(bytes.equals(await download.bytes()), filename);
  }
  await ftg.upload('sandbox', 'tëxt', { filename: 'text' });
  assert.equal(await (await ftg.download('sandbox', '/text')).text(), 'tëxt');
});

test('progress counts every byte, up and down', async () => {
  const seen: { bytes: number; total: number | undefined }[] = [];
  const onProgress = (one: { bytes: number; total: number | undefined }): void => void seen.push(one);
  const isRising = (): boolean => seen.every(({ bytes }, index) => bytes > (seen[index - 1]?.bytes ?? 0));
  await ftg.upload('sandbox', new Blob([randomBytes(MiB)]), { filename: 'progress', onProgress });
  assert.ok(seen.length > 1 && isRising());
  assert.deepEqual(seen.at(-1), { bytes: MiB, total: MiB });
  seen.length = 0;
  await (await ftg.download('sandbox', '/progress', { onProgress })).blob();
  assert.ok(seen.length > 1 && isRising());
  assert.deepEqual(seen.at(-1), { bytes: MiB, total: MiB });
});

test('a stream of 64 MiB goes up and comes down with constant memory', async () => {
  const block = randomBytes(64 * 1024);
  await assertFlatMemory(64 * MiB, async (size, passed) => {
    const sent = createHash('sha256');
    async function* blocks(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < size; at += block.length) {
        sent.update(block);
        // A new one each time, like from a file: blocks that are kept show in the memory.
        yield Buffer.from(block);
        passed(block.length / 2);
      }
    }
    await ftg.upload('sandbox', Readable.from(blocks()), { filename: 'big', size });
    const received = createHash('sha256');
    const { body } = await ftg.download('sandbox', '/big');
    for await (const chunk of body) {
      received.update(chunk);
      passed(chunk.length / 2);
    }
    assert.equal(received.digest('hex'), sent.digest('hex'));
  });
});

test('a signal ends an upload, and leaves nothing of it', async () => {
  const controller = new AbortController();
  const endless = Readable.from(
    (async function* () {
      for (;;) yield Buffer.alloc(64 * 1024);
    })(),
  );
  const reason = new Error('enough');
  const call = ftg.upload('sandbox', endless, {
    filename: 'aborted',
    path: '/aborted',
    signal: controller.signal,
    onProgress: ({ bytes }) => bytes > MiB && controller.abort(reason),
  });
  await assert.rejects(call, (thrown) => thrown === reason);
  assert.equal((await ftg.exists('sandbox', '/aborted/aborted')).exists, false);
});

test('a signal ends a download', async () => {
  await ftg.upload('sandbox', new Blob([Buffer.alloc(8 * MiB)]), { filename: 'long' });
  const controller = new AbortController();
  const download = await ftg.download('sandbox', '/long', { signal: controller.signal });
  const reason = new Error('enough');
  const reading = (async () => {
    for await (const _ of download.body) controller.abort(reason);
  })();
  await assert.rejects(reading, (thrown) => thrown === reason);
});

test('ranges and ETags', async () => {
  await ftg.write('sandbox', '/range', '0123456789');
  const part = await ftg.download('sandbox', '/range', { range: { start: 2, end: 4 } });
  assert.deepEqual([part.status, await part.text()], [206, '234']);
  assert.equal(await (await ftg.download('sandbox', '/range', { range: { start: 8 } })).text(), '89');
  // A file that has just been written has no ETag yet.
  let etag: string | undefined;
  await eventually(async () => {
    const whole = await ftg.download('sandbox', '/range');
    await whole.bytes();
    return (etag = whole.etag) !== undefined;
  }, 'the file has an ETag');
  const same = await ftg.download('sandbox', '/range', { ifNoneMatch: etag ?? '' });
  assert.deepEqual([same.isNotModified, (await same.bytes()).length], [true, 0]);
  assert.equal(await codeOf(ftg.download('sandbox', '/range', { range: { start: 99 } })), 'bad_range');
});

test('every other endpoint', async () => {
  assert.equal((await ftg.write('sandbox', '/f/a', 'one')).size, 3);
  assert.equal((await ftg.append('sandbox', '/f/a', new Uint8Array([0xff]))).transfer.appendedBytes, 1);
  assert.equal((await ftg.read('sandbox', '/f/a', { encoding: 'base64' })).content, 'b25l/w==');
  assert.equal((await ftg.downloadJson('sandbox', '/f/a')).content, 'b25l/w==');
  const ends = {
    source_connection_id: 'sandbox',
    source_path: '/f/a',
    dest_connection_id: 'shell',
    dest_path: 'copied',
  };
  assert.equal((await ftg.copy(ends)).fileSize, 4);
  assert.equal((await ftg.move('sandbox', '/f/a', '/f/b')).to, '/f/b');
  assert.equal((await ftg.mkdir('sandbox', '/f/g')).created, true);
  const { files } = await ftg.list('sandbox', '/f');
  assert.deepEqual(
    files.map(({ name, isDirectory }) => [name, isDirectory]),
    [
      ['g', true],
      ['b', false],
    ],
  );
  assert.equal((await ftg.exists('sandbox', '/f/b')).file?.size, 4);
  await ftg.delete('sandbox', '/f/b');
  assert.equal((await ftg.exec('shell', 'exit 3', { timeout: 5_000 })).exitCode, 3);
  assert.equal((await ftg.exec('shell', `wc -c < ${shell.files}/copied`)).stdout.trim(), '4');
  assert.deepEqual((await ftg.connections()).map(({ id }) => id).sort(), ['sandbox', 'shell']);
  assert.equal((await ftg.me()).email, 'test@example.com');
  const page = await ftg.transfers({ type: 'append' });
  assert.deepEqual([page.total, page.transfers[0]?.status], [1, 'success']);
});

test('errors contain the gateway’s text and fields', async () => {
  const missing = await ftg.read('sandbox', '/absent').catch((thrown: unknown) => thrown);
  assert.ok(missing instanceof FtgError);
  assert.deepEqual([missing.status, missing.code], [404, 'not_found']);
  assert.match(missing.requestId ?? '', /^[\w-]{36}$/);
  await ftg.upload('sandbox', 'x', { filename: 'there' });
  const skipped = await ftg.upload('sandbox', 'x', { filename: 'there', overwrite: false }).catch((e: unknown) => e);
  assert.ok(skipped instanceof FtgError && skipped.skipped);
  const stranger = new FileTransferGateway({ baseUrl: gateway.url, apiKey: 'ftg_unknown-key-0123456789-abc' });
  assert.equal(await codeOf(stranger.me()), 'unauthenticated');
  const unreachable = new FileTransferGateway({ baseUrl: 'http://127.0.0.1:1', apiKey: KEY, retry: { attempts: 1 } });
  assert.equal(await codeOf(unreachable.me()), 'network_error');
});

test('a repeated call with one key runs once', async () => {
  const options = { idempotencyKey: 'append-1' };
  await ftg.write('sandbox', '/once', 'a');
  await ftg.append('sandbox', '/once', 'b', options);
  await ftg.append('sandbox', '/once', 'b', options);
  assert.equal((await ftg.read('sandbox', '/once')).content, 'ab');
});

test('the whole history comes page by page, each item once, even if new ones arrive meanwhile', async () => {
  for (let index = 0; index < 7; index++) await ftg.exists('sandbox', `/page-${index}`);
  const all = async (): Promise<boolean> => (await ftg.transfers({ type: 'exists' })).total >= 7;
  await eventually(all, 'the items of all seven');
  const ids: string[] = [];
  for await (const { id } of ftg.allTransfers({ type: 'exists', limit: 3 })) {
    if (ids.length === 0) await ftg.exists('sandbox', '/meanwhile');
    ids.push(id);
  }
  assert.ok(ids.length >= 7);
  assert.equal(new Set(ids).size, ids.length);
});

test('watched folders', async () => {
  const folder = await ftg.createWatchedFolder({ connectionId: 'sandbox', path: '/', filePattern: '*.csv' });
  assert.deepEqual(
    (await ftg.watchedFolders()).map(({ id }) => id),
    [folder.id],
  );
  assert.match(folder.webhookSecret, /^whsec_/);
  const { webhookSecret: _, ...shown } = folder;
  assert.deepEqual(await ftg.watchedFolder(folder.id), shown);
  const changed = await ftg.changeWatchedFolder(folder.id, { filePattern: null, scheduleMinutes: 60 });
  assert.deepEqual([changed.filePattern, changed.scheduleMinutes, changed.path], [null, 60, '/']);
  await ftg.deleteWatchedFolder(folder.id);
  assert.equal(await codeOf(ftg.deleteWatchedFolder(folder.id)), 'unknown_watched_folder');
});
