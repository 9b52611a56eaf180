/** Parses one level of a folder, line by line, as the server lists it: MLSD, or LIST (list-formats.ts). */
import type { NameEncoding } from '../../../base/encoding.js';
import { modeBits, rightsIn } from '../../../base/file-mode.js';
import { listedName } from '../../encoded-names.js';
import { ownerName } from '../../listing.js';
import type { Rights } from '../../remote.js';
import { SECOND_MS } from '../../../contract/units.js';
import { parseListedLine, type Layout } from './list-formats.js';
import type { ListTime } from './list-times.js';

export interface FtpEntry {
  /** The name, or the shortened line if the entry is unreadable. */
  readonly name: string;
  /** The base64 bytes of a name that is no text in the encoding of the connection. */
  readonly rawName: string | undefined;
  /** `self`: the folder or its parent. `unknown`: only its name could be read. `unreadable`: not even that. */
  readonly kind: 'file' | 'folder' | 'link' | 'self' | 'unknown' | 'unreadable';
  readonly size: number | undefined;
  /** Changed when the zone of the server is known. */
  time: ListTime | undefined;
  /** The number of this version of the file, if the server keeps several. */
  readonly version?: number;
  readonly rights?: Rights | undefined;
}

const SELF: FtpEntry = { name: '.', rawName: undefined, kind: 'self', size: undefined, time: undefined };

const MAX_SHOWN = 300;

/** Returns the entry with its own name, if the server lists it by its path. `folder`: its path on the server. */
export function byOwnName(entry: FtpEntry, folder: string, encoding: NameEncoding): FtpEntry {
  const { name, kind, rawName } = entry;
  if (!name.includes('/') || kind === 'unreadable') return entry;
  // `ls -p` marks folders this way.
  const path = kind === 'folder' && name.endsWith('/') ? name.slice(0, -1) : name;
  const slash = path.lastIndexOf('/');
  if (slash >= 0 && !isHere(path.slice(0, slash), folder)) return entry;
  if (rawName === undefined) return { ...entry, name: path.slice(slash + 1) };
  const raw = Buffer.from(rawName, 'base64');
  const own = raw.subarray(raw.lastIndexOf(SLASH, raw.at(-1) === SLASH ? -2 : -1) + 1);
  return { ...entry, ...listedName(encoding, encoding.decode(own).replace(/\/$/, '')) };
}

const SLASH = 0x2f;

function isHere(parent: string, folder: string): boolean {
  if (parent === '.' || parent === folder) return true;
  if (parent === '') return folder === '/';
  return !parent.startsWith('/') && !parent.startsWith('.') && folder.endsWith(`/${parent}`);
}

export function unreadableEntry(line: Buffer, encoding: NameEncoding): FtpEntry {
  const name = encoding.decode(line.subarray(0, MAX_SHOWN)).toWellFormed();
  return { name, rawName: undefined, kind: 'unreadable', size: undefined, time: undefined };
}

/** Undefined for a line in another format. */
export function parseMachineLine(line: Buffer, encoding: NameEncoding): FtpEntry | undefined {
  // MLST's answer begins with a space, and some servers send it in MLSD as well.
  const text = encoding.decode(line);
  const facts = parseFacts(text.startsWith(' ') ? text.slice(1) : text);
  if (facts === undefined) return undefined;
  const kind = facts.name === '.' || facts.name === '..' ? 'self' : facts.type;
  const time = facts.modifiedMs === undefined ? undefined : { ms: facts.modifiedMs, resolutionMs: SECOND_MS };
  const { name, rawName } = listedName(encoding, facts.name);
  return { name, rawName, kind, size: facts.size, time, rights: facts.rights };
}

/** Undefined for a line in another format. `now`: the server's clock, as UTC. */
export function parseListLine(line: Buffer, now: Date, layout: Layout, encoding: NameEncoding): FtpEntry | undefined {
  const listed = parseListedLine(encoding.decode(line), now, layout);
  if (listed === undefined) return undefined;
  if (listed.name === '.' || listed.name === '..') return SELF;
  const { name, rawName } = listedName(encoding, listed.name);
  const { kind, size, time, version, rights } = listed;
  const entry = { name, rawName, kind, size, time, rights };
  return version === undefined ? entry : { ...entry, version };
}

/**
 * The facts in the machine-readable lines of MLST and MLSD: `type=file;size=3;modify=20260102030405; name` (RFC 3659,
 * 7.2).
 */

interface Facts {
  readonly type: 'file' | 'folder' | 'link' | 'self' | 'unknown';
  readonly size: number | undefined;
  /** UTC. */
  readonly modifiedMs: number | undefined;
  readonly name: string;
  readonly rights: Rights;
}

/** Undefined for a line in another format. */
export function parseFacts(line: string): Facts | undefined {
  const nameAt = endOfFacts(line) + 1;
  if (nameAt < 2 || nameAt >= line.length) return undefined;
  const [packed, name] = [line.slice(0, nameAt - 1), line.slice(nameAt)];
  let type: Facts['type'] | undefined;
  let size: number | undefined;
  let modifiedMs: number | undefined;
  let isOpenToAll = false;
  let mode: number | undefined;
  let owner: string | undefined;
  let group: string | undefined;
  let permits = '';
  for (const fact of packed.split(';')) {
    const equals = fact.indexOf('=');
    const value = fact.slice(equals + 1);
    switch (fact.slice(0, Math.max(equals, 0)).toLowerCase()) {
      case 'type':
        type = typeOf(value.toLowerCase());
        break;
      case 'size':
        if (/^\d{1,16}$/.test(value)) size = Number(value);
        break;
      case 'modify':
        modifiedMs = timeValueMs(value);
        break;
      case 'unix.mode':
        isOpenToAll = value === '0777';
        if (MODE.test(value)) mode = rightsIn(modeBits(value));
        break;
      // ProFTPD adds the names to the numbers, in any order.
      case 'unix.ownername':
        owner = ownerName(value) ?? owner;
        break;
      case 'unix.owner':
        owner ??= ownerName(value);
        break;
      case 'unix.groupname':
        group = ownerName(value) ?? group;
        break;
      case 'unix.group':
        group ??= ownerName(value);
        break;
      case 'perm':
        permits = value.toLowerCase();
        break;
      default:
    }
  }
  // ProFTPD lists a link to a file as a file, with the size of the link; only its mode reveals it. With `ShowSymlinks
  // off` a link to a folder is listed as a folder that permits what may be done to a file (RFC 3659, 7.5.5).
  const isLink = type === 'file' ? isOpenToAll : type === 'folder' && isOfAFile(permits);
  return { type: isLink ? 'link' : (type ?? 'unknown'), size, modifiedMs, name, rights: { mode, owner, group } };
}

const MODE = /^[0-7]{3,6}$/;

const FACT = /([^=; ]+)=([^; ]*)/y;
const LINK_TARGET = /[^;]*/y;

/**
 * The index of the blank between facts and name, or 0 if there is none. Some servers write no semicolon after the last
 * fact.
 */
function endOfFacts(line: string): number {
  for (let at = 0; ;) {
    FACT.lastIndex = at;
    const [whole, name = '', value = ''] = FACT.exec(line) ?? [];
    // The facts end with `;` and a blank; otherwise the line has another format.
    if (whole === undefined) return line[at] === ' ' ? at : 0;
    at += whole.length;
    // A link's target may contain blanks.
    if (line[at] === ' ' && name.toLowerCase() === 'type' && /^os\./i.test(value)) {
      LINK_TARGET.lastIndex = at;
      const rest = LINK_TARGET.exec(line)?.[0] ?? '';
      if (line[at + rest.length] === ';') at += rest.length;
    }
    if (line[at] === ';') at += 1;
    else return line[at] === ' ' ? at : 0;
  }
}

const isOfAFile = (permits: string): boolean => /[arw]/.test(permits) && !/[celmp]/.test(permits);

function typeOf(value: string): Facts['type'] | undefined {
  if (value === 'file') return 'file';
  if (value === 'dir') return 'folder';
  if (value === 'cdir' || value === 'pdir') return 'self';
  // "OS.unix=slink:/target" and "OS.unix=symlink" are both in use; neither is in the RFC.
  if (!value.startsWith('os.')) return undefined;
  return value.includes('slink') || value.includes('symlink') ? 'link' : 'file';
}

/** Formats a time as `20260102030405`, in whole seconds. */
export const timeValue = (time: Date): string => time.toISOString().slice(0, 19).replace(/\D/g, '');

const TIME_VALUE =
  /^(\d{4})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])([0-5]\d)([0-5]\d|60)(?:\.(\d{1,3})\d*)?$/;

/** Parses `20260102030405` or `20260102030405.678`, always UTC (RFC 3659, 2.3). */
export function timeValueMs(text: string): number | undefined {
  const parts = TIME_VALUE.exec(text);
  if (parts === null) return undefined;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const milliseconds = Number((parts[7] ?? '0').padEnd(3, '0'));
  return Date.UTC(year, month - 1, day, hour, minute, second, milliseconds);
}
