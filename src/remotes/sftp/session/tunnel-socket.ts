import type net from 'node:net';
import { Duplex } from 'node:stream';
import type { ClientChannel } from 'ssh2';

/** One connection through a jump host. It behaves as a socket does: destroyed at once, and ended once both sides have. */
class TunnelSocket extends Duplex {
  readonly #channel: ClientChannel;
  readonly #peer: string;
  #rest: NodeJS.Timeout | undefined;

  constructor(channel: ClientChannel, peer: string) {
    super({ allowHalfOpen: false });
    this.#channel = channel;
    this.#peer = peer;
    channel.pause();
    channel.on('data', (chunk: Buffer) => {
      this.#rest?.refresh();
      if (!this.push(chunk)) channel.pause();
    });
    channel.once('end', () => this.push(null));
    channel.once('error', (error: Error) => this.destroy(error));
    // Its last bytes may still wait for their reader.
    channel.once('close', () => {
      if (this.readableEnded) this.destroy();
      else this.once('end', () => this.destroy());
    });
  }

  /** As with a socket: undefined once it is destroyed. */
  get remoteAddress(): string | undefined {
    return this.destroyed ? undefined : this.#peer;
  }

  override _read(): void {
    this.#channel.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#rest?.refresh();
    this.#channel.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#channel.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#rest);
    this.#channel.on('error', () => undefined);
    this.#channel.destroy();
    done(error);
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  /** The connection to the jump host has its own keep-alives and times. */
  setKeepAlive(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  /** Agents of node:http close what has not been used for this long. */
  setTimeout(ms: number): this {
    clearTimeout(this.#rest);
    this.#rest = ms > 0 ? setTimeout(() => this.emit('timeout'), ms).unref() : undefined;
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

/** The channel with all that protocols, TLS and node:http use of a socket; Node.js has no interface for only that. */
export function asSocket(channel: ClientChannel, peer: string): net.Socket {
  return new TunnelSocket(channel, peer) as Duplex as net.Socket;
}
