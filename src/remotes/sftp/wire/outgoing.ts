/** The outgoing side of an SSH connection: packets are built and encrypted side by side, and leave in one write. */
import { randomFillSync } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Client } from 'ssh2';
import { nativeCryptoLoaded } from '../session/algorithms.js';

/** Beyond this, waiting for more bytes saves too few system calls. */
const ENOUGH_BYTES = 256 * 1024;
/** Room for one more packet than that: of 32 KiB for OpenSSH. */
const SLAB_BYTES = ENOUGH_BYTES + 36 * 1024;
/** Slabs without bytes that are kept for the next packets of any connection. */
const MOST_SPARE = 16;

/** Memory for packets; `waiting` counts its writes that the network has not taken. */
interface Slab {
  readonly bytes: Buffer;
  waiting: number;
}

const spare: Slab[] = [];

/**
 * Replaces `write` of a socket: everything that is written within one turn of the event loop, or enough of it, leaves
 * in one system call. Each call wakes the server's process, which on a busy machine runs at once in place of this one.
 */
export class OutgoingPackets {
  readonly #socket: Socket;
  readonly #write: (bytes: Uint8Array, taken: () => void) => boolean;
  #slab: Slab | undefined;
  /** What has not been passed to the socket, within the slab. */
  #from = 0;
  #to = 0;
  #isLeaving = false;
  readonly #leave = (): void => {
    this.#isLeaving = false;
    this.#send();
  };

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#write = socket.write.bind(socket);
    socket.write = (bytes: Uint8Array | string): boolean => {
      this.#add(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
      return !socket.writableNeedDrain;
    };
    const end: () => Socket = socket.end.bind(socket);
    socket.end = () => {
      this.#send();
      return end();
    };
  }

  /** Bytes that wait for the network. */
  get queuedBytes(): number {
    return this.#socket.writableLength + this.#to - this.#from;
  }

  /** Memory for the next packet that is written; if others are written first, they overwrite it. */
  room(bytes: number): Buffer {
    return this.#slabFor(bytes).bytes.subarray(this.#to, this.#to + bytes);
  }

  /** Bytes in the `room` stay where they are; others are copied. */
  #add(bytes: Uint8Array): void {
    const isInPlace = bytes.buffer === this.#slab?.bytes.buffer && bytes.byteOffset === this.#to;
    if (!isInPlace) this.#slabFor(bytes.length).bytes.set(bytes, this.#to);
    this.#to += bytes.length;
    if (this.#to - this.#from >= ENOUGH_BYTES) this.#send();
    else if (!this.#isLeaving) {
      this.#isLeaving = true;
      setImmediate(this.#leave);
    }
  }

  #slabFor(bytes: number): Slab {
    if (this.#slab !== undefined && this.#to + bytes <= this.#slab.bytes.length) return this.#slab;
    this.#send();
    const free = bytes <= SLAB_BYTES ? spare.pop() : undefined;
    const slab = free ?? { bytes: Buffer.allocUnsafeSlow(Math.max(bytes, SLAB_BYTES)), waiting: 0 };
    this.#slab = slab;
    this.#from = 0;
    this.#to = 0;
    return slab;
  }

  #send(): void {
    const slab = this.#slab;
    if (slab === undefined || this.#from === this.#to) return;
    const bytes = slab.bytes.subarray(this.#from, this.#to);
    this.#from = this.#to;
    slab.waiting += 1;
    this.#write(bytes, () => {
      slab.waiting -= 1;
      if (slab.waiting === 0) this.#retire(slab);
    });
  }

  /** The network has taken all that was sent of it. An idle connection holds no memory. */
  #retire(slab: Slab): void {
    if (slab === this.#slab) {
      if (this.#from < this.#to) return;
      this.#slab = undefined;
    }
    if (slab.bytes.length === SLAB_BYTES && spare.length < MOST_SPARE) spare.push(slab);
  }
}

/** A native cipher of ssh2, with the fields that give the form of its packets. */
interface NativeCipher {
  allocPacket(payloadBytes: number): Buffer;
  /** Bytes of a block; absent if the cipher itself authenticates. */
  readonly _encBlockLen?: number;
  /** Bytes at the begin of a packet that are not encrypted. */
  readonly _aadLen?: number;
  readonly _macLen?: number;
}

/** Tags of ciphers that authenticate by themselves. */
const TAG_BYTES = 16;
const LENGTH_BYTES = 4;
const LEAST_PADDING = 4;
const RANDOM_BYTES = 64 * 1024;

const random = Buffer.alloc(RANDOM_BYTES);
let randomUsed = RANDOM_BYTES;

/** Random bytes for a packet's padding (RFC 4253, 6), each used once: one call of the generator serves thousands. */
function pad(packet: Buffer, at: number, bytes: number): void {
  if (randomUsed + bytes > RANDOM_BYTES) {
    randomFillSync(random);
    randomUsed = 0;
  }
  random.copy(packet, at, randomUsed, (randomUsed += bytes));
}

/**
 * Makes the connection's native cipher build its packets in `packets`, where it also encrypts them; called whenever new
 * keys are in use. `name`: of the cipher, as negotiated. Without native ciphers this has no effect.
 */
export function packInPlace(client: Client, name: string, packets: OutgoingPackets): void {
  if (!nativeCryptoLoaded()) return;
  const { _cipher: cipher } = (client as unknown as { readonly _protocol: { readonly _cipher: NativeCipher } })
    ._protocol;
  const { _encBlockLen: block = name.includes('gcm') ? 16 : 8, _aadLen: clear = LENGTH_BYTES } = cipher;
  const { _macLen: macBytes = TAG_BYTES } = cipher;
  cipher.allocPacket = (payloadBytes) => {
    const bytes = LENGTH_BYTES + 1 + payloadBytes;
    let padding = block - ((bytes - clear) & (block - 1));
    if (padding < LEAST_PADDING) padding += block;
    const packet = packets.room(bytes + padding + macBytes);
    packet.writeUInt32BE(bytes + padding - LENGTH_BYTES, 0);
    packet[LENGTH_BYTES] = padding;
    pad(packet, bytes, padding);
    return packet;
  };
}
