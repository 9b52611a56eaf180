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
import ssh2, { type Attributes, type FileEntry, type SFTPWrapper } from 'ssh2';

const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp;
const MAX_READ_BYTES = 256 * 1024;
const NAMES_PER_REPLY = 100;
const MAX_HANDLES = 256;
/** Finding out where a path leads looks at each level from the top: it takes the square of their number. */
const MAX_LEVELS = 64;
/** Other users of the machine have no business here, whatever a client asks for. */
const OWNERS_FILE = 0o600;
const OWNERS_FOLDER = 0o700;

/** A failure that has an SFTP status of its own. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

const outside = (): Refusal => new Refusal(STATUS_CODE.PERMISSION_DENIED, 'Outside the sandbox');

/** What is under way on it. */
type Busy = { readonly busy: Set<Promise<unknown>> };
type OpenFile = Busy & { readonly kind: 'file'; readonly file: FileHandle };
type OpenDir = Busy & { readonly kind: 'folder'; readonly dir: Dir; readonly realPath: string };
type OpenThing = OpenFile | OpenDir;

/** Answers SFTP requests from one folder, which clients see as "/". */
export class FolderService {
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  static async at(folder: string): Promise<FolderService> {
    return new FolderService(await realpath(folder));
  }

  /** Serves one channel until it ends; then its handles are closed. */
  serve(sftp: SFTPWrapper): void {
    const handles = new Map<number, OpenThing>();
    let nextHandle = 0;
    let isOver = false;

    const answer = (id: number, work: Promise<unknown>): void => {
      work.then(
        () => sftp.status(id, STATUS_CODE.OK),
        (error: unknown) => sftp.status(id, ...statusOf(error)),
      );
    };
    const find = (handle: Buffer): OpenThing => {
      const found = handle.length === 4 ? handles.get(handle.readUInt32BE(0)) : undefined;
      if (found === undefined) throw new Refusal(STATUS_CODE.FAILURE, 'Invalid handle');
      return found;
    };
    const findFile = (handle: Buffer): OpenFile => {
      const found = find(handle);
      if (found.kind !== 'file') throw new Refusal(STATUS_CODE.FAILURE, 'Not a file');
      return found;
    };
    const keep = (id: number, opening: Promise<OpenThing>): void => {
      opening.then(
        (thing) => {
          if (isOver) return void close(thing).catch(() => undefined);
          const handle = Buffer.alloc(4);
          handle.writeUInt32BE(nextHandle);
          handles.set(nextHandle, thing);
          nextHandle = (nextHandle + 1) >>> 0;
          sftp.handle(id, handle);
        },
        (error: unknown) => sftp.status(id, ...statusOf(error)),
      );
    };
    const refuseTooMany = (): void => {
      if (handles.size >= MAX_HANDLES) throw new Refusal(STATUS_CODE.FAILURE, 'Too many open handles');
    };
    const attributes = (id: number, work: Promise<Stats>): void => {
      work.then(
        (stats) => sftp.attrs(id, attributesOf(stats)),
        (error: unknown) => sftp.status(id, ...statusOf(error)),
      );
    };

    sftp.on('OPEN', (id, name, flags, { mode }) =>
      keep(
        id,
        start(async () => {
          refuseTooMany();
          return { kind: 'file', file: await this.#open(name, flags, mode), busy: new Set() };
        }),
      ),
    );
    sftp.on('READ', (id, handle, offset, length) => {
      start(async () => {
        const buffer = Buffer.allocUnsafe(Math.min(length, MAX_READ_BYTES));
        const { bytesRead } = await track(findFile(handle), ({ file }) => file.read(buffer, 0, buffer.length, offset));
        return buffer.subarray(0, bytesRead);
      }).then(
        (data) => (data.length === 0 && length > 0 ? sftp.status(id, STATUS_CODE.EOF) : sftp.data(id, data)),
        (error: unknown) => sftp.status(id, ...statusOf(error)),
      );
    });
    sftp.on('WRITE', (id, handle, offset, data) => {
      const writing = start(() => track(findFile(handle), ({ file }) => writeAll(file, data, offset)));
      answer(id, writing);
    });
    sftp.on('FSTAT', (id, handle) => {
      const looking = start(async () => {
        const thing = findFile(handle);
        await settled(thing);
        return thing.file.stat();
      });
      attributes(id, looking);
    });
    sftp.on('FSETSTAT', (id, handle, wanted) => {
      const setting = start(async () => {
        const thing = findFile(handle);
        await settled(thing);
        if (wanted.size !== undefined) await thing.file.truncate(wanted.size);
        if (wanted.mode !== undefined) await thing.file.chmod(wanted.mode & OWNERS_FOLDER);
        if (wanted.mtime !== undefined) await thing.file.utimes(wanted.atime ?? wanted.mtime, wanted.mtime);
      });
      answer(id, setting);
    });
    sftp.on('CLOSE', (id, handle) => {
      const closing = start(async () => {
        const thing = find(handle);
        handles.delete(handle.readUInt32BE(0));
        await close(thing);
      });
      answer(id, closing);
    });
    sftp.on('OPENDIR', (id, name) =>
      keep(
        id,
        start(async () => {
          refuseTooMany();
          const realPath = await this.#target(name);
          return { kind: 'folder', dir: await opendir(realPath), realPath, busy: new Set() };
        }),
      ),
    );
    sftp.on('READDIR', (id, handle) => {
      start(async () => {
        const thing = find(handle);
        if (thing.kind !== 'folder') throw new Refusal(STATUS_CODE.FAILURE, 'Not a folder');
        return track(thing, readNames);
      }).then(
        (names) => (names.length === 0 ? sftp.status(id, STATUS_CODE.EOF) : sftp.name(id, names)),
        (error: unknown) => sftp.status(id, ...statusOf(error)),
      );
    });
    sftp.on('STAT', (id, name) =>
      attributes(
        id,
        this.#target(name).then((real) => stat(real)),
      ),
    );
    sftp.on('LSTAT', (id, name) =>
      attributes(
        id,
        this.#entry(name).then((entry) => lstat(entry)),
      ),
    );
    sftp.on('SETSTAT', (id, name, wanted) =>
      answer(
        id,
        this.#target(name).then((real) => setAttributes(real, wanted)),
      ),
    );
    sftp.on('REALPATH', (id, name) => {
      this.#seen(name).then(
        (filename) => sftp.name(id, [{ filename, longname: filename, attrs: {} as Attributes }]),
        (error: unknown) => sftp.status(id, ...statusOf(error)),
      );
    });
    sftp.on('REMOVE', (id, name) =>
      answer(
        id,
        this.#entry(name).then((entry) => unlink(entry)),
      ),
    );
    sftp.on('MKDIR', (id, name) =>
      answer(
        id,
        this.#entry(name).then((entry) => mkdir(entry, { mode: OWNERS_FOLDER })),
      ),
    );
    sftp.on('RMDIR', (id, name) =>
      answer(
        id,
        this.#entry(name).then((entry) => rmdir(entry)),
      ),
    );
    sftp.on('RENAME', (id, from, to) => answer(id, this.#rename(from, to)));
    sftp.on('close', () => {
      isOver = true;
      for (const thing of handles.values()) void close(thing).catch(() => undefined);
      handles.clear();
    });
    sftp.on('error', () => undefined);
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

  /** Like OpenSSH: onto an existing file it fails, by linking, which never replaces. */
  async #rename(from: string, to: string): Promise<void> {
    const [source, target] = await Promise.all([this.#entry(from), this.#entry(to)]);
    if ((await lstat(source)).isFile()) {
      await link(source, target);
      await unlink(source);
      return;
    }
    const standing = await lstat(target).catch(() => undefined);
    if (standing !== undefined) throw new Refusal(STATUS_CODE.FAILURE, 'File exists');
    await rename(source, target);
  }

  /** Where an entry really is: its folder with links followed, its own name as it stands. */
  async #entry(name: string): Promise<string> {
    const clean = path.posix.resolve('/', name);
    if (clean === '/') return this.#root;
    if (clean.split('/').length > MAX_LEVELS + 1) throw new Refusal(STATUS_CODE.FAILURE, 'Too many levels of folders');
    const folder = await realpath(path.join(this.#root, path.posix.dirname(clean)));
    this.#refuseOutside(folder);
    return path.join(folder, path.posix.basename(clean));
  }

  /** Where a path leads, links followed. One that does not exist yet is its entry, unless a broken link stands there. */
  async #target(name: string): Promise<string> {
    const entry = await this.#entry(name);
    try {
      const real = await realpath(entry);
      this.#refuseOutside(real);
      return real;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      const standing = await lstat(entry).catch(() => undefined);
      if (standing !== undefined) throw outside();
      return entry;
    }
  }

  async #seen(name: string): Promise<string> {
    const clean = path.posix.resolve('/', name);
    try {
      const real = await this.#target(clean);
      return `/${path.relative(this.#root, real).split(path.sep).join('/')}`;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return clean;
    }
  }

  #refuseOutside(real: string): void {
    if (real !== this.#root && !real.startsWith(this.#root + path.sep)) throw outside();
  }
}

/** A promise even for what throws at once. */
async function start<T>(work: () => Promise<T>): Promise<T> {
  return work();
}

/** Closing waits for what is under way: clients may ask for both at once, and each on its own pool thread knows no order. */
async function track<O extends OpenThing, T>(thing: O, use: (thing: O) => Promise<T>): Promise<T> {
  const work = use(thing);
  thing.busy.add(work);
  try {
    return await work;
  } finally {
    thing.busy.delete(work);
  }
}

const settled = (thing: OpenThing): Promise<unknown> => Promise.allSettled([...thing.busy]);

async function close(thing: OpenThing): Promise<void> {
  // Of a folder that is closed before a read that waits for another one, Node.js throws where nobody can catch it.
  await settled(thing);
  await (thing.kind === 'folder' ? thing.dir : thing.file).close();
}

async function writeAll(file: FileHandle, data: Buffer, offset: number): Promise<void> {
  for (let written = 0; written < data.length;) {
    const { bytesWritten } = await file.write(data, written, data.length - written, offset + written);
    written += bytesWritten;
  }
}

async function readNames(folder: OpenDir): Promise<FileEntry[]> {
  const { dir, realPath } = folder;
  const names: string[] = [];
  while (names.length < NAMES_PER_REPLY) {
    const entry = await dir.read();
    if (entry === null) break;
    names.push(entry.name);
  }
  const entries = await Promise.all(
    names.map(async (filename): Promise<FileEntry | undefined> => {
      const stats = await lstat(path.join(realPath, filename)).catch(() => undefined);
      return stats === undefined ? undefined : { filename, longname: filename, attrs: attributesOf(stats) };
    }),
  );
  // Names that went away meanwhile must not end the listing early.
  const found = entries.filter((entry) => entry !== undefined);
  return found.length === 0 && names.length > 0 ? readNames(folder) : found;
}

async function setAttributes(real: string, { size, mode, atime, mtime }: Partial<Attributes>): Promise<void> {
  if (size !== undefined) await truncate(real, size);
  if (mode !== undefined) await chmod(real, mode & OWNERS_FOLDER);
  if (mtime !== undefined) await utimes(real, atime ?? mtime, mtime);
}

function attributesOf({ mode, uid, gid, size, atimeMs, mtimeMs }: Stats): Attributes {
  return { mode, uid, gid, size, atime: Math.floor(atimeMs / 1000), mtime: Math.floor(mtimeMs / 1000) };
}

/** Status and words of a failure; the words name no path of this machine. */
function statusOf(error: unknown): [status: number, words: string] {
  if (error instanceof Refusal) return [error.status, error.message];
  switch ((error as NodeJS.ErrnoException | undefined)?.code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return [STATUS_CODE.NO_SUCH_FILE, 'No such file'];
    case 'EACCES':
    case 'EPERM':
    case 'ELOOP':
      return [STATUS_CODE.PERMISSION_DENIED, 'Permission denied'];
    case 'EEXIST':
      return [STATUS_CODE.FAILURE, 'File exists'];
    case 'EISDIR':
      return [STATUS_CODE.FAILURE, 'Is a directory'];
    case 'ENOTEMPTY':
      return [STATUS_CODE.FAILURE, 'Directory not empty'];
    case 'ENOSPC':
    case 'EDQUOT':
      return [STATUS_CODE.FAILURE, 'No space left on device'];
    default:
      return [STATUS_CODE.FAILURE, 'Failure'];
  }
}
