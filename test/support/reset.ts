import type { Socket } from 'node:net';

/**
 * Cuts a connection with a reset. One whose end is still on its way is closed instead: libuv refuses to reset that, and
 * Node.js, which takes it for closed, then waits for it at its exit without end.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}
