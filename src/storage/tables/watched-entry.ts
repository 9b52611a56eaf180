/** What the database knows of one file of a watched folder. */
export interface FileState {
  readonly size: number;
  readonly modifiedMs: number;
}

/** A state that was seen and has not settled: unchanged since that moment of the database's clock. */
export interface SeenState extends FileState {
  readonly sinceMs: number;
}

export interface StoredEntry {
  /** The bytes of the path below the watched folder. */
  readonly key: Buffer;
  /** Reported, or the baseline; undefined for a file never reported. */
  readonly known: FileState | undefined;
  readonly seen: SeenState | undefined;
}

/** What one entry is to become; neither state = it is forgotten. */
export type EntryChange = StoredEntry;
