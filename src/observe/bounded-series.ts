/** Replaces every value of every label beyond the bound. */
const OTHER = 'other';

export type Labels<L extends string> = Readonly<Record<L, string>>;

/**
 * Bounds the series of one metric. Each combination of its labels' values is a series, for a histogram one per bucket,
 * and is kept for ever; hosts, connections and error codes come from outside and could create any number of them.
 */
export class BoundedSeries<L extends string> {
  readonly #max: number;
  readonly #named = new Set<string>();

  /** At most `max` combinations; the one called `other` is additional. */
  constructor(max: number) {
    this.#max = max;
  }

  /** The labels themselves while there is room, otherwise `other` for each. */
  labelsFor(labels: Labels<L>): Labels<L> {
    const key = keyOf(labels);
    if (this.#named.has(key)) return labels;
    if (this.#named.size < this.#max) {
      this.#named.add(key);
      return labels;
    }
    return Object.fromEntries(Object.keys(labels).map((name) => [name, OTHER])) as Record<L, string>;
  }

  /** Frees the room of combinations that no longer exist, for gauges that are read again each time. */
  keepOnly(present: readonly Labels<L>[]): void {
    const keys = new Set(present.map(keyOf));
    for (const key of this.#named) if (!keys.has(key)) this.#named.delete(key);
  }
}

/** For one metric, whose labels are always given in the same order. */
function keyOf(labels: Readonly<Record<string, string>>): string {
  return Object.values(labels).join('\0');
}

interface Counted {
  readonly name: string;
  readonly values: readonly { readonly labels: Readonly<Partial<Record<string, string | number>>> }[];
}

/**
 * Merges the metrics of several threads before they are added up. Each thread has its own bounds; if the threads named
 * different hosts or connections, all of them together would be too many.
 */
export function merger(
  descriptions: Readonly<Record<string, { readonly name: string; readonly series?: number }>>,
): <M extends Counted>(threads: readonly (readonly M[])[]) => M[][] {
  const bounds = new Map<string, BoundedSeries<string>>();
  for (const { name, series } of Object.values(descriptions)) {
    if (series !== undefined) bounds.set(name, new BoundedSeries(series));
  }
  return (threads) => {
    for (const [name, bounded] of bounds) {
      const metrics = threads.flatMap((thread) => thread.filter((metric) => metric.name === name));
      bounded.keepOnly(metrics.flatMap(({ values }) => values.map(({ labels }) => withoutBucket(labels))));
    }
    return threads.map((thread) =>
      thread.map((metric) => {
        const bounded = bounds.get(metric.name);
        if (bounded === undefined) return metric;
        const values = metric.values.map((value) => {
          const { le } = value.labels;
          const labels = bounded.labelsFor(withoutBucket(value.labels));
          return { ...value, labels: le === undefined ? labels : { le, ...labels } };
        });
        return { ...metric, values };
      }),
    );
  };
}

function withoutBucket({ le: _, ...labels }: Counted['values'][number]['labels']): Record<string, string> {
  return labels as Record<string, string>;
}
