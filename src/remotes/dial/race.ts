/** Connects to one of several addresses. */
import net from 'node:net';
import { onAbort, waitFor } from '../../base/deadline.js';
import { Ending, type EndSignal } from '../../base/ending.js';
import { wideReads } from './wide-reads.js';

/** Longest wait for an address that neither refuses nor answers, before the next one is tried (RFC 8305, 5 and 8). */
const NEXT_ADDRESS_MS = 250;

/**
 * Returns the first socket that connects. The next address is tried when one fails or has not answered for a moment;
 * the other sockets are destroyed. Rejects with the last failure, or with the signal's reason.
 */
export async function raceConnects(
  addresses: readonly string[],
  port: number,
  localAddress: string,
  signal: EndSignal,
  hasWideReads = false,
): Promise<net.Socket> {
  const [only, second] = addresses;
  if (only !== undefined && second === undefined) return connectTo(only, port, localAddress, signal, hasWideReads);
  signal.throwIfAborted();
  const others = new Ending();
  const stopListening = onAbort(signal, (reason) => others.abort(reason));
  try {
    return await new Promise((done, fail) => {
      let next = 0;
      let running = 0;
      const tryNext = (): void => {
        const address = addresses[next++];
        if (address === undefined || others.aborted) return;
        running++;
        const timer = setTimeout(tryNext, NEXT_ADDRESS_MS);
        connectTo(address, port, localAddress, others, hasWideReads)
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
    stopListening();
    others.abort(new Error('another address was quicker'));
  }
}

function connectTo(
  host: string,
  port: number,
  localAddress: string,
  signal: EndSignal,
  hasWideReads: boolean,
): Promise<net.Socket> {
  return waitFor({ signal }, (done, fail) => {
    const bind = localAddress === '' ? {} : { localAddress };
    const reads = hasWideReads ? { onread: wideReads((chunk) => socket.push(chunk)) } : {};
    const options = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000, ...bind, ...reads };
    const socket: net.Socket = net.connect(options);
    socket.once('error', fail);
    socket.once('connect', () => done(socket));
    return (error) => (error === undefined ? socket.removeAllListeners('error') : socket.destroy());
  });
}
