/** Archives as Python's zipfile and unzip read them: many entries, times, and the error for a wrong one. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { zipOf, type ZipEntry } from '../../../src/operations/archive/zip.js';
import { readByPython } from '../../conformance/tree-rules.js';

const run = promisify(execFile);
const AT = new Date('2026-03-04T05:06:07Z');

const file = (name: string, content: Buffer, modifiedAt = AT): ZipEntry => ({
  name,
  modifiedAt,
  open: async () => ({ reportedSize: content.length, chunks: Readable.from([content]) }),
});

async function* all(entries: Iterable<ZipEntry>): AsyncGenerator<ZipEntry> {
  yield* entries;
}

async function place(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'ftg-zip-'));
  t.after(() => rm(folder, { recursive: true }));
  return path.join(folder, 'a.zip');
}

async function written(t: TestContext, pieces: AsyncIterable<Buffer>): Promise<string> {
  const target = await place(t);
  await pipeline(Readable.from(pieces, { objectMode: false }), createWriteStream(target));
  return target;
}

test('folders, files, empty ones, names beyond ASCII, times to the second', async (t) => {
  const entries: ZipEntry[] = [
    { name: 'top/', modifiedAt: AT },
    file('top/é 日本.txt', Buffer.from('content')),
    file('top/none', Buffer.alloc(0)),
    file('top/old', Buffer.from('x'), new Date('1975-01-01T00:00:00Z')),
    file('top/far', Buffer.from('x'), new Date('2120-01-01T00:00:00Z')),
    file('top/unknown', Buffer.from('x'), new Date(0)),
  ];
  const target = await written(t, zipOf(all(entries)));
  const expected = [
    ['top/', 0],
    ['top/é 日本.txt', 7],
    ['top/none', 0],
    ['top/old', 1],
    ['top/far', 1],
    ['top/unknown', 1],
  ];
  assert.deepEqual(
    (await readByPython(target)).map(([name, size]) => [name, size]),
    expected,
  );
  await run('unzip', ['-t', target]);
  const { stdout } = await run('unzip', ['-Z', '-T', '-l', target], { env: { ...process.env, TZ: 'UTC' } });
  assert.match(stdout, /20260304\.050607 top\/\n/);
  assert.match(stdout, /-rw-r--r--.*19750101\.000000 top\/old/);
  assert.match(stdout, /drwxr-xr-x/);
});

test('an archive without entries is valid', async (t) => {
  assert.deepEqual(await readByPython(await written(t, zipOf(all([])))), []);
});

test('more than 65,535 entries, with little memory for each', async (t) => {
  const COUNT = 70_000;
  let kept = 0;
  async function* many(): AsyncGenerator<ZipEntry> {
    for (let index = 0; index < COUNT; index++) yield file(`in/${index}`, Buffer.from(String(index)));
  }
  const target = await written(
    t,
    zipOf(many(), (bytes) => (kept = bytes)),
  );
  assert.ok(kept < COUNT * 80, `${kept} bytes`);
  const read = await readByPython(target);
  assert.equal(read.length, COUNT);
  assert.deepEqual(read.at(-1)?.slice(0, 2), [`in/${COUNT - 1}`, 5]);
  await run('unzip', ['-qq', '-t', target], { maxBuffer: 64 * 1024 * 1024 });
});

test('an entry with fewer bytes than its server reported is an error', async () => {
  const chunks = Readable.from([Buffer.from('abc')]);
  const short: ZipEntry = { name: 'short', modifiedAt: AT, open: async () => ({ reportedSize: 4, chunks }) };
  await assert.rejects(Readable.from(zipOf(all([short]))).toArray(), /short: 3 bytes came of the 4/);
});

test('an entry with more bytes than its server reported contains them all', async (t) => {
  const longer = (name: string, reportedSize: number): ZipEntry => {
    return { name, modifiedAt: AT, open: async () => ({ reportedSize, chunks: Readable.from([Buffer.from('abc')]) }) };
  };
  const target = await written(t, zipOf(all([longer('zero', 0), longer('two', 2), file('behind', Buffer.from('it'))])));
  assert.deepEqual(
    (await readByPython(target)).map(([name, bytes]) => [name, bytes]),
    [
      ['zero', 3],
      ['two', 3],
      ['behind', 2],
    ],
  );
  await run('unzip', ['-qq', '-t', target]);
});

test('an entry without readable content is left out', async (t) => {
  const gone: ZipEntry = { name: 'gone', modifiedAt: AT, open: async () => undefined };
  const read = await readByPython(await written(t, zipOf(all([gone, file('there', Buffer.from('x'))]))));
  assert.deepEqual(
    read.map(([name]) => name),
    ['there'],
  );
});
