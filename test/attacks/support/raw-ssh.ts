/** The beginning of an SSH server, packet by packet and without encryption: as far as lies can lead a client. */
import { randomBytes } from 'node:crypto';
import net from 'node:net';
import { sshString } from '../../../src/base/ssh-blob.js';

export const MESSAGE = { KEXINIT: 20, GEX_GROUP: 31, GEX_REQUEST: 34 } as const;

export interface RawSshServer {
  readonly port: number;
  /** Message numbers that clients sent. */
  readonly seen: number[];
  stop(): void;
}

/** Sends its greeting and offers `lists` (RFC 4253, 7.1: ten name lists); `answer` gets every further packet. */
export async function startRawSsh(
  lists: { readonly kex: string; readonly hostKey?: string },
  answer: (type: number, send: (payload: Buffer) => void) => void,
): Promise<RawSshServer> {
  const seen: number[] = [];
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    const send = (payload: Buffer): void => void socket.write(packetOf(payload));
    socket.write('SSH-2.0-hostile\r\n');
    send(keyExchangeInit(lists.kex, lists.hostKey ?? 'ssh-ed25519,rsa-sha2-256,ecdsa-sha2-nistp256'));
    let bytes = Buffer.alloc(0);
    let isGreeted = false;
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (!isGreeted) {
        const end = bytes.indexOf('\n');
        if (end === -1) return;
        isGreeted = true;
        bytes = bytes.subarray(end + 1);
      }
      while (bytes.length >= 6 && bytes.length >= 4 + bytes.readUInt32BE(0)) {
        const type = bytes[5] as number;
        bytes = bytes.subarray(4 + bytes.readUInt32BE(0));
        seen.push(type);
        answer(type, send);
      }
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    port: (server.address() as net.AddressInfo).port,
    seen,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function keyExchangeInit(kex: string, hostKey: string): Buffer {
  const both = (list: string): string[] => [list, list];
  const lists = [kex, hostKey, ...both('aes128-ctr'), ...both('hmac-sha2-256'), ...both('none'), ...both('')];
  return Buffer.concat([Buffer.from([MESSAGE.KEXINIT]), randomBytes(16), ...lists.map(sshString), Buffer.alloc(5)]);
}

export function packetOf(payload: Buffer): Buffer {
  const padding = 8 - ((5 + payload.length) % 8) + 8;
  const head = Buffer.alloc(5);
  head.writeUInt32BE(1 + payload.length + padding);
  head[4] = padding;
  return Buffer.concat([head, payload, Buffer.alloc(padding)]);
}
