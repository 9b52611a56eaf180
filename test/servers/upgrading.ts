/** A server of HTTP that answers every request with another protocol, which nothing asked for. */
import { once } from 'node:events';
import net from 'node:net';
import type { TestContext } from 'node:test';

interface Upgrading {
  readonly url: URL;
  /** Resolves when the first client has closed its connection. */
  readonly left: Promise<void>;
}

export const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n';

export async function startUpgrading(t: TestContext): Promise<Upgrading> {
  const sockets: net.Socket[] = [];
  const server = net.createServer();
  const left = new Promise<void>((done) => {
    server.on('connection', (socket: net.Socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined).once('data', () => socket.write(SWITCHING));
      socket.once('close', () => done());
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: new URL(`http://127.0.0.1:${(server.address() as net.AddressInfo).port}/`), left };
}

/** The end of a request to the server. Rejects if there is none although the connection is gone. */
export function ended<T>(request: Promise<T>, { left }: Pick<Upgrading, 'left'>): Promise<T> {
  const never = async (): Promise<never> => {
    await left;
    throw new Error('the connection is gone, and the request has not ended');
  };
  return Promise.race([request, never()]);
}
