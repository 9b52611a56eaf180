/**
 * Parses lines of LIST as other systems write them: IBM i, OpenVMS, z/OS, and EPLF (D. J. Bernstein's format for
 * programs). Names are as the server takes them.
 */
import type { ListedLine } from './list-lines.js';
import { monthNumberOf } from './months.js';
import { exactTime, parseListTime, type ListTime } from './list-times.js';
import { DAY_MS, SECOND_MS } from '../../../contract/units.js';

/** `OWNER 1234 20/11/24 10:15:30 *STMF name`; members of a file have no size and no time. */
const IBM_I =
  /^([A-Z0-9#@$_]{1,10})[ \t]+(?:(\d{1,15})[ \t]+(\d{2}([-/.,])\d{2}\4\d{2}[ \t]+\d{2}[:.,]\d{2}[:.,]\d{2})[ \t]+)?(\*[A-Z0-9]{2,10})[ \t]+([^ \t].*)$/;
const IBM_I_FOLDERS: ReadonlySet<string> = new Set(['*DIR', '*DDIR', '*LIB', '*FLR']);
const IBM_I_FILES: ReadonlySet<string> = new Set(['*STMF', '*DSTMF', '*MEM', '*DOC']);

export function parseIbmiLine(line: string, now: Date): ListedLine | undefined {
  const [whole, , size, date, , type = '', name = ''] = IBM_I.exec(line) ?? [];
  if (whole === undefined) return undefined;
  const kind = ibmiKind(type, name);
  return {
    kind,
    name,
    size: kind === 'file' && size !== undefined ? Number(size) : undefined,
    time: date === undefined ? undefined : ibmiTime(date, now),
  };
}

/** A database file is a folder of members, and other objects are no files: only their names are certain. */
function ibmiKind(type: string, name: string): ListedLine['kind'] {
  if (IBM_I_FOLDERS.has(type) || name.endsWith('/')) return 'folder';
  if (IBM_I_FILES.has(type) || (type === '*FILE' && /\.SAVF$/i.test(name))) return 'file';
  return type === '*SYMLNK' ? 'link' : 'unknown';
}

const FIRST_IBM_I = 1988;

/**
 * The job of the server decides the order of day, month and year, and writes none: the time is known if only one order
 * gives a day that is past.
 */
function ibmiTime(text: string, now: Date): ListTime | undefined {
  const [a = '', b = '', c = '', clock = ''] = text.split(/[-/., \t:]+/);
  const time = text.slice(-8).replace(/[.,]/g, ':');
  const found = new Map<number, ListTime>();
  for (const [year, month, day] of [
    [a, b, c],
    [c, a, b],
    [c, b, a],
  ]) {
    const full = Number(year) < FIRST_IBM_I - 1900 ? `20${year}` : `19${year}`;
    const one = clock === '' ? undefined : parseListTime(`${full}-${month}-${day} ${time}`, now);
    const ms = one?.ms ?? NaN;
    if (one !== undefined && ms <= now.getTime() + DAY_MS) found.set(ms, one);
  }
  return found.size === 1 ? [...found.values()][0] : undefined;
}

/** Name and version, then size in blocks, date, owner and protection; or the reason why they are not shown. */
const VMS =
  /^([^ \t]+);(\d{1,5})[ \t]+(?:(?:\d{1,10}(?:\/\d{1,10})?[ \t]+)?(\d{1,2})-([A-Z]{3})-(\d{4})[ \t]+(\d{1,2}:\d\d)(?::\d\d(?:\.\d{1,3})?)?(?=[ \t]|$)|%[A-Z]+-[A-Z]-[A-Z]+,)/i;

/** Blocks are not bytes, so the size is unknown. The name without its version is the newest one. */
export function parseVmsLine(line: string, now: Date): ListedLine | undefined {
  const [whole, full = '', version, day, month = '', year, clock] = VMS.exec(line) ?? [];
  if (whole === undefined) return undefined;
  const isFolder = /.\.DIR$/i.test(full);
  return {
    kind: isFolder ? 'folder' : 'file',
    name: isFolder ? full.slice(0, -4) : full,
    size: undefined,
    time: parseListTime(`${year}-${(monthNumberOf(month) ?? NaN) + 1}-${day} ${clock}`, now),
    version: Number(version),
  };
}

/** A long name is alone in its line, and the rest follows in the next one. */
export const isVmsName = (line: string): boolean => /^[^ \t]+;\d{1,5}[ \t]*$/.test(line);

/** `Directory DKA0:[USER]`, and `%DIRECT-W-NOFILES, no files found`. */
export const isVmsHeading = (line: string): boolean =>
  /^(?:Directory[ \t]+)?[\w$-]{1,64}:\[[^\]]{0,255}\][ \t]*$/i.test(line) || /^%[A-Z]+-W-NOFILES,/.test(line);

export const isVmsSum = (line: string): boolean => /^(?:Grand )?total of \d{1,9} files?\b/i.test(line);

/** Volume, unit, last use, extents, tracks, record format, record and block length, organization, name. */
const DATA_SET =
  /^ ?[^ ]{1,6} +[^ ]{1,8} +(?:\d{4}\/\d\d\/\d\d|\*\*NONE\*\*) +[\d?]{1,10} +[\d?]{1,10} +[A-Z?]{1,4} +[\d?]{1,6} +[\d?]{1,6} +([A-Z]{2}(?:-[A-Z])?) +([^ ]+)$/;
/** Data sets whose label was not read, or that have no records. */
const OTHER_SET =
  /^(?:[^ ]{1,10} +){0,5}(Migrated|Pseudo Directory|GDG|Tape|VSAM|Not Mounted|Not Direct Access Device|User catalog connector|Error determining attributes) +([^ ]+)$/i;

/** A partitioned data set is a folder of members. Its size is in tracks, and its date is that of the last use. */
export function parseDataSet(line: string): ListedLine | undefined {
  const [, organization = '', name] = DATA_SET.exec(line) ?? [];
  const rest = { size: undefined, time: undefined };
  if (name !== undefined) {
    const kind = organization.startsWith('PO') ? 'folder' : organization === 'PS' ? 'file' : 'unknown';
    return { kind, name, ...rest };
  }
  const [, what = '', other] = OTHER_SET.exec(line) ?? [];
  if (other === undefined) return undefined;
  return { kind: /^pseudo/i.test(what) ? 'folder' : 'unknown', name: other, ...rest };
}

/** Name, version, day made, time changed, three counts of records, user; or only the name. */
const MEMBER =
  /^ ?([A-Z@#$][A-Z0-9@#$]{0,7})(?: +\d\d\.\d\d +\d{4}\/\d\d\/\d\d +(\d{4}\/\d\d\/\d\d +\d\d:\d\d)(?::\d\d)? +\d+ +\d+ +\d+ +[^ ]+)? *$/;

export function parseMember(line: string, now: Date): ListedLine | undefined {
  const [, name, changed] = MEMBER.exec(line) ?? [];
  if (name === undefined) return undefined;
  return { kind: 'file', name, size: undefined, time: changed === undefined ? undefined : parseListTime(changed, now) };
}

/** A load module: name, length and place on the disk, in hexadecimal digits, and attributes. */
const MODULE = /^ ?([A-Z@#$][A-Z0-9@#$]{0,7}) +[0-9A-F]{6,8} +[0-9A-F]{6}(?: |$)/;

export function parseModule(line: string): ListedLine | undefined {
  const name = MODULE.exec(line)?.[1];
  return name === undefined ? undefined : { kind: 'file', name, size: undefined, time: undefined };
}

/** `+r,s1234,m1700000000,` and a tab before the name (https://cr.yp.to/ftp/list/eplf.html). Unknown facts are ignored. */
export function parseEplfLine(line: string): ListedLine | undefined {
  const tab = line.indexOf('\t');
  const name = line.slice(tab + 1);
  if (!line.startsWith('+') || tab < 0 || name === '') return undefined;
  let kind: ListedLine['kind'] = 'unknown';
  let size: number | undefined;
  let time: ListTime | undefined;
  for (const fact of line.slice(1, tab).split(',')) {
    if (fact === '/') kind = 'folder';
    else if (fact === 'r' && kind !== 'folder') kind = 'file';
    else if (/^s\d{1,16}$/.test(fact)) size = Number(fact.slice(1));
    else if (/^m\d{1,12}$/.test(fact)) time = exactTime(Number(fact.slice(1)) * SECOND_MS);
  }
  return { kind, name, size, time };
}
