/**
 * Parses lines of LIST, which are made for people: `ls -l` of Unix, the list of NetWare, and `dir` of DOS. A line is
 * read by its columns, from the left, and each column is bounded: no line takes longer than its length. Uncertain values
 * are undefined, and are asked for later.
 */
import { FileType, parseList } from 'basic-ftp';
import { ownerName } from '../../listing.js';
import type { Rights } from '../../remote.js';
import { parseListTime, type ListTime } from './list-times.js';
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
const MODE = /^[ \t]*(?:\d+[ \t]+){0,2}([-a-zDPS?])((?:[-r?][-w?][-xsStTLl?]){3})[.+@]?[ \t]*(?=[\d? \t])/;
/** Columns after the mode: number of links, owner and group (which may contain blanks), size, date. */
const MOST_COLUMNS = 24;
const UNKNOWN_COLUMNS = 5;

interface Column {
  readonly text: string;
  /** Index in the line just after the column. */
  readonly end: number;
}

/** Undefined for a line in another format, as in all parsers of lines. `now`: the server's clock, as UTC. */
export function parseUnixLine(line: string, now: Date): ListedLine | undefined {
  const [mode, type = '', letters = ''] = MODE.exec(line) ?? [];
  if (mode === undefined) return undefined;
  const columns = columnsOf(line, mode.length);
  const found = datedName(line, columns, type, now, SIZE_AT) ?? nameAlone(line, columns);
  if (found === undefined) return undefined;
  const { size, time, sizeAt } = found;
  const kind = kindOf(type);
  const name = kind === 'link' ? withoutTarget(found.name) : found.name;
  return { kind, name, size, time, rights: rightsOf(letters, columns, sizeAt) };
}

const LETTERS = 'rwxrwxrwx';
/** The bits of letters that mean more than the right to execute: at the end of each group of three. */
const SPECIAL = [
  [2, 0o4000],
  [5, 0o2000],
  [8, 0o1000],
] as const;

const LINKS = /^\d+$/;

/** Reads owner and group, which are between the number of links and the size. If a name has blanks, both are unknown. */
function rightsOf(letters: string, columns: readonly Column[], sizeAt = 0): Rights {
  const ownerAt = LINKS.test(columns[0]?.text ?? '') ? 1 : 0;
  const names = sizeAt - ownerAt;
  return {
    mode: letters.includes('?') ? undefined : bitsOf(letters),
    owner: names === 1 || names === 2 ? ownerName(columns[ownerAt]?.text ?? '') : undefined,
    group: names === 2 ? ownerName(columns[ownerAt + 1]?.text ?? '') : undefined,
  };
}

function bitsOf(letters: string): number {
  let bits = 0;
  for (let at = 0; at < LETTERS.length; at++) {
    const letter = letters[at] ?? '-';
    if (letter === LETTERS[at] || letter === 's' || letter === 't') bits |= 1 << (LETTERS.length - 1 - at);
  }
  for (const [at, bit] of SPECIAL) if (!'x-'.includes(letters[at] ?? '-')) bits |= bit;
  return bits;
}

/** The type and the rights of a trustee: `- [RWCEAFMS] owner 1234 Nov 20 10:15  name`. */
const RIGHTS = /^([-d])[ \t]*\[[-A-Z]{1,16}\][ \t]+/;
/** After the owner, whose name may contain blanks. */
const NETWARE_SIZE_AT = [1, 2, 3, 4];

export function parseNetwareLine(line: string, now: Date): ListedLine | undefined {
  const [rights, type = ''] = RIGHTS.exec(line) ?? [];
  if (rights === undefined) return undefined;
  const found = datedName(line, columnsOf(line, rights.length), type, now, NETWARE_SIZE_AT);
  // Several blanks precede the name, and no name of NetWare begins with one.
  const name = found?.name.replace(/^[ \t]+/, '') ?? '';
  if (found === undefined || name === '') return undefined;
  return { kind: kindOf(type), name, size: found.size, time: found.time };
}

/** By characters: matches of an expression would be most of the garbage of a list. */
function columnsOf(line: string, from: number): Column[] {
  const columns: Column[] = [];
  for (let end = from; columns.length < MOST_COLUMNS;) {
    let start = end;
    while (isBlank(line, start)) start += 1;
    if (start === line.length) break;
    end = start;
    while (end < line.length && !isBlank(line, end)) end += 1;
    columns.push({ text: line.slice(start, end), end });
  }
  return columns;
}

const [SPACE, TAB] = [0x20, 0x09];

function isBlank(line: string, at: number): boolean {
  const code = line.charCodeAt(at);
  return code === SPACE || code === TAB;
}

/** The columns where the size may be: after links, owner and group; without the group; or after names with blanks. */
const SIZE_AT = [3, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 1];

type Found = Omit<ListedLine, 'kind'> & { readonly sizeAt?: number };

function datedName(
  line: string,
  columns: readonly Column[],
  type: string,
  now: Date,
  sizeAt: readonly number[],
): Found | undefined {
  const isDevice = type === 'b' || type === 'c';
  // Tries known months at every place first; then any word, only at the usual places: it might be the name of a group.
  for (const isKnown of [true, false]) {
    for (const at of isKnown ? sizeAt : sizeAt.slice(0, 2)) {
      const date = dateAt(columns, at + 1, isKnown);
      const size = columns[at]?.text;
      if (date === undefined || size === undefined || !isSizeLike(size)) continue;
      const name = nameBehind(line, columns[date.last]);
      if (name === undefined) continue;
      return { name, size: isDevice ? 0 : sizeOf(size), time: parseListTime(date.text, now), sizeAt: at };
    }
  }
  return undefined;
}

const TIME_OR_YEAR = /^(?:\d{1,2}:\d\d(?::\d\d)?|\d{4}[年년]?)$/u;
const YEAR = /^\d{4}$/;
const ZONE = /^[+-]\d{4}$/;
const DAY = /^\d{1,2}[.日일]?$/u;
const WORD = /^(?:\p{L}[\p{L}\p{M}]{1,9}\.?|\d{1,2}[月월])$/u;
const NUMERIC = /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}$/;
const CLOCK = /^\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?$/;

interface FoundDate {
  readonly text: string;
  /** The index of its last column. */
  readonly last: number;
}

/** `isKnown`: accepts only the name of a known month. */
function dateAt(columns: readonly Column[], at: number, isKnown: boolean): FoundDate | undefined {
  const first = columns[at]?.text ?? '';
  const second = columns[at + 1]?.text ?? '';
  const third = columns[at + 2]?.text ?? '';
  if (NUMERIC.test(first)) {
    if (!CLOCK.test(second)) return undefined;
    // With seconds, `ls` also shows a zone, so the time is exact.
    return ZONE.test(third)
      ? { text: `${first} ${second} ${third}`, last: at + 2 }
      : { text: `${first} ${second}`, last: at + 1 };
  }
  if (!TIME_OR_YEAR.test(third)) return undefined;
  const isMonthFirst = WORD.test(first) && DAY.test(second);
  if (!isMonthFirst && !(DAY.test(first) && WORD.test(second))) return undefined;
  const text = `${first} ${second} ${third}`;
  if (isKnown && monthNumberOf(isMonthFirst ? first : second) === undefined) return undefined;
  // `Nov 20 10:15:30 2024`
  const year = columns[at + 3]?.text ?? '';
  if (/:\d\d:/.test(third) && YEAR.test(year)) return { text: `${first} ${second} ${year}`, last: at + 3 };
  return { text, last: at + 2 };
}

/** The one blank after the last column does not belong to the name; everything after it does. */
function nameBehind(line: string, column: Column | undefined): string | undefined {
  const name = column === undefined ? '' : line.slice(column.end + 1);
  return name === '' ? undefined : name;
}

/** `-????????? ? ? ? ? ? name`: `ls` could not read the file's attributes. */
function nameAlone(line: string, columns: readonly Column[]): Found | undefined {
  const unknown = columns.slice(0, UNKNOWN_COLUMNS);
  if (unknown.length < UNKNOWN_COLUMNS || !unknown.every(({ text }) => text === '?')) return undefined;
  const name = nameBehind(line, unknown.at(-1));
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
  const digits = GROUPED_SIZE.test(text) ? text.replace(/\D/g, '') : text;
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
