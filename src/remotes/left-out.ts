/** The entries that a listing leaves out: counted, bounded, logged, and compared with names that seem to be absent. */
import { GatewayError } from '../base/errors.js';
import type { LeftOut, ListOptions } from './remote.js';

const MOST = 100_000;
const MOST_LOGGED = 10;
const MOST_LOGGED_CHARACTERS = 200;

/** Reports what one listing of one folder leaves out, and logs it in one line at the end. */
export class LeftOuts {
  readonly #folder: string;
  readonly #report: ListOptions['leftOut'];
  #count = 0;
  readonly #logged: string[] = [];

  constructor(folder: string, report: ListOptions['leftOut']) {
    this.#folder = folder;
    this.#report = report;
  }

  /** @throws GatewayError protocol_error if the listing consists only of such entries */
  async add(what: LeftOut): Promise<void> {
    this.#count += 1;
    if (this.#count > MOST) {
      const text = `the server lists more than ${MOST} entries in ${this.#folder} that cannot be read or addressed; it was not read further`;
      throw new GatewayError('protocol_error', text, { step: 'transfer' });
    }
    // An operator cannot repair a link that leads nowhere.
    if (what.why !== 'link' && this.#logged.length < MOST_LOGGED) this.#logged.push(labelOf(what));
    await this.#report?.(what);
  }

  warn(warn: (message: string, facts: Record<string, unknown>) => void, facts: Record<string, unknown>): void {
    if (this.#logged.length === 0) return;
    const entries = this.#logged.map((label) => JSON.stringify(label.slice(0, MOST_LOGGED_CHARACTERS)));
    warn('a listing is incomplete', { ...facts, folder: this.#folder, count: this.#count, entries });
  }
}

/** Its name, or what the server sent instead of one. */
export const labelOf = ({ name, line }: LeftOut): string => name?.toString() ?? line ?? '';

/** The names of one folder that may exist although its listing does not show them. */
export class HiddenNames {
  readonly #names = new Set<string>();
  #mayBeAny = false;

  add({ name }: LeftOut): void {
    if (name === undefined) this.#mayBeAny = true;
    // `./keep.csv` may be keep.csv.
    else for (const part of name.toString('latin1').split('/')) this.#names.add(part);
  }

  has(name: Buffer): boolean {
    return this.#mayBeAny || this.#names.has(name.toString('latin1'));
  }

  /** The names that are known. */
  *names(): Generator<Buffer> {
    for (const name of this.#names) yield Buffer.from(name, 'latin1');
  }
}

/** Counts what a walk over several folders leaves out; a folder that is listed again is counted once. */
export class LeftOutCount {
  readonly #seen = new Set<string>();
  #count = 0;

  add(folder: string, what: LeftOut): void {
    const id = `${folder}/${labelOf(what)}`;
    if (this.#seen.has(id)) return;
    if (this.#seen.size < MOST_LOGGED * 1000) this.#seen.add(id);
    this.#count += 1;
  }

  get count(): number {
    return this.#count;
  }
}
