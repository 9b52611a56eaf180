/**
 * A small set of short-lived items, such as statements under way; removal searches for the item.
 * Set and Map would keep all of them alive. Whenever V8 creates a new table for one of them, it links the former table
 * to its successor, for iterators that still use it. As soon as one former table has come into the old part of the
 * heap, the chain after it counts as used, with everything in each table, until the next full garbage collection. A
 * folder of a million entries would fill the heap with rows that are not needed any more.
 */
export class PassingSet<T> {
  readonly #items: T[] = [];

  add(item: T): void {
    this.#items.push(item);
  }

  /** Returns all items and removes them. */
  takeAll(): T[] {
    return this.#items.splice(0);
  }

  delete(item: T): void {
    const at = this.#items.indexOf(item);
    if (at === -1) return;
    const last = this.#items.pop() as T;
    if (at < this.#items.length) this.#items[at] = last;
  }
}
