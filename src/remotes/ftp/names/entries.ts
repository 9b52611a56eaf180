/** What one level of a folder holds, as the server lists it: MLSD lines, or LIST lines of Unix and DOS making. */
import { isUtf8 } from 'node:buffer';
import { FileType, parseList } from 'basic-ftp';
import { parseFacts } from './facts.js';
import { parseListTime, type ListTime } from './list-times.js';

export interface Entry {
  readonly name: string;
  /** base64 of a name that is not UTF-8. */
  readonly rawName: string | undefined;
  /** `self`: the folder or its parent. */
  readonly kind: 'file' | 'folder' | 'link' | 'self';
  readonly size: number | undefined;
  readonly time: ListTime | undefined;
}

const SELF: Entry = { name: '.', rawName: undefined, kind: 'self', size: undefined, time: undefined };

/** Undefined for a line of another format. */
export function parseMachineLine(line: Buffer): Entry | undefined {
  // MLST's answer carries a leading space, and some servers send it in MLSD as well.
  const { text, nameOf } = decode(line);
  const facts = parseFacts(text.startsWith(' ') ? text.slice(1) : text);
  if (facts === undefined) return undefined;
  const kind = facts.name === '.' || facts.name === '..' ? 'self' : facts.type;
  const time = facts.modifiedAt === undefined ? undefined : { time: facts.modifiedAt, resolutionMs: 1_000 };
  const { name, rawName } = nameOf(facts.name);
  return { name, rawName, kind, size: facts.size, time };
}

/** Undefined for a line of another format. `now`: the server's clock, as UTC. */
export function parseListLine(line: Buffer, now: Date): Entry | undefined {
  const { text, nameOf } = decode(line);
  const parsed = parseLine(text);
  if (parsed === undefined && / \.\.?$/.test(text)) return SELF;
  // basic-ftp takes a line that begins with a blank for an MLSD name without facts.
  if (parsed === undefined || parsed.rawModifiedAt === '') return undefined;
  const { name, rawName } = nameOf(parsed.name);
  const time = parseListTime(parsed.rawModifiedAt, now);
  return { name, rawName, kind: kindOf(parsed.type), size: parsed.size, time };
}

function parseLine(text: string): ReturnType<typeof parseList>[number] | undefined {
  try {
    return parseList(text)[0];
  } catch {
    return undefined;
  }
}

function kindOf(type: FileType): Entry['kind'] {
  if (type === FileType.Directory) return 'folder';
  return type === FileType.SymbolicLink ? 'link' : 'file';
}

interface Decoded {
  readonly text: string;
  readonly nameOf: (name: string) => { readonly name: string; readonly rawName: string | undefined };
}

/** Names that are not UTF-8 keep their bytes: the line is then read byte for byte. */
function decode(line: Buffer): Decoded {
  if (isUtf8(line)) return { text: line.toString('utf8'), nameOf: (name) => ({ name, rawName: undefined }) };
  return {
    text: line.toString('latin1'),
    nameOf: (name) => {
      const bytes = Buffer.from(name, 'latin1');
      return { name: bytes.toString('utf8'), rawName: isUtf8(bytes) ? undefined : bytes.toString('base64') };
    },
  };
}
