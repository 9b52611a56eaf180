/**
 * Many raw sockets that each send a request head and then misbehave: read nothing, send nothing more, trickle.
 *
 *   const crowd = await openCrowd(port, 400, { address: ADDRESSES.a, text: (index) => `GET … HTTP/1.1\r\n…\r\n\r\n`,
 *   isDeaf: true });
 *   crowd.statuses(); // { '200': 80, '429': 320, none: 0 } of the answers that have begun
 *   crowd.close();
 */
import net from 'node:net';

export interface CrowdOptions {
  /** The client's address. */
  readonly address: string;
  /** What each sends at once. */
  readonly text: (index: number) => string | Buffer;
  /** Reads only the answer's first bytes: its receive buffer fills. */
  readonly isDeaf?: boolean;
  /** Continues to send one piece per this many milliseconds. */
  readonly trickle?: { readonly everyMs: number; readonly piece: Buffer };
}

export interface Crowd {
  readonly sockets: readonly net.Socket[];
  /** How many got which status; `none`: no answer yet, or never. */
  statuses(): Record<string, number>;
  /** Still open, as far as this side knows. */
  readonly open: number;
  close(): Promise<void>;
}

/** Few enough at once for the listener's backlog. */
const AT_ONCE = 64;
const HEAD_BYTES = 16;

export async function openCrowd(port: number, count: number, options: CrowdOptions): Promise<Crowd> {
  const sockets: net.Socket[] = [];
  const heads: string[] = [];
  const timers: NodeJS.Timeout[] = [];
  const open = (index: number): Promise<void> =>
    new Promise((resolve) => {
      const socket = net.connect({ host: '127.0.0.1', port, localAddress: options.address });
      sockets[index] = socket;
      heads[index] = '';
      const listen = (chunk: Buffer): void => {
        heads[index] += chunk.toString('latin1', 0, HEAD_BYTES);
        if (options.isDeaf !== true) return;
        socket.off('data', listen);
        socket.pause();
      };
      socket.on('data', listen);
      socket.on('error', () => resolve());
      socket.once('connect', () => {
        // Unread bytes wait in the system: this does not wait for them.
        socket.write(options.text(index));
        resolve();
        const { trickle } = options;
        if (trickle === undefined) return;
        timers[index] = setInterval(() => {
          if (socket.writable) socket.write(trickle.piece);
        }, trickle.everyMs);
      });
      socket.once('close', () => clearInterval(timers[index]));
    });
  for (let at = 0; at < count; at += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, index) => open(at + index)));
  }
  return {
    sockets,
    statuses: () => {
      const found: Record<string, number> = {};
      for (const head of heads) {
        const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 'none';
        found[status] = (found[status] ?? 0) + 1;
      }
      return found;
    },
    get open() {
      return sockets.filter(({ destroyed }) => !destroyed).length;
    },
    close: async () => {
      const closed = sockets
        .filter(({ closed }) => !closed)
        .map((socket) => new Promise((done) => socket.once('close', done)));
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
    },
  };
}
