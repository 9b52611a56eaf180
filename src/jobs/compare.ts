/** What a sync makes of the entries of one folder, source beside destination: pure. */
import type { SortedEntry } from '../base/entry-sorter.js';
import type { JobDefinition } from '../storage/storage.js';

type Batches = AsyncIterable<readonly SortedEntry[]>;

/** Size of a folder, in a sorted listing. */
export const FOLDER = -1;

export interface Pair {
  readonly key: Buffer;
  readonly source: SortedEntry | undefined;
  readonly target: SortedEntry | undefined;
}

/** How exact the times are on either side, and whether a copy has that of its source. */
export interface Times {
  readonly resolutionMs: number;
  readonly areKept: boolean;
}

/** Both are in the order of their keys. */
export async function* pairs(source: Batches, target: Batches): AsyncGenerator<Pair> {
  const others = target[Symbol.asyncIterator]();
  let batch: readonly SortedEntry[] = [];
  let at = 0;
  const next = async (): Promise<SortedEntry | undefined> => {
    while (at >= batch.length) {
      const read = await others.next();
      if (read.done === true) return undefined;
      [batch, at] = [read.value, 0];
    }
    return batch[at];
  };
  for await (const entries of source) {
    for (const entry of entries) {
      let other = await next();
      while (other !== undefined && other.key.compare(entry.key) < 0) {
        yield { key: other.key, source: undefined, target: other };
        at += 1;
        other = await next();
      }
      const isBoth = other?.key.equals(entry.key) === true;
      if (isBoth) at += 1;
      yield { key: entry.key, source: entry, target: isBoth ? other : undefined };
    }
  }
  for (let other = await next(); other !== undefined; other = await next()) {
    yield { key: other.key, source: undefined, target: other };
    at += 1;
  }
}

/** Whether the target's file is the source's, as far as is asked. Digests are compared when the file's turn comes. */
export function isSame(
  source: SortedEntry,
  target: SortedEntry,
  compare: JobDefinition['compare'],
  { resolutionMs, areKept }: Times,
): boolean {
  if (source.size !== target.size || compare === 'digest') return false;
  if (compare === 'size') return true;
  const offMs = target.modifiedMs - source.modifiedMs;
  // Where the target's time is that of the copy, whatever is not older was copied from what the source is now.
  return Math.abs(offMs) < resolutionMs || (!areKept && offMs > 0);
}
