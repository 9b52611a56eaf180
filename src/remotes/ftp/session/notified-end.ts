/** TLS that must end with its own message (close_notify, RFC 8446, 6.1): a plain end of the socket is a truncation. */
import type net from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { Carrier } from './carrier.js';

const CHECK_AGAIN_MS = 20;
const TURNS = 2;

/** `wrap` starts TLS on the given stream. If the socket ends before TLS has ended, TLS fails with `truncated`. */
export function withNotifiedEnd(socket: net.Socket, wrap: (bytes: Duplex) => TLSSocket, truncated: Error): TLSSocket {
  const bytes = new Carrier(socket, { passesEnd: false });
  const secured = wrap(bytes);
  let isNotified = false;
  const push = secured.push.bind(secured);
  secured.push = (chunk: unknown, encoding?: BufferEncoding) => {
    isNotified ||= chunk === null;
    return push(chunk, encoding);
  };
  socket.once('end', () => {
    let turns = 0;
    const checkEnd = (): void => {
      if (isNotified || secured.destroyed) return;
      // TLS has not read all of it yet: the reader is slow.
      if (bytes.readableLength > 0) setTimeout(checkEnd, CHECK_AGAIN_MS).unref();
      else if (turns++ < TURNS) setImmediate(checkEnd);
      else secured.destroy(truncated);
    };
    checkEnd();
  });
  return secured;
}
