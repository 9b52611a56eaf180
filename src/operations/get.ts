/** Download and read: a file opened on a lease that lasts until the last byte is on its way. */
import { Transform, type Readable, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Hold } from '../budgets/memory.js';
import { GatewayError } from '../base/errors.js';
import { baseName, type RemotePath } from '../remotes/path.js';
import type { ByteRange, FileInfo, OpenFile } from '../remotes/remote.js';
import { gather, lengthOf, wholeIfShort } from '../remotes/whole.js';
import type { Operation, OperationRequest, OperationResult, Operations, PathReference } from './operation.js';

export interface Download {
  readonly transferId: string;
  readonly path: RemotePath;
  readonly info: FileInfo;
  readonly range: ByteRange | undefined;
  /** Bytes of `body`. */
  readonly length: number;
  /** Destroying it ends the operation as client_gone. */
  readonly body: Readable | undefined;
  /** In place of `body`: a short file, whose operation has ended. Neither, when `skipBody` said so. */
  readonly whole?: Buffer | undefined;
}

/** Held between the remote and the client's socket, beside the window: chunks of 255 KiB in four places (SFTP). */
const DOWNLOAD_BYTES = 1024 * 1024;

export interface DownloadOptions {
  /** Chooses a range from the file's facts, or throws. */
  readonly select?: ((info: FileInfo) => ByteRange | undefined) | undefined;
  /** Asked before the file is opened: true = the answer needs no body (HEAD, not modified). */
  readonly skipBody?: ((info: FileInfo) => boolean) | undefined;
}

/**
 * Opens a file for streaming. The operation ends with the body: the lease goes back and the history item is durable
 * before the last chunk leaves, so that a client who has everything finds it recorded.
 */
export async function openDownload(
  operations: Operations,
  request: OperationRequest,
  reference: PathReference,
  { select, skipBody }: DownloadOptions,
): Promise<Download> {
  const running = await operations.begin(request);
  const { operation } = running;
  const opened = new Deferred<{
    path: RemotePath;
    file: OpenFile | { info: FileInfo; range: undefined; body: undefined; whole: undefined };
  }>();
  const drained = new Deferred<void>();

  const memory = request.memory?.hold();
  const leased = operation.use(async (remote, attempt) => {
    memory?.require(DOWNLOAD_BYTES);
    const path = await reference(remote);
    operation.locate(path, baseName(path));
    if (skipBody !== undefined) {
      const info = await remote.stat(path);
      if (info.isDirectory) throw new GatewayError('is_a_folder', `${path} is a folder`, { step: 'open' });
      if (skipBody(info)) {
        return opened.resolve({ path, file: { info, range: undefined, body: undefined, whole: undefined } });
      }
    }
    const file = await remote.read(path, select);
    operation.mark('transfer');
    attempt.committed();
    const whole = await wholeIfShort(file);
    opened.resolve({ path, file: whole === undefined ? file : { ...file, whole, body: undefined } });
    if (whole === undefined) await drained.promise;
  });
  leased.catch((error: unknown) => opened.reject(error));

  try {
    const { path, file } = await opened.promise;
    const { info, range, whole } = file;
    const length = lengthOf(file);
    const common = { transferId: operation.transferId, path, info, range, length };
    if (file.body === undefined) {
      operation.fileSize = whole?.length ?? 0;
      await leased;
      await running.succeed();
      return { ...common, body: undefined, whole };
    }
    operation.expectedSize = length;
    let failing: Promise<unknown> | undefined;
    const fail = async (error: unknown): Promise<void> => {
      // A remote's failure is a GatewayError; anything else here is the consumer going away.
      const cause =
        error instanceof GatewayError
          ? error
          : new GatewayError('client_gone', 'the client left before the file was whole', {
              step: 'transfer',
              cause: error,
            });
      drained.reject(cause);
      await leased.catch(() => undefined);
      await running.fail(operation.signal.aborted ? operation.signal.reason : cause);
    };
    const body = new LastChunkHeld({
      onBytes: (bytes) => void (operation.fileSize = bytes),
      beforeEnd: async () => {
        drained.resolve();
        await leased;
        await running.succeed();
      },
      beforeError: (error) => (failing ??= fail(error)),
    });
    pipeline(file.body, body, { signal: operation.signal }).catch((error: unknown) => (failing ??= fail(error)));
    return { ...common, body };
  } catch (error) {
    throw await running.fail(error);
  }
}

interface Endings {
  readonly onBytes: (total: number) => void;
  readonly beforeEnd: () => Promise<void>;
  readonly beforeError: (error: Error) => Promise<unknown>;
}

/**
 * Keeps the newest chunk back until `beforeEnd` has resolved, so that what follows the last byte happens before it is
 * sent; and an error until `beforeError` has, so that whoever is told of it finds it recorded.
 */
class LastChunkHeld extends Transform {
  private bytes = 0;
  private held: Buffer | undefined;

  constructor(private readonly endings: Endings) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.bytes += chunk.length;
    this.endings.onBytes(this.bytes);
    if (this.held !== undefined) this.push(this.held);
    this.held = chunk;
    done();
  }

  override _flush(done: TransformCallback): void {
    this.endings.beforeEnd().then(() => {
      if (this.held !== undefined) this.push(this.held);
      done();
    }, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (error === null) return done();
    void this.endings.beforeError(error).finally(() => done(error));
  }
}

/** A promise and its two ends; its rejection is always taken care of. */
class Deferred<T> {
  readonly promise: Promise<T>;
  resolve!: (value: T) => void;
  reject!: (error: unknown) => void;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.promise.catch(() => undefined);
  }
}

export interface ReadWhole<T> {
  /** Beyond: too_large. */
  readonly maxBytes: number;
  /** Counts the bytes before they are read, and what `decode` makes of them. */
  readonly memory: Hold;
  /** What it holds in memory beside the bytes, while it works and afterwards, for so many of them. */
  readonly decodedBytes: (size: number) => number;
  /** May throw; that is the operation's failure. */
  readonly decode: (content: Buffer) => T | Promise<T>;
}

/** Reads a whole small file and decodes it. Errors: too_large; share_exceeded and overloaded, before anything is read. */
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
      const file = await remote.read(path, ({ size }) => {
        if (size > maxBytes) {
          throw new GatewayError(
            'too_large',
            `${path} has ${size} bytes; read takes at most ${maxBytes}: use /api/download instead`,
            { step: 'open' },
          );
        }
        memory.require(size + decodedBytes(size));
        return undefined;
      });
      operation.mark('transfer');
      return { path, bytes: await gather(file) };
    });
    const size = bytes.length;
    operation.fileSize = size;
    return { path, size, content: await decode(bytes) };
  });
}
