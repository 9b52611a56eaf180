/** Many times of a connection in few numbers: a histogram. */

/** Upper ends in milliseconds; longer times fall into one more slot. */
const ENDS = [
  ...[1, 2, 5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 500, 750],
  ...[1_000, 1_500, 2_000, 3_000, 5_000, 7_500, 10_000, 20_000],
];
/** The upper end of the last slot. */
const LONGEST_MS = 30_000;

/** From 1, like arrays in the database. */
export function slotOf(ms: number | undefined): number | undefined {
  if (ms === undefined) return undefined;
  const slot = ENDS.findIndex((end) => ms <= end);
  return (slot < 0 ? ENDS.length : slot) + 1;
}

/** The ends of the slots, and the upper end of the last one. */
interface SlotEnds {
  readonly ends: readonly number[];
  readonly longestMs: number;
}

/** The quantile `part` (0 to 1), as if the times were evenly distributed within a slot; null if there are none. */
export function quantile(
  counts: readonly number[],
  part: number,
  { ends, longestMs }: SlotEnds = { ends: ENDS, longestMs: LONGEST_MS },
): number | null {
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return null;
  let rank = part * all;
  for (const [slot, count] of counts.entries()) {
    if (rank > count) {
      rank -= count;
      continue;
    }
    const from = ends[slot - 1] ?? 0;
    return from + ((ends[slot] ?? longestMs) - from) * (rank / count);
  }
  return longestMs;
}

export function added(one: readonly number[], other: readonly number[]): number[] {
  const length = Math.max(one.length, other.length);
  return Array.from({ length }, (_, slot) => (one[slot] ?? 0) + (other[slot] ?? 0));
}
