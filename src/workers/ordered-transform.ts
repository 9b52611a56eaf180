import { Duplex } from 'node:stream';

export interface Conversion {
  /** A chunk's result, at once or later; an empty buffer when there is nothing yet. */
  convert(chunk: Buffer): Buffer | Promise<Buffer>;
  /** The rest when the input has ended. */
  finish(): Buffer;
}

/**
 * A stream whose chunks are converted several at a time and leave in the order they came. Takes no more input while
 * `maxInFlight` results are awaited or the reader is slow. The first conversion that fails destroys it.
 */
export class OrderedTransform extends Duplex {
  readonly #conversion: Conversion;
  readonly #maxInFlight: number;
  /** Results in the order of their chunks; undefined until known. */
  readonly #results: { bytes: Buffer | undefined }[] = [];
  #isFull = false;
  /** Continues the writer, or ends the stream once the input has ended. */
  #proceed: (() => void) | undefined;
  #hasEnded = false;

  constructor(conversion: Conversion, maxInFlight: number) {
    super({ highWaterMark: 64 * 1024, decodeStrings: true });
    this.#conversion = conversion;
    this.#maxInFlight = maxInFlight;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    try {
      this.#await(this.#conversion.convert(chunk));
    } catch (error) {
      done(error as Error);
      return;
    }
    this.#proceed = done;
    this.#deliver();
  }

  override _final(done: (error?: Error | null) => void): void {
    try {
      this.#await(this.#conversion.finish());
    } catch (error) {
      done(error as Error);
      return;
    }
    this.#hasEnded = true;
    this.#proceed = done;
    this.#deliver();
  }

  override _read(): void {
    this.#isFull = false;
    this.#deliver();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#results.length = 0;
    this.#proceed = undefined;
    done(error);
  }

  #await(result: Buffer | Promise<Buffer>): void {
    if (Buffer.isBuffer(result)) {
      this.#results.push({ bytes: result });
      return;
    }
    const slot: { bytes: Buffer | undefined } = { bytes: undefined };
    this.#results.push(slot);
    result.then(
      (bytes) => {
        slot.bytes = bytes;
        this.#deliver();
      },
      (error: unknown) => this.destroy(error as Error),
    );
  }

  #deliver(): void {
    if (this.destroyed) return;
    while (!this.#isFull) {
      const bytes = this.#results[0]?.bytes;
      if (bytes === undefined) break;
      this.#results.shift();
      if (bytes.length > 0 && !this.push(bytes)) this.#isFull = true;
    }
    const isIdle = this.#results.length === 0;
    if (
      this.#proceed === undefined ||
      (this.#hasEnded ? !isIdle : this.#isFull || this.#results.length >= this.#maxInFlight)
    ) {
      return;
    }
    const proceed = this.#proceed;
    this.#proceed = undefined;
    if (this.#hasEnded) this.push(null);
    proceed();
  }
}
