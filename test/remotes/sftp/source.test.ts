/** What a download buffers for a consumer that does not read. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { type Hold, UNCOUNTED } from '../../../src/budgets/memory.js';
import { Lanes } from '../../../src/remotes/sftp/files/lanes.js';
import { SftpSource } from '../../../src/remotes/sftp/files/source.js';
import type { HostMemory } from '../../../src/remotes/sftp/memory.js';
import type { SftpChannel } from '../../../src/remotes/sftp/session/channel.js';

const CHUNK = 255 * 1024;
const FILE_BYTES = 100 * CHUNK;
const FULL: Hold = { ...UNCOUNTED, stretch: () => false };

/** Answers each read in the next turn. */
function sourceWith(hold: Hold): SftpSource {
  const channel = {
    maxReadBytes: CHUNK,
    shortestReplyMs: 0,
    read: (_handle: Buffer, offset: number, length: number, done: (error: undefined, data?: Buffer) => void) =>
      void setImmediate(() => (offset < FILE_BYTES ? done(undefined, Buffer.alloc(length)) : done(undefined))),
    widenWindow: () => undefined,
    close: async () => undefined,
  } as unknown as SftpChannel;
  const memory = { oneRequestAtATime: false, extraWindowBytes: 0 } as HostMemory;
  const lanes = new Lanes({ channel, handle: Buffer.alloc(4) }, { queuedBytes: 0 }, undefined);
  const file = { path: '/large', start: 0, length: FILE_BYTES, isToEnd: true };
  return new SftpSource({ lanes, memory, hold, maxRequests: 64, ...file });
}

async function kept(source: SftpSource): Promise<number> {
  source.read(0);
  for (let turns = 0; turns < 50; turns++) await turn();
  return source.readableLength;
}

test('one chunk if memory is short, and the rest of the file still arrives', async () => {
  const source = sourceWith(FULL);
  assert.equal(await kept(source), CHUNK);
  let bytes = 0;
  for await (const chunk of source) bytes += (chunk as Buffer).length;
  assert.equal(bytes, 100 * CHUNK);
});

test('enough for a fast consumer if it is not', async () => {
  const source = sourceWith(UNCOUNTED);
  assert.ok((await kept(source)) > 2 * CHUNK);
  source.destroy();
});
