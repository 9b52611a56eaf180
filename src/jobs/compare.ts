/** What a sync makes of the entries of one folder, source beside destination: pure. */
import type { SortedEntry } from '../base/entry-sorter.js';
import type { JobDefinition } from '../storage/storage.js';

type Batches = AsyncIterable<readonly SortedEntry[]>;

/** Size of a folder, in a sorted listing. */
export const FOLDER = -1;
/** And of a link that leads to one. */
export const FOLDER_LINK = -2;

export interface Pair {
  readonly key: Buffer;
  readonly source: SortedEntry | undefined;
  readonly target: SortedEntry | undefined;
}

/** How exact the times of either side are, and whether a copy shows that of its source. */
export interface Times {
  readonly sourceResolutionMs: number;
  readonly targetResolutionMs: number;
  readonly areKept: boolean;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

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
  { sourceResolutionMs, targetResolutionMs, areKept }: Times,
): boolean {
  if (source.size !== target.size || compare === 'digest') return false;
  if (compare === 'size') return true;
  const offMs = target.modifiedMs - source.modifiedMs;
  // Where the target's time is that of the copy, whatever is not older was copied from what the source is now.
  const resolutionMs = Math.max(resolutionOf(source, sourceResolutionMs), resolutionOf(target, targetResolutionMs));
  return Math.abs(offMs) < resolutionMs || (!areKept && offMs > 0);
}

/** Listings that tell minutes tell of old files only the day. */
function resolutionOf({ modifiedMs }: SortedEntry, usualMs: number): number {
  return usualMs >= MINUTE_MS && modifiedMs % DAY_MS === 0 ? DAY_MS : usualMs;
}
