/** Gathers findings of listings from several folders, and writes them in batches: one write at a time. */
import { type MarksAbove, NO_MARKS } from '../operations/tree/folder.js';
import { type ListingFindings, FoundFiles, type JobFolder, type NewJobFile } from '../storage/storage.js';

/** A folder that is being listed. */
export interface OpenFolder {
  readonly path: Buffer;
  /** Files that need no work; counted when the listing has ended. */
  unchanged: number;
  /** Its files that are or were in the batch. */
  files: number;
  /** It is not part of what is moved. */
  isLeft: boolean;
  /** For the folders in it; undefined for one that repeats itself. */
  below: MarksAbove | undefined;
}

const ENOUGH = 1000;
const LONG = 2 * ENOUGH;

export class FindingsBatch {
  readonly #write: (findings: ListingFindings) => Promise<void>;
  readonly #files = new FoundFiles();
  #folders: Omit<JobFolder, 'isBegun' | 'tries'>[] = [];
  #listed: Buffer[] = [];
  #left: Buffer[] = [];
  #begun: Buffer[] = [];
  #unchanged = 0;
  readonly #openFolders = new Set<OpenFolder>();
  #writing: Promise<void> = Promise.resolve();

  constructor(write: (findings: ListingFindings) => Promise<void>) {
    this.#write = write;
  }

  begin(path: Buffer): OpenFolder {
    const folder: OpenFolder = { path, unchanged: 0, files: 0, isLeft: false, below: NO_MARKS };
    this.#openFolders.add(folder);
    return folder;
  }

  /** Folders being listed that have had many files. */
  get longFolders(): number {
    return [...this.#openFolders].filter(({ files }) => files >= LONG).length;
  }

  /** undefined: there is room for more. */
  add(folder: OpenFolder, file: NewJobFile): Promise<void> | undefined {
    folder.files += 1;
    this.#files.add(file);
    return this.#count < ENOUGH ? undefined : this.#flushIfEnough();
  }

  async addFolder(found: Omit<JobFolder, 'isBegun' | 'tries'>): Promise<void> {
    this.#folders.push(found);
    await this.#flushIfEnough();
  }

  /** The folder has been listed to its end. */
  async end(folder: OpenFolder): Promise<void> {
    this.#openFolders.delete(folder);
    this.#listed.push(folder.path);
    if (folder.isLeft) this.#left.push(folder.path);
    this.#unchanged += folder.unchanged;
    await this.#flushIfEnough();
  }

  /** The folder will be listed again, or never. */
  drop(folder: OpenFolder): void {
    this.#openFolders.delete(folder);
    if (folder.files > 0) this.#begun.push(folder.path);
  }

  /** Writes after the one before; rejects with its own failure. */
  flush(): Promise<void> {
    const going = [...this.#openFolders].filter(({ files }) => files > 0).map(({ path }) => path);
    const begun = [...this.#begun, ...going];
    if (this.#count + begun.length === 0) return this.#writing;
    const findings: ListingFindings = {
      files: this.#files.take(),
      folders: this.#folders,
      listed: this.#listed,
      left: this.#left,
      unchanged: this.#unchanged,
      begun,
    };
    [this.#folders, this.#listed, this.#left, this.#begun, this.#unchanged] = [[], [], [], [], 0];
    const before = this.#writing;
    this.#writing = before.then(() => this.#write(findings));
    this.#writing.catch(() => undefined);
    return this.#writing;
  }

  /** Waits until none is being written; later findings are not included. */
  written(): Promise<void> {
    return this.#writing.catch(() => undefined);
  }

  /** One batch is gathered while one is written: the more wait, the more survives the quick garbage collections. */
  async #flushIfEnough(): Promise<void> {
    if (this.#count < ENOUGH) return;
    await this.#writing;
    if (this.#count >= ENOUGH) void this.flush();
  }

  get #count(): number {
    return this.#files.count + this.#folders.length + this.#listed.length;
  }
}
