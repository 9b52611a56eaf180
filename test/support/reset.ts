import type { Socket } from 'node:net';

/**
 * Cuts a connection with a reset. If its end is still under way it is closed instead: libuv refuses to reset that, and
 * Node.js, which treats it as closed, then waits for it forever at its exit.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}
