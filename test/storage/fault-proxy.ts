/** A TCP proxy before a server: passes bytes, swallows them like a network that lost the other end, notes what clients say. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface FaultProxy {
  readonly port: number;
  /** While true, bytes of both directions vanish and new connections are accepted into nothing. */
  silent: boolean;
  /** What clients have sent, as Latin-1 text. */
  readonly said: string;
  close(): Promise<void>;
}

export async function startFaultProxy(targetPort: number): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  const chunks: Buffer[] = [];
  const server: Server = createServer((client) => {
    client.on('data', (chunk: Buffer) => chunks.push(chunk));
    const target = connect(targetPort, '127.0.0.1');
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => proxy.silent || to.write(chunk));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const proxy = {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    silent: false,
    get said() {
      return Buffer.concat(chunks).toString('latin1');
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
