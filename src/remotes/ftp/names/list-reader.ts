import type { NameEncoding } from '../../../base/encoding.js';
import { parseListLine, unreadableEntry, type FtpEntry } from './entries.js';
import { isVmsName, isVmsSum } from './host-lists.js';
import { announcedBy, type Layout, type ListFormat } from './list-formats.js';

/**
 * Reads the lines of one listing. Each line is an entry, a part of one, a heading or a sum; any other line is an
 * unreadable entry, so that none is dropped.
 */
export class ListReader {
  readonly #format: ListFormat;
  readonly #now: Date;
  readonly #encoding: NameEncoding;
  #layout: Layout;
  #isFirst = true;
  #understood = 0;
  #firstUnread: Buffer | undefined;
  /** A name whose size and date are in the next line. */
  #wrapped: Buffer | undefined;
  #last: FtpEntry | undefined;

  /** `now`: the server's clock, as UTC. */
  constructor(format: ListFormat, now: Date, encoding: NameEncoding) {
    this.#format = format;
    this.#encoding = encoding;
    this.#now = now;
    this.#layout = format;
  }

  /** A line of a listing in which no line was understood. */
  get unknown(): string | undefined {
    if (this.#understood > 0 || this.#firstUnread === undefined) return undefined;
    return this.#encoding.decode(this.#firstUnread).toWellFormed();
  }

  read(line: Buffer, into: FtpEntry[]): void {
    const wrapped = this.#wrapped;
    this.#wrapped = undefined;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (wrapped !== undefined) {
      const whole = this.#parse(Buffer.concat([wrapped, BLANK, line]));
      if (whole !== undefined && BLANKS.includes(line[0])) return this.#take(whole, into);
      this.#leaveOut(wrapped, into);
    }
    const entry = this.#parse(line);
    if (entry !== undefined) return this.#take(entry, into);
    const text = this.#encoding.decode(line);
    const announced = isFirst ? announcedBy(text, this.#format) : undefined;
    const isVms = this.#layout === 'vms';
    if (announced !== undefined) this.#layout = announced;
    else if ((isVms || this.#layout === 'auto') && isVmsName(text)) this.#wrapped = line;
    else if (!isVms || !isVmsSum(text)) this.#leaveOut(line, into);
  }

  end(into: FtpEntry[]): void {
    if (this.#wrapped !== undefined) this.#leaveOut(this.#wrapped, into);
  }

  #parse(line: Buffer): FtpEntry | undefined {
    return parseListLine(line, this.#now, this.#layout, this.#encoding);
  }

  #take(entry: FtpEntry, into: FtpEntry[]): void {
    this.#understood++;
    const { version } = entry;
    const last = this.#last;
    this.#last = entry;
    if (version === undefined) return void into.push(entry);
    this.#layout = 'vms';
    // Older versions follow the newest one, and a name without a version means the newest one.
    const isOlder =
      last?.name === entry.name &&
      last.rawName === entry.rawName &&
      last.kind === entry.kind &&
      version < (last.version ?? 0);
    if (!isOlder) into.push(entry);
  }

  #leaveOut(line: Buffer, into: FtpEntry[]): void {
    this.#firstUnread ??= line;
    into.push(unreadableEntry(line, this.#encoding));
  }
}

const BLANK = Buffer.from(' ');
const BLANKS: readonly (number | undefined)[] = [0x20, 0x09];
