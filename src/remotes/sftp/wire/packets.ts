import type { Socket } from 'node:net';

/**
 * Cuts buffers to SSH packets: small pieces are copied together, so that they do not become packets of their own; large
 * pieces are passed on uncopied (ssh2 cuts them).
 */
export function* fillPackets(pieces: readonly Buffer[], packetBytes: number): Generator<Buffer> {
  let crumbs: Buffer[] = [];
  let crumbBytes = 0;
  for (const piece of pieces) {
    let rest = piece;
    if (crumbBytes > 0 && crumbBytes + rest.length >= packetBytes) {
      const filler = packetBytes - crumbBytes;
      yield Buffer.concat([...crumbs, rest.subarray(0, filler)], packetBytes);
      rest = rest.subarray(filler);
      crumbs = [];
      crumbBytes = 0;
    }
    const whole = crumbBytes > 0 ? 0 : rest.length - (rest.length % packetBytes);
    if (whole > 0) yield rest.subarray(0, whole);
    if (whole === rest.length) continue;
    crumbs.push(rest.subarray(whole));
    crumbBytes += rest.length - whole;
  }
  if (crumbBytes > 0) yield Buffer.concat(crumbs, crumbBytes);
}

/** Beyond this, waiting for more bytes saves too few system calls. */
const ENOUGH_BYTES = 256 * 1024;

/**
 * Sends everything that is written to `socket` within one turn of the event loop in one system call. ssh2 makes one for
 * each packet, and each wakes the server's process, which on a busy machine runs at once in place of this one.
 */
export function gatherWrites(socket: Socket): void {
  const write: (bytes: Uint8Array | string) => boolean = socket.write.bind(socket);
  let isGathering = false;
  const leave = (): void => {
    isGathering = false;
    socket.uncork();
  };
  socket.write = (bytes: Uint8Array | string): boolean => {
    if (!isGathering) {
      isGathering = true;
      socket.cork();
      setImmediate(leave);
    }
    const hasRoom = write(bytes);
    if (socket.writableLength >= ENOUGH_BYTES) {
      socket.uncork();
      socket.cork();
    }
    return hasRoom;
  };
}
