/** Splits bytes into lines, with bounds for line length, lines and bytes, because servers are not trusted. */
import { GatewayError } from '../../../base/errors.js';

const MAX_LINE_BYTES = 16_384;
const MAX_LINES = 2_000_000;
const MAX_BYTES = 536_870_912;
const LF = 0x0a;
const CR = 0x0d;
const BLANK = 0x20;
const NUL = 0x00;

export class LineSplitter {
  readonly #host: string;
  #rest: Buffer = Buffer.alloc(0);
  #lines = 0;
  #bytes = 0;

  constructor(host: string) {
    this.#host = host;
  }

  /** Returns complete lines without their line ends; an incomplete last line waits for the next chunk. */
  add(chunk: Buffer): Buffer[] {
    this.#bytes += chunk.length;
    const text = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = text.indexOf(LF); end >= 0; end = text.indexOf(LF, start)) {
      this.#take(text, start, end, lines);
      start = end + 1;
    }
    this.#rest = text.subarray(start);
    if (this.#rest.length > MAX_LINE_BYTES) throw this.#tooMuch(`a line of more than ${MAX_LINE_BYTES} bytes`);
    if (this.#bytes > MAX_BYTES) throw this.#tooMuch(`more than ${MAX_BYTES} bytes`);
    return lines;
  }

  get hasLines(): boolean {
    return this.#lines > 0;
  }

  /** Whether the last line is incomplete. */
  get isInLine(): boolean {
    return this.#rest.some((byte) => byte !== CR && byte !== BLANK && byte !== NUL);
  }

  #take(text: Buffer, start: number, lineFeed: number, into: Buffer[]): void {
    const end = lineFeed > start && text[lineFeed - 1] === CR ? lineFeed - 1 : lineFeed;
    if (end === start) return;
    if (end - start > MAX_LINE_BYTES) throw this.#tooMuch(`a line of more than ${MAX_LINE_BYTES} bytes`);
    if (++this.#lines > MAX_LINES) throw this.#tooMuch(`more than ${MAX_LINES} lines`);
    into.push(text.subarray(start, end));
  }

  #tooMuch(what: string): GatewayError {
    return new GatewayError('protocol_error', `${this.#host} sent a listing with ${what}; it was not read further`, {
      step: 'transfer',
    });
  }
}
