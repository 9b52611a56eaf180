/** A listener that sends anything to any client, for any protocol. */
import net, { type AddressInfo } from 'node:net';

type Behaviour = (socket: net.Socket) => void;

/** The most that one connection is sent, at a pace that leaves time for the test's own process. */
const MAX_FLOOD_BYTES = 64 << 20;

export class Liar {
  static readonly silent: Behaviour = () => undefined;

  /** `first`, then `block` endlessly. */
  static flood(block: Buffer, first: Buffer = Buffer.alloc(0)): Behaviour {
    return (socket) => {
      let left = MAX_FLOOD_BYTES;
      const more = (): void => {
        if (socket.destroyed || left <= 0) return;
        left -= block.length;
        if (socket.write(block)) setImmediate(more);
        else socket.once('drain', more);
      };
      socket.write(first);
      more();
    };
  }

  /** Once after it received something. */
  static once(bytes: Buffer, ends = false): Behaviour {
    return (socket) => {
      socket.once('data', () => {
        socket.write(bytes);
        if (ends) socket.end();
      });
    };
  }

  /** Each time it received something. */
  static each(bytes: Buffer): Behaviour {
    return (socket) => void socket.on('data', () => socket.write(bytes));
  }

  behave: Behaviour = Liar.silent;
  connections = 0;
  /** The most that one connection took since the last reset, in bytes. */
  mostSent = 0;
  readonly #sockets = new Set<net.Socket>();
  readonly #server: net.Server;

  private constructor() {
    this.#server = net.createServer((socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        this.mostSent = Math.max(this.mostSent, socket.bytesWritten);
      });
      // Received bytes are read, otherwise its side of the connection would never end.
      socket.on('data', () => undefined);
      this.behave(socket);
    });
  }

  static async start(): Promise<Liar> {
    const liar = new Liar();
    await new Promise<void>((listening) => liar.#server.listen(0, '127.0.0.1', listening));
    return liar;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Whether all its connections are closed. */
  get isAlone(): boolean {
    return this.#sockets.size === 0;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((closed) => this.#server.close(closed));
  }
}
