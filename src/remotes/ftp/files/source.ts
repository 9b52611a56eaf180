/** RETR as a stream that ends only when it is whole. */
import { Readable } from 'node:stream';
import { destroyOnAbort, StallTimer } from '../../../base/deadline.js';
import { GatewayError, hasCode } from '../../../base/errors.js';
import { isAFolder } from '../../obstacles.js';
import type { RemotePath } from '../../path.js';
import type { ByteRange, FileInfo, OpenFile } from '../../remote.js';
import { beginTransfer, dataError, lastWords, type Transfer } from '../session/data.js';
import { stat } from './lookup.js';
import type { Operation } from '../session/operation.js';
import { connectionLost, isPositive, refusal, spoken, type Reply } from '../session/replies.js';

const HIGH_WATER_MARK = 262_144;
const LAST_REPLY_MS = 10_000;

/** not_found, is_a_folder, permission_denied. */
export async function openFile(
  operation: Operation,
  path: RemotePath,
  select?: (info: FileInfo) => ByteRange | undefined,
): Promise<OpenFile> {
  const info = await stat(operation, path);
  if (info.isDirectory) throw isAFolder(path);
  const range = select?.(info);
  const start = range?.start ?? 0;
  const length = range === undefined ? info.size : range.end - range.start + 1;
  const transfer = await beginTransfer(operation, `RETR ${operation.at(path)}`, start);
  // The file was there a moment ago, so an unclear 550 is a matter of rights.
  if (transfer.first.code >= 400) throw refusal(transfer.first, 'open', `reading ${path}`, 'permission_denied');
  const part = { skip: start - transfer.startsAt, length, endsFile: start + length === info.size };
  return { info, range, body: new FtpSource(operation, transfer, path, part) };
}

interface Part {
  /** Bytes to throw away first, where the server knows no REST. */
  readonly skip: number;
  readonly length: number;
  readonly endsFile: boolean;
}

class FtpSource extends Readable {
  private delivered = 0;
  private toSkip: number;
  private isSettled = false;
  private readonly stall: StallTimer;

  constructor(
    private readonly operation: Operation,
    private readonly transfer: Transfer,
    private readonly path: RemotePath,
    private readonly part: Part,
  ) {
    super({ highWaterMark: HIGH_WATER_MARK });
    this.toSkip = part.skip;
    const { stallTimeoutMs } = operation.limits;
    this.stall = new StallTimer(stallTimeoutMs, () => {
      const text = `${operation.host} sent nothing of ${path} for ${stallTimeoutMs} ms`;
      this.destroy(new GatewayError('stall_timeout', text, { step: 'transfer' }));
    });
    const { socket, exchange } = transfer;
    socket.on('data', (chunk: Buffer) => this.accept(chunk));
    socket.pause();
    socket.once('end', () => void this.settle(undefined));
    socket.once('error', (error) => void this.settle(error));
    socket.once('close', () => void this.settle(socket.errored));
    if (socket.destroyed) process.nextTick(() => void this.settle(socket.errored));
    // A refusal ends the data; the mere loss of the control connection does not: the bytes are counted.
    exchange.finished.then(
      (reply) => (isPositive(reply) ? undefined : void this.destroy(this.refused(reply))),
      () => {},
    );
    destroyOnAbort(this, operation.signal);
  }

  override _read(): void {
    if (this.isSettled) return;
    this.stall.restart();
    this.transfer.socket.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.isSettled = true;
    this.stall.stop();
    this.transfer.socket.destroy();
    // Stopped in the middle, the server still has a reply to give: nobody may use the connection after us.
    const { control } = this.operation.lease;
    if (control.busy) control.close();
    callback(error);
  }

  private accept(chunk: Buffer): void {
    if (this.isSettled) return;
    const skipped = Math.min(this.toSkip, chunk.length);
    this.toSkip -= skipped;
    const missing = this.part.length - this.delivered;
    const piece = skipped === 0 && chunk.length <= missing ? chunk : chunk.subarray(skipped, skipped + missing);
    this.delivered += piece.length;
    const isFull = piece.length > 0 && !this.push(piece);
    if (chunk.length - skipped > missing || (this.delivered === this.part.length && !this.part.endsFile)) {
      this.stopHere();
    } else if (isFull) {
      this.stall.pause();
      this.transfer.socket.pause();
    } else {
      this.stall.restart();
    }
  }

  /** A range that ends before the file does, or a file that has grown since: what was promised is there. */
  private stopHere(): void {
    this.isSettled = true;
    this.stall.stop();
    this.transfer.socket.destroy();
    this.operation.lease.control.close();
    this.push(null);
  }

  private async settle(failure: Error | null | undefined): Promise<void> {
    if (this.isSettled) return;
    this.isSettled = true;
    this.stall.stop();
    const isWhole = this.delivered === this.part.length;
    if (!isWhole || (failure !== undefined && failure !== null)) return this.fail(failure ?? undefined, isWhole);
    const { control } = this.operation.lease;
    try {
      const wait = Math.min(LAST_REPLY_MS, this.operation.limits.stallTimeoutMs);
      const reply = await control.answerInTime(this.transfer.exchange.finished, 'RETR', wait);
      if (!isPositive(reply)) throw this.refused(reply);
    } catch (error) {
      if (control.alive) return void this.destroy(error as Error);
      // Every promised byte has come and the data connection ended by itself: only the session is lost.
      this.operation.deps.log('FTP download complete, but not confirmed', { host: this.operation.host });
    }
    this.push(null);
  }

  private async fail(failure: Error | undefined, isWhole: boolean): Promise<void> {
    const { exchange } = this.transfer;
    const reply = await lastWords(exchange);
    if (this.destroyed) return;
    if (reply !== undefined && !isPositive(reply)) return void this.destroy(this.refused(reply));
    if (reply !== undefined && isWhole) return void this.push(null);
    if (failure !== undefined) return void this.destroy(dataError(this.operation, failure));
    const words = `${this.path} ended after ${this.delivered} of ${this.part.length} bytes`;
    this.destroy(
      reply === undefined
        ? connectionLost(this.operation.host, new Error(words))
        : new GatewayError('size_mismatch', words, { step: 'transfer', remote: spoken(reply) }),
    );
  }

  private refused(reply: Reply): GatewayError {
    const error = refusal(reply, 'transfer', `reading ${this.path}`);
    // It was open: words such as "No such file" are about something else by now.
    if (!hasCode(error, 'not_found', 'is_a_folder', 'bad_path')) return error;
    const text = `reading ${this.path}: the FTP server gave up in the middle`;
    return new GatewayError('remote_failure', text, { step: 'transfer', remote: error.remote });
  }
}
