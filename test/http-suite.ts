/**
 * What a client may expect of every server, tested over HTTP and checked on the server's own disk. A separate gateway
 * process serves each server; `connection` c1 leads there.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { KEY, startGateway, type ApiAnswer, type TestGateway } from './support/gateway.js';
import { RawClient } from './http/support/raw-client.js';
import { startPostgres, type PostgresServer } from './servers/postgres.js';
import { appendRules } from './conformance/append-rules.js';
import { digestRules } from './conformance/digest-rules.js';
import { folderRules } from './conformance/folder-rules.js';
import { linkRules } from './conformance/link-rules.js';
import { placeRules } from './conformance/place-rules.js';
import { treeRules } from './conformance/tree-rules.js';
import { validatorRules } from './conformance/validator-rules.js';
import type { ServerEntry, TestServer } from './servers/catalogue.js';
import { eventually } from './support/eventually.js';
import { assertRecent } from './support/recent.js';

/** Files of this run are not older. */
const BEGUN = Date.now();
/** Some listings show whole minutes. */
const CLOCKS_APART_MS = 60_000;

const MIB = 1024 * 1024;
const READ_LIMIT = MIB;

/** Names that file servers see in practice. */
const NAMES = [
  'plain.txt',
  'with space.txt',
  'q\'uo"te.txt',
  'ünï-日本-👍.txt',
  'per%20cent%.txt',
  'pl+us & more.txt',
  '#hash;semi,comma=.txt',
  'st*r[1]?.txt',
  '-la',
  '.dotfile',
  'back\\slash',
  'tilde~!@$().txt',
  `${'x'.repeat(200)}.bin`,
];

interface History {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly path: string;
  readonly filename: string;
  readonly fileSize: number;
  readonly direction: string;
  readonly connectionId: string;
  readonly errorMessage: string | null;
}

export function httpSuite(entry: ServerEntry): void {
  if (entry.isSeamOnly === true) return;
  // One after the other: many check the newest item of the history.
  describe(`every operation over HTTP on ${entry.name}`, { concurrency: 1 }, () => {
    let server: TestServer;
    let database: PostgresServer | undefined;
    let gateway: TestGateway;
    let origin: http.Server;
    let originUrl: string;
    let count = 0;

    before(async () => {
      server = await entry.start();
      if (entry.database === 'server') database = await startPostgres();
      gateway = await startGateway({
        connections: [
          { id: 'c1', name: 'Server', ...server.connection },
          { id: 'proven', name: 'Proven', ...server.connection, digests: 'always', verify: 'readback' },
          ...(isS3() ? [] : [{ id: 'in-place', name: 'In place', ...server.connection, atomicUploads: false }]),
        ],
        config: {
          limits: { readBytes: READ_LIMIT },
          // Many wait at once, on a busy machine for longer.
          pools: { default: { acquireTimeoutMs: 120_000 } },
          network: { urlFetch: { allow: ['127.0.0.1/32'] } },
          ...(database === undefined ? {} : { database: { url: database.url } }),
        },
      });
      origin = http.createServer(serveOrigin).listen(0, '127.0.0.1');
      await once(origin, 'listening');
      originUrl = `http://127.0.0.1:${(origin.address() as net.AddressInfo).port}`;
    });

    after(async () => {
      origin?.closeAllConnections();
      origin?.close();
      await gateway?.stop();
      await database?.stop();
      await server?.stop();
    });

    /** A folder that no other case uses; it does not exist yet. */
    const newFolder = (): string => `/case-${++count}`;
    const isS3 = (): boolean => server.connection.type === 's3';

    const uploadRaw = (query: Record<string, string>, body: Buffer | string | Readable, headers = {}) =>
      gateway.api.send('/api/upload/c1', {
        method: 'POST',
        query,
        body,
        headers: { 'Content-Type': 'application/octet-stream', ...headers },
      });
    const download = (path: string, headers: Record<string, string> = {}): Promise<ApiAnswer> =>
      gateway.api.get('/api/download/c1', { query: { path }, headers });
    const list = async (path: string): Promise<{ name: string; isDirectory: boolean; size: number }[]> => {
      const answer = await gateway.api.get('/api/list/c1', { query: { path } });
      assert.equal(answer.status, 200, answer.text);
      return answer.json['files'] as { name: string; isDirectory: boolean; size: number }[];
    };
    const newest = async (type: string): Promise<History> => {
      const answer = await gateway.api.get('/api/transfers', { query: { type, limit: '1' } });
      const [item] = answer.json['transfers'] as History[];
      assert.ok(item, `the history holds no ${type}`);
      return item;
    };

    function expectError(answer: ApiAnswer, status: number, text?: RegExp): void {
      assert.equal(answer.status, status, answer.text);
      const { error, ...rest } = answer.json;
      assert.equal(typeof error, 'string');
      assert.deepEqual(Object.keys(rest), status === 409 && 'skipped' in rest ? ['skipped'] : []);
      if (text !== undefined) assert.match(error as string, text);
      assert.ok(answer.headers['x-error-code']);
    }

    test('a raw upload: the bytes, the answer, the history', async () => {
      const folder = `${newFolder()}/made/on the way`;
      const content = randomBytes(3 * MIB + 17);
      const answer = await uploadRaw({ path: folder, filename: 'data.bin' }, content);
      assert.equal(answer.status, 200, answer.text);
      const { transfer, success } = answer.json as { success: boolean; transfer: Record<string, unknown> };
      assert.equal(success, true);
      const { id, durationMs, ...facts } = transfer;
      assert.deepEqual(facts, {
        filename: 'data.bin',
        path: `${folder}/data.bin`,
        size: content.length,
        connection: { id: 'c1', name: 'Server', type: server.connection.type },
      });
      assert.ok(Number.isInteger(durationMs));
      assert.deepEqual(await server.disk.files(folder), [`${folder}/data.bin`]);
      assert.ok(content.equals(await server.disk.read(`${folder}/data.bin`)));
      const item = await newest('upload');
      assert.deepEqual(
        [item.id, item.status, item.path, item.filename, item.fileSize, item.direction, item.errorMessage],
        [id, 'success', `${folder}/data.bin`, 'data.bin', content.length, 'outbound', null],
      );
    });

    for (const size of [0, 1, 32 * 1024, 64 * 1024 + 1, 5 * MIB, 17 * MIB + 3]) {
      test(`${size} bytes are stored and read back unchanged, of known and of unknown length`, async () => {
        const folder = newFolder();
        const content = randomBytes(size);
        const pieces = function* (): Generator<Buffer> {
          for (let at = 0; at < size; at += 100_000) yield content.subarray(at, at + 100_000);
        };
        for (const [name, body] of [
          ['known', content],
          ['unknown', Readable.from(pieces())],
        ] as const) {
          const answer = await uploadRaw({ path: folder, filename: name }, body);
          assert.equal(answer.status, 200, answer.text);
          assert.equal((answer.json['transfer'] as { size: number }).size, size);
          assert.ok(content.equals(await server.disk.read(`${folder}/${name}`)), `${name} on disk`);
          const down = await download(`${folder}/${name}`);
          assert.equal(down.headers['content-length'], String(size));
          assert.ok(content.equals(down.bytes), `${name} downloaded`);
        }
        assert.equal((await server.disk.files(folder)).length, 2);
      });
    }

    test('a replaced file is complete, old or new, never mixed', async () => {
      const folder = newFolder();
      await uploadRaw({ path: folder, filename: 'f' }, 'a much longer text than the next');
      await uploadRaw({ path: folder, filename: 'f' }, 'short');
      assert.equal((await server.disk.read(`${folder}/f`)).toString(), 'short');
      assert.deepEqual(await server.disk.files(folder), [`${folder}/f`]);
    });

    test('a multipart upload with its fields before and after the file', async () => {
      const folder = newFolder();
      const field = (name: string, value: string): string =>
        `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
      const content = randomBytes(MIB);
      const file = [
        Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="own name.bin"\r\n\r\n'),
        content,
        Buffer.from('\r\n'),
      ];
      const send = (...parts: (string | Buffer)[]) =>
        gateway.api.send('/api/upload/c1', {
          method: 'POST',
          headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
          body: Buffer.concat([...parts, '--b--\r\n'].map((part) => Buffer.from(part as string))),
        });
      const answers = [
        await send(field('path', folder), ...file),
        await send(...file, field('filename', 'after.bin'), field('path', `${folder}/below`)),
        await send(field('filename', 'before.bin'), field('path', folder), ...file),
      ];
      for (const answer of answers) assert.equal(answer.status, 200, answer.text);
      const expected = [`${folder}/before.bin`, `${folder}/below/after.bin`, `${folder}/own name.bin`];
      assert.deepEqual(await server.disk.files(folder), expected);
      for (const path of expected) assert.ok(content.equals(await server.disk.read(path)), path);
    });

    test('a JSON upload in base64, the content first or last', async () => {
      const folder = newFolder();
      const bytes = randomBytes(700_001);
      const content = bytes.toString('base64');
      for (const body of [
        { filename: 'last.bin', path: folder, content },
        { content, filename: 'first.bin', path: folder },
      ]) {
        const answer = await gateway.api.post('/api/upload/c1', body);
        assert.equal(answer.status, 200, answer.text);
      }
      for (const name of ['first.bin', 'last.bin'])
        assert.ok(bytes.equals(await server.disk.read(`${folder}/${name}`)));
      assert.equal((await server.disk.files(folder)).length, 2);
    });

    test('a url upload takes the name from the answer, from the address or from the field', async () => {
      const folder = newFolder();
      for (const fields of [
        { url: `${originUrl}/disposition` },
        { url: `${originUrl}/file%20name.bin?x=1` },
        { url: `${originUrl}/redirect/3`, filename: 'given.bin' },
      ]) {
        const answer = await gateway.api.post('/api/upload/c1', { ...fields, path: folder });
        assert.equal(answer.status, 200, answer.text);
      }
      const names = ['file name.bin', 'from header ü.bin', 'given.bin'].map((name) => `${folder}/${name}`);
      assert.deepEqual(await server.disk.files(folder), names);
      for (const name of names) assert.equal((await server.disk.read(name)).toString(), ORIGIN_TEXT);
    });

    test('a url that fails leaves nothing', async () => {
      const folder = newFolder();
      const send = (path: string): Promise<ApiAnswer> =>
        gateway.api.post('/api/upload/c1', { url: originUrl + path, path: folder, filename: 'f' });
      expectError(await send('/missing'), 502, /404/);
      expectError(await send('/redirect/6'), 502, /redirect/);
      expectError(await send('/short'), 502);
      expectError(await send('/short-chunked'), 502);
      assert.deepEqual(await server.disk.files(folder), []);
    });

    test('a template names the file', async () => {
      const folder = newFolder();
      const answer = await uploadRaw(
        { path: folder, filename: 'report.csv', filename_template: '{name}-{date}-{uuid}' },
        'x',
      );
      assert.equal(answer.status, 200, answer.text);
      const { filename } = answer.json['transfer'] as { filename: string };
      assert.match(filename, /^report-\d{4}-\d\d-\d\d-[0-9a-f-]{36}\.csv$/);
      assert.deepEqual(await server.disk.files(folder), [`${folder}/${filename}`]);
    });

    test('overwrite=false: in the query, in a form field, in JSON; the file is kept', async () => {
      const folder = newFolder();
      const first = await uploadRaw({ path: folder, filename: 'f', overwrite: 'false' }, 'first');
      assert.equal(first.status, 200, first.text);
      const again = [
        await uploadRaw({ path: folder, filename: 'f', overwrite: 'false' }, 'second'),
        await gateway.api.post('/api/upload/c1', { filename: 'f', path: folder, overwrite: false, content: 'AAAA' }),
        await gateway.api.post('/api/upload/c1', { content: 'AAAA', overwrite: false, path: folder, filename: 'f' }),
        await gateway.api.post('/api/upload/c1', {
          url: `${originUrl}/file`,
          filename: 'f',
          path: folder,
          overwrite: false,
        }),
      ];
      for (const answer of again) {
        expectError(answer, 409);
        assert.equal(answer.json['skipped'], true);
      }
      assert.equal((await server.disk.read(`${folder}/f`)).toString(), 'first');
      assert.deepEqual(await server.disk.files(folder), [`${folder}/f`]);
    });

    test('if eight uploads run at once with overwrite=false, exactly one wins', async () => {
      const folder = newFolder();
      await gateway.api.post('/api/mkdir/c1', { path: folder });
      const contents = Array.from({ length: 8 }, (_, index) => Buffer.alloc(100_000, index + 1));
      const answers = await Promise.all(
        contents.map((content) => uploadRaw({ path: folder, filename: 'race', overwrite: 'false' }, content)),
      );
      const winners = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []));
      assert.equal(winners.length, 1, answers.map(({ status, text }) => `${status} ${text}`).join('\n'));
      for (const answer of answers) if (answer.status !== 200) expectError(answer, 409);
      assert.ok(contents[winners[0] ?? -1]?.equals(await server.disk.read(`${folder}/race`)));
      assert.deepEqual(await server.disk.files(folder), [`${folder}/race`]);
    });

    for (const name of NAMES) {
      test(`the name ${name.slice(0, 40)} works in every operation`, async () => {
        if (server.deviations.refusesName?.(name) === true) {
          const answer = await uploadRaw({ path: '/', filename: name }, 'text');
          assert.ok(answer.status >= 400, `${answer.status}: this server was thought to refuse such a name`);
          return;
        }
        const folder = newFolder();
        const path = `${folder}/${name}`;
        assert.equal((await uploadRaw({ path: folder, filename: name }, 'text')).status, 200);
        assert.equal((await server.disk.read(path)).toString(), 'text');
        const down = await download(path);
        assert.equal(down.text, 'text');
        assert.match(down.headers['content-disposition'] ?? '', /^attachment; filename/);
        assert.deepEqual(
          (await list(folder)).map((file) => file.name),
          [name],
        );
        const exists = (await gateway.api.get('/api/exists/c1', { query: { path } })).json;
        assert.equal((exists['file'] as { name: string }).name, name);
        const moved = await gateway.api.post('/api/move/c1', { from: path, to: `${folder}/sub/${name}` });
        assert.equal(moved.status, 200, moved.text);
        assert.deepEqual(await server.disk.files(folder), [`${folder}/sub/${name}`]);
        const deleted = await gateway.api.post('/api/delete/c1', { path: `${folder}/sub/${name}` });
        assert.equal(deleted.status, 200, deleted.text);
        assert.deepEqual(await server.disk.files(folder), []);
      });
    }

    test('a file that others stored is downloaded unchanged', async () => {
      const folder = newFolder();
      const content = randomBytes(2 * MIB + 5);
      const before = Date.now();
      await server.disk.write(`${folder}/theirs.csv`, content);
      const answer = await download(`${folder}/theirs.csv`);
      assert.equal(answer.status, 200);
      assert.ok(content.equals(answer.bytes));
      assert.equal(answer.headers['content-type'], 'text/csv; charset=utf-8');
      assert.equal(answer.headers['accept-ranges'], 'bytes');
      assert.equal(answer.headers['content-disposition'], 'attachment; filename="theirs.csv"');
      const modified = Date.parse(answer.headers['last-modified'] ?? '');
      assertRecent(modified, before, CLOCKS_APART_MS);
      const item = await newest('download');
      assert.deepEqual([item.status, item.fileSize, item.direction], ['success', content.length, 'inbound']);
    });

    test('ranges, HEAD and conditions', async () => {
      const folder = newFolder();
      const path = `${folder}/digits.bin`;
      const content = randomBytes(300_000);
      await server.disk.write(path, content);
      for (const [range, start, end] of [
        ['bytes=0-0', 0, 0],
        ['bytes=100000-199999', 100_000, 199_999],
        ['bytes=299999-', 299_999, 299_999],
        ['bytes=-70000', 230_000, 299_999],
        ['bytes=-300001', 0, 299_999],
        ['bytes=5-99999999', 5, 299_999],
      ] as const) {
        const answer = await download(path, { Range: range });
        assert.equal(answer.status, 206, range);
        assert.equal(answer.headers['content-range'], `bytes ${start}-${end}/300000`);
        assert.ok(content.subarray(start, end + 1).equals(answer.bytes), range);
      }
      for (const range of ['bytes=9-1', 'bytes=0-1,9-1'])
        assert.equal((await download(path, { Range: range })).bytes.length, 300_000, range);
      for (const range of ['bytes=300000-', 'bytes=-0']) expectError(await download(path, { Range: range }), 416);
      const head = await gateway.api.send('/api/download/c1', { method: 'HEAD', query: { path } });
      assert.deepEqual([head.status, head.headers['content-length'], head.bytes.length], [200, '300000', 0]);
      const changed = await download(path, { Range: 'bytes=0-9', 'If-Range': '"another"' });
      assert.deepEqual([changed.status, changed.bytes.length], [200, 300_000]);
    });

    test('a download as JSON', async () => {
      const folder = newFolder();
      const content = randomBytes(1_000_001);
      await server.disk.write(`${folder}/f.bin`, content);
      const answer = await gateway.api.get('/api/download/c1', {
        query: { path: `${folder}/f.bin`, format: 'json' },
      });
      const { content: text, ...facts } = answer.json;
      assert.deepEqual(facts, {
        success: true,
        filename: 'f.bin',
        path: `${folder}/f.bin`,
        size: content.length,
        encoding: 'base64',
      });
      assert.ok(content.equals(Buffer.from(text as string, 'base64')));
      assert.equal(Number(answer.headers['content-length']), answer.bytes.length);
    });

    test('read: text, base64, bytes that are not text, a file that is too large', async () => {
      const folder = newFolder();
      const text = 'Grüße, 世界\n"quoted"\t\\ \u0001';
      await server.disk.write(`${folder}/t.txt`, text);
      await server.disk.write(`${folder}/b.bin`, Buffer.from([0xff, 0xfe, 0x00]));
      await server.disk.write(`${folder}/big`, Buffer.alloc(READ_LIMIT + 1));
      await server.disk.write(`${folder}/fits`, Buffer.alloc(READ_LIMIT, 0x61));
      const read = (name: string, encoding?: string): Promise<ApiAnswer> =>
        gateway.api.get('/api/read/c1', { query: { path: `${folder}/${name}`, encoding } });
      assert.deepEqual((await read('t.txt')).json, {
        success: true,
        content: text,
        encoding: 'text',
        size: Buffer.byteLength(text),
        path: `${folder}/t.txt`,
      });
      const binary = await read('b.bin', 'base64');
      assert.deepEqual([binary.json['content'], binary.json['encoding'], binary.json['size']], ['//4A', 'base64', 3]);
      expectError(await read('b.bin'), 400, /encoding=base64/);
      expectError(await read('big'), 413);
      assert.equal((await read('fits')).json['size'], READ_LIMIT);
    });

    test('write creates and replaces; append adds, and only to an existing file', async () => {
      const folder = newFolder();
      const path = `${folder}/w.txt`;
      const write = (body: object): Promise<ApiAnswer> => gateway.api.post('/api/write/c1', body);
      const append = (body: object): Promise<ApiAnswer> => gateway.api.post('/api/append/c1', body);
      assert.deepEqual((await write({ path, content: 'Zeile ä\n' })).json, { success: true, path, size: 9 });
      assert.deepEqual((await write({ content: 'b25l', encoding: 'base64', path })).json, {
        success: true,
        path,
        size: 3,
      });
      assert.equal((await server.disk.read(path)).toString(), 'one');
      if (isS3()) {
        expectError(await append({ path, content: 'x' }), 400, /S3/);
        return;
      }
      const appended = await append({ path, content: ' twö' });
      assert.equal(appended.status, 200, appended.text);
      const { id, durationMs, ...facts } = appended.json['transfer'] as Record<string, unknown>;
      assert.deepEqual(facts, {
        filename: 'w.txt',
        path,
        appendedBytes: 5,
        connection: { id: 'c1', name: 'Server', type: server.connection.type },
      });
      assert.ok(typeof id === 'string' && Number.isInteger(durationMs));
      assert.equal((await append({ path, encoding: 'base64', content: 'IQ==' })).status, 200);
      assert.equal((await server.disk.read(path)).toString(), 'one twö!');
      expectError(await append({ path: `${folder}/absent`, content: 'x' }), 404);
      assert.deepEqual(await server.disk.files(folder), [path]);
    });

    test('many concurrent appends are all in the file, each in one piece', async () => {
      if (isS3()) return;
      const path = `${newFolder()}/log`;
      await server.disk.write(path, 'first\n');
      const lines = Array.from({ length: 12 }, (_, number) => `${number} ${'x'.repeat(number * 1000)}\n`);
      const answers = await Promise.all(lines.map((content) => gateway.api.post('/api/append/c1', { path, content })));
      for (const answer of answers) assert.equal(answer.status, 200, answer.text);
      const [first, ...others] = (await server.disk.read(path)).toString().split(/(?<=\n)/);
      assert.equal(first, 'first\n');
      assert.deepEqual(others.toSorted(), lines.toSorted());
    });

    test('delete: a file, a missing one, a folder', async () => {
      const folder = newFolder();
      await server.disk.write(`${folder}/f`, 'x');
      const remove = (path: string): Promise<ApiAnswer> => gateway.api.post('/api/delete/c1', { path });
      expectError(await remove(folder), 409);
      assert.deepEqual((await remove(`${folder}/f`)).json, { success: true, path: `${folder}/f` });
      expectError(await remove(`${folder}/f`), 404);
      assert.deepEqual(await server.disk.files(folder), []);
    });

    test('move: into a new folder, onto a file, of a missing one', async () => {
      const folder = newFolder();
      await server.disk.write(`${folder}/a`, 'a');
      await server.disk.write(`${folder}/b`, 'b');
      const move = (from: string, to: string, more: object = {}): Promise<ApiAnswer> =>
        gateway.api.post('/api/move/c1', { from: `${folder}/${from}`, to: `${folder}/${to}`, ...more });
      expectError(await move('a', 'b'), 409);
      assert.equal((await server.disk.read(`${folder}/b`)).toString(), 'b');
      const replaced = await move('a', 'b', { overwrite: true });
      assert.equal(replaced.status, 200, replaced.text);
      assert.equal((await server.disk.read(`${folder}/b`)).toString(), 'a');
      const moved = await move('b', 'x/y/c');
      assert.equal(moved.status, 200, moved.text);
      const { durationMs, transfer, ...facts } = moved.json;
      assert.deepEqual(facts, { success: true, from: `${folder}/b`, to: `${folder}/x/y/c` });
      assert.ok(Number.isInteger(durationMs) && typeof (transfer as { id: unknown }).id === 'string');
      assert.deepEqual(await server.disk.files(folder), [`${folder}/x/y/c`]);
      expectError(await move('nothing', 'd'), 404);
    });

    test('mkdir: new, with parents, again, onto a file', async () => {
      const folder = newFolder();
      const mkdir = (path: string): Promise<ApiAnswer> => gateway.api.post('/api/mkdir/c1', { path });
      const path = `${folder}/deep/down`;
      assert.deepEqual((await mkdir(path)).json, { success: true, path, created: true });
      assert.deepEqual((await mkdir(path)).json, { success: true, path, created: false });
      assert.deepEqual(
        (await list(`${folder}/deep`)).map(({ name, isDirectory }) => [name, isDirectory]),
        [['down', true]],
      );
      await server.disk.write(`${folder}/file`, 'x');
      expectError(await mkdir(`${folder}/file`), 409);
    });

    test('list: sorted, folders first, complete; a missing folder; a file', async () => {
      const folder = newFolder();
      for (const name of ['b.txt', 'a.txt', 'Z.txt', 'ä.txt']) await server.disk.write(`${folder}/${name}`, 'four');
      await server.disk.write(`${folder}/sub2/f`, 'x');
      await server.disk.write(`${folder}/sub1/f`, 'x');
      const files = await list(folder);
      assert.deepEqual(
        files.map((file) => file.name),
        ['sub1', 'sub2', 'Z.txt', 'a.txt', 'b.txt', 'ä.txt'],
      );
      assert.deepEqual(
        files.map((file) => [file.isDirectory, file.size]),
        [[true, 0], [true, 0], ...Array.from({ length: 4 }, () => [false, 4])],
      );
      const [, , first] = files as unknown as { path: string; modifiedAt: string }[];
      assert.equal(first?.path, `${folder}/Z.txt`);
      assertRecent(first.modifiedAt, BEGUN, CLOCKS_APART_MS);
      expectError(await gateway.api.get('/api/list/c1', { query: { path: `${folder}/absent` } }), 404);
      const ofFile = await gateway.api.get('/api/list/c1', { query: { path: `${folder}/a.txt` } });
      expectError(ofFile, 409);
      await eventually(async () => {
        const { json } = await gateway.api.get('/api/transfers', { query: { type: 'list', limit: '1' } });
        return (json['transfers'] as History[])[0]?.status === 'failed';
      }, 'the failed listing is in the history');
    });

    test('a folder of many files is listed completely', async () => {
      const folder = newFolder();
      // More than three pages: those of the store are short.
      const length = isS3() ? 130 : 1_100;
      const names = Array.from({ length }, (_, index) => `f${String(index).padStart(4, '0')}`);
      for (let at = 0; at < names.length; at += 50) {
        await Promise.all(names.slice(at, at + 50).map((name) => server.disk.write(`${folder}/${name}`, '')));
      }
      assert.deepEqual(
        (await list(folder)).map((file) => file.name),
        names,
      );
    });

    test('exists: a file, a folder, a missing one', async () => {
      const folder = newFolder();
      await server.disk.write(`${folder}/f.txt`, 'three');
      const exists = async (path: string): Promise<Record<string, unknown>> =>
        (await gateway.api.get('/api/exists/c1', { query: { path } })).json;
      const found = (await exists(`${folder}/f.txt`)) as { exists: boolean; file: Record<string, unknown> };
      const { modifiedAt, mode: _mode, owner: _owner, group: _group, ...facts } = found.file;
      assert.equal(found.exists, true);
      assert.deepEqual(facts, { name: 'f.txt', path: `${folder}/f.txt`, size: 5, isDirectory: false });
      assert.ok(!Number.isNaN(Date.parse(modifiedAt as string)));
      assert.equal(((await exists(folder)) as { file: { isDirectory: boolean } }).file.isDirectory, true);
      assert.deepEqual(await exists(`${folder}/absent`), { exists: false, file: null });
      assert.deepEqual(await exists('/no/such/folder/f'), { exists: false, file: null });
    });

    test('exec', async () => {
      const exec = (body: object): Promise<ApiAnswer> => gateway.api.post('/api/exec/c1', body);
      if (server.connection.type !== 'sftp') return expectError(await exec({ command: 'true' }), 400);
      if (server.deviations.noShell !== undefined) {
        const answer = await exec({ command: 'id -u' });
        // The server refuses the command, or runs the allowed one in its place.
        assert.ok([400, 502].includes(answer.status) || (answer.json['exitCode'] ?? 0) !== 0, answer.text);
        return;
      }
      const { durationMs, ...facts } = (await exec({ command: 'echo out; echo err >&2; exit 3' })).json;
      assert.deepEqual(facts, { success: true, exitCode: 3, stdout: 'out\n', stderr: 'err\n' });
      assert.ok(Number.isInteger(durationMs));
      assert.equal((await exec({ command: 'kill -TERM $$' })).json['exitCode'], 143);
      expectError(await exec({ command: 'sleep 20', timeout: 300 }), 504);
      assert.equal((await exec({ command: 'echo again' })).json['stdout'], 'again\n');
    });

    test('copy within the connection, and never onto itself', async () => {
      const folder = newFolder();
      const content = randomBytes(900_000);
      await server.disk.write(`${folder}/a.bin`, content);
      const copy = (to: string, more: object = {}): Promise<ApiAnswer> =>
        gateway.api.post('/api/copy', {
          source_connection_id: 'c1',
          source_path: `${folder}/a.bin`,
          dest_connection_id: 'c1',
          dest_path: `${folder}/${to}`,
          ...more,
        });
      const copied = await copy('new/b.bin');
      assert.equal(copied.status, 200, copied.text);
      const { durationMs, ...facts } = copied.json;
      assert.ok(Number.isInteger(durationMs));
      assert.deepEqual(facts, {
        success: true,
        source: { connectionId: 'c1', path: `${folder}/a.bin` },
        destination: { connectionId: 'c1', path: `${folder}/new/b.bin` },
        fileSize: content.length,
      });
      assert.ok(content.equals(await server.disk.read(`${folder}/new/b.bin`)));
      const again = await copy('new/b.bin', { overwrite: false });
      expectError(again, 409);
      assert.equal(again.json['skipped'], true);
      expectError(await copy('a.bin'), 409);
      assert.ok(content.equals(await server.disk.read(`${folder}/a.bin`)));
      assert.equal((await newest('copy')).status, 'failed');
    });

    placeRules(() => ({ gateway, server, newFolder }));
    appendRules(() => ({ gateway, server, newFolder }));
    validatorRules(() => ({ gateway, server, newFolder }));
    treeRules(() => ({ gateway, server, newFolder }));
    folderRules(() => ({ gateway, server, newFolder }));
    digestRules(() => ({ gateway, server, newFolder }));
    linkRules(() => ({ gateway, server, newFolder }));

    test('Content-Digest: right, wrong; the former file is kept', async () => {
      const folder = newFolder();
      const digest = (content: string): string => `sha-256=:${createHash('sha256').update(content).digest('base64')}:`;
      const query = { path: folder, filename: 'f' };
      assert.equal((await uploadRaw(query, 'good', { 'Content-Digest': digest('good') })).status, 200);
      expectError(await uploadRaw(query, 'bad', { 'Content-Digest': digest('other') }), 400, /Content-Digest/);
      assert.equal((await server.disk.read(`${folder}/f`)).toString(), 'good');
      assert.deepEqual(await server.disk.files(folder), [`${folder}/f`]);
    });

    test('Idempotency-Key: the first answer again, nothing done twice', async () => {
      const folder = newFolder();
      const headers = { 'Idempotency-Key': randomBytes(8).toString('hex') };
      const first = await uploadRaw({ path: folder, filename: 'f' }, 'one', headers);
      assert.equal(first.status, 200, first.text);
      await server.disk.write(`${folder}/f`, 'changed since');
      const second = await uploadRaw({ path: folder, filename: 'f' }, 'one', headers);
      assert.deepEqual([second.status, second.text], [200, first.text]);
      assert.equal((await server.disk.read(`${folder}/f`)).toString(), 'changed since');
      expectError(await uploadRaw({ path: folder, filename: 'other' }, 'one', headers), 422);
      expectError(await uploadRaw({ path: folder, filename: 'f' }, 'two', headers), 422);
    });

    describe('a source that stops early is never published', () => {
      const sent = randomBytes(2 * MIB);
      /** Sends `parts` on a separate socket and cuts it once the gateway has had time to read them. */
      async function cut(head: readonly string[], ...parts: (string | Buffer)[]): Promise<void> {
        const socket = net.connect(gateway.port, '127.0.0.1');
        await once(socket, 'connect');
        const lines = [...head, 'Host: gateway', `Authorization: Bearer ${KEY}`, '', ''];
        for (const part of [lines.join('\r\n'), ...parts]) {
          if (!socket.write(part)) await once(socket, 'drain');
        }
        // The cut comes in the middle of the transfer: once the operation is in the history.
        await eventually(async () => {
          const answer = await gateway.api.get('/api/transfers', { query: { type: 'upload', status: 'pending' } });
          return answer.json['total'] === 1;
        }, 'the upload runs');
        socket.resetAndDestroy();
      }

      async function nothingIn(folder: string): Promise<void> {
        await eventually(async () => {
          const item = await newest('upload');
          return item.status === 'failed' && (await server.disk.files(folder)).length === 0;
        }, 'a failed upload and an empty folder');
        await turn();
        assert.deepEqual(await server.disk.files(folder), []);
      }

      test('raw with a length', async () => {
        const folder = newFolder();
        await cut(
          [
            `POST /api/upload/c1?path=${folder}&filename=f HTTP/1.1`,
            'Content-Type: application/octet-stream',
            `Content-Length: ${sent.length + 1}`,
          ],
          sent,
        );
        await nothingIn(folder);
      });

      const SHORT: Readonly<Record<string, (folder: string) => readonly [path: string, type: string, body: string]>> = {
        raw: (folder) => [`/api/upload/c1?path=${folder}&filename=f`, 'application/octet-stream', 'x'.repeat(4000)],
        'JSON with base64': (folder) => [
          '/api/upload/c1',
          'application/json',
          `{"filename":"f","path":"${folder}","content":"${'eHh4'.repeat(1000)}"}`,
        ],
        write: (folder) => [
          '/api/write/c1',
          'application/json',
          `{"path":"${folder}/f","encoding":"text","content":"${'x'.repeat(4000)}"}`,
        ],
      };
      for (const [form, of] of Object.entries(SHORT)) {
        test(`a short body, ${form}: a slow one holds no session, and one cut short leaves nothing`, async () => {
          const folder = newFolder();
          const [path, type, body] = of(folder);
          const operation = form === 'write' ? 'write' : 'upload';
          const half = body.length / 2;
          for (const isCut of [true, false]) {
            const client = await RawClient.open(gateway.port);
            client.send(
              `POST ${path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${KEY}\r\nConnection: close\r\n`,
              `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, half)}`,
            );
            await eventually(async () => (await newest(operation)).status === 'pending', 'the operation runs');
            // Those of former tests are returned once their sessions are checked.
            await eventually(
              async () => !/^ftg_pool_leases\{.*\} [1-9]/m.test((await gateway.api.get('/metrics')).text),
              'no session is held',
            );
            assert.equal((await newest(operation)).status, 'pending');
            if (isCut) client.socket.resetAndDestroy();
            else client.send(body.slice(half));
            await eventually(
              async () => (await newest(operation)).status === (isCut ? 'failed' : 'success'),
              'the operation is over',
            );
            client.socket.destroy();
            assert.deepEqual(await server.disk.files(folder), isCut ? [] : [`${folder}/f`]);
          }
          assert.match((await server.disk.read(`${folder}/f`)).toString(), /^x+$/);
        });
      }

      test('raw in chunks', async () => {
        const folder = newFolder();
        await cut(
          [
            `POST /api/upload/c1?path=${folder}&filename=f HTTP/1.1`,
            'Content-Type: application/octet-stream',
            'Transfer-Encoding: chunked',
          ],
          `${sent.length.toString(16)}\r\n`,
          sent,
          '\r\n',
        );
        await nothingIn(folder);
      });

      test('multipart', async () => {
        const folder = newFolder();
        await cut(
          [
            `POST /api/upload/c1?path=${folder}&filename=f HTTP/1.1`,
            'Content-Type: multipart/form-data; boundary=b',
            `Content-Length: ${sent.length + 1_000}`,
          ],
          '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n',
          sent,
        );
        await nothingIn(folder);
      });

      test('multipart whose body ends without the last boundary', async () => {
        const folder = newFolder();
        const answer = await gateway.api.send('/api/upload/c1', {
          method: 'POST',
          query: { path: folder },
          headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
          body: Buffer.concat([
            Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'),
            sent,
          ]),
        });
        expectError(answer, 400);
        await nothingIn(folder);
      });

      test('JSON', async () => {
        const folder = newFolder();
        const body = `{"filename":"f","path":"${folder}","content":"${sent.toString('base64')}`;
        await cut(
          ['POST /api/upload/c1 HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${body.length + 2}`],
          body,
        );
        await nothingIn(folder);
      });

      test('JSON that ends inside the content, and invalid base64', async () => {
        const folder = newFolder();
        const send = (body: string): Promise<ApiAnswer> =>
          gateway.api.send('/api/upload/c1', {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body,
          });
        const base64 = sent.toString('base64');
        const head = `{"filename":"f","path":"${folder}","content":"`;
        expectError(await send(head + base64), 400);
        expectError(await send(`${head}${base64}!"}`), 400, /base64/);
        expectError(await send(`${head}${base64}"`), 400);
        expectError(await send(`${head}${base64}","overwrite":"perhaps"}`), 400, /overwrite/);
        await nothingIn(folder);
      });

      test('a replaced file is kept when its successor is cut', async () => {
        const folder = newFolder();
        await server.disk.write(`${folder}/f`, 'former');
        await cut(
          [
            `POST /api/upload/c1?path=${folder}&filename=f HTTP/1.1`,
            'Content-Type: application/octet-stream',
            `Content-Length: ${sent.length * 2}`,
          ],
          sent,
        );
        await eventually(
          async () => (await server.disk.files(folder)).join() === `${folder}/f`,
          'the folder holds the former file alone',
        );
        assert.equal((await server.disk.read(`${folder}/f`)).toString(), 'former');
      });
    });

    test('a download that its client leaves is a failure in the history, and the next one works', async () => {
      const folder = newFolder();
      const content = randomBytes(24 * MIB);
      await server.disk.write(`${folder}/big`, content);
      const response = await gateway.api.open('/api/download/c1', { query: { path: `${folder}/big` } });
      await once(response, 'readable');
      response.destroy();
      await eventually(async () => (await newest('download')).status === 'failed', 'the download failed');
      assert.ok(content.equals((await download(`${folder}/big`)).bytes));
    });

    test('200 small uploads at once over a pool of eight sessions', async () => {
      const folder = newFolder();
      const contents = Array.from({ length: 200 }, (_, index) => Buffer.from(`file ${index} ${'x'.repeat(index * 7)}`));
      let mostOpen = 0;
      let isOver = false;
      const watching = (async () => {
        while (!isOver) {
          const { text } = await gateway.api.get('/metrics');
          for (const [, open] of text.matchAll(/^ftg_pool_sessions_open\{.*\} (\d+)$/gm)) {
            mostOpen = Math.max(mostOpen, Number(open));
          }
        }
      })();
      const answers = await Promise.all(
        contents.map((content, index) => uploadRaw({ path: folder, filename: `n${index}` }, content)),
      );
      isOver = true;
      await watching;
      assert.deepEqual(
        answers.filter(({ status }) => status !== 200).map(({ text }) => text),
        [],
      );
      assert.ok(mostOpen > 0 && mostOpen <= 8, `${mostOpen} sessions were open`);
      for (const [index, content] of contents.entries()) {
        assert.ok(content.equals(await server.disk.read(`${folder}/n${index}`)));
      }
      assert.equal((await server.disk.files(folder)).length, 200);
    });

    test('paths that lead out or contain control characters are refused before anything happens', async () => {
      for (const path of ['/../etc/passwd', '/a/../../b', 'nul\0byte', 'line\nbreak', `/${'x'.repeat(5_000)}`]) {
        expectError(await download(path), 400);
        expectError(await gateway.api.post('/api/write/c1', { path, content: 'x' }), 400);
        expectError(await gateway.api.post('/api/move/c1', { from: '/a', to: path }), 400);
      }
      for (const filename of ['..', '.', 'a/b', 'cr\rlf']) {
        expectError(await uploadRaw({ path: '/', filename }, 'x'), 400);
      }
    });

    test('a name that is too long for the server is the fault of the request or of the server, and leaves nothing', async () => {
      const folder = newFolder();
      await uploadRaw({ path: folder, filename: 'source' }, 'kept');
      for (const length of [300, 2_000]) {
        const long = `${folder}/${'n'.repeat(length)}`;
        const multipart = [
          '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nx\r\n',
          `--b\r\nContent-Disposition: form-data; name="path"\r\n\r\n${long}\r\n--b--\r\n`,
        ].join('');
        const answers = [
          await uploadRaw({ path: long, filename: 'f' }, 'x'),
          await gateway.api.send('/api/upload/c1', {
            method: 'POST',
            headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
            body: multipart,
          }),
          await gateway.api.post('/api/write/c1', { path: `${long}/f`, content: 'x' }),
          await gateway.api.post('/api/append/c1', { path: `${long}/none`, content: 'x' }),
          await gateway.api.post('/api/move/c1', { from: `${folder}/source`, to: `${long}/f` }),
          await gateway.api.post('/api/mkdir/c1', { path: `${long}/sub` }),
          await gateway.api.get('/api/read/c1', { query: { path: `${long}/f` } }),
          await download(`${long}/f`),
          await gateway.api.get('/api/list/c1', { query: { path: long } }),
          await gateway.api.get('/api/exists/c1', { query: { path: `${long}/f` } }),
          await gateway.api.post('/api/delete/c1', { path: `${long}/none` }),
        ];
        for (const answer of answers) {
          if (answer.status !== 200) expectError(answer, answer.status);
          assert.notEqual(answer.status, 500, answer.text);
        }
        // An object store accepts more than a file system does; then the file exists under its name.
        const isTaken = answers.slice(0, 3).every(({ status }) => status === 200);
        const expected = [...(isTaken ? [`${long}/f`] : []), `${folder}/source`];
        assert.deepEqual(await server.disk.files(folder), expected);
        if (isTaken) assert.equal((await gateway.api.post('/api/delete/c1', { path: `${long}/f` })).status, 200);
      }
    });
  });
}

const ORIGIN_TEXT = 'content of the origin';

/** The web server that url uploads fetch from. */
function serveOrigin(request: http.IncomingMessage, response: http.ServerResponse): void {
  const url = request.url ?? '';
  const redirects = /^\/redirect\/(\d+)$/.exec(url)?.[1];
  if (url === '/missing') response.writeHead(404).end('no');
  else if (redirects !== undefined && redirects !== '0') {
    response.writeHead(302, { Location: `/redirect/${Number(redirects) - 1}` }).end();
  } else if (url.startsWith('/short')) {
    response.writeHead(200, url === '/short' ? { 'Content-Length': '100' } : {});
    response.write('half', () => response.destroy());
  } else {
    const named = url === '/disposition';
    response
      .writeHead(200, named ? { 'Content-Disposition': "attachment; filename*=UTF-8''from%20header%20%C3%BC.bin" } : {})
      .end(ORIGIN_TEXT);
  }
}
