/** TLS that must end with its own message (close_notify, RFC 8446, 6.1): a plain end of the socket is a truncation. */
import type net from 'node:net';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';

const CHECK_AGAIN_MS = 20;
const TURNS = 2;

/** Passes the bytes of a socket on without its end, which TLS would take for a regular end. */
class EndlessSocket extends Duplex {
  readonly #socket: net.Socket;

  constructor(socket: net.Socket) {
    super();
    this.#socket = socket;

    socket.pause();
    socket.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.once('error', (error) => this.destroy(error));
    socket.once('close', () => {
      if (!socket.readableEnded) this.destroy();
    });
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}

/** `wrap` starts TLS on the given stream. If the socket ends before TLS has ended, TLS fails with `truncated`. */
export function withNotifiedEnd(socket: net.Socket, wrap: (bytes: Duplex) => TLSSocket, truncated: Error): TLSSocket {
  const bytes = new EndlessSocket(socket);
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
