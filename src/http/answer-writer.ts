import type { Readable } from 'node:stream';
import type { HttpResponse } from 'uWebSockets.js';

export interface WriterEvents {
  /** Everything was handed to the socket. */
  done(): void;
  /** The body failed or was short. Once the head has left, only closing the connection tells the client. */
  broken(error: Error, headWasSent: boolean): void;
}

/** A chunk of a body without a length; what one `write` can add to the front end's own buffer. */
const PIECE_BYTES = 64 * 1024;
/** The first piece after back-pressure: whether it is taken shows whether that buffer has drained. */
const PROBE_BYTES = 1024;
/** A source that always has bytes ready and a client that takes all would hold the event loop: after this, others have a turn. */
const BYTES_PER_TURN = 128 * 1024;

/**
 * Streams an answer's body under back-pressure. Known length: `tryEnd`, whose remainder is sent again from the write
 * offset; the last bytes wait for the source's good end, so that a body that failed never looks whole. Unknown length:
 * chunked, exactly one `write` per cork, because the older build loses bytes with more.
 */
export class AnswerWriter {
  /** Body bytes that have left us. */
  sent = 0;
  /** The client is at turn: bytes wait for its socket. */
  waiting = false;
  private accepted = 0;
  private rest: Buffer | undefined;
  private restOffset = 0;
  private last: Buffer | undefined;
  private isProbing = false;
  private turnBytes = 0;
  private hasHead = false;
  private hasEnded = false;
  private over = false;

  constructor(
    private readonly res: HttpResponse,
    private readonly stream: Readable,
    private readonly length: number | undefined,
    private readonly writeHead: () => void,
    private readonly events: WriterEvents,
  ) {
    stream.on('error', (error) => this.fail(error));
    if (stream.destroyed) {
      this.fail(stream.errored ?? new Error('the body was closed before its end'));
      return;
    }
    // One handler for the whole answer: the older build forbids a new one inside the old.
    res.onWritable((offset) => this.writable(offset));
    stream.on('data', (chunk: Buffer) => this.accept(chunk));
    stream.once('end', () => this.ended());
    stream.once('close', () => {
      // It may end and close while its last bytes still wait for the client.
      if (!this.hasEnded) this.fail(new Error('the body was closed before its end'));
    });
  }

  /** The connection is gone or will be closed: touch the native response no more. */
  stop(error: Error): void {
    this.over = true;
    this.stream.destroy(error);
  }

  private accept(chunk: Buffer): void {
    if (this.over || chunk.length === 0) return;
    this.accepted += chunk.length;
    if (this.length === undefined) {
      this.rest = chunk;
      this.writePieces();
    } else if (this.accepted > this.length) {
      this.fail(new Error('the body is longer than announced'));
    } else if (this.accepted === this.length) {
      this.last = chunk;
    } else {
      this.send(chunk);
    }
    this.turnBytes += chunk.length;
    if (this.turnBytes >= BYTES_PER_TURN && !this.waiting && !this.over) this.giveTurn();
  }

  private giveTurn(): void {
    this.stream.pause();
    setImmediate(() => {
      this.turnBytes = 0;
      if (!this.waiting && !this.over) this.stream.resume();
    });
  }

  /** Known length. */
  private send(chunk: Buffer): void {
    this.res.cork(() => {
      this.head();
      this.tryEnd(chunk, this.res.getWriteOffset());
    });
  }

  private tryEnd(chunk: Buffer, offset: number): void {
    const [isTaken, isDone] = this.res.tryEnd(chunk, this.length as number);
    if (isDone) {
      this.sent = this.length as number;
      return this.finish();
    }
    this.sent = this.res.getWriteOffset();
    if (isTaken) return;
    this.rest = chunk;
    this.restOffset = offset;
    this.wait();
  }

  /** Unknown length. */
  private writePieces(): void {
    if (!this.hasHead) this.res.cork(() => this.head());
    while (this.rest !== undefined) {
      const piece = this.rest.subarray(0, this.isProbing ? PROBE_BYTES : PIECE_BYTES);
      this.rest = piece.length < this.rest.length ? this.rest.subarray(piece.length) : undefined;
      let isTaken = true;
      this.res.cork(() => {
        isTaken = this.res.write(piece);
      });
      this.sent += piece.length;
      this.isProbing = !isTaken;
      if (!isTaken) return this.wait();
    }
  }

  private head(): void {
    if (this.hasHead) return;
    this.hasHead = true;
    this.writeHead();
  }

  private wait(): void {
    this.waiting = true;
    this.stream.pause();
  }

  private writable(offset: number): boolean {
    if (this.over) return true;
    this.waiting = false;
    const { rest } = this;
    if (rest !== undefined && this.length !== undefined) {
      this.rest = undefined;
      this.res.cork(() => this.tryEnd(rest.subarray(offset - this.restOffset), offset));
    } else {
      // With a handler set the front end leaves its own buffer to us: an empty cork sends it.
      this.res.cork(() => undefined);
      this.writePieces();
    }
    if (this.waiting || this.over) return !this.waiting;
    if (this.hasEnded && this.length === undefined) this.endChunks();
    else this.stream.resume();
    return true;
  }

  private ended(): void {
    this.hasEnded = true;
    if (this.over) return;
    if (this.length === undefined) {
      if (!this.waiting) this.endChunks();
    } else if (this.last === undefined) {
      this.fail(new Error('the body is shorter than announced'));
    } else {
      this.send(this.last);
    }
  }

  private endChunks(): void {
    this.res.cork(() => {
      this.head();
      this.res.end();
    });
    this.finish();
  }

  private finish(): void {
    this.over = true;
    this.waiting = false;
    this.events.done();
  }

  private fail(error: Error): void {
    if (this.over || (this.hasEnded && this.last !== undefined)) return;
    this.over = true;
    this.waiting = false;
    this.stream.destroy(error);
    this.events.broken(error, this.hasHead);
  }
}
