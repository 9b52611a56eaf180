/** Where a remote path lies below a local folder. Names come from servers that nobody vouches for. */
import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Names that Windows gives to devices, whatever follows the first dot. */
const DEVICES =
  /^(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]|conin\$|conout\$)(?:[. ]|$)/i;
// eslint-disable-next-line no-control-regex
const NOT_ON_WINDOWS = /[\u0000-\u001f<>:"|?*\\]|[. ]$/;

/** The names of `below`, none of which leads elsewhere. @throws Error that says which cannot be used here */
export function safeNames(below: string, platform: NodeJS.Platform = process.platform): string[] {
  const names = below.split('/');
  for (const name of names) {
    const isOdd = name === '' || name === '.' || name === '..' || name.includes('\0');
    const isOddHere = platform === 'win32' && (NOT_ON_WINDOWS.test(name) || DEVICES.test(name));
    if (isOdd || isOddHere) throw new Error('its name cannot be used here');
  }
  return names;
}

const MOST_KNOWN = 10_000;

/** Folders below one that the user has named; no link among them is followed. */
export class LocalTree {
  readonly #known = new Set<string>();
  readonly #taken = new Set<string>();

  constructor(readonly root: string) {}

  /** Where a file is to stand; the folders above it are there then. @throws Error when it may not stand there */
  async place(below: string): Promise<string> {
    const place = this.look(below);
    await this.#folder(below.split('/').slice(0, -1));
    return place;
  }

  /** Where it would stand; nothing is made. @throws Error */
  look(below: string): string {
    const names = safeNames(below);
    this.#claim(below);
    return join(this.root, ...names);
  }

  async makeRoot(): Promise<void> {
    await this.#folder([]);
  }

  async makeFolder(below: string): Promise<void> {
    await this.#folder(safeNames(below));
  }

  async #folder(names: readonly string[]): Promise<void> {
    for (let depth = 0; depth <= names.length; depth++) {
      const folder = join(this.root, ...names.slice(0, depth));
      if (this.#known.has(folder)) continue;
      if (depth === 0) await mkdir(folder, { recursive: true });
      else await makeOne(folder);
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      this.#known.add(folder);
    }
  }

  /** Where "a" and "A" are one file, the second of them must not replace the first. */
  #claim(below: string): void {
    if (process.platform !== 'win32' && process.platform !== 'darwin') return;
    const key = below.normalize('NFC').toLowerCase();
    if (this.#taken.has(key)) throw new Error('another file has this name here');
    this.#taken.add(key);
  }
}

async function makeOne(folder: string): Promise<void> {
  await mkdir(folder).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    if (!(await lstat(folder)).isDirectory()) throw new Error(`${folder} is no folder: nothing is written through it`);
  });
}
