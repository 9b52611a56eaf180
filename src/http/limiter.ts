/** How often somebody may ask: windows that begin with the first request in them. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { RequestRates } from '../storage/storage.js';
import type { Limiter } from './rate.js';
import { createSharedLimiter } from './shared-limiter.js';

export interface Limiters {
  /** Requests with one API key, over all nodes; undefined = no limit. */
  readonly requests: Limiter | undefined;
  /** Bad keys from one address, on this node. */
  readonly failures: Limiter;
}

/** Bad keys from one address in a minute, before it has to wait. */
const MAX_FAILURES = 60;
const FAILURE_WINDOW_SECONDS = 60;

/**
 * One set for the process, whatever its threads. `requestsPerSecond`: 0 = no limit. `rates`: where other processes may
 * serve the same keys.
 */
export function createLimiters(requestsPerSecond: number, rates?: RequestRates): Limiters {
  return {
    requests: requestsPerSecond > 0 ? createRequestLimiter(requestsPerSecond, rates) : undefined,
    failures: createLimiter(MAX_FAILURES, FAILURE_WINDOW_SECONDS),
  };
}

function createRequestLimiter(limit: number, rates: RequestRates | undefined): Limiter {
  return rates === undefined ? createLimiter(limit, 1) : createSharedLimiter(limit, rates);
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
