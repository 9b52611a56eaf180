import type { SftpChannel } from '../session/channel.js';
import type { ServerPath } from './confine.js';
import { isStatus } from '../wire/replies.js';
import { OPEN } from '../wire/wire.js';

/** Where a server writes in a file that is opened to be continued. */
export type WritesOn = 'anywhere' | 'at its end' | 'nowhere';

/**
 * Tests where the server writes in a file that has bytes. Some servers empty it regardless of the flags, or can write
 * only at the beginning; others refuse an offset beyond the end, or ignore it. This is tested on `file`, which is made
 * and removed for it, not on a client's file. undefined if it may not be made.
 */
export async function tryWritingOn(channel: SftpChannel, file: ServerPath): Promise<WritesOn | undefined> {
  try {
    await writeByte(channel, file, OPEN.WRITE | OPEN.CREATE | OPEN.TRUNCATE, 0, 'a');
  } catch (error) {
    if (isStatus(error)) return undefined;
    throw error;
  }
  if (!(await canWrite(channel, file, [[1, 'b']], 'ab'))) return 'nowhere';
  const backwards = [
    [3, 'd'],
    [2, 'c'],
  ] as const;
  return (await canWrite(channel, file, backwards, 'abcd')) ? 'anywhere' : 'at its end';
}

async function canWrite(
  channel: SftpChannel,
  file: ServerPath,
  bytes: readonly (readonly [offset: number, byte: string])[],
  expected: string,
): Promise<boolean> {
  try {
    for (const [offset, byte] of bytes) await writeByte(channel, file, OPEN.WRITE, offset, byte);
    return (await readAll(channel, file)) === expected;
  } catch (error) {
    if (isStatus(error)) return false;
    throw error;
  }
}

async function writeByte(
  channel: SftpChannel,
  file: ServerPath,
  flags: number,
  offset: number,
  byte: string,
): Promise<void> {
  const handle = await channel.open(file.raw, flags);
  const written = new Promise<void>((done, failed) => {
    channel.write(handle, offset, [Buffer.from(byte)], (error) => (error === undefined ? done() : failed(error)));
  });
  const [outcome, closed] = await Promise.allSettled([written, channel.close(handle)]);
  if (outcome.status === 'rejected') throw outcome.reason;
  if (closed.status === 'rejected') throw closed.reason;
}

async function readAll(channel: SftpChannel, file: ServerPath): Promise<string | undefined> {
  const handle = await channel.open(file.raw, OPEN.READ);
  try {
    return await new Promise((done, failed) => {
      channel.read(handle, 0, 16, (error, data) =>
        error === undefined ? done(data?.toString('latin1')) : failed(error),
      );
    });
  } finally {
    channel.close(handle).catch(() => undefined);
  }
}
