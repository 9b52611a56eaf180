/** Converts content between JSON and bytes: request bodies as they arrive, answers as they are sent. */
import { PassThrough, pipeline as connect, Readable, type Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { HttpAnswer, StreamBody } from '../../http/types.js';

/**
 * `prefix`, then `body` through `transform`, then the result of `suffix` at that time. Any failure destroys all of it
 * with the first error.
 */
export function framed(prefix: Buffer, body: Readable, transform: Duplex, suffix: () => Buffer): Readable {
  const output = new PassThrough();
  output.write(prefix);
  pipeline(body, transform, async (encoded: AsyncIterable<Buffer>) => {
    for await (const chunk of encoded) {
      if (!output.write(chunk)) await drained(output);
    }
    output.end(suffix());
  }).catch((error: Error) => output.destroy(error));
  output.once('close', () => {
    if (!output.writableFinished) body.destroy();
  });
  return output;
}

function drained(output: PassThrough): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      output.off('drain', settle);
      output.off('close', settle);
      if (output.destroyed) reject(output.errored ?? new Error('the reader left'));
      else resolve();
    };
    output.on('drain', settle);
    output.on('close', settle);
  });
}

/**
 * Pipes `source` through `transform`; both end together. A failure may come before the reader, while a session is
 * awaited; it is kept for the reader instead of ending the process as an unhandled `error` event.
 */
export function through<T extends Duplex>(source: Readable, transform: T): T {
  transform.on('error', () => undefined);
  connect(source, transform, () => undefined);
  return transform;
}

const SLICE_CHARS = 64 * 1024;
const SLICE_BYTES = 64 * 1024;

/**
 * A JSON string of `text`, which is valid UTF-8; quotes included. Built slice by slice while it is sent: it does not
 * block the event loop for long, and it never needs more memory than the bytes.
 */
export function* jsonString(text: Buffer): Generator<string> {
  yield '"';
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + SLICE_BYTES, text.length);
    while (end < text.length && isContinuation(text[end])) end--;
    yield JSON.stringify(text.toString('utf8', at, end)).slice(1, -1);
    at = end;
  }
  yield '"';
}

/** A continuation byte (RFC 3629, section 3). */
function isContinuation(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}

/** JSON made of pieces: short ones as a whole, with an announced length; long ones as a stream. */
function jsonOf(pieces: Iterable<string>): string | StreamBody {
  const chunks = gathered(pieces);
  const first = chunks.next();
  if (first.done === true) return '';
  const second = chunks.next();
  if (second.done === true) return first.value;
  const all = function* (): Generator<Buffer> {
    yield Buffer.from(first.value);
    yield Buffer.from(second.value);
    for (const text of chunks) yield Buffer.from(text);
  };
  return { stream: Readable.from(all(), { objectMode: false }), length: undefined };
}

/** Gathers pieces into chunks of a useful size. */
function* gathered(pieces: Iterable<string>): Generator<string> {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < SLICE_CHARS) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

/** A JSON answer that is sent in pieces. */
export function jsonStream(pieces: Iterable<string>): HttpAnswer {
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body: jsonOf(pieces) };
}
