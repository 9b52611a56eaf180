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

interface Tables {
  /** Bytes of a character, as one number, to the character. */
  readonly characters: ReadonlyMap<number, string>;
  readonly bytes: ReadonlyMap<string, number>;
}

/** An encoding other than UTF-8. Its tables are made from what Node.js decodes, since it encodes UTF-8 only. */
export class TableEncoding implements NameEncoding {
  readonly #tables: Tables;

  /** `name`: of `encodingName`. */
  constructor(readonly name: string) {
    this.#tables = tablesOf(name);
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
    const most = Math.min(4, bytes.length - at);
    for (let length = 1; length <= most; length++) {
      const code = bytes.readUIntBE(at, length);
      const character = this.#tables.characters.get(code) ?? (length === 4 ? this.#beyond(code) : undefined);
      if (character !== undefined) return [character, length];
    }
    return [String.fromCharCode(SURROGATE + bytes.readUInt8(at)), 1];
  }

  encode(text: string): Buffer | string {
    const bytes: number[] = [];
    for (const character of text) {
      const point = character.codePointAt(0) ?? 0;
      if (point < SINGLE) bytes.push(point);
      else if (point >= SURROGATE + SINGLE && point <= SURROGATE + 0xff) bytes.push(point - SURROGATE);
      else {
        const code = this.#tables.bytes.get(character) ?? this.#codeBeyond(point);
        if (code === undefined) return character;
        for (let place = lengthOf(code) - 1; place >= 0; place--) bytes.push(Math.floor(code / 256 ** place) % 256);
      }
    }
    return Buffer.from(bytes);
  }

  /** GB 18030 has all planes behind the first one in the order of Unicode. */
  #beyond(code: number): string | undefined {
    if (this.name !== 'gb18030') return undefined;
    const [first, second, third, fourth] = [code >>> 24, (code >>> 16) & 0xff, (code >>> 8) & 0xff, code & 0xff];
    if (![second, fourth].every((byte) => byte >= 0x30 && byte <= 0x39) || third < 0x81 || third > 0xfe)
      return undefined;
    const index = (((first - 0x90) * 10 + second - 0x30) * 126 + third - 0x81) * 10 + fourth - 0x30;
    return index < 0 || index > 0xfffff ? undefined : String.fromCodePoint(0x10000 + index);
  }

  #codeBeyond(point: number): number | undefined {
    if (this.name !== 'gb18030' || point < 0x10000) return undefined;
    const index = point - 0x10000;
    const [first, second] = [Math.floor(index / 12_600) + 0x90, (Math.floor(index / 1260) % 10) + 0x30];
    const [third, fourth] = [(Math.floor(index / 10) % 126) + 0x81, (index % 10) + 0x30];
    return first * 2 ** 24 + second * 2 ** 16 + third * 2 ** 8 + fourth;
  }
}

/** Node.js 20 decodes these bytes of windows-1252 as control characters. */
const WINDOWS_1252 = '€\0‚ƒ„…†‡ˆ‰Š‹Œ\0Ž\0\0‘’“”•–—˜™š›œ\0žŸ';
const LATIN_10_UPPER =
  '\u00a0ĄąŁ€„Š§š©Ș«Ź\u00adźŻ°±ČłŽ”¶·žčș»ŒœŸżÀÁÂĂÄĆÆÇÈÉÊËÌÍÎÏĐŃÒÓÔŐÖŚŰÙÚÛÜĘȚßàáâăäćæçèéêëìíîïđńòóôőöśűùúûüęțÿ';

/** Characters with two codes that the standard encodes by the last one. */
const BIG5_LAST: ReadonlySet<string> = new Set('═╞╡╪十卅');
/** The rows of Shift_JIS whose characters the standard encodes by other rows. */
const SHIFT_JIS_LAST: readonly number[] = [0xed, 0xee];
const CONTROL = /\p{Cc}/u;

function tablesOf(name: string): Tables {
  const characters = new Map<number, string>();
  const bytes = new Map<string, number>();
  const add = (code: number, character: string): void => {
    if (CONTROL.test(character) || character === '\ufffd' || (character.codePointAt(0) ?? 0) < SINGLE) return;
    const before = bytes.get(character);
    if (before !== undefined) {
      if (name !== 'big5' || !BIG5_LAST.has(character)) return;
      characters.delete(before);
    }
    characters.set(code, character);
    bytes.set(character, code);
  };
  const decoded = codesOf(name);
  for (const [index, text] of textsOf(name, decoded).entries()) {
    const [character, ...more] = text;
    if (character !== undefined && more.length === 0) add(decoded[index] ?? 0, character);
  }
  return { characters, bytes };
}

/** The texts of these codes, decoded as lines of one text: thousands of calls would take half a second. */
function textsOf(name: string, codes: readonly number[]): string[] {
  if (name === LATIN_10) return [...`${'\0'.repeat(32)}${LATIN_10_UPPER}`];
  const lines = new TextDecoder(name).decode(linesOf(codes)).split('\n');
  return name === 'windows-1252' ? [...WINDOWS_1252, ...lines.slice(32)] : lines;
}

const LF = 0x0a;

function linesOf(codes: readonly number[]): Buffer {
  const lines = Buffer.alloc(codes.length * 5);
  let end = 0;
  for (const code of codes) {
    const length = lengthOf(code);
    lines.writeUIntBE(code, end, length);
    end = lines.writeUInt8(LF, end + length);
  }
  return lines.subarray(0, end);
}

const lengthOf = (code: number): number => (code < 2 ** 8 ? 1 : code < 2 ** 16 ? 2 : code < 2 ** 24 ? 3 : 4);

const from = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);
const joined = (upper: readonly number[], lower: readonly number[]): number[] =>
  upper.flatMap((high) => lower.map((low) => high * 256 + low));

/** All codes that can be characters; of those with one character, the preferred one first. */
function codesOf(name: string): number[] {
  const single = from(0x80, 0xff);
  const leads = from(0x81, 0xfe);
  const double = (upper: readonly number[]): number[] => joined(upper, from(0x40, 0xfe));
  switch (name) {
    case 'shift_jis':
      return [...single, ...double(leads.filter((lead) => !SHIFT_JIS_LAST.includes(lead))), ...double(SHIFT_JIS_LAST)];
    case 'euc-jp': {
      const rows = from(0xa1, 0xfe);
      return [...single, ...joined([0x8e, ...rows], rows), ...joined(joined([0x8f], rows), rows)];
    }
    case 'gb18030': {
      const quads = joined(joined(joined(from(0x81, 0x84), from(0x30, 0x39)), leads), from(0x30, 0x39));
      // The standard encodes the euro sign in two bytes.
      return [...double(leads), ...quads, ...single];
    }
    case 'gbk':
    case 'big5':
    case 'euc-kr':
      return [...single, ...double(leads)];
    default:
      return single;
  }
}
