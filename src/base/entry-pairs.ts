/** Compares two lists of entries side by side: two sorted listings, or a listing with stored rows. */

interface Keyed {
  readonly key: Buffer;
}

type Batches<T> = AsyncIterable<readonly T[]>;

export type Pair<S, T> =
  | { readonly key: Buffer; readonly source: S; readonly target: T | undefined }
  | { readonly key: Buffer; readonly source: undefined; readonly target: T };

const AT_ONCE = 250;

/**
 * Both are in the order of their keys and are read batch by batch, so memory does not grow with them. Yields batches:
 * passing on single entries costs more than comparing them.
 */
export async function* pairs<S extends Keyed, T extends Keyed>(
  source: Batches<S>,
  target: Batches<T>,
): AsyncGenerator<readonly Pair<S, T>[]> {
  const others = target[Symbol.asyncIterator]();
  let batch: readonly T[] = [];
  let at = 0;
  const more = async (): Promise<boolean> => {
    while (at >= batch.length) {
      const read = await others.next();
      if (read.done === true) return false;
      [batch, at] = [read.value, 0];
    }
    return true;
  };
  let found: Pair<S, T>[] = [];
  const alone = (other: T): void => void found.push({ key: other.key, source: undefined, target: other });
  try {
    for await (const entries of source) {
      for (const entry of entries) {
        let order = 1;
        while (at < batch.length || (await more())) {
          const other = batch[at] as T;
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
  } finally {
    await others.return?.();
  }
}
