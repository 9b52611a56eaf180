import type { Queryable, Transaction } from '../postgres/database.js';
import type { EntryChange } from './watched-entry.js';

const FIRST_BYTES = 256;
/** Most checks change nothing. */
const NOTHING = Buffer.alloc(0);
const COMMA = 0x2c;

/**
 * Changes of a folder's stored entries on their way into the database.
 *
 * They wait as text, not as objects. V8 watches which of the objects that a function makes stay alive; when those of
 * one batch do, it begins to make all of them in the old part of the heap, where only a full collection of garbage finds them.
 */
export class EntryChanges {
  readonly #gone = new ArrayText();
  readonly #keys = new ArrayText();
  readonly #knownSizes = new ArrayText();
  readonly #knownTimes = new ArrayText();
  readonly #seenSizes = new ArrayText();
  readonly #seenTimes = new ArrayText();
  readonly #seenSince = new ArrayText();
  readonly #columns = [
    ...[this.#gone, this.#keys, this.#knownSizes, this.#knownTimes],
    ...[this.#seenSizes, this.#seenTimes, this.#seenSince],
  ];

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
    this.#knownSizes.add(known?.size);
    this.#knownTimes.add(known?.modifiedMs);
    this.#seenSizes.add(seen?.size);
    this.#seenTimes.add(seen?.modifiedMs);
    this.#seenSince.add(seen?.sinceMs);
  }

  async write(tx: Transaction, folderId: string): Promise<void> {
    if (this.#gone.count > 0) await this.#delete(tx, folderId);
    if (this.#keys.count > 0) await this.#upsert(tx, folderId);
  }

  clear(): void {
    for (const column of this.#columns) column.clear();
  }

  async #upsert(sql: Queryable, folderId: string): Promise<void> {
    await sql`
      insert into watched_files (folder_id, entry_key, known_size, known_modified_ms, seen_size, seen_modified_ms,
        seen_since_ms)
      select ${folderId}::uuid, decode(key, 'hex'), a, b, c, d, e from unnest(
        ${this.#keys.text}::text::text[],
        ${this.#knownSizes.text}::text::bigint[], ${this.#knownTimes.text}::text::bigint[],
        ${this.#seenSizes.text}::text::bigint[], ${this.#seenTimes.text}::text::bigint[],
        ${this.#seenSince.text}::text::bigint[]) as t (key, a, b, c, d, e)
      on conflict (folder_id, entry_key) do update set known_size = excluded.known_size,
        known_modified_ms = excluded.known_modified_ms, seen_size = excluded.seen_size,
        seen_modified_ms = excluded.seen_modified_ms, seen_since_ms = excluded.seen_since_ms`;
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

  /** Of nothing but nulls it is empty: unnest fills up the shorter ones of its arrays. */
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
