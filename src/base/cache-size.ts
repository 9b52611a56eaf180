/**
 * Bounds a cache (lru-cache) by its entries without allocating memory for all of them at the start, as its option `max`
 * does: 7 MiB for the caches of one event loop.
 */
export function atMost(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
