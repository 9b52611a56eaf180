import { pipeline, Readable, Writable } from 'node:stream';
import { destroyOnAbort } from '../../base/deadline.js';
import { GatewayError, systemCodeOf } from '../../base/errors.js';

/**
 * Bodies are parsed in pieces of this size: chunks of up to 512 KiB arrive, and parsing one at once would block the
 * event loop.
 */
const PIECE_BYTES = 64 * 1024;

/**
 * Parses a request body as it arrives: one part of it (in `Opened`) is passed on as a stream, everything else is kept
 * (`Whole`). While the stream's reader is slow, nothing more is read from the body.
 * All sides fail together: a body, an abort or malformed input destroys the stream with that same error, and a reader
 * that gives up destroys the body. The stream ends only when its own end was seen.
 */
export abstract class BodySplitter<Opened, Whole> extends Writable {
  /** Settles when the streamed part begins, or when the body turned out to have none. */
  readonly opened: Promise<Opened>;
  /** Settles when the body has ended. */
  readonly whole: Promise<Whole>;
  #open!: (opened: Opened) => void;
  #refuse!: (error: Error) => void;
  #succeed!: (whole: Whole) => void;
  #fail!: (error: Error) => void;

  #output: Readable | undefined;
  #outputIsFull = false;
  #isAdvancing = false;
  #chunk: Buffer = Buffer.alloc(0);
  #offset = 0;
  #chunkTaken: (error?: Error) => void = () => {};

  constructor() {
    super({ highWaterMark: PIECE_BYTES, decodeStrings: true });
    this.opened = new Promise((resolve, reject) => {
      this.#open = resolve;
      this.#refuse = reject;
    });
    this.whole = new Promise((resolve, reject) => {
      this.#succeed = resolve;
      this.#fail = reject;
    });
    // The reader of the stream gets a failure there, and may never await the rest.
    this.whole.catch(() => {});
  }

  /** Starts reading `body`; the caller awaits `opened`. */
  take(body: Readable, signal: AbortSignal | undefined): this {
    // When it ends, pipeline destroys the body with the error of this side, and the other way round.
    pipeline(body, this, () => undefined);
    if (signal !== undefined) destroyOnAbort(this, signal);
    return this;
  }

  /** Parses the next piece; throws if it is malformed. */
  protected abstract scan(piece: Buffer): void;

  /** Called when the body has ended; throws if it is incomplete. */
  protected abstract complete(): Whole;

  protected announce(opened: Opened): void {
    this.#open(opened);
  }

  /** Begins the streamed part. */
  protected openOutput(): Readable {
    const output = new Readable({
      highWaterMark: PIECE_BYTES,
      read: () => {
        this.#outputIsFull = false;
        this.#advance();
      },
      destroy: (error, done) => {
        if (!output.readableEnded) {
          this.destroy(error ?? new GatewayError('internal', 'the body was not read to its end', { step: 'transfer' }));
        }
        done(error);
      },
    });
    // It may fail before its reader is attached; the reader still sees that it failed.
    output.on('error', () => {});
    this.#output = output;
    return output;
  }

  protected pushOutput(bytes: Buffer): void {
    if (this.#output?.push(bytes) === false) this.#outputIsFull = true;
  }

  protected endOutput(): void {
    this.#output?.push(null);
    this.#outputIsFull = false;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#chunk = chunk;
    this.#offset = 0;
    this.#chunkTaken = done;
    this.#advance();
  }

  /** Continues with the current chunk until it is used up or the output is full. */
  #advance(): void {
    // A push may run the reader, which may ask for more inside this very loop.
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    try {
      while (!this.#outputIsFull && !this.destroyed && this.#offset < this.#chunk.length) {
        const start = this.#offset;
        this.#offset = Math.min(start + PIECE_BYTES, this.#chunk.length);
        this.scan(this.#chunk.subarray(start, this.#offset));
      }
    } catch (error) {
      this.destroy(asError(error));
      return;
    } finally {
      this.#isAdvancing = false;
    }
    if (this.#outputIsFull || this.destroyed || this.#offset < this.#chunk.length) return;
    const taken = this.#chunkTaken;
    this.#chunkTaken = () => {};
    taken();
  }

  override _final(done: (error?: Error | null) => void): void {
    try {
      this.#succeed(this.complete());
      done();
    } catch (error) {
      done(asError(error));
    }
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.writableFinished || error !== null) {
      const failure = asBodyError(error);
      this.#refuse(failure);
      this.#fail(failure);
      this.#output?.destroy(failure);
      // Without this the current chunk would stay in memory for as long as the stream.
      this.#chunk = Buffer.alloc(0);
      done(failure);
      return;
    }
    done(error);
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new GatewayError('internal', String(thrown), { cause: thrown });
}

/** A body that closed without an error and without an end was cut. */
function asBodyError(error: Error | null): Error {
  const wasCut = error === null || systemCodeOf(error) === 'ERR_STREAM_PREMATURE_CLOSE';
  if (!wasCut) return error;
  return new GatewayError('client_gone', 'the body ended before it was complete', { step: 'transfer', cause: error });
}
