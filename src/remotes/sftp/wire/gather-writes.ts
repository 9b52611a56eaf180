import type { Socket } from 'node:net';

/** Beyond this, waiting for more saves no system calls worth the wait. */
const ENOUGH_BYTES = 256 * 1024;

/**
 * Lets what is written to `socket` within one turn of the event loop leave in one system call. ssh2 makes one for each
 * packet, and each wakes the server's process, which on a busy machine runs at once in place of this one.
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
