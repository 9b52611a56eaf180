import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { Dicer } from '@fastify/busboy';
import { GatewayError, refusal } from '../../base/errors.js';
import { BodySplitter } from './body-splitter.js';
import { badForm, parseBoundary, parsePartHeaders, quote } from './form-headers.js';

interface MultipartOptions {
  /** The name of the part that is streamed. */
  readonly fileField: string;
  readonly maxFieldBytes: number;
  readonly maxFields: number;
  readonly signal?: AbortSignal;
}

type FormFields = Readonly<Record<string, string>>;

interface StreamedForm {
  /** The fields before the file. No prototype. */
  readonly fields: FormFields;
  readonly file: {
    /** Last segment of the name that the client sent, UTF-8; undefined if it sent none. */
    readonly filename: string | undefined;
    readonly contentType: string | undefined;
    /** Ends only when the boundary after the file was seen; a cut body destroys it. Destroying it destroys the body. */
    readonly stream: Readable;
  };
  /**
   * All fields, when the body has ended; await it after the file was read to its end. bad_request for a malformed tail.
   */
  rest(): Promise<FormFields>;
}

/**
 * Reads multipart/form-data (RFC 7578) as it arrives: fields as text, one file as a stream, in any order. Resolves when the
 * file begins.
 *
 * bad_request: no boundary, no file, a second file or a file under another name, a repeated field, too many fields, a field
 * that is not UTF-8, a body that ends before its closing boundary. too_large: a field over `maxFieldBytes`. A body that
 * fails rejects with its own error.
 */
export async function readMultipart(
  body: Readable,
  contentType: string,
  options: MultipartOptions,
): Promise<StreamedForm> {
  const boundary = parseBoundary(contentType);
  return new FormSplitter(boundary, options).take(body, options.signal).opened;
}

/** A generous bound for what a part's name, headers and delimiter add to its value. */
const PART_OVERHEAD_BYTES = 4 * 1024;

type Part =
  | { readonly kind: 'headers' }
  | { readonly kind: 'field'; readonly name: string; readonly pieces: Buffer[]; bytes: number }
  | { readonly kind: 'file' };

/**
 * Only the parser's own delimiter and header search is used (Dicer); its part streams would hold data of their own,
 * report their end a tick late and end even when the body was cut. So their data is taken at once, in order, as the
 * parser pushes it.
 */
class FormSplitter extends BodySplitter<StreamedForm, FormFields> {
  readonly #options: MultipartOptions;
  readonly #parser: Dicer;
  readonly #fields = Object.create(null) as Record<string, string>;
  #fieldCount = 0;
  #part: Part | undefined;
  #hasFile = false;
  #isClosed = false;
  #failure: GatewayError | undefined;
  #piece: Buffer = Buffer.alloc(0);
  /** Bytes that do not belong to the file, with a total bound: preamble, headers, fields, epilogue. */
  #otherBytes = 0;

  constructor(boundary: string, options: MultipartOptions) {
    super();
    this.#options = options;
    this.#parser = new Dicer({ boundary });
    this.#parser.on('part', (part) => {
      this.#guard(() => this.#beginPart());
      part.on('header', (headers) => this.#guard(() => this.#readHeaders(headers as Record<string, string[]>)));
      part.push = (bytes: Buffer | null) => {
        this.#guard(() => (bytes === null ? this.#endPart() : this.#readBytes(bytes)));
        // The parser ends the form when all its parts have ended.
        if (bytes === null) part.emit('end');
        return true;
      };
    });
    this.#parser.on('finish', () => {
      this.#isClosed = true;
    });
  }

  protected override scan(piece: Buffer): void {
    this.#otherBytes += piece.length;
    this.#piece = piece;
    // RFC 2046, section 5.1.1: anything after the closing boundary is ignored.
    if (!this.#isClosed) this.#parser.write(piece);
    if (this.#failure !== undefined) throw this.#failure;
    const { maxFields, maxFieldBytes } = this.#options;
    if (this.#otherBytes > (maxFields + 2) * (maxFieldBytes + PART_OVERHEAD_BYTES) + piece.length) {
      throw refusal('too_large', 'bad form: too much around the file');
    }
  }

  protected override complete(): FormFields {
    if (!this.#isClosed) throw badForm('the body ends before its closing boundary');
    if (!this.#hasFile) throw badForm(`part ${quote(this.#options.fileField)} is missing`);
    return this.#fields;
  }

  /** No error may be thrown through the parser; the first one is thrown after it has returned. */
  #guard(work: () => void): void {
    if (this.#failure !== undefined) return;
    try {
      work();
    } catch (error) {
      this.#failure =
        error instanceof GatewayError ? error : new GatewayError('internal', String(error), { cause: error });
    }
  }

  #beginPart(): void {
    this.#part = { kind: 'headers' };
  }

  #readHeaders(raw: Record<string, string[]>): void {
    const { name, filename, hasFilename, contentType } = parsePartHeaders(raw);
    if (name === this.#options.fileField) {
      if (this.#hasFile) throw badForm(`part ${quote(name)} appears twice; one request carries one file`);
      this.#hasFile = true;
      this.#part = { kind: 'file' };
      const fields = Object.assign(Object.create(null) as Record<string, string>, this.#fields);
      this.announce({ fields, file: { filename, contentType, stream: this.openOutput() }, rest: () => this.whole });
      return;
    }
    if (hasFilename)
      throw badForm(`part ${quote(name)} is a file; the file must be named ${quote(this.#options.fileField)}`);
    if (name in this.#fields) throw badForm(`part ${quote(name)} appears twice`);
    if (++this.#fieldCount > this.#options.maxFields) throw badForm(`more than ${this.#options.maxFields} fields`);
    this.#part = { kind: 'field', name, pieces: [], bytes: 0 };
  }

  #readBytes(bytes: Buffer): void {
    const part = this.#part;
    if (part?.kind === 'file') {
      this.#otherBytes -= bytes.length;
      // Bytes that are not a view of the current piece are in the parser's own memory, which it reuses.
      this.pushOutput(bytes.buffer === this.#piece.buffer ? bytes : Buffer.from(bytes));
    } else if (part?.kind === 'field') {
      part.bytes += bytes.length;
      if (part.bytes > this.#options.maxFieldBytes) {
        const message = `field ${quote(part.name)} is over ${this.#options.maxFieldBytes} bytes`;
        throw refusal('too_large', `bad form: ${message}`);
      }
      part.pieces.push(Buffer.from(bytes));
    }
  }

  #endPart(): void {
    const part = this.#part;
    this.#part = undefined;
    if (part?.kind === 'file') this.endOutput();
    else if (part?.kind === 'field') {
      const value = Buffer.concat(part.pieces);
      if (!isUtf8(value)) throw badForm(`field ${quote(part.name)} is not valid UTF-8`);
      this.#fields[part.name] = value.toString('utf8');
    } else throw badForm('a part ends inside its headers');
  }
}
