import { Readable } from 'node:stream';
import type { GatewayError } from '../../../base/errors.js';

export interface SourceOptions {
  readonly signal: AbortSignal;
  /** Longest wait for the next byte while the reader wants one. */
  readonly stallMs: number;
  stalled(): GatewayError;
  lost(cause?: unknown): GatewayError;
  tooLong(): GatewayError;
}

/** The body of an answer that ends only after exactly `length` bytes; a short one is destroyed, never ended. */
export class S3Source extends Readable {
  #left: number;
  #timer: NodeJS.Timeout | undefined;
  readonly #stop = (): void => void this.destroy(this.options.signal.reason as Error);

  constructor(
    private readonly source: Readable,
    length: number,
    private readonly options: SourceOptions,
  ) {
    super({ highWaterMark: 256 * 1024 });
    this.#left = length;
    source.pause();
    source.on('data', (chunk: Buffer) => this.#take(chunk));
    source.once('end', () => this.#finish());
    source.once('error', (error) => this.destroy(options.lost(error)));
    source.once('close', () => {
      if (!source.readableEnded) this.destroy(options.lost());
    });
    options.signal.addEventListener('abort', this.#stop, { once: true });
    if (options.signal.aborted) this.#stop();
  }

  override _read(): void {
    this.#timer ??= setTimeout(() => this.destroy(this.options.stalled()), this.options.stallMs);
    this.source.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timer);
    this.options.signal.removeEventListener('abort', this.#stop);
    // A socket whose answer was not read to its end cannot carry another one; destroying it frees its place.
    this.source.destroy();
    done(error);
  }

  #take(chunk: Buffer): void {
    if (this.destroyed) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left -= chunk.length;
    if (this.#left < 0) {
      this.destroy(this.options.tooLong());
      return;
    }
    // push() asks for more through _read() at once, or later: only a full buffer pauses the socket.
    if (!this.push(chunk)) this.source.pause();
  }

  #finish(): void {
    if (this.#left > 0) this.destroy(this.options.lost());
    else this.push(null);
  }
}
