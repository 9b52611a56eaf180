/** When failed work is tried again: pure, and used in browsers as well. Times are in milliseconds. */

/** Each delay is multiplied by a random number between these, so that what failed together is not tried again together. */
type Spread = readonly [least: number, most: number];

export type RetrySchedule = { readonly spread?: Spread } & (
  | {
      /** The delay after each failure in turn. */
      readonly delaysMs: readonly number[];
      /** The last delay repeats; absent = nothing is tried again after it. */
      readonly isEndless?: boolean;
    }
  /** Each delay is twice the one before. */
  | { readonly firstMs: number; readonly longestMs: number }
);

const NONE: Spread = [1, 1];
/** A longer Retry-After is not believed. */
const LONGEST_ASKED_MS = 24 * 3_600_000;

/**
 * The delay after the failure of this number, from 1; undefined = give up. `askedMs`: what Retry-After asked for, which
 * makes a delay longer and never shorter.
 */
export function retryDelay(
  schedule: RetrySchedule,
  failures: number,
  askedMs = 0,
  random: () => number = Math.random,
): number | undefined {
  const ms = 'delaysMs' in schedule ? listed(schedule, failures) : doubled(schedule, failures);
  if (ms === undefined) return undefined;
  return Math.max(spread(ms, schedule.spread, random), Math.min(askedMs, LONGEST_ASKED_MS));
}

/** `ms` times a random number between `least` and `most`. */
export function spread(ms: number, [least, most]: Spread = NONE, random: () => number = Math.random): number {
  return ms * (least + (most - least) * random());
}

type Listed = Extract<RetrySchedule, { readonly delaysMs: unknown }>;
type Doubled = Exclude<RetrySchedule, Listed>;

function listed({ delaysMs, isEndless = false }: Listed, failures: number): number | undefined {
  return delaysMs[failures - 1] ?? (isEndless ? delaysMs.at(-1) : undefined);
}

function doubled({ firstMs, longestMs }: Doubled, failures: number): number {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs);
}

/** Retry-After in milliseconds: seconds or a date (RFC 9110, 10.2.3); undefined when it is neither. */
export function parseRetryAfter(field: string | null | undefined, now: number): number | undefined {
  const text = field?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
