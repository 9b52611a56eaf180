/** What stands for every value beyond the bound. */
export const OTHER = 'other';

/**
 * Keeps the values of one label few. Each value of a label is a time series of its own, kept for ever; hosts, routes
 * and error codes come from outside and could make any number of them.
 */
export class BoundedLabel {
  readonly #max: number;
  readonly #named = new Set<string>();

  constructor(max: number) {
    this.#max = max;
  }

  /** The value itself while there is room, else `other`. */
  nameFor(value: string): string {
    if (!this.#named.has(value) && this.#named.size >= this.#max) return OTHER;
    this.#named.add(value);
    return value;
  }

  /** Makes the room of values that are gone free again, for gauges that are read anew each time. */
  keepOnly(values: ReadonlySet<string>): void {
    for (const name of this.#named) if (!values.has(name)) this.#named.delete(name);
  }
}
