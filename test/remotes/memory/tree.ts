/** The tree of files that the made-up protocol serves. */
import { GatewayError } from '../../../src/base/errors.js';
import { parentOf, ROOT, type RemotePath } from '../../../src/remotes/path.js';

export interface StoredFile {
  content: Buffer;
  modifiedAt: Date;
}

export class MemoryTree {
  readonly files = new Map<string, StoredFile>();
  readonly folders = new Map<string, Date>([['/', new Date()]]);

  kindOf(path: string): 'file' | 'folder' | undefined {
    if (this.folders.has(path)) return 'folder';
    return this.files.has(path) ? 'file' : undefined;
  }

  /** Makes the folder with its parents. */
  makeFolder(path: RemotePath): boolean {
    const kind = this.kindOf(path);
    if (kind === 'file') throw new GatewayError('not_a_folder', `a file is at ${path}`, { step: 'open' });
    if (kind === 'folder') return false;
    if (path !== ROOT) this.makeFolder(parentOf(path));
    this.folders.set(path, new Date());
    return true;
  }

  write(path: RemotePath, content: Buffer, modifiedAt = new Date()): StoredFile {
    this.makeFolder(parentOf(path));
    const file = { content, modifiedAt };
    this.files.set(path, file);
    return file;
  }

  /** Everything at `from` and below it. */
  rename(from: string, to: string): void {
    for (const entries of [this.files, this.folders] as Map<string, unknown>[]) {
      for (const [path, entry] of [...entries]) {
        if (path !== from && !path.startsWith(`${from}/`)) continue;
        entries.delete(path);
        entries.set(to + path.slice(from.length), entry);
      }
    }
  }

  /** The names of one level. */
  childrenOf(folder: string): string[] {
    const prefix = folder === '/' ? '/' : `${folder}/`;
    return [...this.folders.keys(), ...this.files.keys()].filter(
      (path) => path !== '/' && path.startsWith(prefix) && !path.slice(prefix.length).includes('/'),
    );
  }
}
