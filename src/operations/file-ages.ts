/**
 * Whether a file's size and time stand for its content. A time counts whole seconds, so two versions of one second look
 * alike; only once the server's clock has left that second must every later change show. That clock is not ours: nothing
 * is believed of it but what this process has seen.
 */
import { LRUCache } from 'lru-cache';
import { atMost } from '../base/cache-size.js';
import type { FileInfo } from '../remotes/remote.js';

const SECOND_MS = 1_000;
/** No server whose clock nobody has seen yet is taken to be later than this. */
const PLAUSIBLE_LAG_MS = 86_400_000;
/** A clock that shows so much less than before was set back. */
const SET_BACK_MS = 5_000;
const MAX_REMEMBERED = 10_000;

export class FileAges {
  /** By host: what its clock is ahead of ours, at least. */
  private readonly leads = new LRUCache<string, number>(atMost(MAX_REMEMBERED));
  /** When a place was first seen with this size and time. */
  private readonly sightings = new LRUCache<string, number>(atMost(MAX_REMEMBERED));

  /** `now` never jumps, as wall clocks do; `wallClock` is compared with times of servers. */
  constructor(
    private readonly now = (): number => performance.now(),
    private readonly wallClock = (): number => Date.now(),
  ) {}

  /** This process has just written the file, and its time is the server's own: it shows the server's clock. */
  written(host: string, { modifiedAt }: FileInfo): void {
    if (modifiedAt.getTime() === 0) return;
    const seen = modifiedAt.getTime() - this.now();
    const known = this.leads.get(host);
    if (known === undefined || seen > known || seen < known - SET_BACK_MS) this.leads.set(host, seen);
  }

  /** Any change from now on shows in the file's size or time. `place` names the file among all of the host. */
  isSettled(host: string, place: string, { size, modifiedAt, timeResolutionMs = SECOND_MS }: FileInfo): boolean {
    const time = modifiedAt.getTime();
    // No time is kept.
    if (time === 0) return false;
    const lead = this.leads.get(host);
    const clock = lead === undefined ? this.wallClock() - PLAUSIBLE_LAG_MS : this.now() + lead;
    if (time + 2 * timeResolutionMs <= clock) return true;
    // Its clock showed this time or a later one when the file was first seen, and has gone on since.
    const version = `${place} ${size} ${time}`;
    const since = this.sightings.get(version) ?? this.now();
    this.sightings.set(version, since);
    return this.now() - since >= 2 * timeResolutionMs;
  }
}
