/** How often somebody may ask: windows that begin with the first request in them. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { RequestRates } from '../storage/storage.js';
import type { Failures, Limiter } from './rate.js';
import { createSharedLimiter } from './shared-limiter.js';

export interface Limiters {
  /** Requests with one API key, over all nodes; undefined = no limit. */
  readonly requests: Limiter | undefined;
  /** Bad keys and sessions from one address, on this node. */
  readonly failures: Failures;
}

const FAILURE_WINDOW_SECONDS = 60;

/**
 * One set for the process, whatever its threads. `requestsPerSecond`: 0 = no limit. `rates`: where other processes may
 * serve the same keys.
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

/** Counts without refusing: what is too many is said by whoever asks. */
function countFailures(seconds: number): Failures {
  const counter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: seconds });
  return {
    take: async (address) => {
      const { consumedPoints: count, msBeforeNext } = await counter.consume(address);
      return { count, msBeforeNext };
    },
    giveBack: async (address) => void (await counter.reward(address)),
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
