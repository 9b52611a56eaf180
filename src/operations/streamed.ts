/**
 * Operations whose result is read while they run: the lease lasts, and the history item stays open, until the last
 * byte.
 */
import { Transform, type Readable, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { GatewayError } from '../base/errors.js';
import type { Remote } from '../remotes/remote.js';
import type { ContentHash } from './content-hash.js';
import type { Operation, OperationRequest, Operations, RunningOperation } from './operation.js';

/**
 * Bytes between the remote and the client's socket, in addition to the window: chunks of 255 KiB in four places (SFTP).
 */
export const BODY_BYTES = 1024 * 1024;

/**
 * Makes a body from what `open` finds on a leased remote. The operation ends with the body: the lease is returned and
 * the history item is recorded before the last chunk is sent, so that a client with the complete file finds it
 * recorded. `open` may run again on another session until it has resolved; it reads far enough that the first possible
 * failure is excluded.
 */
export async function openBody<T>(
  operations: Operations,
  request: OperationRequest,
  open: (remote: Remote, operation: Operation) => Promise<{ readonly facts: T; readonly source: Readable }>,
): Promise<{ readonly facts: T; readonly body: Readable }> {
  const running = await operations.begin(request);
  const { operation } = running;
  const opened = new Deferred<{ readonly facts: T; readonly source: Readable }>();
  const drained = new Deferred<void>();
  const memory = request.memory?.hold();
  const leased = operation.use(async (remote, attempt) => {
    memory?.require(BODY_BYTES);
    const found = await open(remote, operation);
    operation.mark('transfer');
    attempt.committed();
    opened.resolve(found);
    await drained.promise;
  });
  leased.catch((error: unknown) => opened.reject(error));
  try {
    const { facts, source } = await opened.promise;
    const isFile = request.type !== 'list';
    const hash = isFile ? operation.evidence.hashing() : undefined;
    return { facts, body: bodyOf(running, source, { leased, drained, isFile, hash }) };
  } catch (error) {
    throw await running.fail(error);
  }
}

/** Bytes that may be sent, such as those that were announced. */
interface Most {
  readonly bytes: number;
  /** Called when the source has more than `bytes`: they are dropped, or the body fails with this rejection. */
  readonly refuse: () => Promise<void>;
}

interface LeaseInUse {
  /** Settles when the lease has been returned, which happens after `drained`. */
  readonly leased: Promise<unknown>;
  readonly drained: Deferred<void>;
  /** false: its bytes do not belong to a file. */
  readonly isFile?: boolean;
  readonly hash?: ContentHash | undefined;
  readonly most?: Most | undefined;
  /** Called before the last bytes are sent; throws if they must not be. */
  readonly verify?: () => void;
  /** Converts a failure for the client. */
  readonly shown?: ((error: Error) => Error) | undefined;
}

/** Sends `source` to the client; the operation ends with its end, or failure. */
export function bodyOf(
  running: RunningOperation,
  source: Readable,
  { leased, drained, isFile = true, hash, most, verify, shown = (error) => error }: LeaseInUse,
): Readable {
  const { operation } = running;
  let failing: Promise<unknown> | undefined;
  const fail = async (error: unknown): Promise<void> => {
    // A remote's failure is a GatewayError; any other error here means that the consumer has left.
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
    most,
    onBytes: (bytes, chunk) => {
      if (!isFile) return;
      operation.fileSize = bytes;
      hash?.update(chunk);
    },
    beforeEnd: async () => {
      verify?.();
      drained.resolve();
      await leased;
      await running.succeed();
    },
    beforeError: (error) => (failing ??= fail(error)),
    shown,
  });
  pipeline(source, body, { signal: operation.signal }).catch((error: unknown) => (failing ??= fail(error)));
  return body;
}

interface Endings {
  readonly most: Most | undefined;
  readonly onBytes: (total: number, chunk: Buffer) => void;
  readonly beforeEnd: () => Promise<void>;
  readonly beforeError: (error: Error) => Promise<unknown>;
  readonly shown: (error: Error) => Error;
}

/**
 * Holds back the newest chunk until `beforeEnd` has resolved, so that the work after the last byte is done before it is
 * sent; and an error until `beforeError` has, so that it is recorded before the client gets it.
 */
class LastChunkHeld extends Transform {
  readonly #endings: Endings;
  #bytes = 0;
  #isFull = false;
  #held: Buffer | undefined;

  constructor(endings: Endings) {
    super();
    this.#endings = endings;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const { most } = this.#endings;
    const room = most === undefined ? Infinity : most.bytes - this.#bytes;
    if (chunk.length <= room) {
      this.#keep(chunk);
      return done();
    }
    if (this.#isFull) return done();
    this.#isFull = true;
    (most?.refuse() ?? Promise.resolve()).then(() => {
      if (room > 0) this.#keep(chunk.subarray(0, room));
      done();
    }, done);
  }

  #keep(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#endings.onBytes(this.#bytes, chunk);
    if (this.#held !== undefined) this.push(this.#held);
    this.#held = chunk;
  }

  override _flush(done: TransformCallback): void {
    this.#endings.beforeEnd().then(() => {
      if (this.#held !== undefined) this.push(this.#held);
      done();
    }, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (error === null) return done();
    void this.#endings.beforeError(error).finally(() => done(this.#endings.shown(error)));
  }
}

/** A promise with its resolve and reject functions; its rejection is always handled. */
export class Deferred<T> {
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
