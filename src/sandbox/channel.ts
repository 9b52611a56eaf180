/** One SFTP channel: turns requests into calls of a file tree, and their results into replies. */
import type { Attributes, SFTPWrapper } from 'ssh2';
import { Cut, type Files, type SandboxFile, type SandboxFolder, Refusal, STATUS_CODE } from './files.js';

const MAX_READ_BYTES = 256 * 1024;
const MAX_HANDLES = 256;

interface Open<K extends 'file' | 'folder', T> {
  readonly kind: K;
  readonly thing: T;
  /** Calls under way on it. */
  readonly busy: Set<Promise<unknown>>;
}
type OpenThing = Open<'file', SandboxFile> | Open<'folder', SandboxFolder>;

/** Serves the channel until it ends; then closes its handles. */
export function serveChannel(sftp: SFTPWrapper, files: Files): void {
  const handles = new Map<number, OpenThing>();
  const closing = new AbortController();
  let nextHandle = 0;

  const settle = <T>(id: number, work: Promise<T>, answered: (outcome: T) => void): void => {
    work.then(
      (outcome) => {
        if (!closing.signal.aborted) answered(outcome);
      },
      (error: unknown) => {
        if (closing.signal.aborted) return;
        if (error instanceof Cut) sftp.end();
        else sftp.status(id, ...statusOf(error));
      },
    );
  };
  const answer = (id: number, work: Promise<unknown>): void =>
    settle(id, work, () => void sftp.status(id, STATUS_CODE.OK));
  const attributes = (id: number, work: Promise<Attributes>): void =>
    settle(id, work, (found) => void sftp.attrs(id, found));
  const find = (handle: Buffer): OpenThing => {
    const found = handle.length === 4 ? handles.get(handle.readUInt32BE(0)) : undefined;
    if (found === undefined) throw new Refusal(STATUS_CODE.FAILURE, 'Invalid handle');
    return found;
  };
  const findFile = (handle: Buffer): Open<'file', SandboxFile> => {
    const found = find(handle);
    if (found.kind !== 'file') throw new Refusal(STATUS_CODE.FAILURE, 'Not a file');
    return found;
  };
  const keep = (id: number, open: () => Promise<OpenThing>): void => {
    const opening = start(async () => {
      if (handles.size >= MAX_HANDLES) throw new Refusal(STATUS_CODE.FAILURE, 'Too many open handles');
      const opened = await open();
      if (closing.signal.aborted) await close(opened);
      return opened;
    });
    settle(id, opening, (opened) => {
      const handle = Buffer.alloc(4);
      handle.writeUInt32BE(nextHandle);
      handles.set(nextHandle, opened);
      nextHandle = (nextHandle + 1) >>> 0;
      sftp.handle(id, handle);
    });
  };

  sftp.on('OPEN', (id, name, flags, { mode }) =>
    keep(id, async () => {
      const thing = await files.open(name, flags, mode, closing.signal);
      return { kind: 'file', thing, busy: new Set() };
    }),
  );
  sftp.on('READ', (id, handle, offset, length) => {
    const reading = start(() => track(findFile(handle), (file) => file.read(offset, Math.min(length, MAX_READ_BYTES))));
    settle(id, reading, (data) => {
      if (data.length === 0 && length > 0) sftp.status(id, STATUS_CODE.EOF);
      else sftp.data(id, data);
    });
  });
  sftp.on('WRITE', (id, handle, offset, data) =>
    answer(
      id,
      start(() => track(findFile(handle), (file) => file.write(data, offset))),
    ),
  );
  sftp.on('FSTAT', (id, handle) =>
    attributes(
      id,
      start(async () => {
        const file = findFile(handle);
        await settled(file);
        return file.thing.stat();
      }),
    ),
  );
  sftp.on('FSETSTAT', (id, handle, wanted) =>
    answer(
      id,
      start(async () => {
        const file = findFile(handle);
        await settled(file);
        await file.thing.change(wanted);
      }),
    ),
  );
  sftp.on('CLOSE', (id, handle) =>
    answer(
      id,
      start(async () => {
        const found = find(handle);
        handles.delete(handle.readUInt32BE(0));
        await close(found);
      }),
    ),
  );
  sftp.on('OPENDIR', (id, name) =>
    keep(id, async () => ({ kind: 'folder', thing: await files.openFolder(name), busy: new Set() })),
  );
  sftp.on('READDIR', (id, handle) => {
    const reading = start(async () => {
      const found = find(handle);
      if (found.kind !== 'folder') throw new Refusal(STATUS_CODE.FAILURE, 'Not a folder');
      return track(found, (folder) => folder.next());
    });
    settle(id, reading, (names) => {
      if (names.length === 0) sftp.status(id, STATUS_CODE.EOF);
      else sftp.name(id, names);
    });
  });
  sftp.on('STAT', (id, name) => attributes(id, files.stat(name)));
  sftp.on('LSTAT', (id, name) => attributes(id, files.lstat(name)));
  sftp.on('SETSTAT', (id, name, wanted) => answer(id, files.change(name, wanted)));
  sftp.on('REALPATH', (id, name) =>
    settle(id, files.realPath(name), (filename) => {
      sftp.name(id, [{ filename, longname: filename, attrs: {} as Attributes }]);
    }),
  );
  sftp.on('REMOVE', (id, name) => answer(id, files.remove(name)));
  sftp.on('MKDIR', (id, name) => answer(id, files.makeFolder(name)));
  sftp.on('RMDIR', (id, name) => answer(id, files.removeFolder(name)));
  sftp.on('RENAME', (id, from, to) => answer(id, files.rename(from, to)));
  sftp.on('close', () => {
    closing.abort();
    for (const opened of handles.values()) void close(opened).catch(() => undefined);
    handles.clear();
  });
  sftp.on('error', () => undefined);
}

/** Returns a promise even if `work` throws at once. */
async function start<T>(work: () => Promise<T>): Promise<T> {
  return work();
}

/**
 * Closing waits for calls under way: clients may send both at once, and calls on different pool threads have no order.
 */
async function track<O, T>({ thing, busy }: Open<'file' | 'folder', O>, use: (thing: O) => Promise<T>): Promise<T> {
  const work = use(thing);
  busy.add(work);
  try {
    return await work;
  } finally {
    busy.delete(work);
  }
}

const settled = ({ busy }: OpenThing): Promise<unknown> => Promise.allSettled([...busy]);

async function close(opened: OpenThing): Promise<void> {
  // If a folder is closed while a read of it waits for another one, Node.js throws an error that cannot be caught.
  await settled(opened);
  await opened.thing.close();
}

/** Status and words of a failure; the words contain no path of this machine. */
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
