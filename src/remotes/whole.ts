/** Short files in one piece, even if their protocol has only streams. */
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { toGatewayError } from '../base/errors.js';
import type { RemotePath } from './path.js';
import { flowOf, type RateFlow } from './rate-limit.js';
import {
  WHOLE_BYTES,
  type FileInfo,
  type OpenFile,
  type PutOptions,
  type Remote,
  type RemoteWriter,
} from './remote.js';

/** Creates or replaces a file with bytes that are all in memory. Errors: those of write() and commit(). */
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
  // If it is taken back before the first write, nothing else listens for its failure.
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

/** Resolves when the writer has taken these last bytes; rejects with its failure. */
export async function endWith(writer: RemoteWriter, bytes: Buffer): Promise<void> {
  // It may fail again while it is taken back, when nothing listens any more.
  writer.on('error', () => undefined);
  const flow = flowOf(writer);
  if (flow === undefined) writer.end(bytes);
  else await endSlowly(writer, bytes, flow);
  await finished(writer);
}

async function endSlowly(writer: RemoteWriter, bytes: Buffer, flow: RateFlow): Promise<void> {
  // The operation's end destroys the writer, and ends this wait.
  writer.once('close', () => flow.end());
  for (const slice of flow.slices(bytes)) {
    await flow.take(slice.length);
    if (writer.destroyed) break;
    writer.write(slice);
  }
  flow.end();
  writer.end();
}

/** For callers that need a stream. */
export function streamOf({ body, whole }: OpenFile): Readable {
  return body ?? Readable.from(whole.length === 0 ? [] : [whole], { objectMode: false });
}

/** The length of the range, or of the whole file as the server reports it. */
function lengthOf({ info, range }: Pick<OpenFile, 'info' | 'range'>): number {
  return range === undefined ? info.size : range.end - range.start + 1;
}

/** A file whose length is right, or is known to be unknown. */
interface Measured {
  readonly file: OpenFile;
  /** Undefined if the file has more bytes than the server reported: they arrive until it ends. */
  readonly length: number | undefined;
}

/**
 * Reads a short file whole and closes it, regardless of the reported size. A file that is longer than a short reported
 * size continues as a stream of unknown length; a longer file is not changed. Rejects as its stream fails.
 */
export async function wholeIfShort(file: OpenFile): Promise<Measured> {
  const length = lengthOf(file);
  if (file.whole !== undefined || length > WHOLE_BYTES) return { file, length };
  const { info, range, body } = file;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const rest = body[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  for (;;) {
    const { done, value } = await rest.next();
    if (done === true) break;
    chunks.push(value);
    bytes += value.length;
    if (bytes > WHOLE_BYTES) return { file: { info, range, body: joined(chunks, rest, body) }, length: undefined };
  }
  const whole = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes);
  return { file: { info: range === undefined ? { ...info, size: bytes } : info, range, whole }, length: bytes };
}

/** Yields the bytes that were read already, then the rest. */
function joined(first: readonly Buffer[], rest: AsyncIterator<Buffer, undefined>, body: Readable): Readable {
  const chunks = async function* (): AsyncGenerator<Buffer> {
    yield* first;
    yield* { [Symbol.asyncIterator]: () => rest };
  };
  const all = Readable.from(chunks(), { objectMode: false });
  // If it is dropped before it is read, the iterator of its source never runs.
  all.once('close', () => body.destroy());
  return all;
}

interface Gathering {
  /** Is updated with the bytes. */
  readonly hash?: { readonly update: (bytes: Buffer) => void } | undefined;
  /** Called before more bytes are kept than the server reported; throws if there are too many. */
  readonly admit: (bytes: number) => void;
}

/** Reads into one piece of memory from the start: joining chunks at the end would take twice as much. */
export async function gather(file: OpenFile, { hash, admit }: Gathering): Promise<Buffer> {
  if (file.whole !== undefined) {
    hash?.update(file.whole);
    return file.whole;
  }
  let bytes: Buffer = Buffer.allocUnsafeSlow(lengthOf(file));
  let at = 0;
  for await (const chunk of file.body as AsyncIterable<Buffer>) {
    hash?.update(chunk);
    if (at + chunk.length > bytes.length) {
      admit(at + chunk.length);
      bytes = resized(bytes, Math.max(at + chunk.length, 2 * bytes.length));
    }
    at += chunk.copy(bytes, at);
  }
  return at === bytes.length ? bytes : resized(bytes, at);
}

function resized(bytes: Buffer, length: number): Buffer {
  const other = Buffer.allocUnsafeSlow(length);
  bytes.copy(other);
  return other;
}
