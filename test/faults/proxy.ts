import { once } from 'node:events';
import net from 'node:net';
import { reset } from '../support/reset.js';

export interface FaultProxy {
  readonly port: number;
  /** Bytes that went towards the server so far. */
  readonly upBytes: number;
  readonly downBytes: number;
  /** Connections taken so far. */
  readonly connections: number;
  /** Nothing passes any more, and nothing tells so. */
  stall(): void;
  /** Bytes pass again; those of the time between are lost. */
  heal(): void;
  /** Resets all connections. */
  cut(): void;
  /** Ends all connections in good order, as a server that stops does. */
  end(): void;
  /** Runs `fault` once, as soon as so many more bytes have gone that way. */
  after(direction: 'up' | 'down', bytes: number, fault: (proxy: FaultProxy) => void): void;
  stop(): Promise<void>;
}

/** A TCP proxy on loopback that can fail on request. `onBytes` is told after each piece. */
export async function startProxy(
  target: number,
  onBytes: (proxy: FaultProxy) => void = () => undefined,
): Promise<FaultProxy> {
  const sockets = new Set<net.Socket>();
  const faults = new Set<() => void>();
  let upBytes = 0;
  let downBytes = 0;
  let connections = 0;
  let isStalled = false;
  const listener = net.createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    connections++;
    const server = net.connect({ port: target, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    for (const [from, to, count] of [
      [client, server, (bytes: number) => (upBytes += bytes)],
      [server, client, (bytes: number) => (downBytes += bytes)],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('end', () => to.end());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.on('data', (bytes: Buffer) => {
        count(bytes.length);
        if (!isStalled && !to.write(bytes)) from.pause();
        onBytes(proxy);
        for (const fault of faults) fault();
      });
      to.on('drain', () => from.resume());
    }
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const proxy: FaultProxy = {
    port: (listener.address() as net.AddressInfo).port,
    get upBytes() {
      return upBytes;
    },
    get downBytes() {
      return downBytes;
    },
    get connections() {
      return connections;
    },
    stall: () => (isStalled = true),
    heal: () => (isStalled = false),
    cut: () => {
      for (const socket of sockets) reset(socket);
    },
    end: () => {
      for (const socket of sockets) socket.end();
    },
    after: (direction, bytes, fault) => {
      const moved = (): number => (direction === 'up' ? upBytes : downBytes);
      const due = moved() + bytes;
      const look = (): void => {
        if (moved() < due) return;
        faults.delete(look);
        fault(proxy);
      };
      faults.add(look);
    },
    stop: async () => {
      proxy.cut();
      listener.close();
      await once(listener, 'close');
    },
  };
  return proxy;
}
