/** The incoming side of an SSH connection: packets are decrypted where they were received. */
import type { Client } from 'ssh2';
import { nativeCryptoLoaded } from '../session/algorithms.js';

const LENGTH_BYTES = 4;
const TAG_BYTES = 16;
/** ssh2 refuses larger packets. */
const MOST_BYTES = 35_000;

/** A native decipher of ssh2, and its state between two packets. */
interface NativeDecipher {
  /** Returns where it stopped, if that is not the end. */
  decrypt(data: Buffer, from: number, to: number): number | undefined;
  readonly _lenBytes: number;
}

/**
 * Holds back a packet of AES-GCM that has not arrived completely: its other part is received behind it in memory, and
 * then it need not be copied, which ssh2 does. Called whenever new keys are in use. `name`: of the cipher, as
 * negotiated; others encrypt the length of their packets.
 */
export function decryptInPlace(client: Client, name: string): void {
  if (!nativeCryptoLoaded() || !name.includes('gcm')) return;
  const { _decipher: decipher } = (client as unknown as { readonly _protocol: { readonly _decipher: NativeDecipher } })
    ._protocol;
  const decrypt = decipher.decrypt.bind(decipher);
  let held: Buffer | undefined;
  decipher.decrypt = (data, from, to) => {
    const first = held;
    held = undefined;
    if (first === undefined) return decryptWhole(data, from, to);
    if (first.buffer === data.buffer && first.byteOffset + first.length === data.byteOffset + from) {
      const joined = Buffer.from(first.buffer, first.byteOffset, first.length + to - from);
      const stopped = decryptWhole(joined, 0, joined.length);
      return stopped === undefined ? undefined : stopped + from - first.length;
    }
    decrypt(first, 0, first.length);
    return decryptWhole(data, from, to);
  };
  const decryptWhole: NativeDecipher['decrypt'] = (data, from, to) => {
    const isBetweenPackets = decipher._lenBytes === 0;
    const end = isBetweenPackets ? endOfWholePackets(data, from, to) : to;
    const stopped = decrypt(data, from, end);
    if (stopped === undefined && end < to) held = data.subarray(end, to);
    return stopped;
  };
}

/** Where the first packet begins that is not complete before `end`; `end` if its length is impossible. */
function endOfWholePackets(bytes: Buffer, from: number, end: number): number {
  for (let at = from; ;) {
    if (at + LENGTH_BYTES > end) return at;
    const packetBytes = bytes.readUInt32BE(at);
    if (packetBytes > MOST_BYTES) return end;
    const next = at + LENGTH_BYTES + packetBytes + TAG_BYTES;
    if (next > end) return at;
    at = next;
  }
}
