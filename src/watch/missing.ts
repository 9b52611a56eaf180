/** Stored entries that a scan has not found: they count as gone only if a second listing misses them too. */
import { EntrySorter, type SortedEntry } from '../base/entry-sorter.js';

/** The limit of remembered folders; beyond it, the second listing covers all. */
const MOST_FOLDERS = 10_000;
const SLASH = 0x2f;

export class MissingEntries {
  readonly #sorter = new EntrySorter();
  readonly #folders = new Set<string>();
  count = 0;

  /** `sinceMs`: as in Unlisted. If it returns a promise, await it before the next call. */
  add(key: Buffer, sinceMs: number | undefined): Promise<void> | undefined {
    this.count += 1;
    for (let end = key.lastIndexOf(SLASH); end > 0; end = key.lastIndexOf(SLASH, end - 1)) {
      const folder = key.toString('latin1', 0, end);
      if (this.#folders.has(folder) || this.#folders.size > MOST_FOLDERS) break;
      this.#folders.add(folder);
    }
    return this.#sorter.add({ key, size: 0, modifiedMs: sinceMs ?? 0 });
  }

  /** Whether this folder (its path below the watched one) may contain some of them, at any depth. */
  mayBeIn(folder: string): boolean {
    return this.#folders.size > MOST_FOLDERS || this.#folders.has(Buffer.from(folder).toString('latin1'));
  }

  /** Sorted by key; `modifiedMs` is the `sinceMs` of add(), or 0. */
  batches(): AsyncIterable<readonly SortedEntry[]> {
    return this.#sorter.batches();
  }

  async close(): Promise<void> {
    await this.#sorter.close();
  }
}
