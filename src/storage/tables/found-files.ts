import type { ErrorCode } from '../../base/errors.js';
import type { JobFileState } from '../../contract/job.js';
import type { JobFolder, NewJobFile } from './job.js';

/** The findings of a listing, written in one transaction. */
export interface ListingFindings {
  readonly files: FileColumns;
  readonly folders: readonly Omit<JobFolder, 'isBegun' | 'tries'>[];
  /** Completely listed folders. */
  readonly listed: readonly Buffer[];
  /** Those of them that are kept, empty or not. */
  readonly left: readonly Buffer[];
  /** Folders with some of their files among these, and more to come. */
  readonly begun: readonly Buffer[];
  /** Files without work, in completely listed folders. */
  readonly unchanged: number;
}

/** The columns that are collected as texts, and their types in the table. */
export const TEXT_COLUMNS = {
  path: 'bytea',
  action: 'text',
  phase: 'smallint',
  state: 'text',
  size: 'bigint',
  modifiedMs: 'bigint',
} as const;
type TextColumnName = keyof typeof TEXT_COLUMNS;
const NAMES = Object.keys(TEXT_COLUMNS) as TextColumnName[];

const each = <T>(of: (name: TextColumnName) => T) =>
  Object.fromEntries(NAMES.map((name) => [name, of(name)])) as Record<TextColumnName, T>;

/** Files as columns for one statement, each a text of values separated by commas. */
interface FileColumns {
  readonly count: number;
  /** Empty after they are written. */
  readonly texts: Record<TextColumnName, string>;
  /** Up to the last file with an error: few have one. */
  readonly errorCodes: readonly (ErrorCode | null)[];
  readonly errorMessages: readonly (string | null)[];
  /** Some files have work in the phase of the listing. */
  readonly haveWork: boolean;
}

/** Empties the texts after they are written. */
export function forgetTexts({ texts }: FileColumns): void {
  for (const name of NAMES) texts[name] = '';
}

/**
 * Collects files for one statement as text, not as objects: a thousand objects would outlive the quick garbage
 * collections while they wait for the previous statement, and a million would fill the heap.
 */
export class FoundFiles {
  readonly #columns = each(() => new TextColumn());
  /** Key: the file's number. */
  readonly #errors = new Map<number, Pick<NewJobFile, 'errorCode' | 'errorMessage'>>();
  #count = 0;
  #haveWork = false;

  get count(): number {
    return this.#count;
  }

  add({ path, action, phase, size, modifiedMs, state, errorCode, errorMessage }: NewJobFile): void {
    const columns = this.#columns;
    // PostgreSQL's text form of bytes.
    columns.path.add(`\\x${path.toString('hex')}`);
    columns.size.add(String(size));
    columns.modifiedMs.add(String(Math.trunc(modifiedMs)));
    columns.action.add(action);
    columns.phase.add(String(phase));
    columns.state.add(state ?? ('waiting' satisfies JobFileState));
    if (errorCode !== undefined || errorMessage !== undefined)
      this.#errors.set(this.#count, { errorCode, errorMessage });
    this.#count += 1;
    this.#haveWork ||= state === undefined && phase === 1;
  }

  /** Empties this collection. */
  take(): FileColumns {
    const last = Math.max(-1, ...this.#errors.keys());
    const errors = Array.from({ length: last + 1 }, (_, number) => this.#errors.get(number));
    const columns = {
      count: this.#count,
      texts: each((name) => this.#columns[name].take()),
      errorCodes: errors.map((error) => error?.errorCode ?? null),
      errorMessages: errors.map((error) => error?.errorMessage ?? null),
      haveWork: this.#haveWork,
    };
    this.#errors.clear();
    this.#count = 0;
    this.#haveWork = false;
    return columns;
  }
}

const FIRST_BYTES = 16 * 1024;
const COMMA = 0x2c;

/** ASCII without commas, in a buffer that is reused. */
class TextColumn {
  #text = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #bytes = 0;

  add(value: string): void {
    const wanted = this.#bytes + value.length + 1;
    if (wanted > this.#text.length) {
      const larger = Buffer.allocUnsafeSlow(2 * wanted);
      this.#text.copy(larger, 0, 0, this.#bytes);
      this.#text = larger;
    }
    if (this.#bytes > 0) this.#text[this.#bytes++] = COMMA;
    this.#bytes += this.#text.write(value, this.#bytes, 'latin1');
  }

  take(): string {
    const text = this.#text.toString('latin1', 0, this.#bytes);
    this.#bytes = 0;
    return text;
  }
}
