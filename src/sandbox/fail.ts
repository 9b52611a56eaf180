/**
 * /fail: folders that fail on purpose, as listed in failures.ts. Nothing of it is on a disk: what is read is generated,
 * and what is written is counted and dropped. Only the channel that asks is slowed, stalled or cut; others on the
 * connection continue, except for a new host key, which a server shows only at a login.
 */
import { posix } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Attributes, FileEntry } from 'ssh2';
import { type Failure, failureNamed, FAILURES, readme } from './failures.js';
import { Cut, type Files, OPEN_MODE, type SandboxFile, type SandboxFolder, Refusal, STATUS_CODE } from './files.js';

const ROOT = '/fail';
const README = 'README.txt';
/** The file in each of the folders. */
const FILE = 'file.bin';
const FILE_BYTES = 64 * 1024;
/**
 * For a full disk: the cache of a real server also takes a little, and reports the error at the end. Otherwise a client
 * with several writes under way could assume that the server handles only one at a time.
 */
const FREE_BYTES = 32 * 1024;
const SLOW_FILE_SECONDS = 20;
const SLOW_MS = 300_000;
const GROWTH_PER_SECOND = 10 * 1024;
/** How long a file that has grown is remembered; then it begins again. */
const REST_MS = 600_000;
/** Files that were written and not renamed or removed. */
const MOST_WRITTEN = 1_000;
const WRITTEN_MS = 900_000;

const FILE_MODE = 0o100600;
const FOLDER_MODE = 0o040700;

/** Lines of 16 bytes for a file of any length. */
const LINE = Buffer.from('0123456789abcde\n');
const LINES = Buffer.concat(Array.from({ length: 16 * 1024 + 1 }, () => LINE));
const bytesAt = (offset: number, length: number): Buffer => {
  const from = offset % LINE.length;
  return LINES.subarray(from, Math.min(from + length, LINES.length));
};

interface Written {
  size: number;
  mtime: number;
  readonly since: number;
}

/** A path below /fail: the failure, and the rest of the path ("" = the folder itself). */
interface Place {
  readonly failure: Failure;
  readonly path: string;
  readonly rest: string;
}

export const isBelowFail = (path: string): boolean => {
  const clean = posix.resolve('/', path);
  return clean === ROOT || clean.startsWith(`${ROOT}/`);
};

export class FailingFiles implements Files {
  /** Ends the sessions; the next login gets another host key. */
  readonly #changeHostKey: () => void;
  readonly #written = new Map<string, Written>();
  /** When a growing file was first used, by its number of seconds. */
  readonly #growing = new Map<number, number>();
  readonly #readme = Buffer.from(readme(FILE));

  constructor(changeHostKey: () => void) {
    this.#changeHostKey = changeHostKey;
  }

  async open(path: string, flags: number, _mode: number | undefined, channel: AbortSignal): Promise<SandboxFile> {
    const isWriting = (flags & OPEN_MODE.WRITE) !== 0;
    const place = this.#at(path);
    if (place === README && !isWriting) return textFile(this.#readme);
    if (typeof place === 'string') throw isWriting ? ownFile() : isAFolder();
    this.#refuse(place);
    if (isWriting) return new WrittenFile(this.#openForWriting(place, flags), place.failure, new Pace(place, channel));
    const size = this.#sizeOf(place);
    return new MadeUpFile(() => attributesOf(size(), this.#changedAt(place)), place.failure, new Pace(place, channel));
  }

  async openFolder(path: string): Promise<SandboxFolder> {
    const place = this.#at(path);
    if (place === README) throw new Refusal(STATUS_CODE.NO_SUCH_FILE, 'Not a folder');
    if (place === ROOT) {
      const names = FAILURES.map(({ name }) => entry(name, folderAttributes(Date.now())));
      return folderOf([entry(README, attributesOf(this.#readme.length, Date.now())), ...names]);
    }
    if (typeof place === 'string') throw missing();
    this.#refuse(place);
    if (place.rest !== '') throw missing();
    const { size, mtime } = await this.stat(`${path}/${FILE}`);
    return folderOf([entry(FILE, attributesOf(size, mtime * 1000))]);
  }

  async stat(path: string): Promise<Attributes> {
    const place = this.#at(path);
    if (place === README) return attributesOf(this.#readme.length, Date.now());
    if (typeof place === 'string') return folderAttributes(Date.now());
    refusePermission(place);
    if (place.rest === '') return folderAttributes(Date.now());
    return attributesOf(this.#sizeOf(place)(), this.#changedAt(place));
  }

  lstat(path: string): Promise<Attributes> {
    return this.stat(path);
  }

  async change(path: string, wanted: Partial<Attributes>): Promise<void> {
    const place = this.#at(path);
    const written = typeof place === 'string' ? undefined : this.#written.get(place.path);
    if (written === undefined) throw ownFile();
    change(written, wanted);
  }

  async realPath(path: string): Promise<string> {
    return posix.resolve('/', path);
  }

  async remove(path: string): Promise<void> {
    const place = this.#at(path);
    if (typeof place === 'string') throw ownFile();
    refusePermission(place);
    if (this.#written.delete(place.path)) return;
    throw place.rest === '' || place.rest === FILE ? ownFile() : missing();
  }

  async makeFolder(path: string): Promise<void> {
    const place = this.#at(path);
    if (typeof place === 'string') throw new Refusal(STATUS_CODE.FAILURE, 'File exists');
    refusePermission(place);
    if (place.rest === '') throw new Refusal(STATUS_CODE.FAILURE, 'File exists');
    if (place.failure.kind === 'disk-full') throw noSpace();
  }

  async removeFolder(path: string): Promise<void> {
    const place = this.#at(path);
    throw typeof place === 'string' || place.rest === '' ? ownFile() : missing();
  }

  /** The file was renamed successfully, and is dropped. */
  async rename(from: string, to: string): Promise<void> {
    const [source, target] = [this.#at(from), this.#at(to)];
    if (typeof source === 'string' || typeof target === 'string' || target.rest === '') throw ownFile();
    refusePermission(source);
    refusePermission(target);
    if (!this.#written.delete(source.path)) throw source.rest === FILE ? ownFile() : missing();
  }

  /** A file of another folder is moved here: it is dropped, like everything that is written here. */
  async takeIn(to: string): Promise<void> {
    const target = this.#at(to);
    if (typeof target === 'string' || target.rest === '') throw ownFile();
    refusePermission(target);
    if (target.failure.kind === 'disk-full') throw noSpace();
  }

  /** The failure of opening. Clients that clean up after a session was ended do not open anything. */
  #refuse(place: Place): void {
    refusePermission(place);
    if (place.failure.kind !== 'new-host-key') return;
    this.#changeHostKey();
    throw new Cut();
  }

  /** The target of a path. Rejects if nothing has this name. */
  #at(path: string): Place | typeof ROOT | typeof README {
    const clean = posix.resolve('/', path);
    const [, , name, ...rest] = clean.split('/');
    if (name === undefined) return ROOT;
    if (name === README && rest.length === 0) return README;
    const failure = failureNamed(name);
    if (failure !== undefined) return { failure, path: clean, rest: rest.join('/') };
    throw new Refusal(STATUS_CODE.NO_SUCH_FILE, `No such file; ${ROOT}/${README} lists the names and their bounds`);
  }

  #openForWriting({ path, rest }: Place, flags: number): Written {
    if (rest === '') throw isAFolder();
    if (rest === FILE) throw ownFile();
    const has = (flag: number): boolean => (flags & flag) !== 0;
    const existing = this.#written.get(path);
    if (existing !== undefined && has(OPEN_MODE.EXCL)) throw new Refusal(STATUS_CODE.FAILURE, 'File exists');
    if (existing === undefined && !has(OPEN_MODE.CREAT)) throw missing();
    const now = Date.now();
    const written = existing ?? { size: 0, mtime: now, since: now };
    if (has(OPEN_MODE.TRUNC)) written.size = 0;
    // In the order in which they were begun.
    for (const [name, { since }] of this.#written) {
      if (now - since < WRITTEN_MS && this.#written.size < MOST_WRITTEN) break;
      this.#written.delete(name);
    }
    this.#written.set(path, written);
    return written;
  }

  /** Rejects if there is no such file. */
  #sizeOf({ failure, path, rest }: Place): () => number {
    const written = this.#written.get(path);
    if (written !== undefined) return () => written.size + growthOf(failure);
    if (rest !== '' && rest !== FILE) throw missing();
    switch (failure.kind) {
      case 'cut':
        return () => 2 * failure.bytes;
      case 'slow':
        return () => SLOW_FILE_SECONDS * failure.bytesPerSecond;
      case 'grow':
        return () => Math.floor(((this.#grownMs(failure.seconds) + 1_000) / 1_000) * GROWTH_PER_SECOND);
      default:
        return () => FILE_BYTES;
    }
  }

  #changedAt({ failure, path }: Place): number {
    const written = this.#written.get(path);
    if (written !== undefined) return written.mtime;
    if (failure.kind !== 'grow') return 0;
    const grownMs = this.#grownMs(failure.seconds);
    return (this.#growing.get(failure.seconds) ?? 0) + grownMs;
  }

  #grownMs(seconds: number): number {
    const now = Date.now();
    let since = this.#growing.get(seconds);
    if (since === undefined || now - since > seconds * 1_000 + REST_MS) {
      since = now;
      this.#growing.set(seconds, since);
    }
    return Math.min(now - since, seconds * 1_000);
  }
}

/** How the bytes of one open file may move. */
class Pace {
  readonly #channel: AbortSignal;
  readonly #failure: Failure;
  readonly #startedAt = performance.now();
  #free = this.#startedAt;
  #moved = 0;

  constructor({ failure }: Place, channel: AbortSignal) {
    this.#channel = channel;

    this.#failure = failure;
  }

  /** Resolves once these bytes have moved, if they ever do. */
  async move(bytes: number): Promise<void> {
    const failure = this.#failure;
    this.#moved += bytes;
    if (failure.kind === 'cut' && this.#moved > failure.bytes) throw new Cut();
    if (failure.kind === 'stall') await new Promise(() => undefined);
    if (failure.kind !== 'slow') return;
    const now = performance.now();
    this.#free = Math.max(this.#free, now) + (bytes / failure.bytesPerSecond) * 1_000;
    if (this.#free - this.#startedAt > SLOW_MS) {
      throw new Refusal(STATUS_CODE.FAILURE, 'The sandbox ends what is slow after 5 minutes');
    }
    await pause(this.#free - now, undefined, { signal: this.#channel, ref: false });
  }
}

class MadeUpFile implements SandboxFile {
  readonly #attributes: () => Attributes;
  readonly #failure: Failure;
  readonly #pace: Pace;

  constructor(attributes: () => Attributes, failure: Failure, pace: Pace) {
    this.#attributes = attributes;
    this.#failure = failure;
    this.#pace = pace;
  }

  async read(offset: number, length: number): Promise<Buffer> {
    const left = Math.max(0, this.#attributes().size - offset);
    // A slow server handles little at a time: its client never waits long.
    const most = this.#failure.kind === 'slow' ? Math.ceil(this.#failure.bytesPerSecond / 4) : length;
    const data = bytesAt(offset, Math.min(length, left, most));
    await this.#pace.move(data.length);
    return data;
  }

  async write(): Promise<void> {
    throw ownFile();
  }

  async stat(): Promise<Attributes> {
    return this.#attributes();
  }

  async change(): Promise<void> {
    throw ownFile();
  }

  async close(): Promise<void> {}
}

class WrittenFile implements SandboxFile {
  readonly #written: Written;
  readonly #failure: Failure;
  readonly #pace: Pace;

  constructor(written: Written, failure: Failure, pace: Pace) {
    this.#written = written;
    this.#failure = failure;
    this.#pace = pace;
  }

  async read(): Promise<Buffer> {
    throw new Refusal(STATUS_CODE.FAILURE, 'The sandbox throws away what is written here');
  }

  async write({ length }: Buffer, offset: number): Promise<void> {
    if (this.#failure.kind === 'disk-full' && offset + length > FREE_BYTES) throw noSpace();
    await this.#pace.move(length);
    this.#written.size = Math.max(this.#written.size, offset + length);
  }

  async stat(): Promise<Attributes> {
    return attributesOf(this.#written.size + growthOf(this.#failure), this.#written.mtime);
  }

  async change(wanted: Partial<Attributes>): Promise<void> {
    change(this.#written, wanted);
  }

  async close(): Promise<void> {
    if (this.#failure.kind === 'disk-full') throw noSpace();
  }
}

function textFile(text: Buffer): SandboxFile {
  const refuse = async (): Promise<void> => {
    throw ownFile();
  };
  return {
    read: async (offset, length) => text.subarray(offset, offset + length),
    stat: async () => attributesOf(text.length, 0),
    write: refuse,
    change: refuse,
    close: async () => undefined,
  };
}

function folderOf(entries: readonly FileEntry[]): SandboxFolder {
  let rest = [...entries];
  return {
    next: async () => {
      const listed = rest;
      rest = [];
      return listed;
    },
    close: async () => undefined,
  };
}

const entry = (filename: string, attrs: Attributes): FileEntry => ({ filename, longname: filename, attrs });

function attributesOf(size: number, changedMs: number, mode = FILE_MODE): Attributes {
  const seconds = Math.floor(changedMs / 1_000);
  return { mode, uid: 0, gid: 0, size, atime: seconds, mtime: seconds };
}

const folderAttributes = (now: number): Attributes => attributesOf(0, now, FOLDER_MODE);

function change(written: Written, { size, mtime }: Partial<Attributes>): void {
  if (size !== undefined) written.size = size;
  if (mtime !== undefined) written.mtime = Number(mtime) * 1_000;
}

/** Bytes that seem to be added to a file by others. */
const growthOf = ({ kind }: Failure): number => (kind === 'grow' ? GROWTH_PER_SECOND : 0);

function refusePermission({ failure }: Place): void {
  if (failure.kind === 'permission') throw new Refusal(STATUS_CODE.PERMISSION_DENIED, 'Permission denied');
}

const missing = (): Refusal => new Refusal(STATUS_CODE.NO_SUCH_FILE, 'No such file');
const isAFolder = (): Refusal => new Refusal(STATUS_CODE.FAILURE, 'Is a directory');
const noSpace = (): Refusal => new Refusal(STATUS_CODE.FAILURE, 'No space left on device');
const ownFile = (): Refusal =>
  new Refusal(STATUS_CODE.PERMISSION_DENIED, `Permission denied: what ${ROOT} holds stays as it is`);
