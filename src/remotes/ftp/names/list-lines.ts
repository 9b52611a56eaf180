/**
 * Parses lines of LIST, which are made for people: `ls -l` of Unix, the list of NetWare, and `dir` of DOS. A line is
 * read by its columns, from the left, and each column is bounded: no line takes longer than its length. Uncertain values
 * are undefined, and are asked for later.
 */
import { FileType, parseList } from 'basic-ftp';
import { ownerName } from '../../listing.js';
import type { Rights } from '../../remote.js';
import { parseListTime, unixTime, type ListTime } from './list-times.js';
import { monthNumberOf } from './months.js';

export interface ListedLine {
  readonly kind: 'file' | 'folder' | 'link' | 'unknown';
  /** As in the line; it may be a path. */
  readonly name: string;
  readonly size: number | undefined;
  readonly time: ListTime | undefined;
  /** The number of this version of the file, if the server keeps several. */
  readonly version?: number;
  readonly rights?: Rights;
}

/** The heading of `ls -l`, in the languages of months.ts. */
const HEADING =
  /^(?:total|totale|insgesamt|totalt|yhteensä|razem|celkem|итого|всего|总用量|総計|合計|합계)[: ]*\d+[KMG]?$/iu;

export const isHeading = (line: string): boolean => HEADING.test(line);

/** An inode or a number of blocks (`ls -is`), the type, the permissions, and a mark for access lists or SELinux. */
const MODE = /[ \t]*(?:\d+[ \t]+){0,2}[-a-zDPS?](?:[-r?][-w?][-xsStTLl?]){3}[.+@]?[ \t]*(?=[\d? \t])/y;
/** Columns after the mode: number of links, owner and group (which may contain blanks), size, date. */
const MOST_COLUMNS = 24;
const UNKNOWN_COLUMNS = 5;

/**
 * The columns of the line that is being read. One object serves all lines: a new one for each, or matches of an
 * expression, would be most of the garbage of a list.
 */
class Columns {
  readonly #starts = new Int32Array(MOST_COLUMNS);
  readonly #ends = new Int32Array(MOST_COLUMNS);
  #line = '';
  #count = 0;

  /** Finds the columns of another line, after `from`. */
  read(line: string, from: number): void {
    this.#line = line;
    let count = 0;
    for (let end = from; count < MOST_COLUMNS; count++) {
      let start = end;
      while (isBlank(line.charCodeAt(start))) start += 1;
      if (start === line.length) break;
      end = start;
      while (end < line.length && !isBlank(line.charCodeAt(end))) end += 1;
      this.#starts[count] = start;
      this.#ends[count] = end;
    }
    this.#count = count;
  }

  /** Empty if there is no such column. */
  text(at: number): string {
    return at < this.#count ? this.#line.slice(this.#starts[at], this.#ends[at]) : '';
  }

  /** The one blank after a column does not belong to the name; everything after it does. */
  nameBehind(at: number): string | undefined {
    const end = at < this.#count ? (this.#ends[at] ?? Infinity) : Infinity;
    return end + 1 < this.#line.length ? this.#line.slice(end + 1) : undefined;
  }
}

const columns = new Columns();

const [SPACE, TAB, ZERO, NINE] = [0x20, 0x09, 0x30, 0x39];

const isBlank = (code: number): boolean => code === SPACE || code === TAB;
const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

/** Undefined for a line in another format, as in all parsers of lines. `now`: the server's clock, as UTC. */
export function parseUnixLine(line: string, now: Date): ListedLine | undefined {
  MODE.lastIndex = 0;
  if (!MODE.test(line)) return undefined;
  columns.read(line, MODE.lastIndex);
  let typeAt = 0;
  while (isBlank(line.charCodeAt(typeAt)) || isDigit(line.charCodeAt(typeAt))) typeAt += 1;
  const type = line.charAt(typeAt);
  const found = datedName(type, now, SIZE_AT) ?? nameAlone();
  if (found === undefined) return undefined;
  const { size, time, sizeAt } = found;
  const kind = kindOf(type);
  const name = kind === 'link' ? withoutTarget(found.name) : found.name;
  return { kind, name, size, time, rights: rightsOf(line.slice(typeAt + 1, typeAt + 1 + LETTERS.length), sizeAt) };
}

const LETTERS = 'rwxrwxrwx';
/** The letters that mean the right to execute as well. */
const [SET_ID, STICKY] = ['s'.charCodeAt(0), 't'.charCodeAt(0)];
/** The bits of letters that mean more than the right to execute: at the end of each group of three. */
const SPECIAL = [
  [2, 0o4000],
  [5, 0o2000],
  [8, 0o1000],
] as const;

const LINKS = /^\d+$/;

/** Reads owner and group, which are between the number of links and the size. If a name has blanks, both are unknown. */
function rightsOf(letters: string, sizeAt = 0): Rights {
  const ownerAt = LINKS.test(columns.text(0)) ? 1 : 0;
  const names = sizeAt - ownerAt;
  return {
    mode: letters.includes('?') ? undefined : bitsOf(letters),
    owner: names === 1 || names === 2 ? ownerName(columns.text(ownerAt)) : undefined,
    group: names === 2 ? ownerName(columns.text(ownerAt + 1)) : undefined,
  };
}

function bitsOf(letters: string): number {
  let bits = 0;
  for (let at = 0; at < LETTERS.length; at++) {
    const letter = letters.charCodeAt(at);
    if (letter === LETTERS.charCodeAt(at) || letter === SET_ID || letter === STICKY) bits |= 0o400 >> at;
  }
  for (const [at, bit] of SPECIAL) if (!'x-'.includes(letters.charAt(at))) bits |= bit;
  return bits;
}

/** The type and the rights of a trustee: `- [RWCEAFMS] owner 1234 Nov 20 10:15  name`. */
const RIGHTS = /^([-d])[ \t]*\[[-A-Z]{1,16}\][ \t]+/;
/** After the owner, whose name may contain blanks. */
const NETWARE_SIZE_AT = [1, 2, 3, 4];

export function parseNetwareLine(line: string, now: Date): ListedLine | undefined {
  const [rights, type = ''] = RIGHTS.exec(line) ?? [];
  if (rights === undefined) return undefined;
  columns.read(line, rights.length);
  const found = datedName(type, now, NETWARE_SIZE_AT);
  // Several blanks precede the name, and no name of NetWare begins with one.
  const name = found?.name.replace(/^[ \t]+/, '') ?? '';
  if (found === undefined || name === '') return undefined;
  return { kind: kindOf(type), name, size: found.size, time: found.time };
}

/** The columns where the size may be: after links, owner and group; without the group; or after names with blanks. */
const SIZE_AT = [3, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 1];

type Found = Omit<ListedLine, 'kind'> & { readonly sizeAt?: number };

function datedName(type: string, now: Date, sizeAt: readonly number[]): Found | undefined {
  const isDevice = type === 'b' || type === 'c';
  // Tries known months at every place first; then any word, only at the usual places: it might be the name of a group.
  for (const isKnown of [true, false]) {
    for (const at of isKnown ? sizeAt : sizeAt.slice(0, 2)) {
      const size = columns.text(at);
      const date = isSizeLike(size) ? dateAt(at + 1, isKnown, now) : undefined;
      const name = date && columns.nameBehind(date.last);
      if (name === undefined) continue;
      return { name, size: isDevice ? 0 : sizeOf(size), time: date?.time, sizeAt: at };
    }
  }
  return undefined;
}

const TIME_OR_YEAR = /^(?:\d{1,2}:\d\d(?::\d\d)?|\d{4}[年년]?)$/u;
const YEAR = /^\d{4}$/;
const WITH_SECONDS = /:\d\d:/;
const ZONE = /^[+-]\d{4}$/;
const DAY = /^\d{1,2}[.日일]?$/u;
const WORD = /^(?:\p{L}[\p{L}\p{M}]{1,9}\.?|\d{1,2}[月월])$/u;
const NUMERIC = /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}$/;
const CLOCK = /^\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?$/;

interface FoundDate {
  readonly time: ListTime | undefined;
  /** The index of its last column. */
  readonly last: number;
}

/** `isKnown`: accepts only the name of a known month. */
function dateAt(at: number, isKnown: boolean, now: Date): FoundDate | undefined {
  const first = columns.text(at);
  const second = columns.text(at + 1);
  const third = columns.text(at + 2);
  if (NUMERIC.test(first)) {
    if (!CLOCK.test(second)) return undefined;
    // With seconds, `ls` also shows a zone, so the time is exact.
    return ZONE.test(third)
      ? { time: parseListTime(`${first} ${second} ${third}`, now), last: at + 2 }
      : { time: parseListTime(`${first} ${second}`, now), last: at + 1 };
  }
  if (!TIME_OR_YEAR.test(third)) return undefined;
  const isMonthFirst = WORD.test(first) && DAY.test(second);
  if (!isMonthFirst && !(DAY.test(first) && WORD.test(second))) return undefined;
  const month = monthNumberOf(isMonthFirst ? first : second);
  if (isKnown && month === undefined) return undefined;
  // `Nov 20 10:15:30 2024`
  const hasYear = WITH_SECONDS.test(third) && YEAR.test(columns.text(at + 3));
  const [clockOrYear, last] = hasYear ? [columns.text(at + 3), at + 3] : [third, at + 2];
  const day = isMonthFirst ? second : first;
  return { time: month === undefined ? undefined : unixTime(month, day, clockOrYear, now), last };
}

/** `-????????? ? ? ? ? ? name`: `ls` could not read the file's attributes. */
function nameAlone(): Found | undefined {
  for (let at = 0; at < UNKNOWN_COLUMNS; at++) if (columns.text(at) !== '?') return undefined;
  const name = columns.nameBehind(UNKNOWN_COLUMNS - 1);
  return name === undefined ? undefined : { name, size: undefined, time: undefined };
}

const SIZE = /^\d{1,16}$/;
const GROUPED_SIZE = /^\d{1,3}(?:([,.'\u00a0\u202f])\d{3})(?:\1\d{3})*$/;
/**
 * Matches also negative sizes, which a 32-bit counter shows for 2 GiB and more, and those of `ls -h`: the true sizes
 * differ.
 */
const SIZE_LIKE = /^(?:-?\d+(?:[,.]\d+)*[KMGTP]?B?|\?)$/i;

const isSizeLike = (text: string): boolean => SIZE_LIKE.test(text) || GROUPED_SIZE.test(text);

/** Undefined if the text does not give the exact number of bytes. */
function sizeOf(text: string): number | undefined {
  if (SIZE.test(text)) return Number(text);
  const digits = GROUPED_SIZE.test(text) ? text.replace(/\D/g, '') : '';
  return SIZE.test(digits) ? Number(digits) : undefined;
}

function kindOf(type: string): ListedLine['kind'] {
  if (type === 'd') return 'folder';
  if (type === 'l') return 'link';
  return '-fbcps'.includes(type) ? 'file' : 'unknown';
}

function withoutTarget(name: string): string {
  const end = name.indexOf(' -> ');
  return end < 1 ? name : name.slice(0, end);
}

/**
 * `11-20-24  10:15AM  <DIR>  name`, or a size of digits only: the form that basic-ftp reads reliably, unless the name
 * begins with a blank of another kind, such as the ideographic space.
 */
const PLAIN_DOS = /^\d{2}[-/.]\d{1,2}[-/.]\d{1,4}[ \t]+\d{1,2}:\d\d[AP]M[ \t]+(?:<DIR>|\d{1,15})[ \t]+\S/;
/** The same with other clocks, marks of links, and separators in the size. */
const DOS =
  /^[ \t]*(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})[ \t]+(\d{1,2}:\d\d(?::\d\d)?[ \t]?(?:[AP]M?)?)[ \t]+(?:<(DIR|JUNCTION|SYMLINKD?)>|([\d,.'\u00a0\u202f]+))[ \t]+([^ \t].*)$/i;
/** Another size or mark where the name should begin. */
const COLUMN_AGAIN = /^(?:[\d,.]+|<[A-Z]+>)[ \t]/i;
/** The target of a junction or a link. */
const TARGET = /^(.+?) \[(?:[a-z]:|\\|\.|\/).*\]$/i;
const ANY_TARGET = /^(.+) \[.*\]$/;

const isColumnAgain = (line: string, name: string): boolean =>
  COLUMN_AGAIN.test(name) && /[ \t]{2}$/.test(line.slice(0, line.length - name.length));

export function parseDosLine(line: string, now: Date): ListedLine | undefined {
  const [plain] = PLAIN_DOS.test(line) ? parseList(line) : [];
  if (plain !== undefined) {
    const { name, type, size, rawModifiedAt } = plain;
    if (isColumnAgain(line, name)) return undefined;
    const time = parseListTime(rawModifiedAt, now);
    return type === FileType.Directory
      ? { kind: 'folder', name, size: undefined, time }
      : { kind: 'file', name, size, time };
  }
  const [whole, date = '', clock = '', mark, size, text = ''] = DOS.exec(line) ?? [];
  if (whole === undefined) return undefined;
  if (isColumnAgain(line, text)) return undefined;
  const time = parseListTime(`${date} ${clock.replace(/[ \t]/g, '')}`, now);
  if (mark === undefined) return isSizeLike(size ?? '') ? dosFile(text, size ?? '', time) : undefined;
  if (mark.toUpperCase() === 'DIR') return { kind: 'folder', name: text, size: undefined, time };
  const name = text.endsWith(']') ? (TARGET.exec(text)?.[1] ?? ANY_TARGET.exec(text)?.[1] ?? text) : text;
  return { kind: 'link', name, size: undefined, time };
}

const dosFile = (name: string, size: string, time: ListTime | undefined): ListedLine => ({
  kind: 'file',
  name,
  size: sizeOf(size),
  time,
});
