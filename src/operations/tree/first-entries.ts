import type { Turns } from '../../base/turns.js';
import { SortedListing, siftDown, type Compare } from '../sorted-listing.js';

/**
 * Keeps the first N, in order, of entries that arrive in any order: no more than N are in memory. The last of those
 * kept is at the top of a heap, and is replaced by an earlier one.
 */
export class FirstEntries<T> {
  readonly #most: number;
  readonly #compare: Compare<T>;
  readonly #heap: T[] = [];
  #hasMore = false;

  constructor(most: number, compare: Compare<T>) {
    this.#most = most;
    this.#compare = compare;
  }

  /** Whether more entries were offered than are kept: all of the others sort after those. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Unordered. */
  get kept(): Iterable<T> {
    return this.#heap;
  }

  /** Whether it is kept, as far as is known now. */
  offer(entry: T): boolean {
    const heap = this.#heap;
    if (heap.length < this.#most) {
      heap.push(entry);
      this.#siftUp();
      return true;
    }
    this.#hasMore = true;
    if (this.#compare(entry, heap[0] as T) >= 0) return false;
    heap[0] = entry;
    siftDown(heap, this.#isBehind);
    return true;
  }

  /** In order; other work runs while it is sorted. */
  async *inOrder(turns: Turns): AsyncGenerator<T, void> {
    const sorted = new SortedListing(this.#compare);
    for (const entry of this.#heap) {
      sorted.add(entry);
      if (turns.isOver()) await turns.next();
    }
    for (const entry of sorted) {
      if (turns.isOver()) await turns.next();
      yield entry;
    }
  }

  readonly #isBehind = (a: T, b: T): boolean => this.#compare(a, b) > 0;

  #siftUp(): void {
    const heap = this.#heap;
    for (let child = heap.length - 1; child > 0;) {
      const parent = (child - 1) >> 1;
      if (!this.#isBehind(heap[child] as T, heap[parent] as T)) return;
      [heap[child], heap[parent]] = [heap[parent] as T, heap[child] as T];
      child = parent;
    }
  }
}
