/** What a download buffers for a consumer that does not read. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { type Hold, UNCOUNTED } from '../../../src/budgets/memory.js';
import { Lanes } from '../../../src/remotes/sftp/files/lanes.js';
import { type SourcePlan, SftpSource } from '../../../src/remotes/sftp/files/source.js';
import type { SftpMemory } from '../../../src/remotes/sftp/memory.js';
import type { SftpChannel } from '../../../src/remotes/sftp/session/channel.js';

const MIB = 1024 * 1024;
const CHUNK = 255 * 1024;
const FILE_BYTES = 100 * CHUNK;
const FULL: Hold = { ...UNCOUNTED, stretch: () => false };

const WHOLE_FILE = { start: 0, length: FILE_BYTES, isToEnd: true };
const LONG_TRIP_MS = 50;

type Part = Pick<SourcePlan, 'start' | 'length' | 'isToEnd'>;

interface Line {
  readonly shortestReplyMs: number;
  /** What other downloads of the server have taken. */
  readonly extraWindowBytes: number;
}

/** Answers each read in the next turn. */
function sourceWith(
  hold: Hold,
  part: Part = WHOLE_FILE,
  { shortestReplyMs, extraWindowBytes }: Line = { shortestReplyMs: 0, extraWindowBytes: 0 },
): { readonly source: SftpSource; readonly memory: SftpMemory; readonly asked: () => number } {
  let asked = 0;
  const channel = {
    maxReadBytes: CHUNK,
    shortestReplyMs,
    read: (_handle: Buffer, offset: number, length: number, done: (error: undefined, data?: Buffer) => void) => {
      asked += length;
      setImmediate(() => (offset < FILE_BYTES ? done(undefined, Buffer.alloc(length)) : done(undefined)));
    },
    widenWindow: () => undefined,
    close: async () => undefined,
  } as unknown as SftpChannel;
  const memory = { oneRequestAtATime: false, extraWindowBytes } as SftpMemory;
  const lanes = new Lanes({ channel, handle: Buffer.alloc(4) }, { queuedBytes: 0 }, undefined);
  const source = new SftpSource({ lanes, memory, hold, maxRequests: 64, path: '/large', ...part });
  return { source, memory, asked: () => asked };
}

async function kept(source: SftpSource): Promise<number> {
  source.read(0);
  for (let turns = 0; turns < 50; turns++) await turn();
  return source.readableLength;
}

test('one chunk if memory is short, and the rest of the file still arrives', async () => {
  const { source } = sourceWith(FULL);
  assert.equal(await kept(source), CHUNK);
  let bytes = 0;
  for await (const chunk of source) bytes += (chunk as Buffer).length;
  assert.equal(bytes, 100 * CHUNK);
});

test('enough for a fast consumer if it is not', async () => {
  const { source } = sourceWith(UNCOUNTED);
  assert.ok((await kept(source)) > 2 * CHUNK);
  source.destroy();
});

/** What is asked for before the first answer of a range that is longer than the ordinary budget. */
function askedAtOnce(hold: Hold, line: Partial<Line> = {}, length = 6 * MIB): number {
  const range = { start: CHUNK, length, isToEnd: false };
  const far = { shortestReplyMs: LONG_TRIP_MS, extraWindowBytes: 0, ...line };
  const { source, memory, asked } = sourceWith(hold, range, far);
  source.read(0);
  const bytes = asked();
  source.destroy();
  assert.equal(memory.extraWindowBytes, far.extraWindowBytes);
  return bytes;
}

test('all of a range on a long line is asked for at once', () => {
  assert.equal(askedAtOnce(UNCOUNTED), 6 * MIB);
  assert.equal(askedAtOnce(UNCOUNTED, {}, CHUNK / 2), CHUNK / 2);
});

test('no more than the budget of a long line', () => {
  const bytes = askedAtOnce(UNCOUNTED, {}, 20 * MIB);
  assert.ok(bytes >= 8 * MIB && bytes < 8 * MIB + CHUNK, `${bytes / MIB} MiB`);
});

test('the ordinary budget of a range, if other downloads from the server use what is beyond it', () => {
  const bytes = askedAtOnce(UNCOUNTED, { extraWindowBytes: 63 * MIB });
  assert.ok(bytes >= 3.5 * MIB && bytes < 3.5 * MIB + CHUNK, `${bytes / MIB} MiB`);
});

test('the ordinary budget of a range, if the memory of the owner has no room for more', () => {
  const bytes = askedAtOnce({ ...UNCOUNTED, stretch: (wanted) => wanted <= 4 * MIB });
  assert.ok(bytes >= 3.5 * MIB && bytes < 3.5 * MIB + CHUNK, `${bytes / MIB} MiB`);
});

test('four chunks of a range on a short line', () => {
  assert.equal(askedAtOnce(UNCOUNTED, { shortestReplyMs: 1 }), 4 * CHUNK);
});
