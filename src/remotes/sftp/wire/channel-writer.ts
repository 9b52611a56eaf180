import type { ClientChannel } from 'ssh2';
import utils from 'ssh2/lib/protocol/utils.js';

/** RFC 4254, 5.2. */
const CHANNEL_DATA = 94;
const HEAD_BYTES = 9;

/** The parts of an ssh2 channel that send its data: not a documented interface, and so used only here. */
interface ChannelInternals {
  readonly outgoing: { readonly id: number; readonly packetSize: number; readonly state: string; window: number };
  readonly _client: { readonly _protocol: Protocol };
  _waitWindow: boolean;
  _chunk: Buffer | undefined;
  _chunkcb: (() => void) | undefined;
}

interface Protocol {
  readonly _packetRW: {
    readonly write: {
      readonly allocStart: number;
      alloc(payloadBytes: number): Buffer;
      finalize(packet: Buffer): Buffer;
    };
  };
}

/**
 * Sends bytes on an SSH channel. Pieces are copied once, into packets that are as large as the server allows: each
 * packet costs a cipher, padding and a wake-up. ssh2's own stream copies small pieces twice, and has a packet for each.
 */
export class ChannelWriter {
  readonly #channel: ChannelInternals;
  #pieces: Buffer[] = [];
  /** The bytes of the first piece that have been sent. */
  #offset = 0;
  queuedBytes = 0;
  /** Bytes that ssh2 has taken. */
  sentBytes = 0;
  #window = 0;
  readonly #windowOpened = (): void => this.flush();

  constructor(channel: ClientChannel) {
    this.#channel = channel as unknown as ChannelInternals;
  }

  /** Bytes that the server has allowed since the channel began: grows when it takes some, and not when we send some. */
  get grantedBytes(): number {
    return this.#channel.outgoing.window + this.sentBytes;
  }

  /** The largest window so far. */
  get window(): number {
    return Math.max(this.#window, this.#channel.outgoing.window);
  }

  /** Bytes that the server takes now. */
  get room(): number {
    return this.#channel.outgoing.window - this.queuedBytes;
  }

  /** `piece` stays as it is until it has been sent. */
  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.queuedBytes += piece.length;
  }

  /** Sends what the server's window allows now, and the rest as it opens. */
  flush(): void {
    const channel = this.#channel;
    const { outgoing } = channel;
    this.#window = this.window;
    if (outgoing.state !== 'open') return this.#clear();
    while (this.queuedBytes > 0) {
      if (outgoing.window === 0) {
        channel._waitWindow = true;
        channel._chunk = undefined;
        channel._chunkcb = this.#windowOpened;
        return;
      }
      const bytes = Math.min(this.queuedBytes, outgoing.packetSize, outgoing.window);
      outgoing.window -= bytes;
      this.sentBytes += bytes;
      const protocol = channel._client._protocol;
      const packets = protocol._packetRW.write;
      const packet = packets.alloc(HEAD_BYTES + bytes);
      let at = packet.writeUInt8(CHANNEL_DATA, packets.allocStart);
      at = packet.writeUInt32BE(outgoing.id, at);
      at = packet.writeUInt32BE(bytes, at);
      this.#fill(packet, at, at + bytes);
      utils.sendPacket(protocol, packets.finalize(packet));
    }
  }

  #fill(packet: Buffer, from: number, to: number): void {
    let at = from;
    let used = 0;
    while (at < to) {
      const piece = this.#pieces[used] as Buffer;
      const copied = piece.copy(packet, at, this.#offset, this.#offset + to - at);
      at += copied;
      this.#offset += copied;
      if (this.#offset < piece.length) break;
      this.#offset = 0;
      used += 1;
    }
    this.#pieces.splice(0, used);
    this.queuedBytes -= to - from;
  }

  #clear(): void {
    this.#pieces = [];
    this.#offset = 0;
    this.queuedBytes = 0;
  }
}
