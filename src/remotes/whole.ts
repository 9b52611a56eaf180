/** Short files in one piece, whether their protocol has a shorter way for them or streams alone. */
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { toGatewayError } from '../base/errors.js';
import type { RemotePath } from './path.js';
import {
  WHOLE_BYTES,
  type FileInfo,
  type OpenFile,
  type PutOptions,
  type Remote,
  type RemoteWriter,
} from './remote.js';

/** Creates or replaces a file by bytes that are all here. Errors: those of write() and commit(). */
export async function putWhole(
  remote: Remote,
  path: RemotePath,
  bytes: Buffer,
  options: PutOptions = {},
): Promise<FileInfo> {
  const { exclusive = false, modifiedAt, check, opened, sent } = options;
  if (remote.put !== undefined && check === undefined) return remote.put(path, bytes, options);
  const isChecked = check !== undefined;
  const writer = await remote.write(path, { size: bytes.length, exclusive, modifiedAt, isChecked });
  // Taken back before it was written to, it fails with nobody else listening.
  writer.on('error', () => undefined);
  try {
    opened?.();
    await endWith(writer, bytes);
    sent?.();
    return await writer.commit({ size: bytes.length, exclusive, modifiedAt, check });
  } catch (error) {
    await writer.abort(toGatewayError(error));
    throw error;
  }
}

/** Resolves when the writer has taken these last bytes; rejects with what it failed of. */
export async function endWith(writer: RemoteWriter, bytes: Buffer): Promise<void> {
  // It may fail again while it is taken back, when nobody listens any more.
  writer.on('error', () => undefined);
  writer.end(bytes);
  await finished(writer);
}

/** For who needs a stream. */
export function streamOf({ body, whole }: OpenFile): Readable {
  return body ?? Readable.from(whole.length === 0 ? [] : [whole], { objectMode: false });
}

export function lengthOf({ info, range }: Pick<OpenFile, 'info' | 'range'>): number {
  return range === undefined ? info.size : range.end - range.start + 1;
}

/** All of a short file, from then on closed; undefined where it is a longer one. Rejects as its stream fails. */
export async function wholeIfShort(file: OpenFile): Promise<Buffer | undefined> {
  return lengthOf(file) <= WHOLE_BYTES ? gather(file) : undefined;
}

/** Into one piece of memory from the start: joining chunks at the end would take twice as much. */
export async function gather(file: OpenFile, hash?: { readonly update: (bytes: Buffer) => void }): Promise<Buffer> {
  if (file.whole !== undefined) {
    hash?.update(file.whole);
    return file.whole;
  }
  const bytes = Buffer.allocUnsafeSlow(lengthOf(file));
  let at = 0;
  file.body.on('data', (chunk: Buffer) => {
    hash?.update(chunk);
    at += chunk.copy(bytes, at);
  });
  await finished(file.body);
  return bytes;
}
