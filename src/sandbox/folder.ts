/**
 * The files of one folder of this machine, which clients see as "/": nothing outside it can be reached, by any path or
 * link.
 */
import { constants, type Dir, type Stats } from 'node:fs';
import {
  chmod,
  link,
  lstat,
  mkdir,
  open,
  opendir,
  realpath,
  rename,
  rmdir,
  stat,
  truncate,
  unlink,
  utimes,
  type FileHandle,
} from 'node:fs/promises';
import path from 'node:path';
import type { Attributes, FileEntry } from 'ssh2';
import { systemCodeOf } from '../base/errors.js';
import { type Files, OPEN_MODE, type SandboxFile, type SandboxFolder, Refusal, STATUS_CODE } from './files.js';

const NAMES_PER_REPLY = 100;
/** Resolving a path checks each level from the top: the time grows with the square of their number. */
const MAX_LEVELS = 64;
/** Other users of the machine get no access, even if a client asks for it. */
const OWNERS_FILE = 0o600;
const OWNERS_FOLDER = 0o700;

const outside = (): Refusal => new Refusal(STATUS_CODE.PERMISSION_DENIED, 'Outside the sandbox');

export class Folder implements Files {
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  static async at(folder: string): Promise<Folder> {
    return new Folder(await realpath(folder));
  }

  async open(name: string, flags: number, mode: number | undefined): Promise<SandboxFile> {
    return new DiskFile(await this.#open(name, flags, mode));
  }

  async openFolder(name: string): Promise<SandboxFolder> {
    const realPath = await this.#target(name);
    return new DiskFolder(await opendir(realPath), realPath);
  }

  async stat(name: string): Promise<Attributes> {
    return attributesOf(await stat(await this.#target(name)));
  }

  async lstat(name: string): Promise<Attributes> {
    return attributesOf(await lstat(await this.#entry(name)));
  }

  async change(name: string, wanted: Partial<Attributes>): Promise<void> {
    await setAttributes(await this.#target(name), wanted);
  }

  async realPath(name: string): Promise<string> {
    const clean = path.posix.resolve('/', name);
    try {
      const real = await this.#target(clean);
      return `/${path.relative(this.#root, real).split(path.sep).join('/')}`;
    } catch (error) {
      if (systemCodeOf(error) !== 'ENOENT') throw error;
      return clean;
    }
  }

  async remove(name: string): Promise<void> {
    await unlink(await this.#entry(name));
  }

  async makeFolder(name: string): Promise<void> {
    await mkdir(await this.#entry(name), { mode: OWNERS_FOLDER });
  }

  async removeFolder(name: string): Promise<void> {
    await rmdir(await this.#entry(name));
  }

  /** By link and unlink, which never replaces. */
  async rename(from: string, to: string): Promise<void> {
    const [source, target] = await Promise.all([this.#entry(from), this.#entry(to)]);
    if ((await lstat(source)).isFile()) {
      await link(source, target);
      await unlink(source);
      return;
    }
    const existing = await lstat(target).catch(() => undefined);
    if (existing !== undefined) throw new Refusal(STATUS_CODE.FAILURE, 'File exists');
    await rename(source, target);
  }

  async #open(name: string, flags: number, mode: number | undefined): Promise<FileHandle> {
    const isWriting = (flags & OPEN_MODE.WRITE) !== 0;
    let wanted = isWriting
      ? (flags & OPEN_MODE.READ) !== 0
        ? constants.O_RDWR
        : constants.O_WRONLY
      : constants.O_RDONLY;
    if ((flags & OPEN_MODE.APPEND) !== 0) wanted |= constants.O_APPEND;
    if ((flags & OPEN_MODE.CREAT) !== 0) wanted |= constants.O_CREAT;
    if ((flags & OPEN_MODE.TRUNC) !== 0) wanted |= constants.O_TRUNC;
    if ((flags & OPEN_MODE.EXCL) !== 0) wanted |= constants.O_EXCL;
    // Links are resolved and checked already; one that appears in between is not followed.
    const file = await open(
      await this.#target(name),
      wanted | constants.O_NOFOLLOW,
      (mode ?? OWNERS_FILE) & OWNERS_FILE,
    );
    try {
      if ((await file.stat()).isDirectory()) throw new Refusal(STATUS_CODE.FAILURE, 'Is a directory');
    } catch (error) {
      await file.close();
      throw error;
    }
    return file;
  }

  /** The real path of an entry: its folder with links followed, its own name unchanged. */
  async #entry(name: string): Promise<string> {
    const clean = path.posix.resolve('/', name);
    if (clean === '/') return this.#root;
    if (clean.split('/').length > MAX_LEVELS + 1) throw new Refusal(STATUS_CODE.FAILURE, 'Too many levels of folders');
    const folder = await realpath(path.join(this.#root, path.posix.dirname(clean)));
    this.#refuseOutside(folder);
    return path.join(folder, path.posix.basename(clean));
  }

  /**
   * The real target of a path, links followed. If it does not exist yet, it is the entry, unless that is a broken link.
   */
  async #target(name: string): Promise<string> {
    const entry = await this.#entry(name);
    try {
      const real = await realpath(entry);
      this.#refuseOutside(real);
      return real;
    } catch (error) {
      if (systemCodeOf(error) !== 'ENOENT') throw error;
      const existing = await lstat(entry).catch(() => undefined);
      if (existing !== undefined) throw outside();
      return entry;
    }
  }

  #refuseOutside(real: string): void {
    if (real !== this.#root && !real.startsWith(this.#root + path.sep)) throw outside();
  }
}

class DiskFile implements SandboxFile {
  readonly #file: FileHandle;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async read(offset: number, length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(length);
    const { bytesRead } = await this.#file.read(buffer, 0, length, offset);
    return buffer.subarray(0, bytesRead);
  }

  async write(data: Buffer, offset: number): Promise<void> {
    for (let written = 0; written < data.length;) {
      const { bytesWritten } = await this.#file.write(data, written, data.length - written, offset + written);
      written += bytesWritten;
    }
  }

  async stat(): Promise<Attributes> {
    return attributesOf(await this.#file.stat());
  }

  async change({ size, mode, atime, mtime }: Partial<Attributes>): Promise<void> {
    if (size !== undefined) await this.#file.truncate(size);
    if (mode !== undefined) await this.#file.chmod(mode & OWNERS_FOLDER);
    if (mtime !== undefined) await this.#file.utimes(atime ?? mtime, mtime);
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

class DiskFolder implements SandboxFolder {
  readonly #dir: Dir;
  readonly #realPath: string;

  constructor(dir: Dir, realPath: string) {
    this.#dir = dir;
    this.#realPath = realPath;
  }

  async next(): Promise<FileEntry[]> {
    const names: string[] = [];
    while (names.length < NAMES_PER_REPLY) {
      const entry = await this.#dir.read();
      if (entry === null) break;
      names.push(entry.name);
    }
    const entries = await Promise.all(
      names.map(async (filename): Promise<FileEntry | undefined> => {
        const stats = await lstat(path.join(this.#realPath, filename)).catch(() => undefined);
        return stats === undefined ? undefined : { filename, longname: filename, attrs: attributesOf(stats) };
      }),
    );
    // Names that disappeared meanwhile must not end the listing early.
    const found = entries.filter((entry) => entry !== undefined);
    return found.length === 0 && names.length > 0 ? this.next() : found;
  }

  close(): Promise<void> {
    return this.#dir.close();
  }
}

async function setAttributes(real: string, { size, mode, atime, mtime }: Partial<Attributes>): Promise<void> {
  if (size !== undefined) await truncate(real, size);
  if (mode !== undefined) await chmod(real, mode & OWNERS_FOLDER);
  if (mtime !== undefined) await utimes(real, atime ?? mtime, mtime);
}

function attributesOf({ mode, uid, gid, size, atimeMs, mtimeMs }: Stats): Attributes {
  return { mode, uid, gid, size, atime: Math.floor(atimeMs / 1000), mtime: Math.floor(mtimeMs / 1000) };
}
