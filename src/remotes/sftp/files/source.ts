import { Readable } from 'node:stream';
import { GatewayError } from '../../../base/errors.js';
import type { Hold } from '../../../budgets/memory.js';
import type { SftpChannel } from '../session/channel.js';
import type { HostMemory } from '../memory.js';
import { WHOLE_BYTES } from '../../remote.js';
import { isImpatience, isStatus, STATUS, translate } from '../wire/replies.js';

/** Everything of one transfer that may wait in memory: asked for, arrived out of order, not yet taken by the consumer. */
const BUDGET_BYTES = 3.5 * 1024 * 1024;
/** Chunks asked for at once at the beginning; each one that the consumer was waiting for allows one more. */
const FIRST_CHUNKS = 4;
/** On a line this long the budget, not the line, is what a download waits for. */
const LONG_LINE_MS = 20;
/** Budget there, for a consumer that keeps up: nearly all of it is on the line, not in memory. */
const LONG_LINE_BUDGET_BYTES = 8 * 1024 * 1024;
/** What all downloads from one host may use of it beyond the ordinary one, in case their consumers stop at once. */
const LONG_LINE_EXTRA_BYTES = 64 * 1024 * 1024;
/** Arrived and in order, but not yet taken; one chunk where memory is short. */
const HIGH_WATER_BYTES = 512 * 1024;
/** Below this, ssh2's own window is wide enough. */
const OWN_WINDOW_BYTES = 1024 * 1024;

export interface SourcePlan {
  readonly channel: SftpChannel;
  readonly handle: Buffer;
  /** For error texts. */
  readonly path: string;
  readonly start: number;
  readonly length: number;
  readonly maxRequests: number;
  readonly memory: HostMemory;
  /** Counts the window; it widens while there is room. */
  readonly hold: Hold;
  /** Bytes at `start` that are here already. */
  readonly head?: Buffer | undefined;
}

interface Hole {
  readonly offset: number;
  readonly length: number;
}

/**
 * The bytes of an open file in order, with many reads under way: one at a time would move a single chunk per round
 * trip. Ends after exactly `length` bytes; closes the handle at the end and when destroyed.
 */
export class SftpSource extends Readable {
  readonly #plan: SourcePlan;
  readonly #end: number;
  #nextAsked: number;
  #nextPushed: number;
  /** Replies that came before their turn, by offset. */
  readonly #early = new Map<number, Buffer>();
  #earlyBytes = 0;
  /** Parts that a short reply left open, and those that a server without patience must be asked for again. */
  readonly #holes: Hole[] = [];
  #requests = 0;
  #mostRequests = 0;
  #arrivals = 0;
  #askedBytes = 0;
  #windowBytes: number;
  /** Of these, what counts against the host's extra. */
  #extraBytes = 0;
  #closed = false;
  readonly #askedAgain = new Set<number>();

  constructor(plan: SourcePlan) {
    const { maxReadBytes } = plan.channel;
    const isWide = plan.hold.stretch(FIRST_CHUNKS * maxReadBytes);
    super({ highWaterMark: isWide ? HIGH_WATER_BYTES : Math.min(maxReadBytes, HIGH_WATER_BYTES) });
    this.#plan = plan;
    this.#nextAsked = plan.start;
    this.#nextPushed = plan.start;
    this.#end = plan.start + plan.length;
    // One chunk at a time is what everybody has.
    this.#windowBytes = isWide ? FIRST_CHUNKS * maxReadBytes : maxReadBytes;
    const head = plan.head?.subarray(0, plan.length);
    if (head !== undefined && head.length > 0) {
      this.#nextAsked += head.length;
      this.#push(head);
    }
  }

  override _read(): void {
    if (this.#nextPushed === this.#end) this.#finish();
    else this.#ask(true);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#closeHandle();
    this.#early.clear();
    this.#plan.hold.resize(0);
    done(error);
  }

  #ask(isWanted: boolean): void {
    const { channel, memory, maxRequests } = this.#plan;
    const atOnce = memory.oneRequestAtATime ? 1 : maxRequests;
    while (!this.destroyed && this.#requests < atOnce) {
      const waiting = this.#askedBytes + this.#earlyBytes + this.readableLength;
      if (this.#requests > 0 && waiting >= this.#windowBytes) return;
      // While the consumer has not taken what is there, nothing more is asked for; `_read` tells when it will have.
      if (this.#requests === 0 && !isWanted && this.readableLength >= this.readableHighWaterMark) return;
      const hole = this.#holes.shift();
      if (hole !== undefined) {
        this.#request(hole);
        continue;
      }
      const length = Math.min(channel.maxReadBytes, this.#end - this.#nextAsked);
      if (length === 0) return;
      const offset = this.#nextAsked;
      this.#nextAsked += length;
      this.#request({ offset, length });
    }
  }

  #request(part: Hole): void {
    this.#requests += 1;
    this.#mostRequests = Math.max(this.#mostRequests, this.#requests);
    this.#askedBytes += part.length;
    this.#plan.channel.read(this.#plan.handle, part.offset, part.length, (error, data) => {
      this.#requests -= 1;
      this.#askedBytes -= part.length;
      if (this.destroyed) return;
      if (error !== undefined) this.#refused(part, error);
      else this.#arrived(part, data);
    });
  }

  #arrived(part: Hole, data: Buffer | undefined): void {
    if (data === undefined || data.length === 0) {
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
    if (this.#nextPushed === this.#end) this.#finish();
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
    const { channel, memory, hold } = this.#plan;
    const step = channel.maxReadBytes;
    if (!hold.stretch(this.#windowBytes + step)) return;
    if (this.#windowBytes < BUDGET_BYTES) {
      this.#windowBytes = Math.min(this.#windowBytes + step, BUDGET_BYTES);
      if (this.#windowBytes > OWN_WINDOW_BYTES) channel.widenWindow(2 * BUDGET_BYTES);
      return;
    }
    if (channel.shortestReplyMs < LONG_LINE_MS || this.#windowBytes + step > LONG_LINE_BUDGET_BYTES) return;
    if (memory.extraWindowBytes + step > LONG_LINE_EXTRA_BYTES) return;
    memory.extraWindowBytes += step;
    this.#extraBytes += step;
    this.#windowBytes += step;
    channel.widenWindow(2 * LONG_LINE_BUDGET_BYTES);
  }

  #giveExtraBack(): void {
    this.#plan.memory.extraWindowBytes -= this.#extraBytes;
    this.#windowBytes -= this.#extraBytes;
    this.#extraBytes = 0;
  }

  #refused(part: Hole, error: Error): void {
    const { channel, memory, path } = this.#plan;
    const isFirstBurst = this.#arrivals <= 1 && this.#mostRequests > 1;
    if (isFirstBurst && !memory.oneRequestAtATime) memory.oneRequestAtATime = isImpatience(error, channel);
    // Some servers answer "failure" to whatever comes before they are done with the last request.
    if (memory.oneRequestAtATime && isStatus(error, STATUS.FAILURE) && !this.#askedAgain.has(part.offset)) {
      this.#askedAgain.add(part.offset);
      this.#leaveHole(part);
      this.#ask(true);
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
    // Nobody waits: the bytes are complete, or the reader is given up; a channel that is gone has closed it already.
    this.#plan.channel.close(this.#plan.handle).catch(() => undefined);
  }
}

/** The first bytes of an open file; undefined where they cannot be had. */
export function readHead(channel: SftpChannel, handle: Buffer): Promise<Buffer | undefined> {
  return new Promise((done) => {
    // A failure is met again, with more patience, by the reader.
    channel.read(handle, 0, Math.min(channel.maxReadBytes, WHOLE_BYTES), (_error, data) => done(data));
  });
}
