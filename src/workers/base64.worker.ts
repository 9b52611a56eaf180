import { move } from 'piscina';
import { decodeInto, encodedLength, encodeInto } from './base64-codec.js';

/** A whole number of groups; its memory is moved, not copied. */
export interface Base64Task {
  readonly kind: 'decode' | 'encode';
  readonly bytes: ArrayBuffer;
}

/** The bytes, or the index of the first character that is not base64. */
export type Base64Result = Uint8Array | number;

export default function run(task: Base64Task): Base64Result {
  const source = Buffer.from(task.bytes);
  // Decoded bytes are shorter than their text and never overtake it, so they can replace it in place.
  const target = task.kind === 'decode' ? source : Buffer.allocUnsafeSlow(encodedLength(source.length));
  const into = task.kind === 'decode' ? decodeInto : encodeInto;
  const length = into(target, 0, source, 0, source.length);
  if (length < 0) return -1 - length;
  return move(new Uint8Array(target.buffer, 0, length)) as Uint8Array;
}
