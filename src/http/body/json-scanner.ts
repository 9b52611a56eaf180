import { isUtf8 } from 'node:buffer';
import { GatewayError, refusal } from '../../base/errors.js';
import { JsonStringReader } from './json-string.js';

/** Bounds of all fields except the streamed one; they are held in memory. */
const MAX_FIELD_BYTES = 64 * 1024;
const MAX_FIELDS_BYTES = 256 * 1024;
/** About twenty are known; each unknown one is looked up and reported. */
const MAX_FIELDS = 1_000;
const MAX_DEPTH = 64;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

type State =
  | 'start'
  | 'first_key'
  | 'next_key'
  | 'key'
  | 'colon'
  | 'value'
  | 'text'
  | 'nested'
  | 'literal'
  | 'stream'
  | 'after_value'
  | 'done';

interface StreamedField {
  begin(): void;
  write(bytes: Buffer): void;
  end(): void;
}

/**
 * Reads one JSON object (RFC 8259) in pieces of any size. Fields are kept and parsed, except one string field, whose
 * value goes to `stream` as it arrives. Throws bad_request with the byte position if it is not an object, for a
 * repeated field and for a string that has no UTF-8 form; too_large for fields beyond the bounds.
 */
export class JsonScanner {
  /** Without a prototype: a field may be called `__proto__`. */
  readonly fields = Object.create(null) as Record<string, unknown>;
  readonly #streamField: string;
  readonly #stream: StreamedField;
  #state: State = 'start';
  /** Position of the current piece in the body. */
  #base = 0;
  #markBytes = 0;
  #key = '';
  readonly #keys = new Set<string>();
  #reader: JsonStringReader | undefined;
  // The key or value that is being collected.
  #held: Buffer = Buffer.allocUnsafe(256);
  #heldLength = 0;
  #heldInAll = 0;
  #heldAt = 0;
  #isInString = false;
  #isEscaped = false;
  /** The closing bytes that the open brackets of a nested value wait for. */
  readonly #closers: number[] = [];

  constructor(streamField: string, stream: StreamedField) {
    this.#streamField = streamField;
    this.#stream = stream;
  }

  write(piece: Buffer): void {
    let at = 0;
    while (at < piece.length) at = this.#step(piece, at);
    this.#base += piece.length;
  }

  end(): void {
    if (this.#state === 'done') return;
    const isEmpty = this.#state === 'start' && this.#markBytes === 0 && this.#base === 0;
    throw refusal(
      'bad_request',
      isEmpty
        ? 'the body is empty; a JSON object is expected'
        : `malformed JSON: the body ends at byte ${this.#base}, inside the object`,
    );
  }

  /** Consumes at least one byte, or changes the state; returns the next index. */
  #step(piece: Buffer, at: number): number {
    const state = this.#state;
    if (state === 'stream') return this.#readStream(piece, at);
    if (state === 'key' || state === 'text' || state === 'nested' || state === 'literal') {
      return this.#collect(piece, at, state);
    }
    const byte = piece[at]!;
    if (state === 'start' && this.#isByteOrderMark(byte, at)) return at + 1;
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return at + 1;
    return this.#structure(byte, at);
  }

  #isByteOrderMark(byte: number, at: number): boolean {
    if (this.#base + at === this.#markBytes && byte === BYTE_ORDER_MARK[this.#markBytes]) {
      this.#markBytes++;
      return true;
    }
    if (this.#markBytes === 1 || this.#markBytes === 2) throw this.#expected('a JSON object', at);
    return false;
  }

  #structure(byte: number, at: number): number {
    switch (this.#state) {
      case 'start':
        if (byte !== OPEN_BRACE) throw this.#expected('a JSON object', at);
        this.#state = 'first_key';
        return at + 1;
      case 'first_key':
      case 'next_key':
        if (byte === CLOSE_BRACE && this.#state === 'first_key') {
          this.#state = 'done';
          return at + 1;
        }
        if (byte !== QUOTE) throw this.#expected('a field name in quotes', at);
        this.#state = 'key';
        return this.#hold(byte, at);
      case 'colon':
        if (byte !== COLON) throw this.#expected('":"', at);
        this.#state = 'value';
        return at + 1;
      case 'value':
        return this.#beginValue(byte, at);
      case 'after_value':
        if (byte !== COMMA && byte !== CLOSE_BRACE) throw this.#expected('"," or "}"', at);
        this.#state = byte === COMMA ? 'next_key' : 'done';
        return at + 1;
      default:
        throw this.#expected('nothing after the object', at);
    }
  }

  #beginValue(byte: number, at: number): number {
    if (byte === QUOTE && this.#key === this.#streamField) {
      this.#reader = new JsonStringReader(this.#label());
      this.#state = 'stream';
      this.#stream.begin();
      return at + 1;
    }
    if (byte === COMMA || byte === COLON || byte === CLOSE_BRACE || byte === CLOSE_BRACKET)
      throw this.#expected('a value', at);
    this.#heldLength = 0;
    this.#heldAt = this.#base + at;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      this.#state = 'nested';
      return at;
    }
    if (byte === QUOTE) {
      this.#state = 'text';
      return this.#hold(byte, at);
    }
    this.#state = 'literal';
    return at;
  }

  #readStream(piece: Buffer, at: number): number {
    const next = this.#reader!.read(piece, at, this.#base, (bytes) => this.#stream.write(bytes));
    if (next === -1) return piece.length;
    this.#state = 'after_value';
    this.#stream.end();
    return next;
  }

  /** Begins a string that is kept, with its opening quote. */
  #hold(quote: number, at: number): number {
    this.#heldLength = 0;
    this.#heldAt = this.#base + at;
    this.#append(Buffer.of(quote), 0, 1);
    return at + 1;
  }

  #collect(piece: Buffer, at: number, state: 'key' | 'text' | 'nested' | 'literal'): number {
    const end =
      state === 'literal'
        ? endOfLiteral(piece, at)
        : state === 'nested'
          ? this.#endOfNested(piece, at)
          : this.#endOfString(piece, at);
    this.#append(piece, at, end === -1 ? piece.length : end);
    if (end === -1) return piece.length;
    const value = this.#parseHeld(state === 'key' ? 'a field name' : this.#label());
    if (state === 'key') this.#takeKey(value as string);
    else this.fields[this.#key] = value;
    this.#state = state === 'key' ? 'colon' : 'after_value';
    return end;
  }

  #takeKey(key: string): void {
    this.#key = key;
    if (this.#keys.has(key)) {
      throw refusal('bad_request', `${this.#label()} appears twice in the body (byte ${this.#heldAt})`);
    }
    this.#keys.add(key);
    if (this.#keys.size > MAX_FIELDS) {
      throw refusal('too_large', `the body has more than ${MAX_FIELDS} fields`);
    }
  }

  /** Index after the closing quote, or -1. JSON.parse checks the content. */
  #endOfString(piece: Buffer, from: number): number {
    for (let at = from; at < piece.length; at++) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (piece[at] === BACKSLASH) this.#isEscaped = true;
      else if (piece[at] === QUOTE) return at + 1;
    }
    return -1;
  }

  /** Index after the bracket that closes the value, or -1. */
  #endOfNested(piece: Buffer, from: number): number {
    for (let at = from; at < piece.length; at++) {
      if (this.#isInString) {
        const end = this.#endOfString(piece, at);
        if (end === -1) return -1;
        this.#isInString = false;
        at = end - 1;
        continue;
      }
      const byte = piece[at]!;
      if (byte === QUOTE) this.#isInString = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (this.#closers.push(byte + 2) > MAX_DEPTH) throw this.#expected(`at most ${MAX_DEPTH} levels`, at);
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (this.#closers.pop() !== byte) throw this.#expected('the other closing bracket', at);
        if (this.#closers.length === 0) return at + 1;
      }
    }
    return -1;
  }

  #append(piece: Buffer, start: number, end: number): void {
    const length = this.#heldLength + end - start;
    this.#heldInAll += end - start;
    if (length > MAX_FIELD_BYTES || this.#heldInAll > MAX_FIELDS_BYTES) {
      const what = this.#state === 'key' ? 'a field name' : this.#label();
      const bound =
        length > MAX_FIELD_BYTES ? `${what} is over ${MAX_FIELD_BYTES}` : `the fields are over ${MAX_FIELDS_BYTES}`;
      throw refusal('too_large', `${bound} bytes; only ${JSON.stringify(this.#streamField)} may be large`);
    }
    if (length > this.#held.length) {
      const grown = Buffer.allocUnsafe(Math.max(length, this.#held.length * 2));
      this.#held.copy(grown, 0, 0, this.#heldLength);
      this.#held = grown;
    }
    piece.copy(this.#held, this.#heldLength, start, end);
    this.#heldLength = length;
  }

  #parseHeld(label: string): unknown {
    const bytes = this.#held.subarray(0, this.#heldLength);
    if (!isUtf8(bytes)) {
      throw refusal('bad_request', `${label} is not valid UTF-8 (byte ${this.#heldAt} of the body)`);
    }
    const text = bytes.toString('utf8');
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw new GatewayError('bad_request', `malformed JSON at byte ${this.#heldAt}: ${label} is not a JSON value`, {
        step: 'request',
        cause: error,
      });
    }
    // Only an escape can contain half a surrogate pair, and stringify writes exactly those back as \ud8xx to \udfxx.
    if (text.includes('\\u') && /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(JSON.stringify(value))) {
      throw refusal('bad_request', `malformed JSON at byte ${this.#heldAt}: half a surrogate pair in ${label}`);
    }
    return value;
  }

  /** The current field's name in the form that errors show. */
  #label(): string {
    return this.#key.length <= 64 ? `field ${JSON.stringify(this.#key)}` : 'a field';
  }

  #expected(what: string, at: number): GatewayError {
    return refusal('bad_request', `malformed JSON at byte ${this.#base + at}: expected ${what}`);
  }
}

/** Index of the first byte that cannot belong to a number, true, false or null; -1 if the piece has none. */
function endOfLiteral(piece: Buffer, from: number): number {
  for (let at = from; at < piece.length; at++) {
    const byte = piece[at]!;
    if (byte <= 0x20 || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET) return at;
  }
  return -1;
}
