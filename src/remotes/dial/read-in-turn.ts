import type { Socket } from 'node:net';
import { TransferTurns } from '../../base/turn-share.js';

/** Bytes that arrive are passed on in turns of the event loop. While some wait, the socket is not read. */
export function readInTurn(socket: Socket): void {
  const turns = new TransferTurns();
  const push = socket.push.bind(socket);
  let waiting: (Buffer | null)[] = [];
  const passOn = (bytes: Buffer | null): boolean => {
    turns.spend(bytes?.length ?? 0);
    return push(bytes);
  };
  const passAllOn = (): void => {
    const all = waiting;
    waiting = [];
    for (const bytes of all) if (!socket.destroyed) passOn(bytes);
  };
  socket.push = (bytes: Buffer | null) => {
    const isNext = waiting.length === 0;
    if (isNext && (bytes === null || turns.await(bytes.length, passAllOn))) return passOn(bytes);
    waiting.push(bytes);
    // Ends the reading, although TLS passes on what it has decrypted. With the last bytes the stream itself resumes
    // reading.
    return false;
  };
  socket.once('close', () => {
    turns.end();
    waiting = [];
  });
}
