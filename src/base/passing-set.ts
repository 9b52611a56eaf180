/**
 * A set of short-lived items, such as operations and statements under way, in no order.
 * Set and Map would keep all of them alive. Whenever V8 creates a new table for one of them, it links the former table
 * to its successor, for iterators that still use it. As soon as one former table has come into the old part of the
 * heap, the chain after it counts as used, with everything in each table, until the next full garbage collection. A
 * folder of a million entries would fill the heap with rows that are not needed any more.
 */
export class PassingSet<T> {
  readonly #places: Place<T>[] = [];

  get size(): number {
    return this.#places.length;
  }

  /** Returns a function that removes it. */
  add(item: T): () => void {
    const place = { item, at: this.#places.length };
    this.#places.push(place);
    return () => this.#remove(place);
  }

  /** All items, even if some are removed meanwhile. */
  items(): T[] {
    return this.#places.map(({ item }) => item);
  }

  /** Returns all items and removes them. */
  takeAll(): T[] {
    return this.#places.splice(0).map(({ item }) => item);
  }

  /** The last one takes its place. */
  #remove(place: Place<T>): void {
    if (this.#places[place.at] !== place) return;
    const last = this.#places.pop() as Place<T>;
    if (last === place) return;
    last.at = place.at;
    this.#places[last.at] = last;
  }
}

interface Place<T> {
  readonly item: T;
  at: number;
}
