/** Which files of a watched folder may be there although no listing shows them: nothing is concluded about them. */
import { HiddenNames, labelOf } from '../remotes/left-out.js';
import type { LeftOut } from '../remotes/remote.js';

/** Entries of one check that are shown with their reason. */
const MOST_SHOWN = 10_000;
const SLASH = 0x2f;
/** Parts of `./keep.csv` that are none of its name. */
const NO_NAMES: ReadonlySet<string> = new Set(['', '.', '..']);

export class UnsureEntries {
  readonly #listed = new Set<string>();
  readonly #hidden = new Map<string, HiddenNames>();
  /** Paths below the watched folder, as far as they are known. */
  readonly shown = new Set<string>();
  count = 0;

  /** A folder, by its path below the watched one, is about to be listed. */
  listing(folder: string): void {
    this.#listed.add(bytes(Buffer.from(folder)));
  }

  add(folder: string, what: LeftOut): void {
    const key = bytes(Buffer.from(folder));
    const hidden = this.#hidden.get(key) ?? new HiddenNames();
    hidden.add(what);
    this.#hidden.set(key, hidden);
    const label = labelOf(what);
    const path = folder === '' ? label : `${folder}/${label}`;
    // A folder that is listed again shows it again.
    if (this.shown.has(path)) return;
    this.count += 1;
    if (this.shown.size < MOST_SHOWN) this.shown.add(path);
  }

  /** The paths that have a name, below the watched folder. */
  *keys(): Generator<Buffer> {
    for (const [folder, hidden] of this.#hidden) {
      for (const name of hidden.names()) {
        if (NO_NAMES.has(name.toString('latin1'))) continue;
        yield folder === '' ? name : Buffer.concat([Buffer.from(`${folder}/`, 'latin1'), name]);
      }
    }
  }

  /** Whether the file with this path below the watched folder, which no listing shows, may be there. */
  mayHold(key: Buffer): boolean {
    if (this.#hidden.size === 0) return false;
    // A folder that was not listed may be the entry that could not be read.
    let end = key.length;
    for (let slash = key.lastIndexOf(SLASH); ; slash = slash < 1 ? -1 : key.lastIndexOf(SLASH, slash - 1)) {
      const folder = bytes(key.subarray(0, Math.max(slash, 0)));
      if (slash < 0 || this.#listed.has(folder)) {
        return this.#hidden.get(folder)?.has(key.subarray(slash + 1, end)) ?? false;
      }
      end = slash;
    }
  }
}

const bytes = (path: Buffer): string => path.toString('latin1');
