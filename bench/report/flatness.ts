/** Whether a series of samples is flat. */

export interface Course {
  readonly flat: boolean;
  readonly from: number;
  readonly to: number;
}

/**
 * Compares the median of the last third with that of the middle one; the first third is the warm-up. It may be higher
 * by the ratio, or by `floor` if the numbers are small.
 */
export function isFlat(
  values: readonly number[],
  { ratio, floor }: { readonly ratio: number; readonly floor: number },
): Course {
  const third = Math.floor(values.length / 3);
  const from = median(values.slice(third, values.length - third));
  const to = median(values.slice(values.length - third));
  return { flat: to <= Math.max(from * ratio, from + floor), from, to };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
