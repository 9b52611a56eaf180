import type { ServerResponse } from 'node:http';
import type { ResponseSink, SinkEvents } from '../answer-writer.js';

/** The resolution at which the pace of a slow reader can be measured. */
const PIECE_BYTES = 64 * 1024;

/** node:http frames the bytes and reports when its socket has taken them. */
export class NodeSink implements ResponseSink {
  sent = 0;
  hasHead = false;
  private rest: Buffer | undefined;
  private isEnding = false;
  private isOver = false;

  constructor(
    private readonly res: ServerResponse,
    private readonly writeHead: () => void,
    private readonly events: SinkEvents,
  ) {
    // Waits for the next turn of the loop: a socket that takes everything at once would drain before other work runs.
    res.on('drain', () => setImmediate(() => this.drained()));
    res.once('finish', () => this.finished());
  }

  write(chunk: Buffer): boolean {
    this.rest = chunk;
    return this.writePieces();
  }

  end(last?: Buffer): void {
    this.isEnding = true;
    this.rest = last;
    this.head();
    if (this.writePieces()) this.res.end();
  }

  stop(): void {
    this.isOver = true;
  }

  private writePieces(): boolean {
    while (this.rest !== undefined) {
      this.head();
      const piece = this.rest.subarray(0, PIECE_BYTES);
      this.rest = piece.length < this.rest.length ? this.rest.subarray(piece.length) : undefined;
      this.sent += piece.length;
      if (!this.res.write(piece)) return false;
    }
    return true;
  }

  private head(): void {
    if (this.hasHead) return;
    this.hasHead = true;
    this.writeHead();
  }

  private drained(): void {
    if (this.isOver || !this.writePieces()) return;
    if (this.isEnding) this.res.end();
    else this.events.drained();
  }

  private finished(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.events.finished();
  }
}
