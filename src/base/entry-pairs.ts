/** Compares two sorted listings side by side. */
import type { SortedEntry } from './entry-sorter.js';

type Batches = AsyncIterable<readonly SortedEntry[]>;

export interface Pair {
  readonly key: Buffer;
  readonly source: SortedEntry | undefined;
  readonly target: SortedEntry | undefined;
}

const AT_ONCE = 250;

/** Both are in the order of their keys. Yields batches: passing on single entries costs more than comparing them. */
export async function* pairs(source: Batches, target: Batches): AsyncGenerator<readonly Pair[]> {
  const others = target[Symbol.asyncIterator]();
  let batch: readonly SortedEntry[] = [];
  let at = 0;
  const more = async (): Promise<boolean> => {
    while (at >= batch.length) {
      const read = await others.next();
      if (read.done === true) return false;
      [batch, at] = [read.value, 0];
    }
    return true;
  };
  let found: Pair[] = [];
  const alone = (other: SortedEntry): void => void found.push({ key: other.key, source: undefined, target: other });
  for await (const entries of source) {
    for (const entry of entries) {
      let order = 1;
      while (at < batch.length || (await more())) {
        const other = batch[at] as SortedEntry;
        order = other.key.compare(entry.key);
        if (order >= 0) break;
        alone(other);
        at += 1;
        if (found.length < AT_ONCE) continue;
        yield found;
        found = [];
      }
      found.push({ key: entry.key, source: entry, target: order === 0 ? batch[at++] : undefined });
    }
    yield found;
    found = [];
  }
  for (; at < batch.length || (await more()); at = batch.length) {
    for (const other of batch.slice(at)) alone(other);
    yield found;
    found = [];
  }
}
