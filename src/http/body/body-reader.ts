import { Readable } from 'node:stream';
import type { Hold } from '../../budgets/memory.js';
import { GatewayError, toGatewayError } from '../../base/errors.js';
import type { Borrower, Lender } from '../../base/lent.js';
import { TransferTurns } from '../../base/turn-share.js';

export interface BodySocket {
  pause(): void;
  resume(): void;
}

/** With more than this buffered, the client's socket is paused; what still arrives is bounded by its receive buffer. */
const HIGH_WATER_MARK = 1024 * 1024;
const MAX_PEEK_BYTES = 4 * 1024 * 1024;
/** The memory reserved before the next read while the size of chunks is unknown. */
const FIRST_EXPECTED_BYTES = 64 * 1024;
/** The first read after a pause returns everything that has arrived meanwhile, up to this. */
const AFTER_PAUSE_BYTES = 512 * 1024;

/**
 * A request's body. Begins paused; ends only when the announced body has arrived completely, and is destroyed with an
 * error in every other case. Buffered bytes, and room for the next chunk, count in `memory`: without room the socket
 * stays paused until there is some.
 */
export class BodyReader extends Readable implements Lender {
  readonly #socket: BodySocket;
  readonly #declared: number | undefined;
  readonly #memory: Hold;
  readonly #refused: (error: GatewayError) => void;
  received = 0;
  /** It is the client's turn: the reader needs bytes and has none. */
  waiting = false;
  complete = false;
  #paused = true;
  /** Bytes are wanted, but there is no memory for them. */
  #isStarving = false;
  /**
   * Node.js would read ahead before anything reads the body: a waiting request must only hold the bytes that have
   * arrived.
   */
  #isResting = false;
  #expectedBytes = FIRST_EXPECTED_BYTES;
  #whole: { readonly done: (bytes: Buffer) => void; readonly fail: (error: Error) => void } | undefined;
  #wholeBytes = 0;
  #isInPieces = false;
  #borrower: Borrower | undefined;
  readonly #turns = new TransferTurns();
  readonly #readOn = (): void => this._read();
  /** It has ended early. */
  #isCut = false;

  /** `declared`: the Content-Length, if any. `refused`: called if there is no memory for a chunk. */
  constructor(socket: BodySocket, declared: number | undefined, memory: Hold, refused: (error: GatewayError) => void) {
    super({ highWaterMark: HIGH_WATER_MARK });
    this.#socket = socket;
    this.#declared = declared;
    this.#memory = memory;
    this.#refused = refused;

    // A body that is never read may still fail; that must not be an uncaught error.
    this.on('error', () => undefined);
  }

  /** A lent chunk is copied only if it is kept: most bytes of a refused body are never kept. */
  accept(chunk: Buffer, isLast: boolean, isLent = false): void {
    this.received += chunk.length;
    this.waiting = false;
    this.#turns.spend(chunk.length);
    if (this.destroyed || this.#isCut) {
      // The connection can serve the next request.
      if (isLast) this.#finish();
      return;
    }
    if (chunk.length > 0) this.#expectedBytes = Math.max(chunk.length, FIRST_EXPECTED_BYTES);
    const taken = isLent ? this.#lend(chunk) : 0;
    const rest = taken === 0 ? chunk : chunk.subarray(taken);
    let hasRoom = true;
    if (rest.length > 0) {
      if (!this.#admits(rest)) return;
      hasRoom = this.push(isLent ? Buffer.from(rest) : rest);
    }
    if (!isLast) hasRoom &&= this.#mayCome();
    if (isLast && this.#declared !== undefined && this.received !== this.#declared) {
      this.destroy(clientGone(`the body ended after ${this.received} of ${this.#declared} announced bytes`));
    } else if (isLast) {
      this.#finish();
      this.push(null);
      this.#handOver();
    } else if (!hasRoom) {
      this.#pauseSocket();
    } else if (!this.#makesRoom()) {
      // If all of it was used at once, nothing else asks for more.
      this.#isStarving = true;
      this.#pauseSocket();
    } else {
      // Bytes that arrived together with the head were not requested: it is the gateway's turn.
      this.waiting = !this.#paused;
    }
    this.#count();
  }

  override _read(): void {
    if (this.complete || this.#isCut || this.destroyed) return;
    this.#isResting = !this.#isRead;
    if (this.#isResting) return;
    this.#expectAfterPause();
    if (!this.#mayCome()) return;
    this.#isStarving = !this.#makesRoom();
    if (this.#isStarving) return;
    this.waiting = true;
    this.#resumeSocket();
  }

  override read(size?: number): Buffer | null {
    const chunk = super.read(size) as Buffer | null;
    if (this.#isResting && this.#isRead) this._read();
    this.#count();
    return chunk;
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.waiting = false;
    this.#isStarving = false;
    this.#turns.end();
    this.#memory.resize(this.#wholeBytes);
    this.#whole?.fail(error ?? clientGone());
    done(error);
  }

  /**
   * Takes a short body whole, instead of reading it: its bytes are gathered, bounded and waited for like those of a
   * stream, but without the cost of a stream. They stay counted until the request is over.
   */
  takeWhole(): Promise<Buffer> {
    return new Promise((done, fail) => {
      if (this.destroyed) return fail(this.errored ?? clientGone());
      this.#whole = { done, fail };
      if (this.complete) this.#handOver();
      else this.read(0);
    });
  }

  #handOver(): void {
    const whole = this.#whole;
    if (whole === undefined) return;
    this.#whole = undefined;
    this.#wholeBytes = this.readableLength;
    whole.done(this.read() ?? Buffer.alloc(0));
  }

  /** From now on a cut body ends after the bytes that have arrived, instead of being destroyed: each byte counts. */
  takeInPieces(): void {
    this.#isInPieces = true;
  }

  /** Memory may have become free. */
  feed(): void {
    if (this.#isStarving) this._read();
  }

  /** A paused socket does not show that its client has left: lets one chunk through, if there is memory to spare. */
  peek(): void {
    if (!this.isHeldBack || this.readableLength > MAX_PEEK_BYTES) return;
    this.#expectAfterPause();
    if (this.#memory.stretch(this.readableLength + this.#expectedBytes)) this.#resumeSocket();
  }

  /** More bytes are expected, but reading is paused. */
  get isHeldBack(): boolean {
    return this.#paused && !this.complete && !this.destroyed && !this.#isCut;
  }

  /** The rest will not be read: later bytes are dropped, so that the socket shows when its client leaves. */
  discard(): void {
    this.destroy();
    this.#resumeSocket();
  }

  /** The client has left, or sent nothing for too long. */
  cut(error: GatewayError): void {
    if (this.complete || this.#isCut) return;
    if (!this.#isInPieces) return void this.destroy(error);
    this.#isCut = true;
    this.waiting = false;
    this.push(null);
  }

  lendTo(borrower: Borrower): void {
    this.#borrower = borrower;
  }

  /** Returns how much of the chunk has been used already: it needs no memory. */
  #lend(chunk: Buffer): number {
    const isNext = this.readableLength === 0 && this.readableFlowing === true;
    return isNext ? (this.#borrower?.borrow(chunk) ?? 0) : 0;
  }

  /** There is room for the next chunk, and it is this body's turn; if not, `_read` is called once it is. */
  #mayCome(): boolean {
    if (this.#borrower?.awaitRoom(this.#readOn) === false) return false;
    return this.#whole !== undefined || this.#turns.await(this.#expectedBytes, this.#readOn);
  }

  #admits(chunk: Buffer): boolean {
    try {
      this.#memory.require(this.readableLength + chunk.length);
      return true;
    } catch (error) {
      this.#refused(toGatewayError(error));
      return false;
    }
  }

  #expectAfterPause(): void {
    if (this.#paused) this.#expectedBytes = Math.min(AFTER_PAUSE_BYTES, (this.#declared ?? Infinity) - this.received);
  }

  get #isRead(): boolean {
    return this.readableFlowing !== null || this.#whole !== undefined;
  }

  #makesRoom(): boolean {
    return this.#memory.resize(this.readableLength + this.#expectedBytes);
  }

  /** Returns memory that is no longer needed. */
  #count(): void {
    if (this.destroyed) return;
    const expected = this.#paused || this.complete || this.#isCut ? 0 : this.#expectedBytes;
    this.#memory.resize(Math.min(this.#memory.bytes, this.#wholeBytes + this.readableLength + expected));
  }

  /**
   * A body that arrived together with the head ends while the socket is still paused; without this the next request
   * would never be read.
   */
  #finish(): void {
    this.complete = true;
    this.#resumeSocket();
  }

  #resumeSocket(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket.resume();
  }

  #pauseSocket(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#socket.pause();
  }
}

export function clientGone(text = 'the client left before the transfer was whole'): GatewayError {
  return new GatewayError('client_gone', text, { step: 'transfer' });
}
