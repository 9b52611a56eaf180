/** Stored entries that a scan has not found: they count as gone only if a second listing also misses them. */
import { EntrySorter, type SortedEntry } from '../base/entry-sorter.js';

/** The limit of remembered folders; beyond it, the second listing covers all. */
const MOST_FOLDERS = 10_000;
const SLASH = 0x2f;
/** The sorter keeps sizes and dates: here they are those of no file. */
const KNOWN = 1;
const NEVER_REPORTED = 0;

export interface MissingEntry {
  readonly key: Buffer;
  /** As in Unlisted. */
  readonly sinceMs: number | undefined;
  /** Reported, or in the baseline. */
  readonly isKnown: boolean;
}

function missingOf({ key, size, modifiedMs }: SortedEntry): MissingEntry {
  return { key, sinceMs: modifiedMs || undefined, isKnown: size === KNOWN };
}

export class MissingEntries {
  readonly #sorter = new EntrySorter();
  readonly #folders = new Set<string>();
  count = 0;

  /** If it returns a promise, await it before the next call. */
  add({ key, sinceMs, isKnown }: MissingEntry): Promise<void> | undefined {
    this.count += 1;
    for (let end = key.lastIndexOf(SLASH); end > 0; end = key.lastIndexOf(SLASH, end - 1)) {
      const folder = key.toString('latin1', 0, end);
      if (this.#folders.has(folder) || this.#folders.size > MOST_FOLDERS) break;
      this.#folders.add(folder);
    }
    return this.#sorter.add({ key, size: isKnown ? KNOWN : NEVER_REPORTED, modifiedMs: sinceMs ?? 0 });
  }

  /** Whether this folder (its path below the watched one) may contain some of them, at any depth. */
  mayBeIn(folder: string): boolean {
    return this.#folders.size > MOST_FOLDERS || this.#folders.has(Buffer.from(folder).toString('latin1'));
  }

  /** Sorted by key. */
  async *batches(): AsyncGenerator<readonly MissingEntry[]> {
    for await (const batch of this.#sorter.batches()) yield batch.map(missingOf);
  }

  async close(): Promise<void> {
    await this.#sorter.close();
  }
}
