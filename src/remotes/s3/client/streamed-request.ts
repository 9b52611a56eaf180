import { Readable } from 'node:stream';
import { onAbort, StallTimer } from '../../../base/deadline.js';
import type { GatewayError } from '../../../base/errors.js';
import { LinePace } from '../../line-pace.js';
import type { Seen } from './bounded-handler.js';
import type { SendOptions } from './calls.js';
import type { Leave } from './socket-gate.js';

interface StreamedRequestOptions {
  readonly signal: AbortSignal;
  readonly seen: Seen;
  /** Waits until the request may use a socket. */
  enter(signal: AbortSignal): Promise<Leave>;
  /**
   * Longest wait for the store to take a byte, and for its answer after the last byte has reached it. Waiting for our
   * own source does not count.
   */
  readonly stallMs: number;
  stalled(waitedMs: number): GatewayError;
  translate(error: unknown): GatewayError;
}

type Done = (error?: Error | null) => void;

/** Enough to keep the socket busy while the source fetches its next chunk. */
const BODY_BUFFER_BYTES = 256 * 1024;

/** A request whose body is written chunk by chunk; never sent twice. It fails once, with the first cause. */
export class StreamedRequest<T> {
  readonly #options: StreamedRequestOptions;
  readonly #body: Readable;
  readonly #ender = new AbortController();
  readonly #answer: Promise<T>;
  readonly #pace = new LinePace();
  #waiting: Done | undefined;
  readonly #stall: StallTimer;
  #failure: Error | undefined;
  #isAdmitted = false;
  #isEnded = false;
  #onFailure: ((error: Error) => void) | undefined;

  constructor(send: (body: Readable, options: SendOptions) => Promise<T>, options: StreamedRequestOptions) {
    this.#options = options;

    this.#body = new Readable({ highWaterMark: BODY_BUFFER_BYTES, read: () => this.#wanted() });
    // The error reaches the feeder through #fail; an 'error' event without a listener would end the process.
    this.#body.on('error', () => undefined);
    this.#stall = new StallTimer(options.stallMs, (ms) => this.#fail(options.stalled(ms)));
    const stopListening = onAbort(options.signal, (reason) => this.abort(reason));
    this.#answer = this.#run(send).finally(stopListening);
    this.#answer.catch(() => undefined);
  }

  /** Writes the next bytes; calls `done` when the socket can take more, or with the request's error. */
  feed(chunk: Buffer, done: Done): void {
    if (this.#failure !== undefined) return done(this.#failure);
    const hasRoom = this.#body.push(chunk);
    this.#pace.sent(chunk.length, hasRoom);
    if (hasRoom) return done();
    this.#waiting = done;
    this.#watch();
  }

  /** Reports a failure at once, even if no bytes are being written. */
  onFailure(listener: (error: Error) => void): void {
    this.#onFailure = listener;
    if (this.#failure !== undefined) listener(this.#failure);
  }

  /** Ends the body and resolves with the answer. */
  async finish(): Promise<T> {
    if (this.#failure === undefined) {
      this.#isEnded = true;
      this.#body.push(null);
      this.#watchAnswer();
    }
    return this.#answer;
  }

  /** Destroys the socket, so that the store sees a cut body and keeps nothing. */
  abort(cause: Error): void {
    this.#fail(cause);
  }

  /** Resolves when the request has ended, in any way. */
  async settled(): Promise<void> {
    await this.#answer.then(
      () => undefined,
      () => undefined,
    );
  }

  async #run(send: (body: Readable, options: SendOptions) => Promise<T>): Promise<T> {
    let leave: Leave | undefined;
    try {
      leave = await this.#options.enter(this.#ender.signal);
      this.#isAdmitted = true;
      if (this.#isEnded) this.#watchAnswer();
      else if (this.#waiting !== undefined) this.#watch();
      const answer = await send(this.#body, {
        ending: this.#ender.signal,
        abortSignal: this.#ender.signal,
        seen: this.#options.seen,
      });
      this.#stall.stop();
      return answer;
    } catch (error) {
      const failure = this.#failure ?? this.#options.translate(error);
      this.#fail(failure);
      throw failure;
    } finally {
      leave?.();
    }
  }

  #fail(cause: Error): void {
    this.#stall.stop();
    if (this.#failure !== undefined) return;
    this.#failure = cause;
    this.#ender.abort(cause);
    this.#body.destroy();
    const done = this.#waiting;
    this.#waiting = undefined;
    done?.(cause);
    this.#onFailure?.(cause);
  }

  #wanted(): void {
    const done = this.#waiting;
    if (done === undefined) return;
    this.#waiting = undefined;
    this.#pace.drained();
    this.#stall.pause();
    done();
  }

  /** Time spent waiting for a socket is not the store's silence. */
  #watch(ms?: number): void {
    if (this.#isAdmitted) this.#stall.restart(ms);
  }

  #watchAnswer(): void {
    this.#watch(Math.round(this.#options.stallMs + this.#pace.drainMs));
  }
}
