/** The reasons of a check, as they are stored: one line for each entry, gzipped, with a bound for large folders. */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { CheckReason } from '../contract/watch-check.js';
import type { Decision } from './decide.js';
import type { Unlisted } from './diff.js';
import type { UnsureEntries } from './unsure.js';
import { nameOfKey } from '../base/entry-key.js';

export interface ExplainedEntry {
  readonly path: string;
  readonly reason: CheckReason;
  readonly size: number | undefined;
  /** The size at the check before, if the entry is growing. */
  readonly sizeBefore: number | undefined;
}

/**
 * The bound for reasons that the name or the stored entry show at any time. Beyond it, only their number is stored, and
 * WatchService.explain derives them again. All other reasons have the greater bound.
 */
const MAX_DERIVABLE = 10_000;
const MAX_OTHERS = 50_000;
const DERIVABLE: ReadonlySet<CheckReason> = new Set([
  'unchanged',
  'baseline',
  'pattern',
  'excluded',
  'temporary_name',
  'marker',
  'gone',
]);

export class ReasonLog {
  readonly #counts = new Map<CheckReason, number>();
  readonly #lines: string[] = [];
  #unreadable: ReadonlySet<string> = new Set();
  #derivable = 0;
  #others = 0;

  add(decision: Decision | Unlisted): void {
    const { reason, key } = decision;
    if (reason === 'unreadable' && this.#unreadable.has(nameOfKey(key).path)) return;
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
    if (DERIVABLE.has(reason) ? ++this.#derivable > MAX_DERIVABLE : ++this.#others > MAX_OTHERS) return;
    const { path } = nameOfKey(key);
    if (!('entry' in decision)) this.#lines.push(JSON.stringify([path, reason]));
    else if (decision.reason === 'growing') {
      this.#lines.push(JSON.stringify([path, reason, decision.entry.size, decision.stored?.seen?.size]));
    } else this.#lines.push(JSON.stringify([path, reason, decision.entry.size]));
  }

  /** Adds the unreadable entries of the listings. */
  addUnreadable({ shown, count }: UnsureEntries): void {
    if (count === 0) return;
    this.#unreadable = shown;
    this.#counts.set('unreadable', count);
    for (const path of shown) this.#lines.push(JSON.stringify([path, 'unreadable']));
  }

  get counts(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }

  async packed(): Promise<Buffer | undefined> {
    return this.#lines.length === 0 ? undefined : promisify(gzip)(Buffer.from(this.#lines.join('\n')), { level: 3 });
  }
}

export async function unpackReasons(packed: Buffer): Promise<readonly ExplainedEntry[]> {
  const text = (await promisify(gunzip)(packed)).toString();
  return text.split('\n').map((line) => {
    const [path, reason, size, sizeBefore] = JSON.parse(line) as [string, CheckReason, number?, number?];
    return { path, reason, size, sizeBefore };
  });
}
