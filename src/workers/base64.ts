import type { Duplex } from 'node:stream';
import { encodedLength } from './base64-codec.js';
import { type Base64Options, Base64Workers } from './base64-workers.js';
import { Decoding, EMPTY, Encoding } from './base64-conversion.js';
import { OrderedTransform } from './ordered-transform.js';

export { encodedLength };

interface Base64Gauges {
  readonly threads: number;
  /** Jobs that wait for a thread. */
  readonly waiting: number;
  /** Jobs that threads have finished. */
  readonly completed: number;
}

/**
 * Base64 as of RFC 4648, section 4: standard alphabet, padding required, no white space, unused bits zero. Anything else
 * is bad_base64 with its byte position in the text.
 */
export interface Base64 {
  /** Text in, bytes out; chunks may be cut anywhere. It ends only when the text was whole. */
  decode(): Duplex;
  /** Bytes in, text out. */
  encode(): Duplex;
  /** `move`: the caller transfers the buffer and must not read it again; saves the copy that a worker costs. */
  decodeAll(text: Buffer, options?: { readonly move?: boolean }): Promise<Buffer>;
  encodeAll(bytes: Buffer, options?: { readonly move?: boolean }): Promise<Buffer>;
  readonly gauges: Base64Gauges;
  /** Ends the threads; jobs still in them fail with `draining`. */
  close(): Promise<void>;
}

/**
 * Streams are not gathered up to the size of a worker's job: a chunk of 64 KiB costs the event loop 30 µs in place,
 * while jobs of 256 KiB cost it as much per byte in copying and messages, and twice the CPU in all. So workers serve
 * whole buffers, such as the answer of a read, and streams of large chunks.
 */
export function createBase64(options: Base64Options): Base64 {
  const workers = new Base64Workers(options);
  const maxInFlight = Math.max(1, options.threads);
  return {
    decode: () => new OrderedTransform(new Decoding(workers), maxInFlight),
    encode: () => new OrderedTransform(new Encoding(workers), maxInFlight),
    decodeAll: async (text, { move = false } = {}) => {
      const decoding = new Decoding(workers, move);
      const bytes = await decoding.convert(text);
      decoding.finish();
      return bytes;
    },
    encodeAll: async (bytes, { move = false } = {}) => workers.encode(EMPTY, bytes, move),
    get gauges() {
      return workers.gauges;
    },
    close: () => workers.close(),
  };
}
