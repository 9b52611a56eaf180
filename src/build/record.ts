/** Stores the sources of each part of dist, so that it is made again only after a change. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT } from './root.js';

const FILE = 'dist/.build.json';

/** The digests of a part's source files, by path from the root. */
type Inputs = Readonly<Record<string, string>>;

/** The sources of one part. */
export interface Sources {
  /** An added or removed file also changes the part. */
  readonly folders?: readonly string[];
  readonly files?: readonly string[];
}

export class BuildRecord {
  readonly #root: string;
  readonly #parts: Record<string, Inputs>;
  readonly #digests = new Map<string, string>();

  /** `root` is the base folder of all paths. */
  constructor(root = ROOT) {
    this.#root = root;

    const file = join(root, FILE);
    this.#parts = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Inputs>) : {};
  }

  isCurrent(part: string, { folders = [] }: Sources): boolean {
    const known = this.#parts[part];
    if (known === undefined) return false;
    const files = folders.flatMap((folder) => this.#filesIn(folder));
    return (
      files.every((file) => file in known) &&
      Object.entries(known).every(([file, digest]) => this.#digest(file) === digest)
    );
  }

  set(part: string, { files = [], folders = [] }: Sources): void {
    // A library changes only with the lock file.
    const own = [...files, ...folders.flatMap((folder) => this.#filesIn(folder))].filter(
      (file) => !file.includes('node_modules/'),
    );
    const all = [...own, 'package-lock.json'];
    this.#parts[part] = Object.fromEntries(all.map((file) => [file, this.#digest(file)]));
  }

  /** The part will be made in another way from now on. */
  forget(part: string): void {
    delete this.#parts[part];
  }

  save(): void {
    writeFileSync(join(this.#root, FILE), JSON.stringify(this.#parts));
  }

  #digest(file: string): string {
    let digest = this.#digests.get(file);
    if (digest === undefined) {
      const path = join(this.#root, file);
      digest = existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('base64url') : 'gone';
      this.#digests.set(file, digest);
    }
    return digest;
  }

  #filesIn(folder: string): string[] {
    return readdirSync(join(this.#root, folder), { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(this.#root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
  }
}
