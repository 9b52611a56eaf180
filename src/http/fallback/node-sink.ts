import type { ServerResponse } from 'node:http';
import type { ResponseSink, SinkEvents } from '../answer-writer.js';

/** The resolution at which the pace of a slow reader can be measured. */
const PIECE_BYTES = 64 * 1024;

/** node:http frames the bytes and reports when its socket has taken them. */
export class NodeSink implements ResponseSink {
  readonly #res: ServerResponse;
  readonly #writeHead: () => void;
  readonly #events: SinkEvents;
  sent = 0;
  hasHead = false;
  #rest: Buffer | undefined;
  #isEnding = false;
  #isOver = false;

  constructor(res: ServerResponse, writeHead: () => void, events: SinkEvents) {
    this.#res = res;
    this.#writeHead = writeHead;
    this.#events = events;

    // Waits for the next turn of the loop: a socket that takes everything at once would drain before other work runs.
    res.on('drain', () => setImmediate(() => this.#drained()));
    res.once('finish', () => this.#finished());
  }

  write(chunk: Buffer): boolean {
    this.#rest = chunk;
    return this.#writePieces();
  }

  end(last?: Buffer): void {
    this.#isEnding = true;
    this.#rest = last;
    this.#head();
    if (this.#writePieces()) this.#res.end();
  }

  stop(): void {
    this.#isOver = true;
  }

  #writePieces(): boolean {
    while (this.#rest !== undefined) {
      this.#head();
      const piece = this.#rest.subarray(0, PIECE_BYTES);
      this.#rest = piece.length < this.#rest.length ? this.#rest.subarray(piece.length) : undefined;
      this.sent += piece.length;
      if (!this.#res.write(piece)) return false;
    }
    return true;
  }

  #head(): void {
    if (this.hasHead) return;
    this.hasHead = true;
    this.#writeHead();
  }

  #drained(): void {
    if (this.#isOver || !this.#writePieces()) return;
    if (this.#isEnding) this.#res.end();
    else this.#events.drained();
  }

  #finished(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.finished();
  }
}
