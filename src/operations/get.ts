/** Download and read: a file opened on a lease that lasts until the last byte has been sent. */
import type { Readable } from 'node:stream';
import type { Hold } from '../budgets/memory.js';
import { GatewayError } from '../base/errors.js';
import { baseName, type RemotePath } from '../remotes/path.js';
import type { ByteRange, FileInfo, OpenFile, Remote, SelectRange } from '../remotes/remote.js';
import { gather, wholeIfShort } from '../remotes/whole.js';
import type { Operation, OperationRequest, OperationResult, Operations } from './operation.js';
import type { PathReference } from './path-reference.js';
import type { ContentHash } from './content-hash.js';
import { BODY_BYTES, bodyOf, Deferred } from './streamed.js';

export interface Download {
  readonly transferId: string;
  readonly path: RemotePath;
  readonly info: FileInfo;
  readonly range: ByteRange | undefined;
  /** The number of bytes to come; undefined if the file has more than its server reported: they come until it ends. */
  readonly length: number | undefined;
  /** Bytes of `body` sent so far. */
  readonly sentBytes: () => number;
  /** Destroying it ends the operation as client_gone. */
  readonly body: Readable | undefined;
  /** Replaces `body`: a short file, whose operation has ended. Both are absent if the answer needs no body. */
  readonly whole?: Buffer | undefined;
  /** SHA-256 of the whole file, if it was wanted and is known before its bytes are sent. */
  readonly digest?: Buffer | undefined;
}

export interface DownloadOptions {
  /** Chooses a range from the file's facts, or throws. Not asked for a file that has more bytes than reported. */
  readonly select?: SelectRange | undefined;
  /** Larger files fail with `error`; before anything is sent if the server reports the right size. */
  readonly limit?: { readonly bytes: number; readonly error: () => GatewayError } | undefined;
  /** The answer has no body (HEAD): the file is not opened. */
  readonly factsOnly?: boolean;
  /** Checks the conditions of the request, before `select`, and may throw; true = the answer needs no body. */
  readonly skipBody?: ((info: FileInfo) => boolean) | undefined;
  /** Checks the digest of the whole file before its last bytes are sent. Throws if it is not the expected one. */
  readonly verify?: ((digest: Buffer) => void) | undefined;
  /** Converts a failure for the client; the history has the original. */
  readonly shown?: ((error: Error) => Error) | undefined;
}

/**
 * Opens a file for streaming. The operation ends with the body: the lease is returned and the history item is durable
 * before the last chunk is sent, so that a client with the complete file finds it recorded.
 */
export async function openDownload(
  operations: Operations,
  request: OperationRequest,
  reference: PathReference,
  { select, factsOnly = false, skipBody, limit, verify, shown }: DownloadOptions,
): Promise<Download> {
  const running = await operations.begin(request);
  const { operation } = running;
  if (verify !== undefined) operation.evidence.ask();
  const verified = (hash: ContentHash | undefined): void => {
    if (hash !== undefined) verify?.(hash.value);
  };
  const requireFitting = (bytes: number): void => {
    if (limit !== undefined && bytes > limit.bytes) throw limit.error();
  };
  const opened = new Deferred<Found>();
  const drained = new Deferred<void>();

  const memory = request.memory?.hold();
  const leased = operation.use(async (remote, attempt) => {
    memory?.require(BODY_BYTES);
    const path = await reference(remote);
    operation.locate(path, baseName(path));
    const answerFacts = async (info: FileInfo, choose?: SelectRange): Promise<void> => {
      const measured = info.size === 0 ? await measureContent(remote, path) : { info, length: info.size };
      const range = measured.length === info.size ? choose?.(info) : undefined;
      const length = range === undefined ? measured.length : range.end - range.start + 1;
      opened.resolve({ path, file: { info: measured.info, range }, length });
    };
    if (factsOnly) {
      const info = await remote.stat(path);
      if (info.isDirectory) throw new GatewayError('is_a_folder', `${path} is a folder`, { step: 'open' });
      requireFitting(info.size);
      return answerFacts(info, skipBody?.(info) === true ? undefined : select);
    }
    let unneeded: FileInfo | undefined;
    const choose = (info: FileInfo): ByteRange | undefined => {
      requireFitting(info.size);
      if (skipBody?.(info) === true) {
        unneeded = info;
        throw new GatewayError('internal', `the bytes of ${path} are not needed`, { step: 'open' });
      }
      return select?.(info);
    };
    const isCheck = select === undefined && skipBody === undefined;
    const chosen: SelectRange = Object.assign(choose, { isCheck, likely: select?.likely });
    const isAsked = select !== undefined || skipBody !== undefined || limit !== undefined;
    const first = await remote.read(path, isAsked ? chosen : undefined).catch((error: unknown) => {
      if (unneeded === undefined) throw error;
    });
    if (first === undefined) return unneeded && answerFacts(unneeded);
    operation.mark('transfer');
    attempt.committed();
    const { file, length } = await wholeIfShort(first);
    opened.resolve({ path, file, length });
    if (file.whole === undefined) await drained.promise;
  });
  leased.catch((error: unknown) => opened.reject(error));

  try {
    const { path, file, length } = await opened.promise;
    const { info, range, whole } = file;
    const sentBytes = (): number => operation.fileSize;
    const common = { transferId: operation.transferId, path, info, range, length, sentBytes };
    const isAll = range === undefined || length === info.size;
    if (whole !== undefined) requireFitting(info.size);
    if (file.body === undefined) {
      operation.fileSize = whole?.length ?? 0;
      if (whole === undefined || !isAll) operation.evidence.undigested(whole === undefined ? 'not_sent' : 'range');
      else {
        const hash = operation.evidence.hashing();
        hash?.update(whole);
        verified(hash);
      }
      await leased;
      await running.succeed();
      return { ...common, body: undefined, whole, digest: running.evidence.digest };
    }
    operation.expectedSize = length;
    const hash = isAll ? operation.evidence.hashing() : undefined;
    if (!isAll) operation.evidence.undigested('range');
    const most =
      length === undefined
        ? limit && { bytes: limit.bytes, refuse: () => Promise.reject(limit.error()) }
        : { bytes: length, refuse: () => refuseUnlessGrown(path, length, file.hasGrown) };
    const body = bodyOf(running, file.body, { leased, drained, hash, most, verify: () => verified(hash), shown });
    return { ...common, body };
  } catch (error) {
    throw await running.fail(error);
  }
}

interface Found {
  readonly path: RemotePath;
  readonly file:
    OpenFile | { readonly info: FileInfo; readonly range?: ByteRange | undefined; body?: undefined; whole?: undefined };
  readonly length: number | undefined;
}

/** Some servers report 0 for a file with content: reading shows its length, unless it is long. */
async function measureContent(
  remote: Remote,
  path: RemotePath,
): Promise<{ readonly info: FileInfo; readonly length: number | undefined }> {
  const { file, length } = await wholeIfShort(await remote.read(path));
  file.body?.destroy();
  return { info: file.info, length };
}

/** More bytes arrived than the answer's head has announced. @throws GatewayError size_mismatch */
async function refuseUnlessGrown(path: RemotePath, length: number, hasGrown?: () => Promise<boolean>): Promise<void> {
  if ((await hasGrown?.()) === true) return;
  throw new GatewayError('size_mismatch', `${path} has more bytes than the ${length} that its server reported`, {
    step: 'transfer',
  });
}

interface ReadWhole<T> {
  /** Beyond it: too_large. */
  readonly maxBytes: number;
  /** Counts the bytes before they are read, and the result of `decode`. */
  readonly memory: Hold;
  /** Bytes of memory that decoding and its result need, in addition to `size` bytes of content. */
  readonly decodedBytes: (size: number) => number;
  /** May throw; that fails the operation. */
  readonly decode: (content: Buffer) => T | Promise<T>;
}

/**
 * Reads a whole small file and decodes it. Errors: too_large; share_exceeded and overloaded, before anything is read.
 */
export function readFile<T>(
  operations: Operations,
  request: OperationRequest,
  reference: PathReference,
  { maxBytes, memory, decodedBytes, decode }: ReadWhole<T>,
): Promise<OperationResult<{ readonly path: RemotePath; readonly size: number; readonly content: T }>> {
  return operations.run(request, async (operation: Operation) => {
    const { path, bytes } = await operation.use(async (remote) => {
      const path = await reference(remote);
      operation.locate(path, baseName(path));
      const requireReadable = (size: number): void => {
        if (size <= maxBytes) return;
        const text = `${path} has ${size} bytes; read takes at most ${maxBytes}: use /api/download instead`;
        throw new GatewayError('too_large', text, { step: 'open' });
      };
      const file = await remote.read(path, ({ size }) => {
        requireReadable(size);
        memory.require(size + decodedBytes(size));
        return undefined;
      });
      operation.mark('transfer');
      const admit = (bytes: number): void => {
        requireReadable(bytes);
        // The bytes are in memory twice while the buffer grows.
        memory.require(2 * bytes + decodedBytes(bytes));
      };
      return { path, bytes: await gather(file, { hash: operation.evidence.hashing(), admit }) };
    });
    const size = bytes.length;
    operation.fileSize = size;
    return { path, size, content: await decode(bytes) };
  });
}
