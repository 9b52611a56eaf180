/**
 * TLS whose socket is not ended before the peer has also ended TLS. Some proxies close both directions as soon as one
 * of them ends. That resets the other one if bytes of it are unread, and the server loses what it has not read yet.
 */
import type net from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { Carrier } from './carrier.js';

class HeldCarrier extends Carrier {
  readonly #mostMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isReleased = false;

  constructor(socket: net.Socket, mostMs: number) {
    super(socket, { passesEnd: true });
    this.#mostMs = mostMs;
  }

  /**
   * TLS may still answer what arrives meanwhile, such as garbage with an alert. So it can continue to write, and its
   * end is confirmed at once: node:tls fails an assertion when it writes while its end is pending.
   */
  override end(done?: () => void): this {
    done?.();
    if (this.#isReleased) return super.end();
    this.#timer ??= setTimeout(() => super.end(), this.#mostMs).unref();
    return this;
  }

  release(): void {
    this.#isReleased = true;
    if (this.#timer !== undefined) super.end();
    clearTimeout(this.#timer);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timer);
    super._destroy(error, done);
  }
}

/** `wrap` starts TLS on the given stream. A peer that never ends TLS holds the end of the socket up for `mostMs`. */
export function withHeldEnd(socket: net.Socket, wrap: (bytes: Duplex) => TLSSocket, mostMs: number): TLSSocket {
  const bytes = new HeldCarrier(socket, mostMs);
  return wrap(bytes).once('end', () => bytes.release());
}
