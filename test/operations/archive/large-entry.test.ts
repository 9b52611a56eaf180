/** An archive of more than 4 GiB, as Python's zipfile and unzip read it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { zipOf, type ZipEntry } from '../../../src/operations/archive/zip.js';
import { readByPython } from '../../conformance/tree-rules.js';

const run = promisify(execFile);
const AT = new Date('2026-03-04T05:06:07Z');

test('an entry of more than 4 GiB, and one that begins after it', async (t) => {
  const size = 4 * 1024 ** 3 + 5;
  const chunk = Buffer.alloc(4 * 1024 * 1024);
  async function* zeros(): AsyncGenerator<Buffer> {
    for (let left = size; left > 0; left -= chunk.length) yield chunk.subarray(0, Math.min(left, chunk.length));
  }
  const large: ZipEntry = {
    name: 'large',
    modifiedAt: AT,
    open: async () => ({ reportedSize: size, chunks: zeros() }),
  };
  const behind: ZipEntry = {
    name: 'behind',
    modifiedAt: AT,
    open: async () => ({ reportedSize: 2, chunks: Readable.from([Buffer.from('it')]) }),
  };
  async function* both(): AsyncGenerator<ZipEntry> {
    yield large;
    yield behind;
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'ftg-zip-'));
  t.after(() => rm(folder, { recursive: true }));
  const target = path.join(folder, 'a.zip');
  // Zeros are written as a hole, so that they need no space on the disk.
  const out = await open(target, 'w');
  let at = 0;
  for await (const piece of zipOf(both())) {
    if (piece.buffer !== chunk.buffer) await out.write(piece, 0, piece.length, at);
    at += piece.length;
  }
  await out.close();
  const read = await readByPython(target);
  assert.deepEqual(
    read.map(([name, bytes]) => [name, bytes]),
    [
      ['large', size],
      ['behind', 2],
    ],
  );
  await run('unzip', ['-qq', '-t', target]);
});
