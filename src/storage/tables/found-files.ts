import type { ErrorCode } from '../../base/errors.js';
import type { JobAction, JobFileState, JobFolder, NewJobFile } from './job.js';

/** What a listing found, to be written at once. */
export interface Findings {
  readonly files: FileColumns;
  readonly folders: readonly Omit<JobFolder, 'isBegun' | 'tries'>[];
  /** Folders listed to their end. */
  readonly listed: readonly Buffer[];
  /** Those of them that stay, empty or not. */
  readonly left: readonly Buffer[];
  /** Folders of whose files some are among these, and more will follow. */
  readonly begun: readonly Buffer[];
  /** Files that need nothing done to them, in folders listed to their end. */
  readonly unchanged: number;
}

/** Files as the columns of one statement. */
export interface FileColumns {
  /** Each one's as PostgreSQL writes bytes, between commas. */
  readonly paths: string;
  readonly sizes: string;
  readonly modifiedMs: string;
  readonly actions: readonly JobAction[];
  readonly phases: readonly number[];
  readonly states: readonly JobFileState[];
  readonly errorCodes: readonly (ErrorCode | null)[];
  readonly errorMessages: readonly (string | null)[];
  /** Some are to be done with the listing. */
  readonly haveWork: boolean;
}

/**
 * Gathers files for one statement as text, not as objects: a thousand of those outlive the quick collections while they wait
 * for the statement before, and a million fill the heap.
 */
export class FoundFiles {
  readonly #paths = new TextColumn();
  readonly #sizes = new TextColumn();
  readonly #modifiedMs = new TextColumn();
  #others = noOthers();
  #haveWork = false;

  get count(): number {
    return this.#others.actions.length;
  }

  add({ path, action, phase, size, modifiedMs, state, errorCode, errorMessage }: NewJobFile): void {
    this.#paths.add(`\\x${path.toString('hex')}`);
    this.#sizes.add(String(size));
    this.#modifiedMs.add(String(Math.trunc(modifiedMs)));
    const { actions, phases, states, errorCodes, errorMessages } = this.#others;
    actions.push(action);
    phases.push(phase);
    states.push(state ?? 'waiting');
    errorCodes.push(errorCode ?? null);
    errorMessages.push(errorMessage ?? null);
    this.#haveWork ||= state === undefined && phase === 1;
  }

  /** None is left here. */
  take(): FileColumns {
    const columns = {
      ...{ paths: this.#paths.take(), sizes: this.#sizes.take(), modifiedMs: this.#modifiedMs.take() },
      ...{ ...this.#others, haveWork: this.#haveWork },
    };
    this.#others = noOthers();
    this.#haveWork = false;
    return columns;
  }
}

/** Few different ones, but for the messages of the few files that have one. */
function noOthers(): {
  actions: JobAction[];
  phases: number[];
  states: JobFileState[];
  errorCodes: (ErrorCode | null)[];
  errorMessages: (string | null)[];
} {
  return { actions: [], phases: [], states: [], errorCodes: [], errorMessages: [] };
}

const FIRST_BYTES = 16 * 1024;
const COMMA = 0x2c;

/** ASCII without commas, in memory that serves again. */
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
