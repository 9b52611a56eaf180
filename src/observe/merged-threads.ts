/** The metrics of several threads, before they are added up. */
import { BoundedSeries } from './bounded-series.js';

interface Counted {
  readonly name: string;
  readonly values: readonly { readonly labels: Readonly<Partial<Record<string, string | number>>> }[];
}

/** Each thread keeps its own bounds; where they named different hosts or connections, all of them together are too many. */
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
