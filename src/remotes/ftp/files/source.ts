/** RETR as a stream that ends only when it is complete. The content counts, not the size that the server reported. */
import { Readable } from 'node:stream';
import { destroyOnAbort, StallTimer } from '../../../base/deadline.js';
import { GatewayError, hasCode } from '../../../base/errors.js';
import { chooseAgain, chooseRange, hasGrown } from '../../reported-size.js';
import { isAFolder } from '../../obstacles.js';
import type { RemotePath } from '../../path.js';
import { isRefusal } from '../../publish.js';
import type { FileInfo, OpenFile, SelectRange } from '../../remote.js';
import { beginTransfer, dataError, lastWords, type FtpTransfer } from '../session/data.js';
import { stat } from './lookup.js';
import { OpenEnd } from '../session/open-end.js';
import type { FtpOperation } from '../session/operation.js';
import { connectionLost, isPositive, refusedBy, spoken, type Reply } from '../session/replies.js';

const HIGH_WATER_MARK = 262_144;
const LAST_REPLY_MS = 10_000;
const MOST_ADDED = 65_536;

/** not_found, is_a_folder, permission_denied. */
export async function openFile(operation: FtpOperation, path: RemotePath, select?: SelectRange): Promise<OpenFile> {
  // A source that stopped within a file has closed it.
  if (!operation.lease.control.alive) await operation.lease.reconnect(operation.signal);
  const info = await stat(operation, path);
  if (info.isDirectory) throw isAFolder(path);
  const choice = chooseRange(info, select);
  if (choice?.refusal !== undefined) {
    if (select === undefined || !(await goesOn(operation, info))) throw choice.refusal;
    return openFile(operation, path, chooseAgain(info, select));
  }
  const range = choice?.range;
  const start = range?.start ?? 0;
  const restartAt = start > 0 && (await restartsReads(operation, info)) ? start : 0;
  const transfer = await retrieve(operation, path, restartAt);
  const length = range === undefined ? info.size : range.end - range.start + 1;
  const ends = range === undefined ? 'with the file' : start + length === info.size ? 'both' : 'with the range';
  const body = new FtpSource(operation, transfer, info, { skip: start - transfer.startsAt, length, ends });
  return { info, range, body, hasGrown: () => body.hasGrown() };
}

async function retrieve(operation: FtpOperation, path: RemotePath, start: number): Promise<FtpTransfer> {
  const transfer = await beginTransfer(operation, `RETR ${operation.at(path)}`, start);
  // The file existed a moment ago, so an unclear 550 means missing permission.
  if (transfer.first.code >= 400) throw refusedBy(transfer.first, 'open', `reading ${path}`, 'permission_denied');
  return transfer;
}

/** Whether a file continues beyond its reported size; false if the server refuses to begin there. */
async function goesOn(operation: FtpOperation, info: FileInfo): Promise<boolean> {
  const { path, size: offset } = info;
  if (!(await restartsReads(operation, info))) return false;
  const transfer = await beginTransfer(operation, `RETR ${operation.at(path)}`, offset);
  if (transfer.first.code >= 400) return false;
  // Without REST, only a read of the whole file would show it.
  const source = new FtpSource(operation, transfer, info, { skip: 0, length: 0, ends: 'with the file' });
  const isThere = transfer.startsAt === offset && (await begins(source));
  source.destroy();
  if (!operation.lease.control.alive) await operation.lease.reconnect(operation.signal);
  return isThere;
}

/**
 * Some servers refuse REST, or accept it and send the whole file, which only its end shows: there must not be as many
 * bytes as in all of it, or more than can have been added meanwhile.
 */
async function restartsReads(operation: FtpOperation, info: FileInfo): Promise<boolean> {
  const { memory } = operation.lease;
  const { path, size } = info;
  if (memory.restartsReads !== undefined || size < 2) return memory.restartsReads !== false;
  const transfer = await beginTransfer(operation, `RETR ${operation.at(path)}`, size - 1);
  // The transfer that follows reports it.
  if (transfer.first.code >= 400) return true;
  const most = Math.min(size, MOST_ADDED);
  let bytes = 0;
  try {
    for await (const chunk of new FtpSource(operation, transfer, info, { skip: 0, length: 1, ends: 'with the file' })) {
      bytes += (chunk as Buffer).length;
      if (bytes >= most) break;
    }
  } catch (error) {
    unlessRefused(error);
    return true;
  }
  memory.restartsReads = bytes < most;
  if (!operation.lease.control.alive) await operation.lease.reconnect(operation.signal);
  return memory.restartsReads;
}

function unlessRefused(error: unknown): undefined {
  if (!isRefusal(error)) throw error;
}

/** Whether any byte arrives; a late refusal counts as none. */
async function begins(source: Readable): Promise<boolean> {
  try {
    for await (const _first of source) return true;
  } catch (error) {
    unlessRefused(error);
  }
  return false;
}

interface Part {
  /** Bytes to skip at the beginning, because the server knows no REST. */
  readonly skip: number;
  readonly length: number;
  /**
   * With 'with the file', more than `length` bytes belong to the file; if the range should end the file, more are an
   * error.
   */
  readonly ends: 'with the range' | 'with the file' | 'both';
}

class FtpSource extends Readable {
  readonly #operation: FtpOperation;
  readonly #transfer: FtpTransfer;
  readonly #info: FileInfo;
  readonly #part: Part;
  readonly #path: RemotePath;
  #delivered = 0;
  #toSkip: number;
  #isSettled = false;
  #hasStoppedEarly = false;
  #hasEnded = false;
  readonly #stall: StallTimer;
  readonly #openEnd: OpenEnd;

  constructor(operation: FtpOperation, transfer: FtpTransfer, info: FileInfo, part: Part) {
    super({ highWaterMark: HIGH_WATER_MARK });
    this.#operation = operation;
    this.#transfer = transfer;
    this.#info = info;
    this.#part = part;

    this.#path = info.path;
    this.#toSkip = part.skip;
    const { stallTimeoutMs } = operation.limits;
    this.#stall = new StallTimer(stallTimeoutMs, () => {
      const text = `${operation.host} sent nothing of ${info.path} for ${stallTimeoutMs} ms`;
      this.destroy(new GatewayError('stall_timeout', text, { step: 'transfer' }));
    });
    const { socket, exchange } = transfer;
    this.#openEnd = new OpenEnd(socket, stallTimeoutMs, () => !socket.isPaused() && this.#delivered >= part.length);
    socket.on('data', (chunk: Buffer) => this.#accept(chunk));
    socket.pause();
    socket.once('end', () => void this.#settle(undefined));
    socket.once('error', (error) => void this.#settle(error));
    socket.once('close', () => void this.#settle(socket.errored));
    if (socket.destroyed) process.nextTick(() => void this.#settle(socket.errored));
    // A refusal ends the data; a lost control connection does not: the bytes are counted.
    exchange.finished.then(
      (reply) => (isPositive(reply) ? this.#openEnd.begin() : void this.destroy(this.#refused(reply))),
      () => {},
    );
    destroyOnAbort(this, operation.signal);
  }

  override _read(): void {
    if (this.#isSettled) return;
    this.#stall.restart();
    this.#transfer.socket.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#isSettled = true;
    this.#stall.stop();
    this.#openEnd.stop();
    this.#transfer.socket.destroy();
    // After a stop in the middle the server still owes a reply: the next operation must not use this connection.
    const { control } = this.#operation.lease;
    if (control.busy) control.close();
    callback(error);
  }

  #accept(chunk: Buffer): void {
    if (this.#isSettled) return;
    this.#openEnd.postpone();
    const skipped = Math.min(this.#toSkip, chunk.length);
    this.#toSkip -= skipped;
    const { length, ends } = this.#part;
    const missing = ends === 'with the file' ? chunk.length : length - this.#delivered;
    const piece = skipped === 0 && chunk.length <= missing ? chunk : chunk.subarray(skipped, skipped + missing);
    this.#delivered += piece.length;
    const isFull = piece.length > 0 && !this.push(piece);
    if (chunk.length - skipped > missing && ends === 'both') {
      void this.#endIfGrown();
    } else if (ends === 'with the range' && this.#delivered === length) {
      this.#stop();
      this.#end();
    } else if (isFull) {
      this.#stall.pause();
      this.#transfer.socket.pause();
    } else {
      this.#stall.restart();
    }
  }

  /** Ends the body. */
  async hasGrown(): Promise<boolean> {
    const isTrue = await this.#isLargerByNow();
    this.#end();
    return isTrue;
  }

  #end(): void {
    if (this.destroyed || this.#hasEnded) return;
    this.#hasEnded = true;
    this.push(null);
  }

  #stop(): void {
    this.#isSettled = true;
    this.#hasStoppedEarly = true;
    this.#stall.stop();
    this.#transfer.socket.destroy();
    this.#operation.lease.control.close();
  }

  async #endIfGrown(): Promise<void> {
    const hasGrown = await this.#isLargerByNow();
    if (hasGrown) this.#end();
    else this.destroy(this.#longer());
  }

  /** No command can be sent while bytes arrive, so the data connection is paused. */
  async #isLargerByNow(): Promise<boolean> {
    this.#stop();
    const { lease, signal } = this.#operation;
    try {
      await lease.reconnect(signal);
      return hasGrown(this.#info, await stat(this.#operation, this.#path));
    } catch {
      return false;
    }
  }

  async #settle(failure: Error | null | undefined): Promise<void> {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#stall.stop();
    const isWhole = this.#delivered >= this.#part.length;
    if (!isWhole || (failure !== undefined && failure !== null)) return this.#fail(failure ?? undefined, isWhole);
    const { control } = this.#operation.lease;
    try {
      const wait = Math.min(LAST_REPLY_MS, this.#operation.limits.stallTimeoutMs);
      const reply = await control.answerInTime(this.#transfer.exchange.finished, 'RETR', wait);
      if (!isPositive(reply)) throw this.#refused(reply);
    } catch (error) {
      // The wait ended because the session was closed, to ask on another one whether the file has grown.
      if (this.#hasStoppedEarly) return;
      // A size of 0, or one that was exceeded, says nothing about the end of the content: only the reply does.
      const isPromised = this.#delivered > 0 && this.#delivered === this.#part.length;
      if (control.alive || !isPromised) return void this.destroy(error as Error);
      // Every promised byte has arrived and the data connection ended normally: only the session is lost.
      this.#operation.deps.log('FTP download complete, but not confirmed', { host: this.#operation.host });
    }
    this.#end();
  }

  async #fail(failure: Error | undefined, isWhole: boolean): Promise<void> {
    const { exchange } = this.#transfer;
    const reply = await lastWords(exchange);
    if (this.destroyed) return;
    if (reply !== undefined && !isPositive(reply)) return void this.destroy(this.#refused(reply));
    if (reply !== undefined && isWhole) return void this.#end();
    if (failure !== undefined) return void this.destroy(dataError(this.#operation, failure));
    const words = `${this.#path} ended after ${this.#delivered} of ${this.#part.length} bytes`;
    this.destroy(
      reply === undefined
        ? connectionLost(this.#operation.host, new Error(words))
        : new GatewayError('size_mismatch', words, { step: 'transfer', remote: spoken(reply) }),
    );
  }

  #longer(): GatewayError {
    const text = `${this.#path} has more bytes than the size that the server reported`;
    return new GatewayError('size_mismatch', text, { step: 'transfer' });
  }

  #refused(reply: Reply): GatewayError {
    const error = refusedBy(reply, 'transfer', `reading ${this.#path}`);
    // The file was open: words such as "No such file" now refer to something else.
    if (!hasCode(error, 'not_found', 'is_a_folder', 'bad_path')) return error;
    const text = `reading ${this.#path}: the FTP server gave up in the middle`;
    return new GatewayError('remote_failure', text, { step: 'transfer', remote: error.remote });
  }
}
