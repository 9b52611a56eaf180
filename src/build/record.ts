/** What each part of dist was made of, so that it is made again only when that has changed. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.js';

const FILE = join(ROOT, 'dist/.build.json');

/** Of each part the digests of its files, by their paths from the root. */
type Inputs = Readonly<Record<string, string>>;

/** What one part is made of. */
export interface Sources {
  /** A file that comes or goes changes the part as well. */
  readonly folders?: readonly string[];
  readonly files?: readonly string[];
}

export class BuildRecord {
  private readonly parts: Record<string, Inputs>;
  private readonly digests = new Map<string, string>();

  constructor() {
    this.parts = existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Inputs>) : {};
  }

  isCurrent(part: string, { folders = [] }: Sources): boolean {
    const known = this.parts[part];
    if (known === undefined) return false;
    const files = folders.flatMap(filesIn);
    return (
      files.every((file) => file in known) &&
      Object.entries(known).every(([file, digest]) => this.digest(file) === digest)
    );
  }

  set(part: string, { files = [], folders = [] }: Sources): void {
    // Libraries are those of the lock file.
    const own = [...files, ...folders.flatMap(filesIn)].filter((file) => !file.includes('node_modules/'));
    const all = [...own, 'package-lock.json'];
    this.parts[part] = Object.fromEntries(all.map((file) => [file, this.digest(file)]));
  }

  save(): void {
    writeFileSync(FILE, JSON.stringify(this.parts));
  }

  private digest(file: string): string {
    let digest = this.digests.get(file);
    if (digest === undefined) {
      const path = join(ROOT, file);
      digest = existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('base64url') : 'gone';
      this.digests.set(file, digest);
    }
    return digest;
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length).replaceAll('\\', '/'));
}
