/** The stored entries that one look at a watched folder misses: a second look has to miss them too before they are gone. */
import { EntrySorter, type SortedEntry } from '../base/entry-sorter.js';

/** Folders kept by name; beyond, the second look lists all. */
const MOST_FOLDERS = 10_000;
const SLASH = 0x2f;

export class MissingEntries {
  readonly #sorter = new EntrySorter();
  readonly #folders = new Set<string>();
  count = 0;

  /** `sinceMs`: since when its state waits to settle; undefined = it does not. A promise: wait for it before the next one. */
  add(key: Buffer, sinceMs: number | undefined): Promise<void> | undefined {
    this.count += 1;
    for (let end = key.lastIndexOf(SLASH); end > 0; end = key.lastIndexOf(SLASH, end - 1)) {
      const folder = key.toString('latin1', 0, end);
      if (this.#folders.has(folder) || this.#folders.size > MOST_FOLDERS) break;
      this.#folders.add(folder);
    }
    return this.#sorter.add({ key, size: 0, modifiedMs: sinceMs ?? 0 });
  }

  /** Whether the folder with this path below the watched one may hold some of them, or folders that do. */
  mayBeIn(folder: string): boolean {
    return this.#folders.size > MOST_FOLDERS || this.#folders.has(Buffer.from(folder).toString('latin1'));
  }

  /** In the order of their keys; `modifiedMs` is what add() took as `sinceMs`, 0 for none. */
  batches(): AsyncIterable<readonly SortedEntry[]> {
    return this.#sorter.batches();
  }

  async close(): Promise<void> {
    await this.#sorter.close();
  }
}
