/** Files of a watched folder that may exist although no listing shows them. A check does not decide about them. */
import { HiddenNames, labelOf } from '../remotes/left-out.js';
import type { LeftOut } from '../remotes/remote.js';

/** The limit of entries whose paths are stored with the reasons of a check. */
const MOST_SHOWN = 10_000;
const SLASH = 0x2f;
/** Parts of a path, as in `./keep.csv`, that are not names. */
const NO_NAMES: ReadonlySet<string> = new Set(['', '.', '..']);

export class UnsureEntries {
  readonly #listed = new Set<string>();
  readonly #hidden = new Map<string, HiddenNames>();
  /** Paths below the watched folder, or labels of nameless entries, up to MOST_SHOWN. */
  readonly shown = new Set<string>();
  count = 0;

  /** Called before a folder (its path below the watched one) is listed. */
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
    // A second listing of the folder shows the entry again.
    if (this.shown.has(path)) return;
    this.count += 1;
    if (this.shown.size < MOST_SHOWN) this.shown.add(path);
  }

  /** The paths below the watched folder of the entries whose names are known. */
  *keys(): Generator<Buffer> {
    for (const [folder, hidden] of this.#hidden) {
      for (const name of hidden.names()) {
        if (NO_NAMES.has(name.toString('latin1'))) continue;
        yield folder === '' ? name : Buffer.concat([Buffer.from(`${folder}/`, 'latin1'), name]);
      }
    }
  }

  /** Whether a file that no listing shows may exist; `key` is its path below the watched folder. */
  mayHold(key: Buffer): boolean {
    if (this.#hidden.size === 0) return false;
    // If its folder was not listed, the folder itself may be the unreadable entry.
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
