/** Files that were dropped or chosen. Those of folders have their path below the target. */

export interface DroppedFile {
  readonly file: File;
  /** The folder below the target; "" = the target itself. */
  readonly below: string;
  readonly handle: FileSystemFileHandle | undefined;
}

/** A local folder or file that the browser cannot read, or that no longer exists. */
export class UnreadablePath extends Error {
  /** From what was dropped. */
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super(`${path} cannot be read`, { cause });
    this.path = path;
  }
}

/** Chromium provides handles of dropped files. */
type Item = DataTransferItem & { getAsFileSystemHandle?: () => Promise<FileSystemHandle | null> };

/** Handles arrive one by one, which takes too long for more files than this. */
const MOST_HANDLES = 20;
/**
 * The browser needs a third of a millisecond for each entry. If there are more files than this, those of a known type
 * are taken as files without asking: a folder with such a name is reported as unreadable.
 */
const MOST_ENTRIES = 400;
/** The size of the batches that are read and returned. */
const SOME = 200;

/** The files of an input for files or for a folder. */
export function pickedFiles(files: Iterable<File>): readonly DroppedFile[] {
  return Array.from(files, (file) => {
    const end = file.webkitRelativePath.lastIndexOf('/');
    return { file, below: end < 0 ? '' : file.webkitRelativePath.slice(0, end), handle: undefined };
  });
}

/** Reads the event's data synchronously, since it is gone after the event. */
export function droppedFiles(transfer: DataTransfer): AsyncIterable<readonly DroppedFile[]> {
  const items: readonly Item[] = [...transfer.items].filter(({ kind }) => kind === 'file');
  const isMany = items.length > MOST_ENTRIES;
  const entries = items.map((item) => (isMany && item.type !== '' ? null : item.webkitGetAsEntry()));
  const hasHandles = items.length <= MOST_HANDLES;
  const handles = items.map(async (item) => (hasHandles ? item.getAsFileSystemHandle?.() : null)?.catch(() => null));
  return find(entries, [...transfer.files], handles);
}

async function* find(
  entries: readonly (FileSystemEntry | null)[],
  loose: readonly File[],
  handles: readonly Promise<FileSystemHandle | null | undefined>[],
): AsyncGenerator<readonly DroppedFile[]> {
  const known = entries.filter((entry) => entry !== null);
  const folders = known.filter(isFolder);
  // The handle of a folder may never arrive.
  const found = folders.length === 0 ? await Promise.all(handles) : [];
  // The event's list of files also contains folders, as files that cannot be read.
  const all = loose.flatMap((file, index) =>
    folders.length > 0 && (entries[index] ?? null) !== null ? [] : [{ file, below: '', handle: asFile(found[index]) }],
  );
  for (let from = 0; from < all.length; from += SOME) yield all.slice(from, from + SOME);
  if (folders.length === 0) return;
  yield* filesOf(known.filter(isFile), '');
  for (const folder of folders) yield* walk(folder, folder.name);
}

async function* walk(folder: FileSystemDirectoryEntry, below: string): AsyncGenerator<readonly DroppedFile[]> {
  const reader = folder.createReader();
  // A reader returns up to 100 entries at a time, and an empty array at the end.
  for (;;) {
    const some = await readable(below, new Promise<FileSystemEntry[]>((...ends) => reader.readEntries(...ends)));
    if (some.length === 0) return;
    yield* filesOf(some.filter(isFile), below);
    for (const deeper of some.filter(isFolder)) yield* walk(deeper, `${below}/${deeper.name}`);
  }
}

async function* filesOf(
  entries: readonly FileSystemFileEntry[],
  below: string,
): AsyncGenerator<readonly DroppedFile[]> {
  for (let from = 0; from < entries.length; from += SOME) {
    const files = entries.slice(from, from + SOME).map((entry) => {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      return readable(path, new Promise<File>((...ends) => entry.file(...ends)));
    });
    yield (await Promise.all(files)).map((file) => ({ file, below, handle: undefined }));
  }
}

/** @throws UnreadablePath */
function readable<T>(path: string, read: Promise<T>): Promise<T> {
  return read.catch((error: unknown) => {
    throw new UnreadablePath(path, error);
  });
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
const asFile = (handle: FileSystemHandle | null | undefined): FileSystemFileHandle | undefined =>
  handle?.kind === 'file' ? (handle as FileSystemFileHandle) : undefined;
