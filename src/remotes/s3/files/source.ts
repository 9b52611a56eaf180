import { Readable } from 'node:stream';
import { destroyOnAbort, StallTimer, waitFor } from '../../../base/deadline.js';
import type { EndSignal } from '../../../base/ending.js';
import type { GatewayError } from '../../../base/errors.js';

export interface SourceOptions {
  readonly signal: EndSignal;
  /** Longest wait for the next byte while the reader waits for one. */
  readonly stallMs: number;
  stalled(): GatewayError;
  lost(cause?: unknown): GatewayError;
  tooLong(): GatewayError;
}

/** The body of an answer, which ends only after exactly `length` bytes; a short one is destroyed, never ended. */
export class S3Source extends Readable {
  readonly #source: Readable;
  readonly #options: SourceOptions;
  #left: number;
  readonly #stall: StallTimer;

  constructor(source: Readable, length: number, options: SourceOptions) {
    super({ highWaterMark: 256 * 1024 });
    this.#source = source;
    this.#options = options;

    this.#left = length;
    source.pause();
    source.on('data', (chunk: Buffer) => this.#take(chunk));
    source.once('end', () => this.#finish());
    source.once('error', (error) => this.destroy(options.lost(error)));
    source.once('close', () => {
      if (!source.readableEnded) this.destroy(options.lost());
    });
    this.#stall = new StallTimer(options.stallMs, () => this.destroy(options.stalled()));
    destroyOnAbort(this, options.signal);
  }

  override _read(): void {
    this.#stall.restart();
    this.#source.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stall.stop();
    // A socket whose answer was not read to its end cannot carry another request; destroying it frees its place.
    this.#source.destroy();
    done(error);
  }

  #take(chunk: Buffer): void {
    if (this.destroyed) return;
    this.#stall.pause();
    this.#left -= chunk.length;
    if (this.#left < 0) {
      this.destroy(this.#options.tooLong());
      return;
    }
    // push() asks for more through _read() at once, or later: only a full buffer pauses the socket.
    if (!this.push(chunk)) this.#source.pause();
  }

  #finish(): void {
    // What is buffered may be read much later.
    this.#stall.stop();
    if (this.#left > 0) this.destroy(this.#options.lost());
    else this.push(null);
  }
}

/** The body of a short answer, read at once: a stream would cost more than the request. */
export function readWhole(source: Readable, length: number, options: SourceOptions): Promise<Buffer> {
  // Then nothing below is begun, and its socket would never be free.
  if (options.signal.aborted) source.destroy();
  return waitFor({ signal: options.signal }, (done, fail) => {
    const chunks: Buffer[] = [];
    let left = length;
    const stall = new StallTimer(options.stallMs, () => fail(options.stalled()));
    stall.restart();
    source.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      left -= chunk.length;
      if (left < 0) fail(options.tooLong());
      else stall.restart();
    });
    source.once('end', () => {
      if (left > 0) fail(options.lost());
      else done(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    source.on('error', (error) => fail(options.lost(error)));
    source.once('close', () => fail(options.lost()));
    return (error) => {
      stall.stop();
      // Its socket cannot carry another request.
      if (error !== undefined) source.destroy();
    };
  });
}
