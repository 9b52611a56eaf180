import { Readable } from 'node:stream';
import { destroyOnAbort } from '../base/deadline.js';
import { Ending, type EndSignal } from '../base/ending.js';
import type { Hold } from '../budgets/memory.js';
import type { MoreSessions, SpareLease } from './more-sessions.js';
import type { ByteRange } from './remote.js';
import { firstSessions, type UsefulSessions, WORTH_A_SESSION_BYTES, WORTHWHILE_GAIN } from './useful-sessions.js';

/** An archive that takes long for its first byte must not stretch the measurements. */
const MOST_ROUND_TRIP_MS = 500;
/** One request: each costs its connection a round trip without bytes. */
const RANGE_BYTES = 8 * 1024 * 1024;
/** What all downloads from one server may hold for ranges ahead. */
const MOST_AHEAD_BYTES = 64 * 1024 * 1024;
/** Bytes of a stream that are not counted as memory of the operation, like those of any other stream. */
const HIGH_WATER_BYTES = 256 * 1024;
/** Round trips that a new connection gets to reach its speed. */
const SETTLING_TRIPS = 3;
/** Round trips that are then measured: enough for some ranges of each connection, with the pauses between them. */
const LEAST_TRIPS = 3;
const MOST_TRIPS = 12;
const MEASURED_RANGES = 2;
/** A single extra connection may gain nothing: range requests have pauses, a continuous stream has none. */
const FIRST_STEP = 3;
/** More connections must have been worthwhile in one of this many measurements. */
const TRIALS = 2;
/** The part of the time that the consumer must have waited for bytes: otherwise it is the bottleneck. */
const WAITED_PART = 0.3;

/** What downloads have shown of the line to one server. */
interface LineMemory {
  useful?: UsefulSessions;
  /** Memory for ranges ahead that running downloads hold. */
  aheadBytes: number;
}

export const unknownLine = (): LineMemory => ({ aheadBytes: 0 });

interface RangesPlan<Lease> {
  /** All bytes from `start` on, opened as if there were one connection only. Other ranges may replace its end. */
  readonly first: Readable;
  readonly start: number;
  /** The offset after the last byte. */
  readonly end: number;
  readonly roundTripMs: number;
  /** Ends everything. */
  readonly signal: EndSignal;
  readonly more: MoreSessions<Lease>;
  readonly memory: LineMemory;
  /** Counts what is read ahead. */
  readonly hold: Hold;
  /**
   * Opens a range of the same content, on another session or (undefined) on the operation's own one. The stream must
   * end after exactly its bytes; destroying it, and `ending`, ends the request.
   */
  open(range: ByteRange, lease: Lease | undefined, ending: EndSignal): Promise<Readable>;
  /** Milliseconds; absent: performance.now(). */
  readonly now?: () => number;
}

/** Consecutive bytes that one connection reads. */
class RangePart {
  readonly chunks: Buffer[] = [];
  /** Bytes in `chunks`. */
  waiting = 0;
  /** The offset of the next byte to arrive. */
  at: number;
  /** Bytes to arrive that another part has already. */
  toSkip = 0;
  source: Readable | undefined;
  isAssigned = false;
  isComplete = false;
  /** The bytes after `end` still arrive: the source continues to the end of the file. */
  isCut = false;

  constructor(
    start: number,
    public end: number,
    /** Memory counted for it: this much may wait for the consumer. */
    readonly heldBytes: number,
  ) {
    this.at = start;
  }

  /** After its last byte it is not: a paused stream would not end. */
  get isFull(): boolean {
    return this.waiting >= Math.max(this.heldBytes, HIGH_WATER_BYTES) && this.at < this.end;
  }
}

/** A session that reads one part at a time. `lease` is undefined for the operation's own one. */
interface RangeReader<Lease> {
  readonly lease: SpareLease<Lease> | undefined;
  part: RangePart | undefined;
  isOpening: boolean;
  /** It reads nothing more after its part. */
  isLeaving: boolean;
}

/**
 * The bytes of a file in order, read on several connections if that is faster. It begins with one stream. While the
 * consumer waits for bytes of a long line, further connections read ranges ahead, and the first stream ends where they
 * begin. A range that fails is read again on the operation's own connection; only a failure there is one of the file.
 */
export class RangesAhead<Lease> extends Readable {
  readonly #plan: RangesPlan<Lease>;
  readonly #now: () => number;
  readonly #tripMs: number;
  readonly #ending = new Ending();
  readonly #own: RangeReader<Lease> = { lease: undefined, part: undefined, isOpening: false, isLeaving: false };
  readonly #others = new Set<RangeReader<Lease>>();
  /** In the order of the file; the first one is passed on as it arrives. */
  readonly #parts: RangePart[] = [];
  /** The offset of the first byte that belongs to no part. */
  #next: number;
  #aheadBytes = 0;
  #isWanted = false;
  #isOver = false;

  #isTaking = false;
  /** The connections that it begins with. */
  readonly #known: Pick<UsefulSessions, 'count' | 'isMost'>;
  /** More connections did not help, or failed. */
  #hasEnough: boolean;
  #trial: { readonly before: number; readonly added: readonly RangeReader<Lease>[]; failures: number } | undefined;
  #measuredFrom: number;
  #leastTrips = LEAST_TRIPS;
  #arrivedBytes = 0;
  #waitedMs = 0;
  #dryFrom: number | undefined;
  /** Bytes a millisecond. */
  #rate = 0;
  /** The first stream was faster than the request for the range that should end it. */
  #overtaken = 0;

  constructor(plan: RangesPlan<Lease>) {
    super({ highWaterMark: HIGH_WATER_BYTES });
    this.#plan = plan;
    this.#now = plan.now ?? (() => performance.now());
    this.#tripMs = Math.min(plan.roundTripMs, MOST_ROUND_TRIP_MS);
    this.#measuredFrom = this.#now();
    this.#known = firstSessions(plan.memory.useful, plan.more.most, this.#now());
    const { count, isMost } = this.#known;
    this.#hasEnough = isMost && count === 0;
    if (count > 0) this.#leastTrips = 1;
    else this.#measuredFrom += SETTLING_TRIPS * this.#tripMs;
    const part = new RangePart(plan.start, plan.end, 0);
    this.#parts.push(part);
    this.#next = plan.end;
    this.#assign(this.#own, part);
    this.#attach(this.#own, part, plan.first);
    destroyOnAbort(this, plan.signal);
  }

  override _read(): void {
    this.#isWanted = true;
    this.#pass();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#ending.abort(error ?? new Error('the reader of the file has ended'));
    for (const { source } of this.#parts) source?.destroy();
    for (const other of [...this.#others]) if (!other.isOpening) this.#release(other);
    this.#keep(0);
    done(error);
  }

  /** Passes on what has arrived in order, until the consumer has enough. */
  #pass(): void {
    while (!this.destroyed && !this.#isOver) {
      const [first] = this.#parts;
      if (first === undefined) return;
      const chunk = this.#isWanted ? first.chunks.shift() : undefined;
      if (chunk !== undefined) {
        first.waiting -= chunk.length;
        this.#isWanted = this.push(chunk);
        continue;
      }
      if (first.isComplete && first.chunks.length === 0) {
        this.#parts.shift();
        this.#unhold(first);
        if (this.#parts.length === 0 && this.#next === this.#plan.end) this.#end();
        else this.#employAll();
        continue;
      }
      if (this.#isWanted) this.#dryFrom ??= this.#now();
      if (first.source?.isPaused() === true && !first.isFull) first.source.resume();
      return;
    }
  }

  #end(): void {
    this.#isOver = true;
    for (const other of [...this.#others]) if (other.part === undefined) this.#release(other);
    this.push(null);
  }

  #assign(reader: RangeReader<Lease>, part: RangePart): void {
    reader.part = part;
    part.isAssigned = true;
  }

  #attach(reader: RangeReader<Lease>, part: RangePart, source: Readable): void {
    if (this.destroyed) return discard(source);
    part.source = source;
    source.on('data', (chunk: Buffer) => {
      if (part.source === source) this.#accept(reader, part, source, chunk);
    });
    source.once('end', () => {
      if (part.source === source) this.#complete(reader, part);
    });
    source.on('error', (error) => {
      if (part.source === source) this.#lost(reader, part, error);
    });
  }

  #accept(reader: RangeReader<Lease>, part: RangePart, source: Readable, chunk: Buffer): void {
    if (this.destroyed) return;
    this.#count(chunk.length, part);
    const skipped = Math.min(part.toSkip, chunk.length);
    part.toSkip -= skipped;
    const bytes = skipped === 0 && !part.isCut ? chunk : chunk.subarray(skipped, skipped + part.end - part.at);
    part.at += bytes.length;
    part.waiting += bytes.length;
    if (bytes.length > 0) part.chunks.push(bytes);
    if (part.isCut && part.at === part.end) return this.#complete(reader, part);
    this.#pass();
    if (part.isFull) source.pause();
  }

  #complete(reader: RangeReader<Lease>, part: RangePart): void {
    const { source } = part;
    part.source = undefined;
    part.isComplete = true;
    // It has ended, unless it was cut.
    source?.destroy();
    reader.part = undefined;
    this.#pass();
    this.#employAll();
  }

  #lost(reader: RangeReader<Lease>, part: RangePart, error: Error): void {
    if (reader.lease === undefined) return void this.destroy(error);
    part.source = undefined;
    part.toSkip = 0;
    part.isComplete = part.at === part.end;
    part.isAssigned = part.isComplete;
    this.#hasEnough = true;
    this.#release(reader);
    this.#pass();
    this.#employAll();
  }

  /** Gives every idle connection its next part. */
  #employAll(): void {
    if (this.destroyed || this.#isOver) return;
    for (const other of [...this.#others]) this.#employ(other);
    this.#employ(this.#own);
  }

  #employ(reader: RangeReader<Lease>): void {
    if (reader.part !== undefined || reader.isOpening) return;
    const isOther = reader.lease !== undefined;
    const isAllAssigned = this.#next === this.#plan.end;
    if (isOther && (reader.isLeaving || isAllAssigned)) return this.#release(reader);
    const part = isOther ? this.#nextRange() : this.#nextOwnPart();
    if (part !== undefined) void this.#open(reader, part);
  }

  #nextOwnPart(): RangePart | undefined {
    const failed = this.#parts.find(({ isAssigned }) => !isAssigned);
    if (failed !== undefined || this.#next === this.#plan.end) return failed;
    if (this.#others.size === 0) return this.#append(this.#plan.end, 0);
    // What is passed on at once needs no memory.
    return this.#nextRange() ?? (this.#parts.length === 0 ? this.#append(this.#rangeEnd(this.#next), 0) : undefined);
  }

  /** At most one range more than there are connections is in memory. */
  #nextRange(): RangePart | undefined {
    if (this.#parts.length > this.#others.size + 1) return undefined;
    return this.#hold() ? this.#append(this.#rangeEnd(this.#next), RANGE_BYTES) : undefined;
  }

  #rangeEnd(start: number): number {
    return Math.min(start + RANGE_BYTES, this.#plan.end);
  }

  #append(end: number, heldBytes: number): RangePart {
    const part = new RangePart(this.#next, end, heldBytes);
    this.#parts.push(part);
    this.#next = end;
    return part;
  }

  #hold(): boolean {
    const { hold, memory } = this.#plan;
    const bytes = this.#aheadBytes + RANGE_BYTES;
    if (memory.aheadBytes + RANGE_BYTES > MOST_AHEAD_BYTES || !hold.stretch(bytes)) return false;
    this.#keep(bytes);
    return true;
  }

  #unhold({ heldBytes }: RangePart): void {
    if (!this.destroyed) this.#keep(this.#aheadBytes - heldBytes);
  }

  #keep(bytes: number): void {
    const { hold, memory } = this.#plan;
    memory.aheadBytes += bytes - this.#aheadBytes;
    this.#aheadBytes = bytes;
    hold.resize(bytes);
  }

  async #open(reader: RangeReader<Lease>, part: RangePart): Promise<void> {
    this.#assign(reader, part);
    try {
      const source = await this.#request(reader, part);
      if (source !== undefined) this.#attach(reader, part, source);
    } catch (error) {
      this.#lost(reader, part, error as Error);
    }
  }

  /** Resolves with undefined if the download has ended meanwhile. */
  async #request(reader: RangeReader<Lease>, part: RangePart): Promise<Readable | undefined> {
    const range = { start: part.at, end: part.end - 1 };
    reader.isOpening = true;
    try {
      const source = await this.#plan.open(range, reader.lease?.item, this.#ending);
      if (!this.destroyed) return source;
      discard(source);
    } catch (error) {
      if (!this.destroyed) throw error;
    } finally {
      reader.isOpening = false;
    }
    this.#release(reader);
    return undefined;
  }

  #release(reader: RangeReader<Lease>): void {
    if (!this.#others.delete(reader)) return;
    // In the middle of a part the session's state is unknown.
    reader.lease?.release(reader.part === undefined ? 'keep' : 'discard');
    reader.part = undefined;
  }

  /** Lets a connection end its part. */
  #dismiss(reader: RangeReader<Lease>): void {
    reader.isLeaving = true;
    if (reader.part !== undefined || reader.isOpening) return;
    this.#release(reader);
    this.#employAll();
  }

  #count(bytes: number, part: RangePart): void {
    const now = this.#now();
    if (this.#dryFrom !== undefined && part === this.#parts[0]) {
      // Otherwise the consumer was still busy with earlier bytes.
      if (this.readableLength === 0) this.#waitedMs += now - Math.max(this.#dryFrom, this.#measuredFrom);
      this.#dryFrom = undefined;
    }
    if (now < this.#measuredFrom) {
      this.#waitedMs = 0;
      return;
    }
    this.#arrivedBytes += bytes;
    const trips = (now - this.#measuredFrom) / this.#tripMs;
    const { size } = this.#others;
    const isEnough = size === 0 || this.#arrivedBytes >= MEASURED_RANGES * RANGE_BYTES * (size + 1);
    if (trips >= (isEnough ? this.#leastTrips : MOST_TRIPS)) this.#judge(now);
  }

  #measure(from: number): void {
    this.#measuredFrom = from;
    this.#leastTrips = LEAST_TRIPS;
    this.#arrivedBytes = 0;
    this.#waitedMs = 0;
  }

  #judge(now: number): void {
    const ms = now - this.#measuredFrom;
    const isWaitedFor = this.#waitedMs >= WAITED_PART * ms;
    this.#rate = this.#arrivedBytes / ms;
    this.#measure(now);
    // At the end connections leave because no range is left.
    if (this.#isTaking || !this.#hasWork) return;
    if (!isWaitedFor) {
      for (const other of this.#others) if (other.part === undefined) this.#dismiss(other);
      return;
    }
    if (this.#isOnTrial()) return;
    const { size } = this.#others;
    const more = size === 0 ? FIRST_STEP : 2 * size + 1;
    const wanted = size < this.#known.count ? this.#known.count : Math.min(this.#plan.more.most, more);
    if (!this.#hasEnough && wanted > size) void this.#add(wanted - size);
  }

  /** Keeps or dismisses what was added last; true if that must be measured again. */
  #isOnTrial(): boolean {
    const { memory } = this.#plan;
    const trial = this.#trial;
    if (trial === undefined) return false;
    const isWhole = trial.added.every((other) => this.#others.has(other));
    if (isWhole && this.#rate < WORTHWHILE_GAIN * trial.before && ++trial.failures < TRIALS) return true;
    this.#trial = undefined;
    if (!isWhole) return false;
    this.#hasEnough = trial.failures === TRIALS;
    const count = this.#others.size - (this.#hasEnough ? trial.added.length : 0);
    memory.useful = { count, isMost: this.#hasEnough, at: this.#now() };
    if (this.#hasEnough) for (const other of trial.added) this.#dismiss(other);
    return false;
  }

  async #add(count: number): Promise<void> {
    this.#isTaking = true;
    const added: RangeReader<Lease>[] = [];
    while (added.length < count && this.#hasWork) {
      const other = await this.#take();
      if (other === undefined || !(await this.#putToWork(other))) break;
      added.push(other);
    }
    this.#isTaking = false;
    const { size } = this.#others;
    if (size === this.#known.count) this.#hasEnough ||= this.#known.isMost;
    else if (size > this.#known.count && added.length > 0) this.#trial = { before: this.#rate, added, failures: 0 };
    this.#measure(this.#now() + SETTLING_TRIPS * this.#tripMs);
  }

  async #take(): Promise<RangeReader<Lease> | undefined> {
    const lease = await this.#plan.more.take();
    if (lease === undefined) return undefined;
    const other: RangeReader<Lease> = { lease, part: undefined, isOpening: false, isLeaving: false };
    this.#others.add(other);
    lease.onRecall(() => this.#dismiss(other));
    return other;
  }

  /** Resolves with false if the connection has been released. */
  async #putToWork(other: RangeReader<Lease>): Promise<boolean> {
    if (this.destroyed || this.#isOver || other.isLeaving) this.#release(other);
    else if (this.#next < this.#plan.end) this.#employ(other);
    else if (!(await this.#divide(other))) this.#release(other);
    return this.#others.has(other);
  }

  get #hasWork(): boolean {
    if (this.destroyed || this.#isOver) return false;
    if (this.#next < this.#plan.end) return true;
    const { part } = this.#own;
    return part?.end === this.#plan.end && part.end - part.at >= WORTH_A_SESSION_BYTES;
  }

  /**
   * Ends the stream that continues to the end of the file where a range on another connection begins, once that range
   * has been answered. Resolves with false if the stream must continue.
   */
  async #divide(other: RangeReader<Lease>): Promise<boolean> {
    const stream = this.#own.part;
    const { end } = this.#plan;
    if (stream?.end !== end) return false;
    const lead = Math.max(RANGE_BYTES, SETTLING_TRIPS * this.#tripMs * this.#rate) * (1 + this.#overtaken);
    const start = Math.floor(stream.at + lead);
    if (end - start < RANGE_BYTES || !this.#hold()) return false;
    const range = new RangePart(start, start + RANGE_BYTES, RANGE_BYTES);
    this.#assign(other, range);
    let source: Readable | undefined;
    try {
      source = await this.#request(other, range);
    } catch {
      this.#hasEnough = true;
    }
    const at = Math.max(start, stream.at);
    if (source === undefined || this.destroyed || at >= range.end) {
      this.#unhold(range);
      if (source !== undefined) discard(source);
      this.#overtaken += 1;
      return false;
    }
    stream.isCut = true;
    stream.end = at;
    range.toSkip = at - start;
    range.at = at;
    this.#parts.push(range);
    this.#next = range.end;
    this.#attach(other, range, source);
    if (stream.at === at) this.#complete(this.#own, stream);
    return true;
  }
}

function discard(source: Readable): void {
  source.on('error', () => undefined).destroy();
}
