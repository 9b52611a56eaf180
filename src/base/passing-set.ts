/**
 * A small set of what comes and goes all the time, such as statements under way; removal looks for the item.
 *
 * Set and Map would keep all of it alive. Whenever V8 makes the table of one of them anew, it links the former table to
 * its successor, for iterators that still stand on it. As soon as one former table has come into the old part of
 * the heap, the chain behind it counts as used, with everything that stood in each table, until the next full collection
 * of garbage. A folder of a million entries would fill the heap with rows that nobody needs any more.
 */
export class PassingSet<T> {
  readonly #items: T[] = [];

  add(item: T): void {
    this.#items.push(item);
  }

  /** The items so far, none of which it has any more. */
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
