import type { Readable } from 'node:stream';

/** The destination of a streamed answer's bytes: the connection, as its front end provides it. */
export interface ResponseSink {
  /** Body bytes that have been sent. */
  readonly sent: number;
  /** The head is sent with the first bytes. */
  readonly hasHead: boolean;
  /** Takes the whole chunk. False: wait for `drained` before the next one. */
  write(chunk: Buffer): boolean;
  /** With an announced length, `last` completes it. `finished` follows, maybe at once. */
  end(last?: Buffer): void;
  /** The connection is gone or will be closed, or another answer replaces this one: it is not touched any more. */
  stop(): void;
}

export interface SinkEvents {
  drained(): void;
  /** Everything was passed to the socket. */
  finished(): void;
}

interface WriterEvents {
  /** Everything was passed to the socket. */
  done(): void;
  /**
   * The body failed or was short. After the head has been sent, the client notices it only if the connection is closed.
   */
  broken(error: Error, headWasSent: boolean): void;
}

/**
 * A source that always has bytes ready, and a client that takes them all, would block the event loop: after this many
 * bytes, other work runs.
 */
const BYTES_PER_TURN = 128 * 1024;

/**
 * Streams an answer's body under back-pressure. With a known length the last bytes wait for the source's regular end,
 * so that a body that failed never looks complete.
 */
export class AnswerWriter {
  readonly #stream: Readable;
  readonly #length: number | undefined;
  readonly #events: WriterEvents;
  /** It is the client's turn: bytes wait for its socket. */
  waiting = false;
  readonly #sink: ResponseSink | undefined;
  #accepted = 0;
  #last: Buffer | undefined;
  #turnBytes = 0;
  #hasEnded = false;
  #over = false;

  constructor(
    openSink: (events: SinkEvents) => ResponseSink,
    stream: Readable,
    length: number | undefined,
    events: WriterEvents,
  ) {
    this.#stream = stream;
    this.#length = length;
    this.#events = events;

    stream.on('error', (error) => this.#fail(error));
    if (stream.destroyed) {
      this.#fail(stream.errored ?? new Error('the body was closed before its end'));
      return;
    }
    this.#sink = openSink({ drained: () => this.#drained(), finished: () => this.#finish() });
    stream.on('data', (chunk: Buffer) => this.#accept(chunk));
    stream.once('end', () => this.#ended());
    stream.once('close', () => {
      // The source may end and close while its last bytes still wait for the client.
      if (!this.#hasEnded) this.#fail(new Error('the body was closed before its end'));
    });
  }

  get sent(): number {
    return this.#sink?.sent ?? 0;
  }

  /** The connection is gone or will be closed. */
  stop(error: Error): void {
    this.#over = true;
    this.#sink?.stop();
    this.#stream.destroy(error);
  }

  #accept(chunk: Buffer): void {
    if (this.#over || chunk.length === 0) return;
    this.#accepted += chunk.length;
    if (this.#length !== undefined && this.#accepted > this.#length) {
      this.#fail(new Error('the body is longer than announced'));
    } else if (this.#accepted === this.#length) {
      this.#last = chunk;
    } else if (this.#sink?.write(chunk) === false) {
      this.waiting = true;
      this.#stream.pause();
    }
    this.#turnBytes += chunk.length;
    if (this.#turnBytes >= BYTES_PER_TURN && !this.waiting && !this.#over) this.#giveTurn();
  }

  #giveTurn(): void {
    this.#stream.pause();
    setImmediate(() => {
      this.#turnBytes = 0;
      if (!this.waiting && !this.#over) this.#stream.resume();
    });
  }

  #drained(): void {
    if (this.#over) return;
    this.waiting = false;
    if (this.#hasEnded) this.#end();
    else this.#stream.resume();
  }

  #ended(): void {
    this.#hasEnded = true;
    if (!this.#over && !this.waiting) this.#end();
  }

  #end(): void {
    if (this.#length !== undefined && this.#last === undefined) {
      return this.#fail(new Error('the body is shorter than announced'));
    }
    this.#sink?.end(this.#last);
    // The rest waits for the client.
    if (!this.#over) this.waiting = true;
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.waiting = false;
    this.#events.done();
  }

  #fail(error: Error): void {
    if (this.#over || (this.#hasEnded && this.#last !== undefined)) return;
    this.#over = true;
    this.waiting = false;
    this.#sink?.stop();
    this.#stream.destroy(error);
    this.#events.broken(error, this.#sink?.hasHead ?? false);
  }
}
