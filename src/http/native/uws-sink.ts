import type { HttpResponse } from 'uWebSockets.js';
import type { ResponseSink, SinkEvents } from '../answer-writer.js';

/** The chunk size of a body without a length; also what one `write` can add to the front end's own buffer. */
const PIECE_BYTES = 64 * 1024;
/** The first piece after back-pressure: whether it is taken shows whether that buffer has drained. */
const PROBE_BYTES = 1024;

/**
 * Known length: `tryEnd`, whose rest is sent again from the write offset. Unknown length: chunked, exactly one `write`
 * per cork, because the older build loses bytes with more.
 */
export class UwsSink implements ResponseSink {
  readonly #res: HttpResponse;
  readonly #length: number | undefined;
  readonly #writeHead: () => void;
  readonly #events: SinkEvents;
  sent = 0;
  hasHead = false;
  #rest: Buffer | undefined;
  #restOffset = 0;
  #isBlocked = false;
  #isProbing = false;
  #isOver = false;

  constructor(res: HttpResponse, length: number | undefined, writeHead: () => void, events: SinkEvents) {
    this.#res = res;
    this.#length = length;
    this.#writeHead = writeHead;
    this.#events = events;

    // One handler for the whole answer: the older build forbids a new one inside the old.
    res.onWritable((offset) => this.#writable(offset));
  }

  write(chunk: Buffer): boolean {
    if (this.#length === undefined) {
      this.#rest = chunk;
      this.#writePieces();
    } else {
      this.#res.cork(() => {
        this.#head();
        this.#tryEnd(chunk, this.#res.getWriteOffset());
      });
    }
    return !this.#isBlocked;
  }

  end(last?: Buffer): void {
    if (last !== undefined) return void this.write(last);
    this.#res.cork(() => {
      this.#head();
      this.#res.end();
    });
    this.#finish();
  }

  stop(): void {
    this.#isOver = true;
  }

  /** Known length. */
  #tryEnd(chunk: Buffer, offset: number): void {
    const [isTaken, isDone] = this.#res.tryEnd(chunk, this.#length as number);
    if (isDone) {
      this.sent = this.#length as number;
      return this.#finish();
    }
    this.sent = this.#res.getWriteOffset();
    if (isTaken) return;
    this.#rest = chunk;
    this.#restOffset = offset;
    this.#isBlocked = true;
  }

  /** Unknown length. */
  #writePieces(): void {
    if (!this.hasHead) this.#res.cork(() => this.#head());
    while (this.#rest !== undefined) {
      const piece = this.#rest.subarray(0, this.#isProbing ? PROBE_BYTES : PIECE_BYTES);
      this.#rest = piece.length < this.#rest.length ? this.#rest.subarray(piece.length) : undefined;
      let isTaken = true;
      this.#res.cork(() => {
        isTaken = this.#res.write(piece);
      });
      this.sent += piece.length;
      this.#isProbing = this.#isBlocked = !isTaken;
      if (!isTaken) return;
    }
  }

  #head(): void {
    if (this.hasHead) return;
    this.hasHead = true;
    this.#writeHead();
  }

  #writable(offset: number): boolean {
    if (this.#isOver) return true;
    this.#isBlocked = false;
    const rest = this.#rest;
    if (rest !== undefined && this.#length !== undefined) {
      this.#rest = undefined;
      this.#res.cork(() => this.#tryEnd(rest.subarray(offset - this.#restOffset), offset));
    } else {
      // With a handler set, the front end does not flush its own buffer: an empty cork sends it.
      this.#res.cork(() => undefined);
      this.#writePieces();
    }
    if (!this.#isBlocked && !this.#isOver) this.#events.drained();
    return !this.#isBlocked;
  }

  #finish(): void {
    this.#isOver = true;
    this.#events.finished();
  }
}
