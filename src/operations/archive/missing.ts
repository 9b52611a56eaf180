/** Entries that an archive lacks although its folders contain them: listed in a last file of the archive. */
import type { ZipEntry } from './zip.js';

export const MISSING_NAME = '_missing.txt';

const HEADER = 'These are in the folders of this archive, and could not be put into it:\n\n';
/** Limit of the lines; for what does not fit, one line says that there is more. */
const MOST_BYTES = 64 * 1024;

export class Missing {
  readonly #lines = new Set<string>();
  #bytes = 0;
  #hasMore = false;

  /** `folder`: in the archive, with a slash at its end. A repeated entry is listed once. */
  add(folder: string, name: string, why: string): void {
    // As JSON, so that any name fits into one line.
    const line = `${JSON.stringify(folder + name)}: ${why}\n`;
    if (this.#lines.has(line)) return;
    this.#hasMore ||= this.#bytes + line.length > MOST_BYTES;
    if (this.#hasMore) return;
    this.#lines.add(line);
    this.#bytes += line.length;
  }

  /** Call after everything else. */
  *entries(name: string): Generator<ZipEntry> {
    if (this.#lines.size === 0 && !this.#hasMore) return;
    const content = Buffer.from(HEADER + [...this.#lines].join('') + (this.#hasMore ? 'and more\n' : ''));
    yield {
      name,
      modifiedAt: new Date(),
      open: () => Promise.resolve({ reportedSize: content.length, chunks: once(content) }),
    };
  }
}

async function* once(content: Buffer): AsyncGenerator<Buffer, void> {
  yield await Promise.resolve(content);
}
