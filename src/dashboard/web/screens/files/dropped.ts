/** Files of a drop, those in dropped folders with their path below the drop. */
export interface DroppedFile {
  readonly file: File;
  /** Folder below the one dropped on; "" = that one. */
  readonly below: string;
}

export async function droppedFiles(transfer: DataTransfer): Promise<readonly DroppedFile[]> {
  // Entries have to be taken while the event lasts.
  const entries = [...transfer.items].filter(({ kind }) => kind === 'file').map((item) => item.webkitGetAsEntry());
  const loose = [...transfer.files];
  if (entries.every((entry) => entry === null)) return loose.map((file) => ({ file, below: '' }));
  const found: DroppedFile[] = [];
  for (const entry of entries) if (entry !== null) await walk(entry, '', found);
  return found;
}

async function walk(entry: FileSystemEntry, below: string, found: DroppedFile[]): Promise<void> {
  if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    found.push({ file, below });
  } else if (isFolder(entry)) {
    const reader = entry.createReader();
    const deeper = below === '' ? entry.name : `${below}/${entry.name}`;
    // A reader gives a hundred entries at a time, and none at the end.
    for (;;) {
      const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
      if (some.length === 0) return;
      for (const child of some) await walk(child, deeper, found);
    }
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
