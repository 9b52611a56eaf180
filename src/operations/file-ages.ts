/**
 * Decides whether a file's size and time identify its content. A time counts whole seconds, so two versions within one
 * second look equal; only after the server's clock has left that second, every later change must show. That clock is
 * not ours: only what this process has seen is trusted.
 */
import { LRUCache } from 'lru-cache';
import { atMost } from '../base/cache-size.js';
import type { FileInfo } from '../remotes/remote.js';
import { DAY_MS, SECOND_MS } from '../contract/units.js';

/** A server's clock that was not seen yet is assumed to lag by at most this. */
const PLAUSIBLE_LAG_MS = DAY_MS;
/** A clock that falls back by this much was set back. */
const SET_BACK_MS = 5_000;
const MAX_REMEMBERED = 10_000;

export class FileAges {
  readonly #now: () => number;
  readonly #wallClock: () => number;
  /** By server: how far its clock is ahead of ours, at least. */
  readonly #leads = new LRUCache<string, number>(atMost(MAX_REMEMBERED));
  /** When a place was first seen with this size and time. */
  readonly #sightings = new LRUCache<string, number>(atMost(MAX_REMEMBERED));

  /** `now` never jumps, unlike wall clocks; `wallClock` is compared with times of servers. */
  constructor(now = (): number => performance.now(), wallClock = (): number => Date.now()) {
    this.#now = now;
    this.#wallClock = wallClock;
  }

  /** This process has just written the file, and its time was set by the server: it shows the server's clock. */
  written(server: string, { modifiedAt }: FileInfo): void {
    if (modifiedAt.getTime() === 0) return;
    const seen = modifiedAt.getTime() - this.#now();
    const known = this.#leads.get(server);
    if (known === undefined || seen > known || seen < known - SET_BACK_MS) this.#leads.set(server, seen);
  }

  /** Whether any later change will show in the file's size or time. `place` identifies the file. */
  isSettled(server: string, place: string, { size, modifiedAt, timeResolutionMs = SECOND_MS }: FileInfo): boolean {
    const time = modifiedAt.getTime();
    // The server keeps no time.
    if (time === 0) return false;
    const lead = this.#leads.get(server);
    const clock = lead === undefined ? this.#wallClock() - PLAUSIBLE_LAG_MS : this.#now() + lead;
    if (time + 2 * timeResolutionMs <= clock) return true;
    // Its clock showed this time or a later one when the file was first seen, and has advanced since.
    const version = `${place} ${size} ${time}`;
    const since = this.#sightings.get(version) ?? this.#now();
    this.#sightings.set(version, since);
    return this.#now() - since >= 2 * timeResolutionMs;
  }
}
