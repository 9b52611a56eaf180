import { Readable } from 'node:stream';
import { GatewayError } from '../../../base/errors.js';
import type { Hold } from '../../../budgets/memory.js';
import type { SftpChannel } from '../session/channel.js';
import type { SftpMemory } from '../memory.js';
import { LONG_LINE_MS } from '../../useful-sessions.js';
import type { Lane, Lanes } from './lanes.js';
import { WHOLE_BYTES } from '../../remote.js';
import { isImpatience, isStatus, STATUS, translate } from '../wire/replies.js';

/** All bytes of one transfer that may be in memory: requested, arrived out of order, not yet taken by the consumer. */
const BUDGET_BYTES = 3.5 * 1024 * 1024;
/** Chunks requested at once at the beginning; each chunk that the consumer had to wait for allows one more. */
const FIRST_CHUNKS = 4;
/**
 * The budget on a long line, for a consumer that keeps up, and for a range: nearly all of it is on the line, not in
 * memory.
 */
const LONG_LINE_BUDGET_BYTES = 8 * 1024 * 1024;
/** Each further session adds this much to it. */
const SESSION_BUDGET_BYTES = 4 * 1024 * 1024;
/** What all downloads from one host may use of it beyond the ordinary budget, in case their consumers stop at once. */
const LONG_LINE_EXTRA_BYTES = 64 * 1024 * 1024;
/** Bytes that arrived in order but are not yet taken; one chunk if memory is short. */
const HIGH_WATER_BYTES = 512 * 1024;
/** Below this, ssh2's own window is wide enough. */
const OWN_WINDOW_BYTES = 1024 * 1024;

export interface SourcePlan {
  readonly lanes: Lanes;
  /** For error texts. */
  readonly path: string;
  readonly start: number;
  readonly length: number;
  /** Bytes after `length` also belong to the file. */
  readonly isToEnd: boolean;
  readonly maxRequests: number;
  readonly memory: SftpMemory;
  /** Counts the window; it widens while there is room. */
  readonly hold: Hold;
  /** Bytes at `start` that have arrived already. */
  readonly head?: Buffer | undefined;
}

interface Hole {
  readonly offset: number;
  readonly length: number;
}

/**
 * The bytes of an open file in order, with many reads under way: one at a time would move a single chunk per round
 * trip. Ends after exactly `length` bytes or, with `isToEnd`, when the server has no more: a read after the reported
 * end is sent with the last chunk. Closes the handle at the end and when destroyed.
 */
export class SftpSource extends Readable {
  readonly #plan: SourcePlan;
  /** The known end of the file, from its reported size or from the bytes read. */
  #end: number;
  #hasEnded: boolean;
  /** The read at `#end`, which finds the end of the file or more of it. */
  #endProbe: Hole | undefined;
  #nextAsked: number;
  #nextPushed: number;
  /** Replies that arrived early, by offset. */
  readonly #early = new Map<number, Buffer>();
  #earlyBytes = 0;
  /**
   * Ranges that a short reply left open, and those that must be requested again from a server that takes one request at
   * a time.
   */
  readonly #holes: Hole[] = [];
  #requests = 0;
  #mostRequests = 0;
  #arrivals = 0;
  #askedBytes = 0;
  #windowBytes: number;
  /** The bytes of the window that count against the host's extra. */
  #extraBytes = 0;
  #closed = false;
  readonly #askedAgain = new Set<number>();

  constructor(plan: SourcePlan) {
    const { maxReadBytes, shortestReplyMs } = plan.lanes.own.channel;
    // On a long line, a small window would be empty for most of the first round trips.
    const firstBytes = shortestReplyMs < LONG_LINE_MS ? FIRST_CHUNKS * maxReadBytes : BUDGET_BYTES;
    const extraBytes = shortestReplyMs < LONG_LINE_MS ? 0 : extraOfRange(plan);
    const isWhole = extraBytes > 0 && plan.hold.stretch(firstBytes + extraBytes);
    const isWide = isWhole || plan.hold.stretch(firstBytes);
    super({ highWaterMark: isWide ? HIGH_WATER_BYTES : Math.min(maxReadBytes, HIGH_WATER_BYTES) });
    this.#plan = plan;
    this.#nextAsked = plan.start;
    this.#nextPushed = plan.start;
    const head = plan.isToEnd ? plan.head : plan.head?.subarray(0, plan.length);
    this.#end = plan.start + Math.max(plan.length, head?.length ?? 0);
    this.#hasEnded = !plan.isToEnd;
    // Every transfer may have one chunk at a time.
    this.#windowBytes = isWide ? firstBytes : maxReadBytes;
    if (isWhole) this.#takeExtra(extraBytes);
    if (isWide && firstBytes > OWN_WINDOW_BYTES) plan.lanes.own.channel.widenWindow(2 * this.#windowBytes);
    if (head !== undefined && head.length > 0) {
      this.#nextAsked += head.length;
      this.#push(head);
    }
  }

  override _read(): void {
    if (this.#isComplete) this.#finish();
    else this.#ask(true);
  }

  get #isComplete(): boolean {
    return this.#nextPushed === this.#end && this.#hasEnded;
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#closeHandle();
    this.#early.clear();
    this.#plan.hold.resize(0);
    done(error);
  }

  #ask(isWanted: boolean): void {
    const { lanes, memory, maxRequests } = this.#plan;
    const { maxReadBytes } = lanes.own.channel;
    const atOnce = memory.oneRequestAtATime ? 1 : maxRequests;
    while (!this.destroyed && this.#requests < atOnce) {
      if (this.#probesEnd()) continue;
      const waiting = this.#askedBytes + this.#earlyBytes + this.readableLength;
      if (this.#requests > 0 && waiting >= this.#windowBytes) return;
      // While the consumer has not taken the available bytes, nothing more is requested; it then calls `_read`.
      if (this.#requests === 0 && !isWanted && this.readableLength >= this.readableHighWaterMark) return;
      const hole = this.#holes.shift();
      if (hole !== undefined) {
        // It was left open by an answer, or by a lane that is gone.
        this.#request(hole);
        continue;
      }
      const offset = this.#nextAsked;
      const length = Math.min(maxReadBytes, this.#end - offset);
      if (length > 0) {
        this.#nextAsked += length;
        this.#request({ offset, length }, this.#leastBusy);
      } else {
        if (this.#hasEnded || this.#endProbe !== undefined) return;
        this.#endProbe = { offset, length: maxReadBytes };
        this.#request(this.#endProbe);
      }
    }
  }

  /** A single byte needs no room in the window; bytes that turn out to follow are requested chunk by chunk. */
  #probesEnd(): boolean {
    const isDue = !this.#hasEnded && this.#endProbe === undefined && this.#nextAsked === this.#end;
    if (!isDue || this.#end > this.#plan.start + this.#plan.length) return false;
    this.#endProbe = { offset: this.#end, length: 1 };
    this.#request(this.#endProbe);
    return true;
  }

  get #leastBusy(): Lane {
    return this.#plan.lanes.all.reduce((best, lane) => (lane.inFlightBytes < best.inFlightBytes ? lane : best));
  }

  #request(part: Hole, lane = this.#plan.lanes.own): void {
    this.#requests += 1;
    this.#mostRequests = Math.max(this.#mostRequests, this.#requests);
    this.#askedBytes += part.length;
    lane.inFlightBytes += part.length;
    const { lanes } = this.#plan;
    lane.channel.read(lane.handle, part.offset, part.length, (error, data) => {
      this.#requests -= 1;
      this.#askedBytes -= part.length;
      lane.inFlightBytes -= part.length;
      lanes.moved(lane, data?.length ?? 0);
      if (this.destroyed) return;
      if (error === undefined && (data !== undefined || lane === lanes.own)) this.#arrived(part, data);
      else if (lanes.leave(lane) || lane !== lanes.own) this.#askOwn(part);
      else this.#refused(part, error as Error);
    });
  }

  /** Another lane has failed: the file's own one decides. */
  #askOwn(part: Hole): void {
    this.#leaveHole(part);
    this.#ask(true);
  }

  #arrived(part: Hole, data: Buffer | undefined): void {
    const isEmpty = data === undefined || data.length === 0;
    if (part === this.#endProbe) {
      this.#endProbe = undefined;
      this.#hasEnded = isEmpty;
      if (isEmpty) return this.#goOn();
      // A short reply leaves no hole: it is not known yet whether the file continues there.
      part = { offset: part.offset, length: data.length };
      this.#end = part.offset + data.length;
      this.#nextAsked = this.#end;
    }
    if (isEmpty) {
      const text = `${this.#plan.path} became shorter while it was read: it ends at byte ${part.offset}`;
      this.destroy(new GatewayError('size_mismatch', text, { step: 'transfer' }));
      return;
    }
    if (data.length > part.length) {
      const text = `${this.#plan.path}: the server sent ${data.length} bytes where ${part.length} were asked for`;
      this.destroy(new GatewayError('protocol_error', text, { step: 'transfer' }));
      return;
    }
    this.#arrivals += 1;
    if (data.length < part.length) {
      this.#leaveHole({ offset: part.offset + data.length, length: part.length - data.length });
    }
    if (part.offset === this.#nextPushed) {
      this.#push(data);
    } else {
      this.#early.set(part.offset, data);
      this.#earlyBytes += data.length;
    }
    for (;;) {
      const next = this.#early.get(this.#nextPushed);
      if (next === undefined) break;
      this.#early.delete(this.#nextPushed);
      this.#earlyBytes -= next.length;
      this.#push(next);
    }
    this.#goOn();
  }

  #goOn(): void {
    if (this.#isComplete) this.#finish();
    else this.#ask(false);
  }

  #push(data: Buffer): void {
    const wasWaitedFor = this.readableLength === 0;
    this.#nextPushed += data.length;
    this.push(data);
    if (wasWaitedFor) this.#widen();
    else if (this.readableLength > BUDGET_BYTES) this.#giveExtraBack();
  }

  #widen(): void {
    const { lanes, memory, hold } = this.#plan;
    const { channel } = lanes.own;
    const step = channel.maxReadBytes;
    if (!hold.stretch(this.#windowBytes + step)) return;
    if (this.#windowBytes < BUDGET_BYTES) {
      this.#windowBytes = Math.min(this.#windowBytes + step, BUDGET_BYTES);
      if (this.#windowBytes > OWN_WINDOW_BYTES) channel.widenWindow(2 * BUDGET_BYTES);
      return;
    }
    if (channel.shortestReplyMs < LONG_LINE_MS) return;
    lanes.consider(this.#end - this.#nextAsked, () => this.#ask(false));
    if (this.#windowBytes + step > LONG_LINE_BUDGET_BYTES + lanes.sessions * SESSION_BUDGET_BYTES) return;
    if (memory.extraWindowBytes + step > LONG_LINE_EXTRA_BYTES) return;
    this.#takeExtra(step);
    for (const lane of lanes.all) lane.channel.widenWindow(2 * LONG_LINE_BUDGET_BYTES);
  }

  #takeExtra(bytes: number): void {
    this.#plan.memory.extraWindowBytes += bytes;
    this.#extraBytes += bytes;
    this.#windowBytes += bytes;
  }

  #giveExtraBack(): void {
    this.#plan.memory.extraWindowBytes -= this.#extraBytes;
    this.#windowBytes -= this.#extraBytes;
    this.#extraBytes = 0;
  }

  #refused(part: Hole, error: Error): void {
    const { lanes, memory, path } = this.#plan;
    const { channel } = lanes.own;
    const isEndProbe = part === this.#endProbe;
    const isFirstBurst = this.#arrivals <= 1 && this.#mostRequests > 1;
    // After the end of a file, some servers answer "failure" instead of EOF.
    const isTelling = !isEndProbe || !isStatus(error);
    if (isFirstBurst && isTelling && !memory.oneRequestAtATime) memory.oneRequestAtATime = isImpatience(error, channel);
    // Some servers answer "failure" to every request that arrives before they are done with the last one.
    if (memory.oneRequestAtATime && isStatus(error, STATUS.FAILURE) && !this.#askedAgain.has(part.offset)) {
      this.#askedAgain.add(part.offset);
      this.#leaveHole(part);
      this.#ask(true);
      return;
    }
    if (isEndProbe && isStatus(error)) {
      this.#endProbe = undefined;
      this.#hasEnded = true;
      this.#goOn();
      return;
    }
    this.destroy(translate(error, path, 'transfer'));
  }

  #leaveHole(part: Hole): void {
    this.#holes.push(part);
    this.#holes.sort((a, b) => a.offset - b.offset);
  }

  #finish(): void {
    if (this.readableEnded || this.#closed) return;
    this.#closeHandle();
    this.push(null);
  }

  #closeHandle(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#giveExtraBack();
    // The result does not matter: the bytes are complete, or the reader is given up; a lost channel has closed the
    // handle already.
    const { lanes } = this.#plan;
    lanes.own.channel.close(lanes.own.handle).catch(() => undefined);
    void lanes.release(false);
  }
}

/** A client waits for all of a range: what the budget leaves out would cost it another round trip. */
function extraOfRange({ length, isToEnd, memory }: SourcePlan): number {
  const extra = Math.min(length, LONG_LINE_BUDGET_BYTES) - BUDGET_BYTES;
  const isFree = memory.extraWindowBytes + extra <= LONG_LINE_EXTRA_BYTES;
  return isToEnd || !isFree ? 0 : Math.max(0, extra);
}

/** The first bytes of an open file. */
export interface Head {
  /** Empty at the end of an empty file; undefined if they cannot be read. */
  readonly bytes: Buffer | undefined;
  /** The number of bytes requested: with fewer, the file may have ended. */
  readonly requestedBytes: number;
}

/** One byte more than a whole file may have proves that it ends there. */
export function readHead(channel: SftpChannel, handle: Buffer): Promise<Head> {
  const requestedBytes = Math.min(channel.maxReadBytes, WHOLE_BYTES + 1);
  return new Promise((done) => {
    // The reader meets a failure again, and handles it with more patience.
    channel.read(handle, 0, requestedBytes, (error, data) => {
      done({ requestedBytes, bytes: error === undefined ? (data ?? Buffer.alloc(0)) : undefined });
    });
  });
}

/** Whether these are all bytes of a file with the reported `size`. */
export function isWholeFile(head: Head, size: number): head is Head & { readonly bytes: Buffer } {
  return head.bytes?.length === size && size < head.requestedBytes;
}

/** Whether an open file has bytes at `offset`; false if the server refuses to read there. */
export function hasBytesAt(channel: SftpChannel, handle: Buffer, offset: number): Promise<boolean> {
  return new Promise((done, failed) => {
    channel.read(handle, offset, 1, (error, data) => {
      if (error === undefined || isStatus(error)) done(data !== undefined && data.length > 0);
      else failed(error);
    });
  });
}
