/** Maps a remote path to a path below a local folder. The names come from servers and are not trusted. */
import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Names that Windows reserves for devices, with any extension. */
const DEVICES =
  /^(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]|conin\$|conout\$)(?:[. ]|$)/i;
// eslint-disable-next-line no-control-regex
const NOT_ON_WINDOWS = /[\u0000-\u001f<>:"|?*\\]|[. ]$/;

/** The names in `below`; none of them leads elsewhere. @throws Error if a name cannot be used here */
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

/** Folders below the one that the user has named; links in it are not followed. */
export class LocalTree {
  readonly #known = new Set<string>();
  readonly #taken = new Set<string>();

  constructor(readonly root: string) {}

  /** The path of a file, after creating the folders above it. @throws Error if the file must not be there */
  async place(below: string): Promise<string> {
    const place = this.pathOf(below);
    await this.#folder(below.split('/').slice(0, -1));
    return place;
  }

  /** The path of a file, without creating anything. @throws Error */
  pathOf(below: string): string {
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

  /** On systems where "a" and "A" are the same file, the second one must not replace the first. */
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
