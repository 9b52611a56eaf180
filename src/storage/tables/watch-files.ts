/** What watched folders are known to hold. */
import type { Database, Queryable } from '../postgres/database.js';
import type { EntryChanges } from './entry-changes.js';
import type { StoredEntry } from './watched-entry.js';

/** The check was taken over by another one: nothing of it may be written any more. */
export class CheckSuperseded extends Error {
  override readonly name = 'CheckSuperseded';
}

interface FileRow {
  readonly entry_key: Buffer;
  readonly known_size: number | null;
  readonly known_modified_ms: number | null;
  readonly seen_size: number | null;
  readonly seen_modified_ms: number | null;
  readonly seen_since_ms: number | null;
}

const PAGE_ROWS = 250;

export class WatchFiles {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** All entries of a folder in the order of their keys, page by page; the next page is fetched while one is read. */
  async *pages(folderId: string): AsyncGenerator<readonly StoredEntry[]> {
    let next: Promise<readonly StoredEntry[]> | undefined = this.page(folderId, Buffer.alloc(0), PAGE_ROWS);
    while (next !== undefined) {
      const page: readonly StoredEntry[] = await next;
      const last = page.at(-1);
      next = last === undefined || page.length < PAGE_ROWS ? undefined : this.page(folderId, last.key, PAGE_ROWS);
      // A reader that leaves early never looks at it.
      next?.catch(() => undefined);
      yield page;
    }
  }

  async find(folderId: string, key: Buffer): Promise<StoredEntry | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<FileRow[]>`
        select ${columns(sql)} from watched_files where folder_id = ${folderId} and entry_key = ${key}`,
    );
    return row === undefined ? undefined : toEntry(row);
  }

  /** The entries after `after`. */
  async page(folderId: string, after: Buffer, limit: number): Promise<readonly StoredEntry[]> {
    // Not the buffer itself: the driver's queries keep what they were asked with for long, and that one would keep
    // all those that share a block of memory with it.
    const digits = after.toString('hex');
    const rows = await this.#database.run(
      (sql) => sql<FileRow[]>`
        select ${columns(sql)} from watched_files
        where folder_id = ${folderId} and entry_key > decode(${digits}, 'hex') order by entry_key limit ${limit}`,
    );
    const entries = rows.map(toEntry);
    // Results that follow each other keep each other's rows past the quick collections of garbage. A million rows would
    // fill the heap until a full collection, and that one stops the program.
    rows.length = 0;
    return entries;
  }

  /** Writes changes that no event hangs on, unless the check was superseded. @throws CheckSuperseded */
  async apply(folderId: string, checkId: string, changes: EntryChanges): Promise<void> {
    if (changes.count === 0) return;
    await this.#database.transaction(async (tx) => {
      const [mine] = await tx`
        select from watched_folders where id = ${folderId} and check_id = ${checkId} and deleted_at is null for share`;
      if (mine === undefined) throw new CheckSuperseded();
      await changes.write(tx, folderId);
    });
  }

  /** Forgets one entry, or all: what is there at the next check is then new. Resolves to how many were known. */
  async forget(folderId: string, key: Buffer | undefined): Promise<number> {
    const rows = await this.#database.run(
      (sql) => sql`
        delete from watched_files where folder_id = ${folderId}
          and ${key === undefined ? sql`true` : sql`entry_key = ${key}`}`,
    );
    return rows.count;
  }

  async count(folderId: string): Promise<number> {
    const [row] = await this.#database.run(
      (sql) => sql<{ count: number }[]>`select count(*) from watched_files where folder_id = ${folderId}`,
    );
    return row?.count ?? 0;
  }
}

function columns(sql: Queryable) {
  return sql`entry_key, known_size, known_modified_ms, seen_size, seen_modified_ms, seen_since_ms`;
}

function toEntry(row: FileRow): StoredEntry {
  const { entry_key: key, known_size: size, known_modified_ms: modifiedMs } = row;
  const { seen_size: seenSize, seen_modified_ms: seenModifiedMs, seen_since_ms: sinceMs } = row;
  return {
    key,
    known: size === null || modifiedMs === null ? undefined : { size, modifiedMs },
    seen:
      seenSize === null || seenModifiedMs === null || sinceMs === null
        ? undefined
        : { size: seenSize, modifiedMs: seenModifiedMs, sinceMs },
  };
}
