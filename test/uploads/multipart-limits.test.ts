/** Multipart uploads: their limits, two writers of one part, files that are read back, and completions that were cut. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { OPENSSH, type TestServer } from '../servers/catalogue.js';
import { DATABASES, type TestServer as Database } from '../storage/databases.js';
import { eventually } from '../support/eventually.js';
import { withSql } from '../support/sql.js';
import { type PartNode, startPartNode } from './multipart-node.js';

const MIB = 1024 * 1024;
const isCode = (code: string) => (error: unknown) => (error as { code?: string }).code === code;

describe('limits of multipart uploads', { concurrency: 1 }, () => {
  let server: TestServer;
  let database: Database;
  let url: string;
  let node: PartNode;
  let count = 0;

  before(async () => {
    [server, database] = await Promise.all([
      (OPENSSH[1] ?? assert.fail()).start(),
      (DATABASES[1] ?? assert.fail()).start(),
    ]);
    url = await database.createDatabase();
    const connection = { ...server.connection, verify: 'readback' };
    node = await startPartNode(url, connection, { unfinished: 2, maxBytes: 12 * MIB });
  });
  after(async () => {
    await node?.stop();
    await Promise.all([server?.stop(), database?.stop()]);
  });

  const newFile = (): string => `${server.base ?? ''}/limits-${++count}/file.bin`;
  const complete = async (id: string, parts: { number: number; etag: string }[]) =>
    node.multipart.complete(await node.request(), id, parts, { exclusive: false });

  test('unfinished uploads, the bytes of one part and those of all parts are limited', async () => {
    const file = newFile();
    const id = await node.begin(file);
    const second = await node.begin(newFile());
    await assert.rejects(node.begin(newFile()), isCode('share_exceeded'));
    await node.write(id, 1, randomBytes(6 * MIB));
    await assert.rejects(node.write(id, 2, randomBytes(10), 13 * MIB), isCode('too_large'));
    await assert.rejects(node.write(id, 2, randomBytes(6 * MIB + 1)), isCode('too_large'));
    // In place of the former one.
    const first = await node.write(id, 1, randomBytes(6 * MIB));
    const last = await node.write(id, 2, randomBytes(6 * MIB));
    assert.equal((await complete(id, [first, last])).info.size, 12 * MIB);
    await node.multipart.abort(await node.request(), second);
  });

  test('a connection that writes in place takes none', async () => {
    const inPlace = await startPartNode(await database.createDatabase(), {
      ...server.connection,
      atomicUploads: false,
    });
    await assert.rejects(inPlace.begin(newFile()), isCode('resume_unsupported'));
    await inPlace.stop();
  });

  test('of two writers of one part the later one waits, and its bytes alone count', async () => {
    const file = newFile();
    const id = await node.begin(file);
    const slow = new PassThrough();
    slow.write(Buffer.alloc(MIB, 'a'));
    const earlier = node.write(id, 1, slow, 2 * MIB);
    const isWriting = async (): Promise<boolean> =>
      (await withSql(url, (sql) => sql`select from multipart_writers where upload_id = ${id}`)).length === 1;
    await eventually(isWriting, 'the first one writes');
    const later = node.write(id, 1, Buffer.alloc(2 * MIB, 'b'));
    slow.end(Buffer.alloc(MIB, 'a'));
    const [one, other] = await Promise.all([earlier, later]);
    await assert.rejects(complete(id, [one]), isCode('invalid_part'));
    await complete(id, [other]);
    assert.ok((await server.disk.read(file)).equals(Buffer.alloc(2 * MIB, 'b')));
  });

  test('a file that is not what was sent is not published', async () => {
    const file = newFile();
    const id = await node.begin(file);
    const content = randomBytes(5 * MIB);
    const first = await node.write(id, 1, content);
    const rest = randomBytes(1000);
    const second = await node.write(id, 2, rest);
    const [hidden] = await server.disk.files(file.slice(0, file.lastIndexOf('/')));
    assert.ok(hidden);
    const damaged = Buffer.concat([content, rest]);
    damaged[5 * MIB + 7] = (damaged[5 * MIB + 7] ?? 0) ^ 1;
    await server.disk.write(hidden, damaged);
    await assert.rejects(complete(id, [first, second]), isCode('readback_mismatch'));
    await assert.rejects(server.disk.read(file));
    // The upload continues.
    const again = await node.write(id, 2, rest);
    await complete(id, [first, again]);
    assert.ok((await server.disk.read(file)).equals(Buffer.concat([content, rest])));
  });

  test('a completion whose node died while it published is repeated; no part is taken meanwhile', async () => {
    const file = newFile();
    const id = await node.begin(file);
    const content = randomBytes(5 * MIB);
    const first = await node.write(id, 1, content);
    const dead = '0199c2f4-6f5e-7c1a-9a51-0d2f64b1d001';
    await withSql(
      url,
      (sql) => sql`
        update uploads set state = 'publishing', length = ${content.length}, writer = ${dead}, writer_key = '',
          lease_until = now() - interval '1 s' where id = ${id}`,
    );
    await assert.rejects(node.write(id, 2, randomBytes(10)), isCode('upload_locked'));
    await complete(id, [first]);
    assert.ok((await server.disk.read(file)).equals(content));
  });
});
