/** Limits for the rate of requests, in windows that begin with the first request in them. */
import { LRUCache } from 'lru-cache';
import { atMost } from '../base/cache-size.js';
import { GatewayError } from '../base/errors.js';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { within } from '../base/deadline.js';
import type { RequestRates } from '../storage/storage.js';

export interface Taken {
  readonly isOver: boolean;
  /** The points left in the window. */
  readonly remaining: number;
  readonly msBeforeNext: number;
}

/** @throws GatewayError rate_limited */
export function refuseOver({ isOver, msBeforeNext: retryAfterMs }: Taken, text: string): void {
  if (isOver) throw new GatewayError('rate_limited', text, { step: 'request', retryAfterMs });
}

/** Takes one point of `key`, an API key's id or an address. */
export type Limiter = (key: string) => Promise<Taken>;

/**
 * Counts the bad secrets of this minute: of one kind from one address, and of those the ones with the same beginning.
 */
export interface Failures {
  /** Counts one; `count` includes it. */
  take(group: string): Promise<{ readonly count: number; readonly msBeforeNext: number }>;
  /** It was not a bad secret. */
  giveBack(group: string): Promise<void>;
}

export interface Limiters {
  /** Requests with one API key, over all nodes; undefined = no limit. */
  readonly requests: Limiter | undefined;
  /** Failed logins, counted on this node only. */
  readonly failures: Failures;
}

const FAILURE_WINDOW_SECONDS = 60;

/**
 * One set for the process and all its threads. `requestsPerSecond`: 0 = no limit. `rates`: present if other processes
 * may serve the same keys.
 */
export function createLimiters(requestsPerSecond: number, rates?: RequestRates): Limiters {
  return {
    requests: requestsPerSecond > 0 ? createRequestLimiter(requestsPerSecond, rates) : undefined,
    failures: countFailures(FAILURE_WINDOW_SECONDS),
  };
}

function createRequestLimiter(limit: number, rates: RequestRates | undefined): Limiter {
  return rates === undefined ? createLimiter(limit, 1) : createSharedLimiter(limit, rates);
}

/** Counts without refusing: the caller decides how many are too many. */
function countFailures(seconds: number): Failures {
  const counter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: seconds });
  return {
    take: async (group) => {
      const { consumedPoints: count, msBeforeNext } = await counter.consume(group);
      return { count, msBeforeNext };
    },
    giveBack: async (group) => void (await counter.reward(group)),
  };
}

function createLimiter(points: number, seconds: number): Limiter {
  const limiter = new RateLimiterMemory({ points, duration: seconds });
  return async (key) => {
    const result = await limiter.consume(key).catch((refused: unknown) => {
      if (refused instanceof RateLimiterRes) return refused;
      throw refused;
    });
    const { remainingPoints: remaining, msBeforeNext, consumedPoints } = result;
    return { isOver: consumedPoints > points, remaining, msBeforeNext };
  };
}

const MAX_KEYS = 10_000;
const WINDOW_MS = 1_000;
/** Requests must not wait for a database that does not answer. */
const PATIENCE_MS = 1_000;

/** `limit` points for each key per second, over all nodes. */
function createSharedLimiter(limit: number, rates: RequestRates): Limiter {
  const windows = new LRUCache<string, Window>(atMost(MAX_KEYS));
  return (key) => {
    let window = windows.get(key);
    if (window === undefined) {
      window = new Window(key, limit, rates);
      windows.set(key, window);
    }
    return window.take();
  };
}

/**
 * A limit that all nodes keep together. A node takes points from a key's window in portions, so that a busy key costs a
 * few statements per second at any rate of requests. Points left at the window's end are lost, and a node that finds
 * the window empty refuses by itself until then. The sum never exceeds the limit while the database answers; without it
 * each node uses its even part.
 */
class Window {
  readonly #key: string;
  readonly #limit: number;
  readonly #rates: RequestRates;
  /** Points granted to this node and not yet used. */
  #granted = 0;
  /** Points left for all nodes at this node's last request. */
  #left = 0;
  #endsAt = -Infinity;
  #waiting = 0;
  #asking: Promise<void> | undefined;

  constructor(key: string, limit: number, rates: RequestRates) {
    this.#key = key;
    this.#limit = limit;
    this.#rates = rates;
  }

  async take(): Promise<Taken> {
    this.#waiting++;
    try {
      for (;;) {
        const msBeforeNext = this.#endsAt - performance.now();
        if (msBeforeNext > 0 && this.#granted > 0) {
          this.#granted--;
          return { isOver: false, remaining: this.#left + this.#granted, msBeforeNext };
        }
        if (msBeforeNext > 0 && this.#left === 0) return { isOver: true, remaining: 0, msBeforeNext };
        await (this.#asking ??= this.#ask().finally(() => (this.#asking = undefined)));
      }
    } finally {
      this.#waiting--;
    }
  }

  async #ask(): Promise<void> {
    // The answer's age is unknown: counted from here, the window ends too early rather than too late.
    const askedAt = performance.now();
    const answer = this.#rates.take(this.#key, this.#waiting, this.#limit).catch(() => undefined);
    // An answer after that time is lost, with its portion.
    const portion = await within(answer, PATIENCE_MS, () => undefined, { isPatient: false });
    if (portion === undefined) {
      this.#granted = Math.max(1, Math.floor(this.#limit / this.#rates.processes));
      this.#left = 0;
      this.#endsAt = performance.now() + WINDOW_MS;
    } else {
      this.#granted = portion.granted;
      this.#left = portion.left;
      this.#endsAt = askedAt + portion.endsInMs;
    }
  }
}
