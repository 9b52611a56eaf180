/** The known entries of watched folders: read page by page, changed in batches. */
import type { Database } from '../postgres/database.js';
import { fromExcluded, listed, type Queryable, templateIn, type Transaction } from '../postgres/sql.js';

/** The size of a file whose listing entry could not be parsed. */
export const UNKNOWN_SIZE = -1;

export interface FileState {
  /** Bytes, or UNKNOWN_SIZE. */
  readonly size: number;
  readonly modifiedMs: number;
}

/** A state that was seen and has not settled: unchanged since that time of the database's clock. */
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

/** The new state of an entry; without both states it is deleted. */
export type EntryChange = StoredEntry;

/** Another check has replaced this one: it must write nothing any more. */
export class CheckSuperseded extends Error {
  override readonly name = 'CheckSuperseded';
}

/** The columns of both states of an entry. */
const STATES = ['knownSize', 'knownModifiedMs', 'seenSize', 'seenModifiedMs', 'seenSinceMs'] as const;
type StateColumn = (typeof STATES)[number];
type FileRow = { readonly entryKey: Buffer } & { readonly [N in StateColumn]: number | null };

const COLUMNS = listed(STATES);
// Built once: each fragment of a statement is an object that lives until a full garbage collection.
const SELECTED = templateIn(listed(['entryKey', ...STATES]));
const UPSERT = templateIn(`
  insert into watched_files (folder_id, entry_key, ${COLUMNS}) select ?::uuid, decode(key, 'hex'), ${COLUMNS}
  from unnest(?::text::text[], ${STATES.map(() => '?::text::bigint[]').join(', ')}) as t (key, ${COLUMNS})
  on conflict (folder_id, entry_key) do update set ${fromExcluded(STATES)}`);

const PAGE_ROWS = 250;
const FIRST_BYTES = 256;
/** Most checks change nothing. */
const NOTHING = Buffer.alloc(0);
const COMMA = 0x2c;

export class WatchedFiles {
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
      // A reader that stops early never awaits it.
      next?.catch(() => undefined);
      yield page;
    }
  }

  async find(folderId: string, key: Buffer): Promise<StoredEntry | undefined> {
    const row = await this.#database.first<FileRow>`
      select ${columns} from watched_files where folder_id = ${folderId} and entry_key = ${key}`;
    return row === undefined ? undefined : toEntry(row);
  }

  /** The entries after `after`. */
  async page(folderId: string, after: Buffer, limit: number): Promise<readonly StoredEntry[]> {
    // Not the buffer itself: the driver's queries keep their parameters for a long time, and it would keep all buffers
    // that share its block of memory.
    const digits = after.toString('hex');
    const rows = await this.#database.all<FileRow>`
      select ${columns} from watched_files
      where folder_id = ${folderId} and entry_key > decode(${digits}, 'hex') order by entry_key limit ${limit}`;
    const entries = rows.map(toEntry);
    // Consecutive results keep each other's rows past the quick garbage collections. A million rows would fill the heap
    // until a full collection, which stops the program.
    rows.length = 0;
    return entries;
  }

  /** The number of entries in the account's other folders after their last checks. */
  async countOthers({ id, accountId }: { readonly id: string; readonly accountId: string }): Promise<number> {
    const row = await this.#database.first<{ files: number }>`
      select coalesce(sum(stored_files), 0)::bigint as files from watched_folders
      where account_id = ${accountId} and id <> ${id}`;
    return row?.files ?? 0;
  }

  /** Writes changes without events, unless the check was superseded. @throws CheckSuperseded */
  async apply(folderId: string, checkId: string, changes: EntryChanges): Promise<void> {
    if (changes.count === 0) return;
    await this.#database.transaction(async (tx) => {
      const [mine] = await tx`
        select from watched_folders where id = ${folderId} and check_id = ${checkId} and deleted_at is null for share`;
      if (mine === undefined) throw new CheckSuperseded();
      await changes.write(tx, folderId);
    });
  }

  /**
   * Deletes one known entry, or all: the next check reports them as new. Resolves to the number of deleted entries.
   */
  async forget(folderId: string, key: Buffer | undefined): Promise<number> {
    return this.#database.run((sql) => forgetFiles(sql, folderId, key));
  }

  async count(folderId: string): Promise<number> {
    const row = await this.#database.first<{
      count: number;
    }>`select count(*) from watched_files where folder_id = ${folderId}`;
    return row?.count ?? 0;
  }
}

export async function forgetFiles(sql: Queryable, folderId: string, key: Buffer | undefined): Promise<number> {
  const { count } = await sql`
    delete from watched_files where folder_id = ${folderId}
      and ${key === undefined ? sql`true` : sql`entry_key = ${key}`}`;
  return count;
}

/** Deletes up to `limit`; resolves to their number. */
export async function purgeFiles(sql: Queryable, folderId: string, limit: number): Promise<number> {
  const { count } = await sql`
    delete from watched_files where folder_id = ${folderId} and entry_key in (
      select entry_key from watched_files where folder_id = ${folderId} limit ${limit})`;
  return count;
}

/**
 * Changes of a folder's stored entries that wait to be written. They wait as text, not as objects. V8 watches which
 * objects of a function stay alive; if those of one batch do, it starts to allocate all of them in the old part of the
 * heap, which only a full garbage collection cleans.
 */
export class EntryChanges {
  readonly #gone = new ArrayText();
  readonly #keys = new ArrayText();
  readonly #states = Object.fromEntries(STATES.map((name) => [name, new ArrayText()])) as Record<
    StateColumn,
    ArrayText
  >;

  get count(): number {
    return this.#gone.count + this.#keys.count;
  }

  add({ key, known, seen }: EntryChange): void {
    const digits = key.toString('hex');
    if (known === undefined && seen === undefined) {
      this.#gone.add(digits);
      return;
    }
    this.#keys.add(digits);
    const { knownSize, knownModifiedMs, seenSize, seenModifiedMs, seenSinceMs } = this.#states;
    knownSize.add(known?.size);
    knownModifiedMs.add(known?.modifiedMs);
    seenSize.add(seen?.size);
    seenModifiedMs.add(seen?.modifiedMs);
    seenSinceMs.add(seen?.sinceMs);
  }

  async write(tx: Transaction, folderId: string): Promise<void> {
    if (this.#gone.count > 0) await this.#delete(tx, folderId);
    if (this.#keys.count > 0) await this.#upsert(tx, folderId);
  }

  clear(): void {
    for (const column of [this.#gone, this.#keys, ...Object.values(this.#states)]) column.clear();
  }

  async #upsert(sql: Queryable, folderId: string): Promise<void> {
    const states = STATES.map((name) => this.#states[name].text);
    await sql(UPSERT, folderId, this.#keys.text, ...states);
  }

  async #delete(sql: Queryable, folderId: string): Promise<void> {
    await sql`
      delete from watched_files where folder_id = ${folderId} and entry_key in (
        select decode(key, 'hex') from unnest(${this.#gone.text}::text::text[]) as t (key))`;
  }
}

/** PostgreSQL's text form of an array whose elements need no quotes (manual, 8.15.6). */
class ArrayText {
  #bytes: Buffer = NOTHING;
  #end = 0;
  #hasValues = false;
  count = 0;

  /** Empty if all elements are null: unnest extends shorter arrays with nulls. */
  get text(): string {
    if (!this.#hasValues) return '{}';
    return `{${this.#bytes.toString('latin1', 0, this.#end - 1)}}`;
  }

  add(value: string | number | undefined): void {
    const element = value === undefined ? 'NULL' : String(value);
    this.#hasValues ||= value !== undefined;
    const end = this.#end + element.length + 1;
    if (end > this.#bytes.length) this.#grow(end);
    this.#bytes.write(element, this.#end, 'latin1');
    this.#bytes[end - 1] = COMMA;
    this.#end = end;
    this.count += 1;
  }

  clear(): void {
    this.#end = 0;
    this.#hasValues = false;
    this.count = 0;
  }

  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, 2 * bytes));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}

function columns(sql: Queryable) {
  return sql(SELECTED);
}

function toEntry(row: FileRow): StoredEntry {
  const { entryKey: key, knownSize: size, knownModifiedMs: modifiedMs } = row;
  const { seenSize, seenModifiedMs, seenSinceMs: sinceMs } = row;
  return {
    key,
    known: size === null || modifiedMs === null ? undefined : { size, modifiedMs },
    seen:
      seenSize === null || seenModifiedMs === null || sinceMs === null
        ? undefined
        : { size: seenSize, modifiedMs: seenModifiedMs, sinceMs },
  };
}
