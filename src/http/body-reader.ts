import { Readable } from 'node:stream';
import { GatewayError } from '../errors.js';

export interface BodySocket {
  pause(): void;
  resume(): void;
}

/** Buffered beyond this, the client's socket is paused; what still arrives is bounded by its receive buffer. */
const HIGH_WATER_MARK = 1024 * 1024;
const MAX_PEEK_BYTES = 4 * 1024 * 1024;

/**
 * A request's body. Begins paused; ends only when the announced body has arrived whole, and is destroyed with an error
 * in every other case.
 */
export class BodyReader extends Readable {
  received = 0;
  /** The client is at turn: we want bytes and have none. */
  waiting = false;
  complete = false;
  private paused = true;

  /** `declared`: the Content-Length, when there is one. */
  constructor(
    private readonly socket: BodySocket,
    private readonly declared: number | undefined,
  ) {
    super({ highWaterMark: HIGH_WATER_MARK });
    // A body nobody reads may still fail; that is not an uncaught error.
    this.on('error', () => undefined);
  }

  accept(chunk: Buffer, isLast: boolean): void {
    this.received += chunk.length;
    this.waiting = false;
    if (this.destroyed) return;
    let hasRoom = true;
    if (chunk.length > 0) hasRoom = this.push(chunk);
    if (isLast && this.declared !== undefined && this.received !== this.declared) {
      this.destroy(clientGone(`the body ended after ${this.received} of ${this.declared} announced bytes`));
    } else if (isLast) {
      this.complete = true;
      this.push(null);
      // A body that came along with its head ends while the socket is still paused; the next request would never be read.
      this.resumeSocket();
    } else if (!hasRoom) {
      this.pauseSocket();
    } else {
      this.waiting = true;
    }
  }

  override _read(): void {
    if (this.complete) return;
    this.waiting = true;
    this.resumeSocket();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.waiting = false;
    done(error);
  }

  /** A paused socket does not show that its client has left: lets one chunk through now and then. */
  peek(): void {
    if (this.complete || !this.paused || this.destroyed || this.readableLength > MAX_PEEK_BYTES) return;
    this.resumeSocket();
  }

  get socketIsPaused(): boolean {
    return this.paused;
  }

  /** Nobody will read on: what still comes is dropped, and the socket shows again when its client leaves. */
  discard(): void {
    this.destroy();
    this.resumeSocket();
  }

  /** The client has gone, or sent nothing for too long. */
  cut(error: GatewayError): void {
    if (!this.complete) this.destroy(error);
  }

  private resumeSocket(): void {
    if (!this.paused) return;
    this.paused = false;
    this.socket.resume();
  }

  private pauseSocket(): void {
    if (this.paused) return;
    this.paused = true;
    this.socket.pause();
  }
}

export function clientGone(text = 'the client left before the transfer was whole'): GatewayError {
  return new GatewayError('client_gone', text, { step: 'transfer' });
}
