import { Writable } from 'node:stream';
import type { Borrower } from '../../../base/lent.js';
import type { Hold } from '../../../budgets/memory.js';
import { type GatewayError, toGatewayError } from '../../../base/errors.js';
import { SAFE_CHUNK_BYTES } from '../session/channel.js';
import type { SftpMemory } from '../memory.js';
import type { Lane, Lanes } from './lanes.js';
import { isImpatience, translate } from '../wire/replies.js';

/**
 * Bytes sent and not yet acknowledged: the server's window (2 MiB with OpenSSH) and a little more to keep it filled.
 */
const IN_FLIGHT_BYTES = 2.5 * 1024 * 1024;
/** The part of them that may wait in this process because the channel's window or the network is full. */
const QUEUED_BYTES = 1024 * 1024;
const HIGH_WATER_BYTES = 512 * 1024;
/** Replaces both of them if there is no memory for more. */
const NARROW_BYTES = 64 * 1024;
/** A write request, without its data; handles have at most 256 bytes (draft, section 6.2). */
const REQUEST_BYTES = 300;
/** A smaller rest of a chunk is copied, and sent with the next one. */
const WORTH_A_REQUEST_BYTES = 64 * 1024;
/**
 * Packets grow while they are acknowledged within this time; a slow line keeps small ones, so that it never seems to
 * stall.
 */
const PROMPT_ACK_MS = 1000;
/** With several lanes each holds little more than its window, so that memory does not grow. */
const LANE_IN_FLIGHT_BYTES = 2.125 * 1024 * 1024;
/**
 * With several lanes, only whole pages are written to each: two sessions may lead to two machines that share the file,
 * and those do not merge the halves of a page.
 */
const PAGE_BYTES = 4096;

export interface SinkPlan {
  readonly lanes: Lanes;
  /** For error texts. */
  readonly path: string;
  /** Offset of the first byte: 0, or the old end for an append. */
  readonly start: number;
  readonly maxRequests: number;
  readonly memory: SftpMemory;
  /** Counts the bytes that wait in this process. */
  readonly hold: Hold;
  /** Bytes to come, when known. */
  readonly size?: number | undefined;
}

/**
 * Writes a stream into an open file with many requests under way: chunks are gathered and cut to the server's packet
 * size, and `write` returns false while the budget is used up. The first refused write destroys the stream.
 */
export class SftpSink extends Writable implements Borrower {
  readonly #plan: SinkPlan;
  readonly #queueBytes: number;
  #latestAckMs = 0;
  #nextOffset: number;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #requests = 0;
  #packetBytes: number;
  #acknowledgedBytes = 0;
  /** Offsets that were sent and not acknowledged, or refused. */
  readonly #open = new Set<number>();
  #ended = false;
  #resume: (() => void) | undefined;
  #roomy: (() => void) | undefined;
  #settled: (() => void)[] = [];
  #failure: GatewayError | undefined;

  constructor(plan: SinkPlan) {
    const isWide = plan.hold.stretch(HIGH_WATER_BYTES + QUEUED_BYTES);
    super({ highWaterMark: isWide ? HIGH_WATER_BYTES : NARROW_BYTES, decodeStrings: true });
    this.#plan = plan;
    this.#queueBytes = isWide ? QUEUED_BYTES : NARROW_BYTES;
    this.#nextOffset = plan.start;
    this.#packetBytes = Math.min(SAFE_CHUNK_BYTES, plan.lanes.own.channel.maxWriteBytes);
    // After the stream has finished, nothing listens any more; `drained` reports later errors.
    this.on('error', () => undefined);
  }

  /** Bytes sent to the server so far. */
  get sentBytes(): number {
    return this.#nextOffset - this.#plan.start;
  }

  /** The server has stored all bytes before this offset that were written here. */
  get safeOffset(): number {
    return this.#open.size === 0 ? this.#nextOffset : Math.min(...this.#open);
  }

  /** Resolves once nothing is under way any more; rejects with the first error. */
  async drained(): Promise<void> {
    if (this.#requests > 0 && this.#failure === undefined) {
      await new Promise<void>((settled) => this.#settled.push(settled));
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Called with every chunk that is taken, in order. */
  protected passes(_chunk: Buffer): void {}

  borrow(chunk: Buffer): number {
    if (this.destroyed) return 0;
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    const lanes = new Set<Lane>();
    while (this.#heldBytes >= Math.min(this.#packetBytes, WORTH_A_REQUEST_BYTES)) {
      const lane = this.#freeLane();
      if (lane === undefined || lane.channel.room < this.#packetBytes + REQUEST_BYTES) break;
      this.#sendPacket(lane);
      lanes.add(lane);
    }
    for (const { channel } of lanes) channel.flush();
    const left = Math.min(this.#heldBytes, chunk.length);
    if (left > 0) this.#held.pop();
    this.#heldBytes -= left;
    const taken = chunk.length - left;
    if (taken > 0) this.passes(chunk.subarray(0, taken));
    return taken;
  }

  awaitRoom(roomy: () => void): boolean {
    if (this.#hasRoom) return true;
    this.#roomy = roomy;
    this.#considerLanes();
    return false;
  }

  /**
   * Room for a large chunk. Without a request under way, no reply would show that there is room again; a narrow window
   * would be empty before the next chunk arrives.
   */
  get #hasRoom(): boolean {
    if (this.destroyed || this.#requests === 0) return true;
    const wanted = 2 * (this.#packetBytes + REQUEST_BYTES);
    if (this.#plan.lanes.own.channel.window < 2 * wanted) return true;
    return (this.#freeLane()?.channel.room ?? 0) >= wanted;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#take([chunk], done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.#take(
      chunks.map(({ chunk }) => chunk),
      done,
    );
  }

  override _final(done: () => void): void {
    this.#ended = true;
    this.#resume = done;
    this.#send();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#failure ??= error === null ? undefined : toGatewayError(error);
    this.#held = [];
    this.#heldBytes = 0;
    this.#plan.hold.resize(0);
    // Without an error this only cleans up after "finish": replies are still under way.
    if (error !== null) {
      this.#wake();
      void this.#plan.lanes.release(true);
    }
    done(error);
  }

  #take(chunks: readonly Buffer[], done: () => void): void {
    for (const chunk of chunks) {
      this.passes(chunk);
      this.#held.push(chunk);
      this.#heldBytes += chunk.length;
    }
    this.#resume = done;
    this.#send();
  }

  #send(): void {
    while (this.#isPacketDue) {
      const lane = this.#freeLane();
      if (lane === undefined) break;
      this.#sendPacket(lane);
    }
    if (this.#heldBytes >= this.#packetBytes) this.#considerLanes();
    if (this.#heldBytes < (this.#ended ? 1 : this.#packetBytes)) {
      const resume = this.#resume;
      this.#resume = undefined;
      resume?.();
    }
    if (this.#roomy !== undefined && this.#hasRoom) {
      const roomy = this.#roomy;
      this.#roomy = undefined;
      roomy();
    }
  }

  /** Less than a packet waits for more bytes, or for the last reply under way. */
  get #isPacketDue(): boolean {
    if (this.#ended) return this.#heldBytes > 0;
    const least = this.#plan.lanes.areSeveral ? PAGE_BYTES : 1;
    return this.#heldBytes >= (this.#requests === 0 ? least : this.#packetBytes);
  }

  /** The lane for the next packet: the one with the least under way, or none yet. */
  #freeLane(): Lane | undefined {
    if (this.destroyed) return undefined;
    const { lanes, memory, maxRequests } = this.#plan;
    if (this.#requests === 0) return lanes.own;
    if (memory.oneRequestAtATime || this.#requests >= maxRequests) return undefined;
    const most = lanes.all.length === 1 ? IN_FLIGHT_BYTES : LANE_IN_FLIGHT_BYTES;
    let best: Lane | undefined;
    for (const lane of lanes.all) {
      if (lane.inFlightBytes + this.#packetBytes > most) continue;
      if (lane.channel.queuedBytes + lane.session.queuedBytes >= this.#queueBytes) continue;
      if (best === undefined || lane.inFlightBytes < best.inFlightBytes) best = lane;
    }
    return best;
  }

  /** The source is ahead of the server. */
  #considerLanes(): void {
    const { lanes, size, memory } = this.#plan;
    if (size === undefined || this.destroyed) return;
    if (!lanes.areSeveral && memory.usefulSessions.up === undefined) {
      // Acknowledgements that take longer and longer are queued on a narrow line; more lanes would only lengthen the
      // queue.
      const isNarrow = this.#latestAckMs > 2 * lanes.own.channel.shortestReplyMs;
      if (isNarrow || this.#acknowledgedBytes === 0) return;
    }
    lanes.consider(size - this.sentBytes, () => this.#send());
  }

  #sendPacket(free: Lane): void {
    const { lanes } = this.#plan;
    const offset = this.#nextOffset;
    const end = offset + Math.min(this.#heldBytes, this.#packetBytes);
    const isLast = this.#ended && end === offset + this.#heldBytes;
    const isCutOff = lanes.areSeveral && !isLast;
    // The own lane has begun this page, or measures the file after its last byte: another machine might not see it yet.
    const lane = isLast || offset % PAGE_BYTES !== 0 ? lanes.own : free;
    const parts = this.#cut((isCutOff ? end - (end % PAGE_BYTES) : end) - offset);
    let bytes = 0;
    for (const part of parts) bytes += part.length;
    this.#nextOffset += bytes;
    this.#open.add(offset);
    this.#requests += 1;
    lane.inFlightBytes += bytes;
    const sentAt = performance.now();
    lane.channel.write(lane.handle, offset, parts, (error) => {
      this.#requests -= 1;
      lane.inFlightBytes -= bytes;
      lanes.moved(lane, error === undefined ? bytes : 0);
      if (error === undefined) {
        this.#open.delete(offset);
        this.#acknowledgedBytes += bytes;
        this.#latestAckMs = performance.now() - sentAt;
        if (this.#latestAckMs < PROMPT_ACK_MS) {
          this.#packetBytes = Math.min(this.#packetBytes * 2, lane.channel.maxWriteBytes);
        }
        this.#send();
      } else {
        this.#refused(lane, error);
      }
      if (this.#requests === 0) this.#wake();
    });
  }

  #cut(bytes: number): Buffer[] {
    const parts: Buffer[] = [];
    let missing = bytes;
    while (missing > 0) {
      const first = this.#held[0];
      if (first === undefined) break;
      if (first.length <= missing) {
        parts.push(first);
        this.#held.shift();
        missing -= first.length;
      } else {
        parts.push(first.subarray(0, missing));
        this.#held[0] = first.subarray(missing);
        missing = 0;
      }
    }
    this.#heldBytes -= bytes - missing;
    return parts;
  }

  #refused({ channel }: Lane, error: Error): void {
    const { memory, path } = this.#plan;
    // The bytes are gone and cannot be sent again; the next upload to this server sends one request at a time.
    if (this.#acknowledgedBytes === 0 && this.#requests > 0 && isImpatience(error, channel)) {
      memory.oneRequestAtATime = true;
    }
    this.#failure ??= translate(error, path, 'transfer');
    this.destroy(this.#failure);
  }

  #wake(): void {
    for (const settled of this.#settled.splice(0)) settled();
  }
}
