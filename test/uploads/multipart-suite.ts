/** Multipart uploads on a server, checked on its own disk. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import type { UploadRequest } from '../../src/uploads/file.js';
import type { ServerEntry, TestServer } from '../servers/catalogue.js';
import { DATABASES, tellDue, type TestServer as Database } from '../storage/databases.js';
import { eventually } from '../support/eventually.js';
import { type Sql, withSql } from '../support/sql.js';
import { type PartNode, pathOf, startPartNode } from './multipart-node.js';

const MIB = 1024 * 1024;
const ANY_SIZE = { exclusive: false, leastPartBytes: 0 };

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const isCode = (code: string) => (error: unknown) => (error as { code?: string }).code === code;

let database: Database;

function suite(entry: ServerEntry): void {
  describe(`multipart uploads on ${entry.name}`, { concurrency: 1 }, () => {
    let server: TestServer;
    let url: string;
    let nodes: readonly [PartNode, PartNode];
    let count = 0;

    before(async () => {
      [server, url] = await Promise.all([entry.start(), database.createDatabase()]);
      const first = await startPartNode(url, server.connection);
      nodes = [first, await startPartNode(url, server.connection)];
    });
    after(async () => {
      for (const node of nodes ?? []) await node.stop();
      await server?.stop();
    });

    const newFile = (): string => `${server.base ?? ''}/multipart-${++count}/file.bin`;
    const folderOf = (file: string): string => file.slice(0, file.lastIndexOf('/'));
    const request = (): Promise<UploadRequest> => nodes[0].request();
    const onDatabase = <T>(work: (sql: Sql) => Promise<T>): Promise<T> => withSql(url, work);
    const isStore = (): boolean => server.connection.type === 's3';

    /** The content of these sizes, in parts. */
    function partsOf(sizes: readonly number[]): { readonly number: number; readonly content: Buffer }[] {
      return sizes.map((size, at) => ({ number: at + 1, content: randomBytes(size) }));
    }

    async function requireFile(file: string, content: readonly Buffer[]): Promise<void> {
      assert.deepEqual(await server.disk.files(folderOf(file)), [file]);
      assert.equal(digest(await server.disk.read(file)), digest(Buffer.concat(content)));
    }

    test('ten parts at once, in a random order, on two nodes, become one file with one item in the history', async () => {
      const file = newFile();
      const id = await nodes[0].begin(file);
      const parts = partsOf([...Array.from({ length: 9 }, () => 5 * MIB), 1_234_567]);
      const shuffled = parts.toSorted(() => Math.random() - 0.5);
      const written = await Promise.all(
        shuffled.map(({ number, content }, at) => nodes[at % 2 === 0 ? 0 : 1].write(id, number, content)),
      );
      const listed = written.toSorted((a, b) => a.number - b.number);
      assert.ok(listed.every(({ etag }) => /^[0-9a-f]{32}-1$/.test(etag)));
      const visible = (await server.disk.files(folderOf(file))).filter((name) => name === file);
      assert.deepEqual(visible, []);
      const done = await nodes[1].multipart.complete(await request(), id, listed, { exclusive: false });
      assert.equal(done.info.size, 9 * 5 * MIB + 1_234_567);
      assert.match(done.etag, /^[0-9a-f]{32}-10$/);
      await requireFile(
        file,
        parts.map(({ content }) => content),
      );
      const { transfers } = await nodes[0].storage.history.list(nodes[0].accountId, { limit: 10, offset: 0 });
      const items = transfers.filter(({ path }) => path === file);
      assert.deepEqual(
        items.map(({ id: item, type, status, fileSize }) => ({ item, type, status, fileSize })),
        [{ item: done.transferId, type: 'upload', status: 'success', fileSize: done.info.size }],
      );
      const again = await nodes[0].multipart.complete(await request(), id, listed, { exclusive: false });
      assert.deepEqual([again.transferId, again.etag, again.info.size], [done.transferId, done.etag, done.info.size]);
      await assert.rejects(nodes[0].write(id, 1, randomBytes(10)), isCode('unknown_upload'));
    });

    test('the last part may come first, and parts may be sent again', async () => {
      const file = newFile();
      const id = await nodes[0].begin(file);
      const parts = partsOf([5 * MIB, 5 * MIB, 77_777]);
      const last = await nodes[0].write(id, 3, parts[2]?.content ?? assert.fail());
      const first = await nodes[1].write(id, 1, randomBytes(5 * MIB));
      const again = await nodes[0].write(id, 1, parts[0]?.content ?? assert.fail());
      const second = await nodes[0].write(id, 2, parts[1]?.content ?? assert.fail());
      assert.notEqual(first.etag, again.etag);
      const wrong = [{ number: 1, etag: first.etag }, second, last];
      await assert.rejects(
        nodes[0].multipart.complete(await request(), id, wrong, { exclusive: false }),
        isCode('invalid_part'),
      );
      assert.deepEqual(
        (await nodes[0].multipart.parts(await request(), id, { after: 1, limit: 5 })).parts.map(({ number }) => number),
        [2, 3],
      );
      await nodes[0].multipart.complete(await request(), id, [again, second, last], { exclusive: false });
      await requireFile(
        file,
        parts.map(({ content }) => content),
      );
    });

    test('parts of different sizes, at once and sent again with another size, become the right file', async () => {
      const file = newFile();
      const id = await nodes[0].begin(file);
      const size = (bytes: number): number => (isStore() ? 5 * MIB + bytes : bytes);
      const sizes = [MIB, 300_000, 2 * MIB + 1, 64 * 1024, 5, 999_999, MIB].map(size);
      const parts = partsOf(sizes);
      const written = await Promise.all(parts.map(({ number, content }) => nodes[0].write(id, number, content)));
      const other = randomBytes(size(1_500_000));
      written[3] = await nodes[1].write(id, 4, other);
      await nodes[0].multipart.complete(await request(), id, written, ANY_SIZE);
      await requireFile(
        file,
        parts.map(({ number, content }) => (number === 4 ? other : content)),
      );
    });

    test('parts that are not listed are dropped; bad lists are refused, and the upload goes on', async () => {
      const file = newFile();
      const id = await nodes[0].begin(file);
      const parts = partsOf([5 * MIB, 5 * MIB, 5 * MIB, 10]);
      const written = [];
      for (const { number, content } of parts) written.push(await nodes[0].write(id, number, content));
      const [one, two, three, four] = written;
      assert.ok(one && two && three && four);
      const complete = async (list: { number: number; etag: string }[], least?: number) =>
        nodes[0].multipart.complete(await request(), id, list, {
          exclusive: false,
          ...(least === undefined ? {} : { leastPartBytes: least }),
        });
      await assert.rejects(complete([]), isCode('bad_request'));
      await assert.rejects(complete([two, one]), isCode('invalid_part_order'));
      await assert.rejects(complete([one, one]), isCode('invalid_part_order'));
      await assert.rejects(complete([one, { number: 9, etag: two.etag }]), isCode('invalid_part'));
      await assert.rejects(complete([one, four], 6 * MIB), isCode('part_too_small'));
      await assert.rejects(nodes[0].write(id, 0, Buffer.alloc(1)), isCode('bad_request'));
      await assert.rejects(nodes[0].write(id, 10_001, Buffer.alloc(1)), isCode('bad_request'));
      await complete([one, three]);
      await requireFile(file, [parts[0]?.content ?? assert.fail(), parts[2]?.content ?? assert.fail()]);
    });

    test('the end of the connection ends its uploads, and leaves nothing of their parts', async () => {
      const [file, other] = [newFile(), newFile()];
      const ids = [await nodes[0].begin(file), await nodes[1].begin(other)] as const;
      await nodes[0].write(ids[0], 2, randomBytes(5 * MIB));
      await nodes[1].write(ids[0], 1, randomBytes(5 * MIB));
      await nodes[1].write(ids[1], 1, randomBytes(1_000));
      const asked = await request();
      assert.equal(await nodes[1].service.endAll(asked.connection), 0, 'none is left');
      for (const [at, id] of ids.entries()) {
        assert.deepEqual(await server.disk.files(folderOf(at === 0 ? file : other)), []);
        await assert.rejects(nodes[0].write(id, 3, randomBytes(10)), isCode('unknown_upload'));
        await assert.rejects(nodes[0].multipart.parts(asked, id, { after: 0, limit: 1 }), isCode('unknown_upload'));
      }
    });

    test('a part that is cut, or has another digest, has no row and harms no other', async () => {
      const file = newFile();
      const id = await nodes[0].begin(file);
      const [one, two] = partsOf([5 * MIB, MIB]);
      assert.ok(one && two);
      const first = await nodes[0].write(id, 1, one.content);
      const cut = new PassThrough();
      cut.write(randomBytes(300_000));
      const cutting = nodes[0].write(id, 2, cut, MIB);
      setImmediate(() => cut.destroy(new Error('the client left')));
      await assert.rejects(cutting);
      const body = new PassThrough();
      body.end(randomBytes(MIB));
      const expected = { algorithm: 'sha256', value: randomBytes(32) } as const;
      await assert.rejects(
        nodes[0].multipart.writePart(await nodes[0].request({ path: pathOf(id) }), id, {
          number: 2,
          size: MIB,
          body,
          digest: expected,
        }),
        isCode('digest_mismatch'),
      );
      const short = new PassThrough();
      short.end(randomBytes(10));
      await assert.rejects(nodes[0].write(id, 2, short, MIB), isCode('size_mismatch'));
      const { parts: stored } = await nodes[0].multipart.parts(await request(), id, { after: 0, limit: 10 });
      assert.deepEqual(
        stored.map(({ number }) => number),
        [1],
      );
      const second = await nodes[0].write(id, 2, two.content);
      await nodes[0].multipart.complete(await request(), id, [first, second], { exclusive: false });
      await requireFile(file, [one.content, two.content]);
    });

    test('a completion ends a part that still arrives; of two at once both have one result', async () => {
      const file = newFile();
      const id = await nodes[0].begin(file);
      const content = randomBytes(5 * MIB);
      const first = await nodes[0].write(id, 1, content);
      const arriving = new PassThrough();
      arriving.write(randomBytes(100_000));
      const arrives = assert.rejects(nodes[1].write(id, 2, arriving, 5 * MIB), isCode('upload_locked'));
      await eventually(
        async () => (await onDatabase((sql) => sql`select from multipart_writers where upload_id = ${id}`)).length > 0,
        'the part arrives',
      );
      const complete = async (node: PartNode) =>
        node.multipart.complete(await request(), id, [first], { exclusive: false });
      const [one, other] = await Promise.all([complete(nodes[0]), complete(nodes[1])]);
      assert.equal(one.transferId, other.transferId);
      await arrives;
      await requireFile(file, [content]);
    });

    test('an exclusive completion replaces nothing, and the upload goes on', async () => {
      const file = newFile();
      await server.disk.write(file, 'former');
      const id = await nodes[0].begin(file);
      const content = randomBytes(1000);
      const part = await nodes[0].write(id, 1, content);
      await assert.rejects(
        nodes[0].multipart.complete(await request(), id, [part], { exclusive: true }),
        isCode('already_exists'),
      );
      assert.equal((await server.disk.read(file)).toString(), 'former');
      await nodes[0].multipart.complete(await request(), id, [part], { exclusive: false });
      await requireFile(file, [content]);
    });

    test('after a completion that was refused, fewer parts may be completed', async () => {
      const file = newFile();
      await server.disk.write(file, 'former');
      const id = await nodes[0].begin(file);
      const parts = partsOf([5 * MIB, 5 * MIB, 5 * MIB]);
      const written = await Promise.all(parts.map(({ number, content }) => nodes[1].write(id, number, content)));
      await assert.rejects(
        nodes[0].multipart.complete(await request(), id, written, { exclusive: true }),
        isCode('already_exists'),
      );
      await nodes[1].multipart.complete(await request(), id, written.slice(0, 2), { exclusive: false });
      await requireFile(
        file,
        parts.slice(0, 2).map(({ content }) => content),
      );
    });

    test('after a completion that was refused, other parts may be completed, and parts sent again', async () => {
      const file = newFile();
      await server.disk.write(file, 'former');
      const id = await nodes[0].begin(file);
      const parts = partsOf([5 * MIB, 5 * MIB, 5 * MIB, 100]);
      const [one, two, three, four] = await Promise.all(
        parts.map(({ number, content }) => nodes[number % 2 === 0 ? 0 : 1].write(id, number, content)),
      );
      assert.ok(one && two && three && four);
      await assert.rejects(
        nodes[0].multipart.complete(await request(), id, [one, two, three, four], { exclusive: true }),
        isCode('already_exists'),
      );
      const other = randomBytes(6 * MIB);
      const again = await nodes[1].write(id, 3, other);
      await nodes[0].multipart.complete(await request(), id, [two, again, four], { exclusive: false });
      const [, second, , last] = parts.map(({ content }) => content);
      await requireFile(file, [second ?? assert.fail(), other, last ?? assert.fail()]);
    });

    test('a completion finds that the file of a part is gone, and leaves nothing of what it wrote', async () => {
      const file = newFile();
      const id = await nodes[0].begin(file);
      const parts = partsOf([5 * MIB, 5 * MIB + 1, 10]);
      const written = await Promise.all(parts.map(({ number, content }) => nodes[0].write(id, number, content)));
      const [row] = await onDatabase((sql) => sql<{ layout: string }[]>`select layout from uploads where id = ${id}`);
      if (row?.layout === 'apart') {
        const [part] = await onDatabase(
          (sql) => sql<{ place: string }[]>`select place from multipart_parts where upload_id = ${id} and number = 2`,
        );
        await nodes[0].remove(part?.place ?? assert.fail());
        await assert.rejects(
          nodes[0].multipart.complete(await request(), id, written, { exclusive: false }),
          isCode('invalid_part'),
        );
        assert.equal((await server.disk.files(folderOf(file))).length, 2);
        written[1] = await nodes[1].write(id, 2, parts[1]?.content ?? assert.fail());
      }
      await nodes[0].multipart.complete(await request(), id, written, { exclusive: false });
      await requireFile(
        file,
        parts.map(({ content }) => content),
      );
    });

    test('abort and expiry leave nothing behind, also of a part that arrives', async () => {
      for (const way of ['abort', 'expiry']) {
        const file = newFile();
        const id = await nodes[0].begin(file);
        await nodes[0].write(id, 1, randomBytes(5 * MIB));
        await nodes[0].write(id, 2, randomBytes(300));
        await nodes[0].write(id, 1, randomBytes(5 * MIB + 7));
        if (way === 'abort') {
          const arriving = new PassThrough();
          arriving.write(randomBytes(100_000));
          const arrives = assert.rejects(nodes[1].write(id, 3, arriving, 5 * MIB));
          await eventually(
            async () =>
              (await onDatabase((sql) => sql`select from multipart_writers where upload_id = ${id}`)).length > 0,
            'the part arrives',
          );
          await nodes[0].multipart.abort(await request(), id);
          await arrives;
        } else {
          nodes[0].expiry.start();
          await onDatabase((sql) => sql`update uploads set expires_at = now() - interval '1 s' where id = ${id}`);
          await onDatabase((sql) => tellDue(sql, 'uploads'));
        }
        const isGone = async (): Promise<boolean> =>
          (await onDatabase((sql) => sql`select from uploads where id = ${id}`)).length === 0;
        await eventually(isGone, `its row is gone by ${way}`);
        assert.deepEqual(await server.disk.files(folderOf(file)), []);
        await assert.rejects(nodes[0].write(id, 1, Buffer.alloc(1)), isCode('unknown_upload'));
      }
    });

    test('a multipart upload is no resumable one, and counts among the unfinished', async () => {
      const file = newFile();
      const id = await nodes[0].begin(file);
      await assert.rejects(nodes[0].service.state(await request(), id), isCode('unknown_upload'));
      await assert.rejects(nodes[0].service.remove(await request(), id), isCode('unknown_upload'));
      const { connection } = await request();
      const prefix = folderOf(file);
      const page = { prefix, limit: 10 };
      const listed = await nodes[0].multipart.list({ accountId: nodes[0].accountId }, connection, page);
      assert.deepEqual(
        listed.map(({ id: listedId, path }) => ({ id: listedId, path })),
        [{ id, path: file }],
      );
      const after = { path: file, id };
      const rest = await nodes[0].multipart.list({ accountId: nodes[0].accountId }, connection, { ...page, after });
      assert.equal(rest.length, 0);
      await nodes[0].multipart.abort(await request(), id);
      await assert.rejects(nodes[0].multipart.abort(await request(), id), isCode('unknown_upload'));
    });

    test('a node that dies amid a part holds up no other for long', async () => {
      const file = newFile();
      const dying = await startPartNode(url, server.connection);
      const id = await dying.begin(file);
      const parts = partsOf([5 * MIB, 5 * MIB]);
      const first = await dying.write(id, 1, parts[0]?.content ?? assert.fail());
      const arriving = new PassThrough();
      arriving.write(randomBytes(2 * MIB));
      const arrives = assert.rejects(dying.write(id, 2, arriving, 5 * MIB));
      await eventually(
        async () => (await onDatabase((sql) => sql`select from multipart_writers where upload_id = ${id}`)).length > 0,
        'the part arrives',
      );
      await dying.drop();
      await arrives;
      const second = await nodes[0].write(id, 2, parts[1]?.content ?? assert.fail());
      await nodes[0].multipart.complete(await request(), id, [first, second], { exclusive: false });
      await requireFile(
        file,
        parts.map(({ content }) => content),
      );
    });
  });
}

export function multipartSuite(entries: readonly ServerEntry[]): void {
  describe('multipart uploads', { concurrency: true }, () => {
    before(async () => {
      database = await (DATABASES[1] ?? assert.fail()).start();
    });
    after(() => database?.stop());
    entries.forEach(suite);
  });
}
