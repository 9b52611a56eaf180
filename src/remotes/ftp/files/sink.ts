/** STOR or APPE as a writable stream, at the pace of the data connection. */
import { Writable } from 'node:stream';
import { destroyOnAbort, StallTimer } from '../../../base/deadline.js';
import { GatewayError } from '../../../base/errors.js';
import { LinePace } from '../../line-pace.js';
import { dataError, lastWords, type FtpTransfer } from '../session/data.js';
import type { FtpOperation } from '../session/operation.js';
import { isPositive, refusedBy, spoken, type Reply } from '../session/replies.js';

const HIGH_WATER_MARK = 1_048_576;

export abstract class FtpSink extends Writable {
  readonly #transfer: FtpTransfer;
  /** How the texts of errors begin: "writing /a". */
  readonly #subject: string;
  /** Bytes taken from the source. */
  protected sent = 0;
  #isEnded = false;
  #failing = false;
  readonly #pace = new LinePace();
  readonly #stall: StallTimer;
  #resumeWriting: ((error?: Error | null) => void) | undefined;

  protected constructor(
    protected readonly operation: FtpOperation,
    transfer: FtpTransfer,
    subject: string,
  ) {
    super({ highWaterMark: HIGH_WATER_MARK });
    this.#transfer = transfer;
    this.#subject = subject;

    const { stallTimeoutMs } = operation.limits;
    this.#stall = new StallTimer(stallTimeoutMs, () => {
      const text = `${subject}: ${operation.host} took nothing for ${stallTimeoutMs} ms`;
      this.destroy(new GatewayError('stall_timeout', text, { step: 'transfer' }));
    });
    const { socket, exchange } = transfer;
    // Reads although no data is expected: TLS tickets and the peer's end are only noticed by reading.
    socket.resume();
    socket.on('drain', () => this.#proceed());
    socket.once('error', (error) => void this.#fail(error));
    socket.once('close', () => {
      if (!socket.writableFinished) void this.#fail(socket.errored ?? undefined);
    });
    if (socket.destroyed) process.nextTick(() => void this.#fail(socket.errored ?? undefined));
    exchange.finished.then(
      (reply) => {
        if (!isPositive(reply)) this.destroy(this.#refused(reply));
        else if (!this.#isEnded) void this.#fail(undefined);
      },
      (error: Error) => this.destroy(error),
    );
    destroyOnAbort(this, operation.signal);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.passes(chunk);
    this.#pass(this.#transfer.socket.write(chunk), chunk.length, callback);
  }

  override _writev(chunks: { chunk: Buffer }[], callback: (error?: Error | null) => void): void {
    const { socket } = this.#transfer;
    let bytes = 0;
    let hasRoom = true;
    socket.cork();
    for (const { chunk } of chunks) {
      this.passes(chunk);
      bytes += chunk.length;
      hasRoom = socket.write(chunk);
    }
    socket.uncork();
    this.#pass(hasRoom && !socket.writableNeedDrain, bytes, callback);
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#isEnded = true;
    this.#stall.restart();
    // The source of an empty file ends before the handshake does; ending the socket then would cut the handshake
    // itself.
    void this.#transfer.ready.then(() =>
      this.#transfer.socket.end(() => {
        this.#stall.stop();
        callback();
      }),
    );
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#stall.stop();
    // Without an error this is the regular end of the stream: the bytes in the kernel must be sent first.
    if (error !== null || !this.writableFinished) this.#transfer.socket.destroy();
    callback(error);
  }

  /** Called with every chunk that is taken, in order. */
  protected passes(_chunk: Buffer): void {}

  /** Resolves with the server's final success. Errors: its refusal, connection_lost, stall_timeout. */
  protected async confirmed(): Promise<void> {
    const { socket, exchange } = this.#transfer;
    const wait = this.operation.limits.stallTimeoutMs + this.#pace.drainMs;
    const { control } = this.operation.lease;
    const answer = control.answerInTime(exchange.finished, 'the end of the upload', wait);
    const reply = await control.obey(this.operation.signal, answer);
    socket.destroy();
    if (!isPositive(reply)) throw this.#refused(reply);
  }

  /** Ends the data connection at once; resolves to true when the server has sent its last reply about it. */
  protected async cut(): Promise<boolean> {
    this.#transfer.socket.destroy();
    return (await lastWords(this.#transfer.exchange)) !== undefined;
  }

  #pass(hasRoom: boolean, bytes: number, callback: (error?: Error | null) => void): void {
    this.sent += bytes;
    this.#pace.sent(bytes, hasRoom);
    if (hasRoom) return callback();
    this.#resumeWriting = callback;
    this.#stall.restart();
  }

  #proceed(): void {
    this.#stall.pause();
    this.#pace.drained();
    const callback = this.#resumeWriting;
    this.#resumeWriting = undefined;
    callback?.();
  }

  async #fail(failure: Error | undefined): Promise<void> {
    if (this.#failing || this.destroyed) return;
    this.#failing = true;
    const reply = await lastWords(this.#transfer.exchange);
    if (reply !== undefined && !isPositive(reply)) this.destroy(this.#refused(reply));
    else this.destroy(failure === undefined ? this.#endedEarly(reply) : dataError(this.operation, failure));
  }

  #endedEarly(reply: Reply | undefined): GatewayError {
    return new GatewayError(
      'connection_lost',
      `${this.#subject}: ${this.operation.host} ended the data connection early`,
      {
        step: 'transfer',
        remote: reply === undefined ? undefined : spoken(reply),
      },
    );
  }

  #refused(reply: Reply): GatewayError {
    return refusedBy(reply, 'transfer', this.#subject, 'permission_denied');
  }
}
