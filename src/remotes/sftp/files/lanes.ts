/**
 * The channels that carry one file: its own and, on a long line, more of them. One channel moves its window per round
 * trip, and all channels of a session together what its TCP connection has room for: so a file gets further channels of
 * its session, and then further sessions, one at a time, for as long as each makes it faster.
 */
import { GatewayError } from '../../../base/errors.js';
import type { MoreSessions, SpareLease } from '../../more-sessions.js';
import { firstSessions, isWorthMore, type UsefulSessions, WORTHWHILE_GAIN } from '../../useful-sessions.js';
import type { SftpMemory } from '../memory.js';
import type { SftpChannel } from '../session/channel.js';
import type { SftpLease, SftpSession } from '../session/session.js';

/** Round trips until a new connection has its full speed, and those over which the rate is measured then. */
const SETTLING_ROUND_TRIPS = 4;
const MEASURED_ROUND_TRIPS = 6;

/** A channel, and the handle of the file that was opened on it. */
export interface OpenHandle {
  readonly channel: SftpChannel;
  readonly handle: Buffer;
}

export interface Lane extends OpenHandle {
  readonly session: Pick<SftpSession, 'queuedBytes'>;
  inFlightBytes: number;
}

interface ExtraLane extends Lane {
  /** Closes the handle and returns the channel; `isCut`: closes the channel, which may be in the middle of a request. */
  readonly giveBack: (isCut: boolean) => Promise<void>;
}

export interface LanesPlan {
  /** `more`: for sessions besides the file's own. */
  readonly more: MoreSessions<SftpLease>;
  readonly lease: SftpLease;
  readonly direction: 'up' | 'down';
  readonly memory: SftpMemory;
  /** Further channels of the file's own session. */
  readonly channels: number;
  /** Opens the same file again; undefined if it is not certainly the same. */
  open(channel: SftpChannel): Promise<Buffer | undefined>;
}

export class Lanes {
  readonly own: Lane;
  readonly #plan: LanesPlan | undefined;
  readonly #lanes: Lane[];
  readonly #extras = new Set<ExtraLane>();
  /** Those of further sessions, the oldest first. */
  readonly #sessions: ExtraLane[] = [];
  #hasBegun = false;
  #isOpening = false;
  #hasGrown = false;
  #isReleased = false;
  #movedBytes = 0;
  /** The rate with one session less, in bytes per millisecond. */
  #formerRate: number | undefined;
  #measured = { at: 0, bytes: 0 };
  #isMeasuring = false;

  /** `plan`: absent if the file keeps to its own channel. */
  constructor(own: OpenHandle, session: Lane['session'], plan: LanesPlan | undefined) {
    this.own = { channel: own.channel, handle: own.handle, session, inFlightBytes: 0 };
    this.#plan = plan;
    this.#lanes = [this.own];
  }

  /** Those that take requests. */
  get all(): readonly Lane[] {
    return this.#lanes;
  }

  /** Several channels carry the file: an answer on one of them says nothing about the others. */
  get areSeveral(): boolean {
    return this.#hasBegun;
  }

  /** Sessions besides the file's own. */
  get sessions(): number {
    return this.#sessions.length;
  }

  /** Call for each answer of a lane, with the bytes that it has moved: a lane that leaves is returned with its last one. */
  moved(lane: Lane, bytes: number): void {
    this.#movedBytes += bytes;
    const extra = lane as ExtraLane;
    if (lane.inFlightBytes === 0 && this.#extras.has(extra) && !this.#lanes.includes(lane)) void this.#giveBack(extra);
  }

  /** No further requests go to it; it is returned once it has answered those under way. True if it is not the own one. */
  leave(lane: Lane): boolean {
    const extra = lane as ExtraLane;
    if (!this.#extras.has(extra)) return false;
    remove(this.#lanes, lane);
    remove(this.#sessions, extra);
    if (lane.inFlightBytes === 0 || !lane.channel.alive) void this.#giveBack(extra);
    return true;
  }

  /**
   * Call while the lanes are the bottleneck, and `leftBytes` are still to come. `added` is called for each lane that is
   * ready.
   */
  consider(leftBytes: number, added: () => void): void {
    const plan = this.#plan;
    const roundTripMs = this.own.channel.shortestReplyMs;
    if (plan === undefined || this.#isReleased || this.#isOpening || plan.memory.oneRequestAtATime) return;
    if (!isWorthMore(leftBytes, roundTripMs)) return;
    if (!this.#hasBegun) this.#begin(plan, added);
    else if (!this.#hasGrown) this.#grow(plan, roundTripMs, added);
  }

  /** Returns all but the own lane, now or once they are open. `isCut`: requests may be under way. */
  async release(isCut: boolean): Promise<void> {
    this.#isReleased = true;
    this.#lanes.length = 0;
    this.#lanes.push(this.own);
    this.#sessions.length = 0;
    await Promise.all([...this.#extras].map((lane) => this.#giveBack(lane, isCut)));
  }

  /** The channels of the session cost little; of further sessions, those that were useful last time. */
  #begin(plan: LanesPlan, added: () => void): void {
    const known = plan.memory.usefulSessions[plan.direction];
    const { count: first, isMost } = firstSessions(known, plan.more.most, performance.now());
    this.#hasGrown = isMost;
    this.#open(added, [
      ...Array.from({ length: plan.channels }, () => this.#borrow(plan)),
      ...Array.from({ length: first }, () => this.#addSession(plan)),
    ]);
  }

  #grow(plan: LanesPlan, roundTripMs: number, added: () => void): void {
    const now = performance.now();
    const passedMs = now - this.#measured.at;
    if (!this.#isMeasuring) {
      if (passedMs >= SETTLING_ROUND_TRIPS * roundTripMs) this.#measure(true);
      return;
    }
    if (passedMs < MEASURED_ROUND_TRIPS * roundTripMs) return;
    const rate = (this.#movedBytes - this.#measured.bytes) / passedMs;
    const isUseful = this.#formerRate === undefined || rate >= this.#formerRate * WORTHWHILE_GAIN;
    const newest = this.#sessions.at(-1);
    if (!isUseful && newest !== undefined) this.leave(newest);
    const useful: UsefulSessions = { count: this.sessions, isMost: !isUseful, at: now };
    plan.memory.usefulSessions[plan.direction] = useful;
    this.#formerRate = rate;
    this.#hasGrown = !isUseful || this.sessions === plan.more.most;
    if (!this.#hasGrown) this.#open(added, [this.#addSession(plan)]);
  }

  #measure(isMeasuring: boolean): void {
    this.#isMeasuring = isMeasuring;
    this.#measured = { at: performance.now(), bytes: this.#movedBytes };
  }

  #open(added: () => void, openings: readonly Promise<boolean>[]): void {
    this.#hasBegun = true;
    this.#isOpening = true;
    const ready = openings.map((opening) =>
      opening.then((isThere) => {
        if (isThere) added();
      }),
    );
    void Promise.all(ready).then(() => {
      this.#isOpening = false;
      this.#measure(false);
    });
  }

  async #addSession(plan: LanesPlan): Promise<boolean> {
    const spare = await plan.more.take();
    const lane = spare && (await openOnSpare(plan, spare));
    if (lane === undefined) {
      this.#hasGrown = true;
      return false;
    }
    if (!this.#add(lane)) return false;
    this.#sessions.push(lane);
    spare?.onRecall(() => {
      this.#hasGrown = true;
      this.leave(lane);
    });
    return true;
  }

  async #borrow(plan: LanesPlan): Promise<boolean> {
    const lane = await openOnOwn(plan);
    return lane !== undefined && this.#add(lane);
  }

  /** False if it comes too late. */
  #add(lane: ExtraLane): boolean {
    this.#extras.add(lane);
    if (this.#isReleased) void this.#giveBack(lane);
    else this.#lanes.push(lane);
    return !this.#isReleased;
  }

  async #giveBack(lane: ExtraLane, isCut = false): Promise<void> {
    if (this.#extras.delete(lane)) await lane.giveBack(isCut || lane.inFlightBytes > 0);
  }
}

function remove<T>(list: T[], item: T): void {
  const index = list.indexOf(item);
  if (index >= 0) list.splice(index, 1);
}

/** Opens the file on another channel of its session; undefined if none is free. Never rejects. */
async function openOnOwn(plan: LanesPlan): Promise<ExtraLane | undefined> {
  const { session } = plan.lease;
  const channel = await session.borrowChannel();
  if (channel === undefined) return undefined;
  const handle = await plan.open(channel).catch(() => undefined);
  if (handle === undefined) {
    session.giveBack(channel);
    return undefined;
  }
  const giveBack = async (isCut: boolean): Promise<void> => {
    if (isCut) channel.end(new GatewayError('client_gone', 'the transfer was cut'));
    else await channel.close(handle).catch(() => undefined);
    session.giveBack(channel);
  };
  return { session, channel, handle, inFlightBytes: 0, giveBack };
}

/** Opens the file on another session; returns the lease if that fails. Never rejects. */
async function openOnSpare(plan: LanesPlan, spare: SpareLease<SftpLease>): Promise<ExtraLane | undefined> {
  const { item: lease } = spare;
  const { session } = lease;
  try {
    // Connections of one login share sessions, but each trusts its own host keys.
    if (session.fingerprint === plan.lease.session.fingerprint) {
      const channel = await lease.channel();
      const handle = await plan.open(channel);
      if (handle !== undefined) {
        const giveBack = async (isCut: boolean): Promise<void> => {
          if (!isCut) await channel.close(handle).catch(() => undefined);
          spare.release(isCut ? 'discard' : 'keep');
        };
        return { session, channel, handle, inFlightBytes: 0, giveBack };
      }
    }
    spare.release('keep');
  } catch {
    spare.release(session.alive ? 'keep' : 'discard');
  }
  return undefined;
}
