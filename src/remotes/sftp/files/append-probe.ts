import type { SftpChannel } from '../session/channel.js';
import type { ServerPath } from './confine.js';
import { isStatus } from '../wire/replies.js';
import { OPEN } from '../wire/wire.js';

/**
 * Whether the server keeps the content of a file that is opened to be continued. Some servers empty it regardless of
 * the flags, or can write only at the beginning. This is tested on `file`, which is made and removed for it, not on a
 * client's file. undefined if it may not be made.
 */
export async function keepsStoredBytes(channel: SftpChannel, file: ServerPath): Promise<boolean | undefined> {
  try {
    await writeByte(channel, file, OPEN.WRITE | OPEN.CREATE | OPEN.TRUNCATE, 0, 'a');
  } catch (error) {
    if (isStatus(error)) return undefined;
    throw error;
  }
  try {
    await writeByte(channel, file, OPEN.WRITE, 1, 'b');
    return (await readAll(channel, file)) === 'ab';
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
