/** What stands for every value of every label beyond the bound. */
export const OTHER = 'other';

export type Labels<L extends string> = Readonly<Record<L, string>>;

/**
 * Keeps the series of one metric few. Each combination of its labels' values is a series, a histogram's one for each
 * bucket, kept for ever; hosts, connections and error codes come from outside and could make any number of them.
 */
export class BoundedSeries<L extends string> {
  readonly #max: number;
  readonly #named = new Set<string>();

  /** At most `max` combinations; the one called `other` comes on top. */
  constructor(max: number) {
    this.#max = max;
  }

  /** The labels themselves while there is room, else `other` for each. */
  labelsFor(labels: Labels<L>): Labels<L> {
    const key = keyOf(labels);
    if (this.#named.has(key)) return labels;
    if (this.#named.size < this.#max) {
      this.#named.add(key);
      return labels;
    }
    return Object.fromEntries(Object.keys(labels).map((name) => [name, OTHER])) as Record<L, string>;
  }

  /** Makes the room of combinations that are gone free again, for gauges that are read anew each time. */
  keepOnly(present: readonly Labels<L>[]): void {
    const keys = new Set(present.map(keyOf));
    for (const key of this.#named) if (!keys.has(key)) this.#named.delete(key);
  }
}

/** Of one metric, whose labels are always given in the same order. */
function keyOf(labels: Readonly<Record<string, string>>): string {
  return Object.values(labels).join('\0');
}
