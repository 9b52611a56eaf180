/** A socket that carries TLS. */
import type net from 'node:net';
import { Duplex } from 'node:stream';

export class Carrier extends Duplex {
  readonly #socket: net.Socket;

  /** `passesEnd`: TLS takes the end of the socket for its own. */
  constructor(socket: net.Socket, { passesEnd }: { readonly passesEnd: boolean }) {
    super({ allowHalfOpen: !passesEnd });
    this.#socket = socket;

    socket.pause();
    socket.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause();
    });
    if (passesEnd) socket.once('end', () => this.push(null));
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

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#socket.cork();
    chunks.forEach(({ chunk }, index) => this.#socket.write(chunk, index === chunks.length - 1 ? done : undefined));
    this.#socket.uncork();
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
