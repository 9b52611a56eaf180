import { isUtf8 } from 'node:buffer';
import { type GatewayError, refusal } from '../../base/errors.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/** Maps the letter after a backslash to its byte (RFC 8259, section 7); 0 = none. */
const SHORT_ESCAPES = new Uint8Array(256);
for (const [letter, meaning] of ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t'].map((pair) =>
  Buffer.from(pair),
)) {
  SHORT_ESCAPES[letter!] = meaning!;
}

type State = 'plain' | 'escape' | 'hex';

/**
 * Converts the inside of one JSON string to the UTF-8 bytes of its value, piece by piece. Pieces without an escape,
 * such as base64, are passed on as views of the input. Raw control characters, bad escapes, lone surrogates and invalid
 * UTF-8 are refused with bad_request.
 */
export class JsonStringReader {
  readonly #label: string;
  readonly #utf8: Utf8Check;
  #state: State = 'plain';
  #hexDigits = 0;
  #codeUnit = 0;
  /** A high surrogate that waits for its low one; 0 = none. */
  #highSurrogate = 0;

  /** `label` names the string in errors. */
  constructor(label: string) {
    this.#label = label;
    this.#utf8 = new Utf8Check(label);
  }

  /**
   * Reads `piece` from `start`; `base` is the position of the piece in the body. Returns the index after the closing
   * quote, or -1 if the string continues in the next piece.
   */
  read(piece: Buffer, start: number, base: number, emit: (bytes: Buffer) => void): number {
    if (this.#state !== 'plain' || this.#highSurrogate !== 0) return this.#readEscaped(piece, start, base, emit);
    const quote = piece.indexOf(QUOTE, start);
    const end = quote === -1 ? piece.length : quote;
    const plain = piece.subarray(start, end);
    if (plain.includes(BACKSLASH)) return this.#readEscaped(piece, start, base, emit);
    const control = findControlCharacter(plain);
    if (control !== -1) throw this.#controlCharacter(base + start + control);
    this.#utf8.write(plain, base + end);
    if (plain.length > 0) emit(plain);
    if (quote === -1) return -1;
    this.#utf8.end(base + quote);
    return quote + 1;
  }

  #readEscaped(piece: Buffer, start: number, base: number, emit: (bytes: Buffer) => void): number {
    // A value is never longer than its source, except for an escape that began in the piece before (4 bytes of UTF-8).
    const out = Buffer.allocUnsafe(piece.length - start + 4);
    let length = 0;
    let at = start;
    let isClosed = false;
    while (at < piece.length && !isClosed) {
      if (this.#state === 'plain') {
        if (this.#highSurrogate !== 0 && piece[at] !== BACKSLASH) throw this.#loneSurrogate(base + at);
        let byte = piece[at]!;
        while (byte !== BACKSLASH && byte !== QUOTE && byte >= 0x20) {
          out[length++] = byte;
          if (++at === piece.length) break;
          byte = piece[at]!;
        }
        if (at === piece.length) break;
        if (byte < 0x20) throw this.#controlCharacter(base + at);
        if (byte === QUOTE) isClosed = true;
        else this.#state = 'escape';
      } else if (this.#state === 'escape') {
        if (piece[at] !== LETTER_U) out[length++] = this.#shortEscape(piece[at]!, base + at);
        else this.#state = 'hex';
      } else if (this.#takeHexDigit(piece[at]!, base + at)) {
        length = this.#takeCodeUnit(out, length, base + at);
      }
      at++;
    }
    const bytes = out.subarray(0, length);
    this.#utf8.write(bytes, base + at);
    if (length > 0) emit(bytes);
    if (!isClosed) return -1;
    this.#utf8.end(base + at - 1);
    return at;
  }

  #shortEscape(letter: number, position: number): number {
    const meaning = SHORT_ESCAPES[letter]!;
    if (meaning === 0) throw this.#refuse('an unknown escape', position);
    if (this.#highSurrogate !== 0) throw this.#loneSurrogate(position);
    this.#state = 'plain';
    return meaning;
  }

  /** Whether the escape's four digits are complete. */
  #takeHexDigit(byte: number, position: number): boolean {
    const digit = hexValue(byte);
    if (digit === -1) throw this.#refuse('a bad \\u escape', position);
    this.#codeUnit = this.#codeUnit * 16 + digit;
    return ++this.#hexDigits === 4;
  }

  /** Writes the character of a finished \u escape to `out`; a high surrogate waits for the next escape. */
  #takeCodeUnit(out: Buffer, length: number, position: number): number {
    const unit = this.#codeUnit;
    const isLow = unit >= 0xdc00 && unit <= 0xdfff;
    if (isLow !== (this.#highSurrogate !== 0)) throw this.#loneSurrogate(position);
    this.#state = 'plain';
    this.#hexDigits = 0;
    this.#codeUnit = 0;
    if (unit >= 0xd800 && unit <= 0xdbff) {
      this.#highSurrogate = unit;
      return length;
    }
    const codePoint = isLow ? 0x10000 + ((this.#highSurrogate - 0xd800) << 10) + (unit - 0xdc00) : unit;
    this.#highSurrogate = 0;
    return writeCodePoint(out, length, codePoint);
  }

  #refuse(what: string, position: number): GatewayError {
    return refusal('bad_request', `malformed JSON at byte ${position}: ${what} in ${this.#label}`);
  }

  #loneSurrogate(position: number): GatewayError {
    return this.#refuse('half a surrogate pair', position);
  }

  #controlCharacter(position: number): GatewayError {
    return this.#refuse('a control character that is not escaped', position);
  }
}

/** Checks that a stream of bytes is valid UTF-8, regardless of where it is cut. */
class Utf8Check {
  readonly #label: string;
  /** The bytes of a character that is incomplete at the end of the last piece. */
  #partial: Buffer = Buffer.alloc(0);

  constructor(label: string) {
    this.#label = label;
  }

  /** `position` is the end of the piece, for the error. */
  write(piece: Buffer, position: number): void {
    let rest = piece;
    if (this.#partial.length > 0) {
      const missing = sequenceLength(this.#partial[0]!) - this.#partial.length;
      const joined = Buffer.concat([this.#partial, piece.subarray(0, missing)]);
      if (piece.length < missing) {
        this.#partial = joined;
        return;
      }
      if (!isUtf8(joined)) throw this.#refuse(position);
      rest = piece.subarray(missing);
    }
    const whole = rest.length - partialLength(rest);
    if (!isUtf8(rest.subarray(0, whole))) throw this.#refuse(position);
    this.#partial = whole === rest.length ? Buffer.alloc(0) : Buffer.from(rest.subarray(whole));
  }

  end(position: number): void {
    if (this.#partial.length > 0) throw this.#refuse(position);
  }

  #refuse(position: number): GatewayError {
    return refusal('bad_request', `${this.#label} is not valid UTF-8 (before byte ${position} of the body)`);
  }
}

/** Bytes of the sequence that `lead` begins; 1 if it begins none. */
function sequenceLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}

/** How many bytes at the end of `bytes` begin a character that continues after it. */
function partialLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return sequenceLength(byte) > back ? back : 0;
  }
  return 0;
}

/**
 * Writes the UTF-8 of one character; returns the index after it. Written out because text of only \u escapes is six
 * times as fast this way.
 */
function writeCodePoint(out: Buffer, at: number, codePoint: number): number {
  if (codePoint < 0x80) {
    out[at] = codePoint;
    return at + 1;
  }
  let next = at;
  if (codePoint < 0x800) out[next++] = 0xc0 | (codePoint >> 6);
  else {
    if (codePoint < 0x10000) out[next++] = 0xe0 | (codePoint >> 12);
    else {
      out[next++] = 0xf0 | (codePoint >> 18);
      out[next++] = 0x80 | ((codePoint >> 12) & 0x3f);
    }
    out[next++] = 0x80 | ((codePoint >> 6) & 0x3f);
  }
  out[next++] = 0x80 | (codePoint & 0x3f);
  return next;
}

function hexValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/**
 * Index of the first byte below 0x20, or -1. Four bytes at a time: (x - 0x20…) & ~x has a high bit set exactly when a
 * byte of the word is below 0x20; five times as fast as a loop over bytes (measured).
 */
function findControlCharacter(bytes: Buffer): number {
  const head = Math.min(-bytes.byteOffset & 3, bytes.length);
  const wordCount = (bytes.length - head) >> 2;
  if (wordCount > 0) {
    const words = new Int32Array(bytes.buffer, bytes.byteOffset + head, wordCount);
    let below = 0;
    for (let i = 0; i < wordCount; i++) {
      const word = words[i]!;
      below |= (word - 0x20202020) & ~word;
    }
    if ((below & 0x80808080) !== 0) return bytes.findIndex((byte) => byte < 0x20);
  }
  for (let i = 0; i < head; i++) if (bytes[i]! < 0x20) return i;
  for (let i = head + wordCount * 4; i < bytes.length; i++) if (bytes[i]! < 0x20) return i;
  return -1;
}
