/** Connecting to one of several addresses, within a time. */
import net from 'node:net';
import { wideReads } from './wide-reads.js';

/** An address that neither refuses nor answers holds up the next one no longer than this (RFC 8305, 5 and 8). */
const NEXT_ADDRESS_MS = 250;

/**
 * The first socket that connects; the next address is tried when one fails or has not answered for a moment. The others
 * are given up. Rejects with the last failure, or with the signal's reason.
 */
export async function raceConnects(
  addresses: readonly string[],
  port: number,
  localAddress: string,
  signal: AbortSignal,
  hasWideReads = false,
): Promise<net.Socket> {
  const others = new AbortController();
  const giveUp = (): void => others.abort(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await new Promise((done, fail) => {
      let next = 0;
      let running = 0;
      const tryNext = (): void => {
        const address = addresses[next++];
        if (address === undefined || others.signal.aborted) return;
        running++;
        const timer = setTimeout(tryNext, NEXT_ADDRESS_MS);
        connectTo(address, port, localAddress, others.signal, hasWideReads)
          .then(done, (error: Error) => {
            running--;
            const isLast = running === 0 && next >= addresses.length;
            if (isLast || signal.aborted) fail(error);
            else if (next > 0) tryNext();
          })
          .finally(() => clearTimeout(timer));
      };
      tryNext();
    });
  } finally {
    signal.removeEventListener('abort', giveUp);
    others.abort(new Error('another address was quicker'));
  }
}

function connectTo(
  host: string,
  port: number,
  localAddress: string,
  signal: AbortSignal,
  hasWideReads: boolean,
): Promise<net.Socket> {
  return new Promise((done, fail) => {
    if (signal.aborted) return fail(signal.reason as Error);
    const bind = localAddress === '' ? {} : { localAddress };
    const reads = hasWideReads ? { onread: wideReads((chunk) => socket.push(chunk)) } : {};
    const options = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000, ...bind, ...reads };
    const socket: net.Socket = net.connect(options);
    const stop = (): void => {
      socket.destroy();
      fail(signal.reason as Error);
    };
    signal.addEventListener('abort', stop, { once: true });
    socket.once('error', (error) => {
      signal.removeEventListener('abort', stop);
      fail(error);
    });
    socket.once('connect', () => {
      signal.removeEventListener('abort', stop);
      // Lost by a moment to another address.
      if (signal.aborted) return void socket.destroy();
      socket.removeAllListeners('error');
      return done(socket);
    });
  });
}

/** Ends work when a signal does or a time has passed, whichever is first. Unlike AbortSignal.any it keeps nothing afterwards. */
export class TimeLimit {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private isOver = false;

  constructor(
    private readonly outer: AbortSignal,
    readonly ms: number,
  ) {
    this.timer = setTimeout(() => {
      this.isOver = true;
      this.controller.abort(new Error('the time is over'));
    }, ms);
    outer.addEventListener('abort', this.follow, { once: true });
    if (outer.aborted) this.follow();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Rejects with the outer signal's reason or `late()` when the work has not settled in time. */
  hold<T>(work: Promise<T>, late: () => Error): Promise<T> {
    return new Promise((done, fail) => {
      const stop = (): void => fail(this.isOver ? late() : (this.outer.reason as Error));
      if (this.signal.aborted) stop();
      this.signal.addEventListener('abort', stop, { once: true });
      work.then(done, fail).finally(() => this.signal.removeEventListener('abort', stop));
    });
  }

  end(): void {
    clearTimeout(this.timer);
    this.outer.removeEventListener('abort', this.follow);
  }

  private readonly follow = (): void => this.controller.abort(this.outer.reason);
}
