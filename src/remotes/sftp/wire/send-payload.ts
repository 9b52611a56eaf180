import type { Client } from 'ssh2';
import utils from 'ssh2/lib/protocol/utils.js';

interface Inside {
  readonly _protocol: object & {
    readonly _packetRW: {
      readonly write: {
        readonly allocStart: number;
        alloc(length: number): Buffer;
        finalize(packet: Buffer): Buffer;
      };
    };
  };
}

/** Sends a packet that ssh2 has no method for. */
export function sendPayload(client: Client, payload: Buffer): void {
  const { _protocol: protocol } = client as unknown as Inside;
  const { write } = protocol._packetRW;
  const start = write.allocStart;
  const packet = write.alloc(payload.length);
  packet.set(payload, start);
  utils.sendPacket(protocol, write.finalize(packet));
}
