/**
 * Bounds a cache (lru-cache) by its entries without reserving the memory of all of them when it is made, as its option
 * `max` does: 7 MiB for the caches of one event loop.
 */
export function atMost(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
