import { Piscina } from 'piscina';
import { GatewayError } from '../base/errors.js';
import { decodeInto, encodedLength, encodeInto } from './base64-codec.js';
import type { Base64Result, Base64Task } from './base64.worker.js';

export interface Base64Options {
  /** Started when first needed; 0 = everything in place. */
  readonly threads: number;
  /** Buffers and chunks below this are converted in place, the others by a worker. */
  readonly inlineBelowBytes: number;
}

/** Threads that were idle for this long end. */
const IDLE_TIMEOUT_MS = 30_000;

const WORKER_FILE = new URL('./base64.worker.js', import.meta.url);

/**
 * Converts whole groups of base64, in place or in a worker by their size. A worker gets memory of its own, which is
 * moved: a chunk's memory may be shared, so it is copied first, and strings would be cloned.
 */
export class Base64Workers {
  readonly #options: Base64Options;
  readonly #workerFile: URL;
  #pool: Piscina<Base64Task, Base64Result> | undefined;
  #isClosed = false;

  constructor(options: Base64Options, workerFile = WORKER_FILE) {
    this.#options = options;
    this.#workerFile = workerFile;
  }

  /**
   * The bytes of `head` then `body`, each a multiple of 4 long; `offset` is their position in the text, for bad_base64.
   * `mayMove`: the caller transfers `body`, and a worker gets its memory without a copy.
   */
  decode(head: Buffer, body: Buffer, offset: number, mayMove = false): Buffer | Promise<Buffer> {
    const length = head.length + body.length;
    if (!this.#isInline(length)) return this.#run('decode', head, body, offset, mayMove);
    const target = Buffer.allocUnsafe((length / 4) * 3);
    const first = decodeInto(target, 0, head, 0, head.length);
    if (first < 0) throw badBase64(offset - 1 - first);
    const second = decodeInto(target, first, body, 0, body.length);
    if (second < 0) throw badBase64(offset + head.length - 1 - second);
    return target.subarray(0, first + second);
  }

  /** The text of `head` then `body`; `head` is a multiple of 3 long, and `body` too unless it is the last. */
  encode(head: Buffer, body: Buffer, mayMove = false): Buffer | Promise<Buffer> {
    const length = head.length + body.length;
    if (!this.#isInline(length)) return this.#run('encode', head, body, 0, mayMove);
    const target = Buffer.allocUnsafe(encodedLength(length));
    const first = encodeInto(target, 0, head, 0, head.length);
    encodeInto(target, first, body, 0, body.length);
    return target;
  }

  get gauges(): { readonly threads: number; readonly waiting: number; readonly completed: number } {
    const pool = this.#pool;
    return { threads: pool?.threads.length ?? 0, waiting: pool?.queueSize ?? 0, completed: pool?.completed ?? 0 };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool?.destroy();
  }

  #isInline(length: number): boolean {
    return this.#options.threads === 0 || length < this.#options.inlineBelowBytes;
  }

  async #run(kind: Base64Task['kind'], head: Buffer, body: Buffer, offset: number, mayMove: boolean): Promise<Buffer> {
    const bytes = mayMove && head.length === 0 && ownsItsMemory(body) ? body.buffer : joined(head, body);
    const pool = this.#start();
    let result: Base64Result;
    try {
      result = await pool.run({ kind, bytes }, { transferList: [bytes] });
    } catch (error) {
      this.#discard(pool);
      if (this.#isClosed) throw closing();
      throw new GatewayError('internal', `base64 worker: ${String(error)}`, { step: 'transfer', cause: error });
    }
    if (typeof result === 'number') throw badBase64(offset + result);
    return Buffer.from(result.buffer, result.byteOffset, result.byteLength);
  }

  #start(): Piscina<Base64Task, Base64Result> {
    if (this.#isClosed) throw closing();
    if (this.#pool !== undefined) return this.#pool;
    const pool = new Piscina<Base64Task, Base64Result>({
      filename: this.#workerFile.href,
      minThreads: 0,
      maxThreads: this.#options.threads,
      idleTimeout: IDLE_TIMEOUT_MS,
    });
    pool.on('error', () => this.#discard(pool));
    this.#pool = pool;
    return pool;
  }

  /**
   * The job itself never throws, so a failure means a thread that died or did not start. The pool would then keep jobs
   * that wait for a thread waiting for ever: ending it rejects them, and the next job starts another pool.
   */
  #discard(pool: Piscina<Base64Task, Base64Result>): void {
    if (this.#pool !== pool || this.#isClosed) return;
    this.#pool = undefined;
    void pool.destroy().catch(() => {});
  }
}

/** Whether no other data can be in the buffer's memory. */
function ownsItsMemory(bytes: Buffer): bytes is Buffer<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;
}

/** A copy of both in memory of their own; Buffer.concat may take it from the shared pool, which must not be moved. */
function joined(head: Buffer, body: Buffer): ArrayBuffer {
  const bytes = Buffer.allocUnsafeSlow(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes.buffer;
}

function closing(): GatewayError {
  return new GatewayError('draining', 'the gateway is stopping', { step: 'transfer' });
}

/** `position` is the wrong byte in the text. */
export function badBase64(position: number): GatewayError {
  return new GatewayError(
    'bad_base64',
    `bad base64 at byte ${position} of the content: wanted are A-Z a-z 0-9 + / in groups of four with "=" at the end ` +
      `alone, no line breaks (RFC 4648, section 4)`,
    { step: 'transfer' },
  );
}
