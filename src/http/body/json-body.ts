import type { Readable } from 'node:stream';
import { refusal } from '../../base/errors.js';
import { BodySplitter } from './body-splitter.js';
import { JsonScanner } from './json-scanner.js';

interface JsonBodyOptions {
  /** The string field whose value is streamed. */
  readonly streamField: string;
  /** For the whole body; 0 = no limit. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

export interface StreamedJson {
  /** The fields before the streamed one; all of them if there is none. No prototype. */
  readonly fields: Readonly<Record<string, unknown>>;
  /**
   * The UTF-8 bytes of the streamed field's string. Ends only when the closing quote was seen; destroyed with the
   * body's own error, or bad_request. Destroying it destroys the body. undefined if the field is absent, or is no
   * string (it is then in the fields).
   */
  readonly content: Readable | undefined;
  /**
   * All fields except the streamed one, when the body has ended; await it after `content` was read to its end.
   * bad_request for a malformed tail.
   */
  rest(): Promise<Readonly<Record<string, unknown>>>;
}

/**
 * Reads a JSON object as it arrives: small fields as values, one string field as a stream, in any order. Resolves when the
 * streamed field begins or the body has ended without it.
 *
 * bad_request: not a JSON object, a repeated field, invalid UTF-8, half a surrogate pair. too_large: over `maxBytes`, or
 * fields other than the streamed one over 64 KiB each or 256 KiB in all. A body that fails rejects with its own error.
 */
export function readJsonBody(body: Readable, options: JsonBodyOptions): Promise<StreamedJson> {
  return new JsonSplitter(options).take(body, options.signal).opened;
}

interface WholeJson {
  /** All except the one that would be streamed. No prototype. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The UTF-8 bytes of that field's string; undefined if the field is absent, or is no string. */
  readonly content: Buffer | undefined;
}

/** The same for a body that has arrived completely. Throws what `readJsonBody` rejects with. */
export function parseJsonBody(body: Buffer, { streamField, maxBytes }: Omit<JsonBodyOptions, 'signal'>): WholeJson {
  requireWithin(maxBytes, body.length);
  const pieces: Buffer[] = [];
  let content: Buffer | undefined;
  const scanner = new JsonScanner(streamField, {
    begin: () => undefined,
    write: (bytes) => void pieces.push(bytes),
    end: () => (content = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)),
  });
  scanner.write(body);
  scanner.end();
  return { fields: scanner.fields, content };
}

/** @throws GatewayError too_large */
function requireWithin(maxBytes: number, bytes: number): void {
  if (maxBytes === 0 || bytes <= maxBytes) return;
  throw refusal('too_large', `the body is over the limit of ${maxBytes} bytes`);
}

class JsonSplitter extends BodySplitter<StreamedJson, Readonly<Record<string, unknown>>> {
  readonly #maxBytes: number;
  readonly #scanner: JsonScanner;
  #bytes = 0;

  constructor(options: JsonBodyOptions) {
    super();
    this.#maxBytes = options.maxBytes;
    this.#scanner = new JsonScanner(options.streamField, {
      begin: () => this.#announce(this.openOutput()),
      write: (bytes) => this.pushOutput(bytes),
      end: () => this.endOutput(),
    });
  }

  protected override scan(piece: Buffer): void {
    this.#bytes += piece.length;
    requireWithin(this.#maxBytes, this.#bytes);
    this.#scanner.write(piece);
  }

  protected override complete(): Readonly<Record<string, unknown>> {
    this.#scanner.end();
    this.#announce(undefined);
    return this.#scanner.fields;
  }

  #announce(content: Readable | undefined): void {
    const fields = Object.assign(Object.create(null) as Record<string, unknown>, this.#scanner.fields);
    this.announce({ fields, content, rest: () => this.whole });
  }
}
