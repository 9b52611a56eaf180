/** Resumable uploads on a server, checked on its own disk. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { ServerEntry, TestServer } from '../servers/catalogue.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import { reprDigest, Tus, WANTED } from './support.js';

const MIB = 1024 * 1024;
const PART_BYTES = 5 * MIB;
const OTHER_KEY = 'ftg_other-key-0123456789-abcdefgh';

export function uploadSuite(entry: ServerEntry): void {
  describe(`resumable uploads on ${entry.name}`, { concurrency: 1 }, () => {
    let server: TestServer;
    let gateway: TestGateway;
    let tus: Tus;
    let other: Tus;
    let count = 0;
    let goesOn = true;

    before(async () => {
      server = await entry.start();
      gateway = await startGateway({
        connections: [{ id: 'c1', name: 'Server', ...server.connection }],
        apiKeys: [KEY, OTHER_KEY].map((key) => ({ name: key.slice(4, 9), key })),
        config: { streams: { s3PartBytes: PART_BYTES } },
      });
      tus = new Tus(gateway.api);
      other = new Tus(gateway.client(OTHER_KEY));
      goesOn = server.deviations.noAppend === undefined || server.connection.type === 's3';
    });
    after(async () => {
      await gateway?.stop();
      await server?.stop();
    });

    const newFolder = (): string => `${server.base ?? ''}/uploads-${++count}`;
    const visible = async (folder: string): Promise<string[]> =>
      (await server.disk.files(folder)).filter((file) => !file.includes('/.ftg-') && !file.endsWith('?upload'));
    const newest = async (): Promise<Record<string, unknown>> => {
      const answer = await gateway.api.get('/api/transfers', { query: { limit: '1' } });
      return (answer.json['transfers'] as Record<string, unknown>[])[0] ?? {};
    };

    test('a server that cannot continue files is reported at the beginning', async (t) => {
      const folder = newFolder();
      const answer = await tus.create({ path: folder, filename: 'a.bin' }, { 'Upload-Length': '10' });
      t.diagnostic(`${answer.status} ${answer.text}`);
      assert.equal(answer.status, goesOn ? 201 : 501, answer.text);
      if (goesOn) assert.equal((await tus.end(String(answer.headers.location))).status, 204);
      else assert.equal(answer.headers['x-error-code'], 'resume_unsupported');
      assert.deepEqual(await server.disk.files(folder), []);
    });

    test('pieces of every length make one file, visible when it is complete', async () => {
      if (!goesOn) return;
      const folder = newFolder();
      const content = randomBytes(2 * PART_BYTES + 1_234_567);
      const url = await tus.begin({ path: `${folder}/x/y`, filename: 'whole.bin' }, content.length, WANTED);
      let offset = 0;
      for (const size of [0, 1, 70_000, PART_BYTES - 70_001, 3 * MIB, 2 * MIB + 1, content.length]) {
        const piece = content.subarray(offset, Math.min(content.length, offset + size));
        assert.deepEqual(await visible(folder), []);
        const answer = await tus.patch(url, offset, piece);
        assert.equal(answer.status, 204, answer.text);
        offset += piece.length;
        assert.equal(answer.headers['upload-offset'], String(offset));
        assert.equal(answer.headers['x-transfer-id'] === undefined, offset < content.length);
        assert.equal(answer.headers['repr-digest'], offset < content.length ? undefined : reprDigest(content));
        assert.equal(await tus.offset(url), offset);
      }
      const item = await newest();
      assert.deepEqual([item['type'], item['status'], item['fileSize']], ['upload', 'success', content.length]);
      assert.equal((await tus.head(url)).headers['x-transfer-id'], item['id']);
      const file = `${folder}/x/y/whole.bin`;
      assert.deepEqual(await server.disk.files(folder), [file]);
      assert.equal(digest(await server.disk.read(file)), digest(content));
    });

    test('bytes from a connection that broke count', async () => {
      if (!goesOn) return;
      const folder = newFolder();
      const content = randomBytes(PART_BYTES + 2_345_678);
      const url = await tus.begin({ path: folder, filename: 'broken.bin' }, content.length, WANTED);
      let offset = 0;
      for (const size of [1_000_000, 3_000_000, 2_500_000]) {
        const before = offset;
        const { socket } = tus.sendHead(url, offset, content.length - offset);
        socket.write(content.subarray(offset, offset + 1000));
        // A request with another key ends no writer.
        const isWritten = async (): Promise<boolean> => (await other.head(url)).status === 423;
        await eventually(isWritten, 'the piece has begun');
        socket.end(content.subarray(offset + 1000, offset + size));
        await eventually(async () => !(await isWritten()), 'the piece is over');
        offset = await tus.offset(url);
        assert.ok(offset >= before + 1000 && offset <= before + size, `${offset} stand of ${before} and ${size}`);
      }
      const last = await tus.patch(url, offset, content.subarray(offset));
      assert.deepEqual([last.status, last.headers['repr-digest']], [204, reprDigest(content)], last.text);
      assert.equal(digest(await server.disk.read(`${folder}/broken.bin`)), digest(content));
      assert.deepEqual(await server.disk.files(folder), [`${folder}/broken.bin`]);
    });

    test('a checksum that does not match keeps the offset, and the bytes before', async () => {
      if (!goesOn) return;
      const folder = newFolder();
      const content = randomBytes(PART_BYTES + 500_000);
      const url = await tus.begin({ path: folder, filename: 'checked.bin' }, content.length, WANTED);
      const sum = (name: string, bytes: Buffer) => ({
        'Upload-Checksum': `${name} ${createHash(name).update(bytes).digest('base64')}`,
      });
      const first = content.subarray(0, 400_000);
      assert.equal((await tus.patch(url, 0, first, sum('sha1', first))).status, 204);
      const wrong = randomBytes(content.length - 400_000);
      const answer = await tus.patch(url, 400_000, wrong, sum('sha256', content));
      assert.deepEqual([answer.status, answer.headers['x-error-code']], [460, 'checksum_mismatch']);
      assert.equal(await tus.offset(url), 400_000);
      assert.deepEqual(await visible(folder), []);
      const rest = content.subarray(400_000);
      const middle = await tus.patch(url, 400_000, rest.subarray(0, 100_000));
      assert.equal(middle.status, 204, middle.text);
      const end = rest.subarray(100_000);
      const last = await tus.patch(url, 500_000, end, sum('sha256', end));
      assert.deepEqual([last.status, last.headers['repr-digest']], [204, reprDigest(content)], last.text);
      assert.equal(digest(await server.disk.read(`${folder}/checked.bin`)), digest(content));
      assert.deepEqual(await server.disk.files(folder), [`${folder}/checked.bin`]);
    });

    test('a length that is announced with the last bytes, or after them', async () => {
      if (!goesOn) return;
      const folder = newFolder();
      const content = randomBytes(PART_BYTES + 123);
      for (const name of ['with.bin', 'after.bin', 'empty.bin']) {
        const whole = name === 'empty.bin' ? Buffer.alloc(0) : content;
        const begun = await tus.create({ path: folder, filename: name }, { 'Upload-Defer-Length': '1' });
        assert.equal(begun.status, 201, begun.text);
        const url = String(begun.headers.location);
        assert.equal((await tus.head(url)).headers['upload-defer-length'], '1');
        const first = name === 'with.bin' ? whole.subarray(0, 1000) : whole;
        assert.equal((await tus.patch(url, 0, first)).status, 204);
        const length = { 'Upload-Length': String(whole.length) };
        const last = await tus.patch(url, first.length, whole.subarray(first.length), length);
        assert.equal(last.status, 204, last.text);
        assert.ok(last.headers['x-transfer-id'], name);
        assert.equal(digest(await server.disk.read(`${folder}/${name}`)), digest(whole), name);
      }
      assert.equal((await server.disk.files(folder)).length, 3);
    });

    test('an empty file is published at once, and so is one that comes with its creation', async () => {
      if (!goesOn) return;
      const folder = newFolder();
      const empty = await tus.create({ path: folder, filename: 'empty.bin' }, { 'Upload-Length': '0' });
      assert.equal(empty.status, 201, empty.text);
      assert.ok(empty.headers['x-transfer-id']);
      const content = randomBytes(30_000);
      const whole = await tus.create({ path: folder, filename: 'a.bin' }, { 'Upload-Length': '30000' }, content);
      assert.deepEqual([whole.status, whole.headers['upload-offset']], [201, '30000'], whole.text);
      assert.ok(whole.headers['x-transfer-id']);
      assert.deepEqual(await server.disk.files(folder), [`${folder}/a.bin`, `${folder}/empty.bin`]);
      assert.equal(digest(await server.disk.read(`${folder}/a.bin`)), digest(content));
      assert.equal((await server.disk.read(`${folder}/empty.bin`)).length, 0);
    });

    test('if two must not replace a file, and end at once, one gets the name', async () => {
      if (!goesOn) return;
      const folder = newFolder();
      const fields = { path: folder, filename: 'one.bin', overwrite: 'false' };
      const contents = [randomBytes(100_000), randomBytes(100_000)];
      const urls = await Promise.all(contents.map((content) => tus.begin(fields, content.length)));
      const answers = await Promise.all(contents.map((content, at) => tus.patch(urls[at] ?? '', 0, content)));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 409]);
      const winner = contents[answers.findIndex(({ status }) => status === 204)] ?? Buffer.alloc(0);
      assert.equal(digest(await server.disk.read(`${folder}/one.bin`)), digest(winner));
      assert.deepEqual(await server.disk.files(folder), [`${folder}/one.bin`]);
    });

    test('a terminated one leaves nothing', async () => {
      if (!goesOn) return;
      const folder = newFolder();
      const url = await tus.begin({ path: folder, filename: 'gone.bin' }, 2 * PART_BYTES);
      assert.equal((await tus.patch(url, 0, randomBytes(PART_BYTES + 1))).status, 204);
      assert.notDeepEqual(await server.disk.files(folder), []);
      assert.equal((await tus.end(url)).status, 204);
      assert.deepEqual(await server.disk.files(folder), []);
      assert.equal((await tus.head(url)).status, 404);
      assert.equal((await tus.patch(url, 0, randomBytes(1))).status, 404);
      assert.equal((await tus.end(url)).status, 404);
    });

    test('a file that was created first is not replaced against the sender’s wish', async () => {
      if (!goesOn) return;
      const folder = newFolder();
      const fields = { path: folder, filename: 'mine.txt', overwrite: 'false' };
      const url = await tus.begin(fields, 4);
      assert.equal((await tus.patch(url, 0, Buffer.from('mi'))).status, 204);
      await server.disk.write(`${folder}/mine.txt`, 'theirs');
      const last = await tus.patch(url, 2, Buffer.from('ne'));
      assert.deepEqual([last.status, last.headers['x-error-code']], [409, 'already_exists'], last.text);
      assert.equal(last.json['skipped'], true);
      assert.equal((await newest())['status'], 'failed');
      assert.equal((await tus.head(url)).status, 404);
      assert.deepEqual(await server.disk.files(folder), [`${folder}/mine.txt`]);
      assert.equal((await server.disk.read(`${folder}/mine.txt`)).toString(), 'theirs');
      const again = await tus.create(fields, { 'Upload-Length': '4' });
      assert.deepEqual([again.status, again.json['skipped']], [409, true]);
      const replacing = await tus.begin({ ...fields, overwrite: 'true' }, 4);
      assert.equal((await tus.patch(replacing, 0, Buffer.from('mine'))).status, 204);
      assert.equal((await server.disk.read(`${folder}/mine.txt`)).toString(), 'mine');
    });
  });
}

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
