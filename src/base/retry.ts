/** Work that is tried again by a schedule. */
import { pause } from './deadline.js';
import type { EndSignal } from './ending.js';
import { retryDelay, type RetrySchedule } from './retry-schedule.js';

/**
 * Runs `work` until it resolves. Rejects with what it failed with if that is not `isPassing` or the schedule has ended, and
 * with the signal's reason if that aborts during a delay.
 */
export async function retrying<T>(
  schedule: RetrySchedule,
  work: () => Promise<T>,
  isPassing: (error: unknown, failures: number) => boolean,
  signal?: EndSignal,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      const delayMs = isPassing(error, failures) ? retryDelay(schedule, failures) : undefined;
      if (delayMs === undefined) throw error;
      await pause(delayMs, signal);
    }
  }
}

/**
 * Runs `find` until it finds something, or, with undefined, until the schedule has ended. Rejects with what it rejects
 * with, or with the signal's reason once that aborts.
 */
export function retryingUntil<T>(
  schedule: RetrySchedule & { readonly longestMs: number },
  find: () => Promise<T | undefined>,
  signal?: EndSignal,
): Promise<T>;
export function retryingUntil<T>(
  schedule: RetrySchedule,
  find: () => Promise<T | undefined>,
  signal?: EndSignal,
): Promise<T | undefined>;
export async function retryingUntil<T>(
  schedule: RetrySchedule,
  find: () => Promise<T | undefined>,
  signal?: EndSignal,
): Promise<T | undefined> {
  for (let misses = 1; ; misses++) {
    const found = await find();
    if (found !== undefined) return found;
    const delayMs = retryDelay(schedule, misses);
    if (delayMs === undefined) return undefined;
    await pause(delayMs, signal);
  }
}
