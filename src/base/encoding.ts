/** Character encodings of the WHATWG Encoding Standard whose text holds ASCII as it is, so that lines can be sent in them. */
import { isAscii } from 'node:buffer';

export interface NameEncoding {
  /** The name in the standard, in lower case: many labels can mean one encoding. */
  readonly name: string;
  /**
   * The text of these bytes. A byte that belongs to no character, or to one that has other bytes as well, is a lone
   * surrogate, U+DC80 to U+DCFF; so is one of a control character. `encode` returns exactly these bytes.
   */
  decode(bytes: Buffer): string;
  /** The bytes of a text; or its first character that the encoding does not have. */
  encode(text: string): Buffer | string;
}

const SURROGATE = 0xdc00;
const SINGLE = 0x80;

/** UTF-16 and ISO-2022-JP have other meanings for the bytes of ASCII. */
const NOT_ASCII: ReadonlySet<string> = new Set(['utf-16le', 'utf-16be', 'iso-2022-jp']);
/** Node.js does not decode it. */
const LATIN_10 = 'iso-8859-16';

/** The name of the encoding with this label; undefined if there is none, or none that can be used. */
export function encodingName(label: string): string | undefined {
  if (label.trim().toLowerCase() === LATIN_10) return LATIN_10;
  try {
    const name = new TextDecoder(label).encoding;
    return NOT_ASCII.has(name) ? undefined : name;
  } catch {
    return undefined;
  }
}

/** An encoding other than UTF-8. Its tables are made from what Node.js decodes, since it encodes UTF-8 only. */
export class TableEncoding implements NameEncoding {
  /** The shortest codes first. */
  readonly #tables: CodeTable[] = [];
  /** The code of each character up to U+FFFF, its bytes as one number; 0 = none. */
  readonly #codes = new Uint32Array(0x10000);
  /** Codes whose table is made when a name may have one: there are 50,000 of them. */
  #rare: Codes | undefined;

  /** `name`: of `encodingName`. */
  constructor(readonly name: string) {
    for (const codes of codesOf(name)) this.#add(codes);
    this.#tables.sort((one, other) => one.length - other.length);
    this.#rare = name === GB_18030 ? QUADS : undefined;
  }

  decode(bytes: Buffer): string {
    if (isAscii(bytes)) return bytes.toString('latin1');
    let text = '';
    for (let at = 0; at < bytes.length;) {
      const byte = bytes.readUInt8(at);
      const [character, length] = byte < SINGLE ? [String.fromCharCode(byte), 1] : this.#characterAt(bytes, at);
      text += character;
      at += length;
    }
    return text;
  }

  #characterAt(bytes: Buffer, at: number): readonly [string, number] {
    for (const table of this.#tables) {
      const unit = table.characters[indexOf(table.codes, bytes, at)] ?? 0;
      if (unit !== 0) return [String.fromCharCode(unit), table.length];
    }
    const beyond = this.name === GB_18030 ? beyondAt(bytes, at) : undefined;
    if (beyond !== undefined) return [beyond, 4];
    const isRare = this.#rare !== undefined && indexOf(this.#rare, bytes, at) >= 0;
    return isRare && this.#addRare()
      ? this.#characterAt(bytes, at)
      : [String.fromCharCode(SURROGATE + bytes.readUInt8(at)), 1];
  }

  encode(text: string): Buffer | string {
    const bytes: number[] = [];
    for (const character of text) {
      const point = character.codePointAt(0) ?? 0;
      if (point < SINGLE) bytes.push(point);
      else if (point >= SURROGATE + SINGLE && point <= SURROGATE + 0xff) bytes.push(point - SURROGATE);
      else {
        const code = this.#codeOf(point);
        if (code === 0) return character;
        for (let place = lengthOf(code) - 1; place >= 0; place--) bytes.push(Math.floor(code / 256 ** place) % 256);
      }
    }
    return Buffer.from(bytes);
  }

  #codeOf(point: number): number {
    if (point > 0xffff) return this.name === GB_18030 ? codeBeyond(point) : 0;
    const code = this.#codes[point] ?? 0;
    return code === 0 && this.#addRare() ? this.#codeOf(point) : code;
  }

  /** False if there is nothing more to add. */
  #addRare(): boolean {
    if (this.#rare === undefined) return false;
    this.#add(this.#rare);
    this.#rare = undefined;
    return true;
  }

  /** A character keeps the first code that it gets. */
  #add(codes: Codes): void {
    const count = countOf(codes);
    const characters = new Uint16Array(count);
    const table = { codes, length: codes.length, characters };
    this.#tables.push(table);
    const text = textOf(this.name, codes);
    let at = 0;
    for (let index = 0; index < count; index++) {
      const unit = text.charCodeAt(at);
      const isOne = text.charCodeAt(at + 1) === LF;
      at = isOne ? at + 2 : text.indexOf('\n', at) + 1;
      // Controls, replacement characters, and halves of longer ones.
      if (!isOne || unit < 0xa0 || unit === 0xfffd || (unit >= 0xd800 && unit <= 0xdfff)) continue;
      const before = this.#codes[unit] ?? 0;
      if (before !== 0) {
        if (this.name !== 'big5' || !BIG5_LAST.has(unit)) continue;
        characters[indexOf(codes, bytesOf(before), 0)] = 0;
      }
      characters[index] = unit;
      this.#codes[unit] = codeAt(codes, index);
    }
  }
}

/** The bytes that one place of a code may have. */
interface Place {
  readonly bytes: readonly number[];
  /** The position of each byte among them; -1 = it is none of them. */
  readonly positions: Int16Array;
}

function place(bytes: readonly number[]): Place {
  const positions = new Int16Array(256).fill(-1);
  for (const [position, byte] of bytes.entries()) positions[byte] = position;
  return { bytes, positions };
}

/** All codes of one length. */
type Codes = readonly Place[];

interface CodeTable {
  readonly codes: Codes;
  /** Bytes of a code. */
  readonly length: number;
  /** The character of each code, in the order of the codes; 0 = none. */
  readonly characters: Uint16Array;
}

const countOf = (codes: Codes): number => codes.reduce((count, { bytes }) => count * bytes.length, 1);

/** The place of the code that begins there; -1 = none of them does. */
function indexOf(codes: Codes, bytes: Buffer, at: number): number {
  let index = 0;
  for (let next = 0; next < codes.length; next++) {
    const { bytes: allowed, positions } = codes[next]!;
    const position = positions[bytes[at + next] ?? 0] ?? -1;
    if (position < 0) return -1;
    index = index * allowed.length + position;
  }
  return index;
}

/** The code at a place, its bytes as one number. */
function codeAt(codes: Codes, index: number): number {
  let code = 0;
  let rest = index;
  let weight = 1;
  for (let last = codes.length - 1; last >= 0; last--) {
    const { bytes: allowed } = codes[last]!;
    code += (allowed[rest % allowed.length] ?? 0) * weight;
    rest = Math.floor(rest / allowed.length);
    weight *= 256;
  }
  return code;
}

const lengthOf = (code: number): number => (code < 2 ** 8 ? 1 : code < 2 ** 16 ? 2 : code < 2 ** 24 ? 3 : 4);

function bytesOf(code: number): Buffer {
  const bytes = Buffer.alloc(lengthOf(code));
  bytes.writeUIntBE(code, 0, bytes.length);
  return bytes;
}

const GB_18030 = 'gb18030';

/** GB 18030 has all planes after the first one in the order of Unicode. */
function beyondAt(bytes: Buffer, at: number): string | undefined {
  const index = indexOf(BEYOND, bytes, at);
  return index < 0 || index > 0xfffff ? undefined : String.fromCodePoint(0x10000 + index);
}

const codeBeyond = (point: number): number => codeAt(BEYOND, point - 0x10000);

/** Node.js 20 decodes these bytes of windows-1252 as control characters. */
const WINDOWS_1252 = '€\0‚ƒ„…†‡ˆ‰Š‹Œ\0Ž\0\0‘’“”•–—˜™š›œ\0žŸ';
const LATIN_10_UPPER =
  '\u00a0ĄąŁ€„Š§š©Ș«Ź\u00adźŻ°±ČłŽ”¶·žčș»ŒœŸżÀÁÂĂÄĆÆÇÈÉÊËÌÍÎÏĐŃÒÓÔŐÖŚŰÙÚÛÜĘȚßàáâăäćæçèéêëìíîïđńòóôőöśűùúûüęțÿ';

/** Characters with two codes that the standard encodes by the last one. */
const BIG5_LAST: ReadonlySet<number> = new Set([...'═╞╡╪十卅'].map((character) => character.charCodeAt(0)));

const LF = 0x0a;

/** The texts of these codes, each with a line feed: thousands of calls would take half a second. */
function textOf(name: string, codes: Codes): string {
  if (name === LATIN_10) return lined(`${'\0'.repeat(32)}${LATIN_10_UPPER}`);
  const text = new TextDecoder(name).decode(linesOf(codes));
  return name === 'windows-1252' ? lined(WINDOWS_1252) + text.split('\n').slice(32).join('\n') : text;
}

const lined = (characters: string): string => [...characters].map((character) => `${character}\n`).join('');

function linesOf(codes: Codes): Buffer {
  const count = countOf(codes);
  const size = codes.length + 1;
  const lines = Buffer.alloc(count * size, LF);
  for (const [next, { bytes: allowed }] of codes.entries()) {
    // A byte stays for as many codes as the places after it make.
    const repeated = countOf(codes.slice(next + 1));
    for (let index = 0; index < count; index++) {
      lines[index * size + next] = allowed[Math.floor(index / repeated) % allowed.length] ?? 0;
    }
  }
  return lines;
}

const from = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

const HIGH = place(from(0x80, 0xff));
const LEADS = place(from(0x81, 0xfe));
const TRAILS = place(from(0x40, 0xfe));
const DIGITS = place(from(0x30, 0x39));
/** The rows of EUC. */
const ROWS = place(from(0xa1, 0xfe));
/** The rows of Shift_JIS whose characters the standard encodes by other rows. */
const SHIFT_JIS_LAST: readonly number[] = [0xed, 0xee];
const QUADS: Codes = [place(from(0x81, 0x84)), DIGITS, LEADS, DIGITS];
const BEYOND: Codes = [place(from(0x90, 0xfe)), DIGITS, LEADS, DIGITS];

/** All codes that can be characters; of those with one character, the preferred one first. */
function codesOf(name: string): readonly Codes[] {
  switch (name) {
    case 'shift_jis':
      return [
        [HIGH],
        [place(LEADS.bytes.filter((lead) => !SHIFT_JIS_LAST.includes(lead))), TRAILS],
        [place(SHIFT_JIS_LAST), TRAILS],
      ];
    case 'euc-jp':
      return [[HIGH], [place([0x8e, ...ROWS.bytes]), ROWS], [place([0x8f]), ROWS, ROWS]];
    case GB_18030:
      // The standard encodes the euro sign in two bytes.
      return [[LEADS, TRAILS], [HIGH]];
    case 'gbk':
    case 'big5':
    case 'euc-kr':
      return [[HIGH], [LEADS, TRAILS]];
    default:
      return [[HIGH]];
  }
}
