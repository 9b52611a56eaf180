/** A proxy (CONNECT) into a private network of its own, in which every address is this machine. */
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import type { TestContext } from 'node:test';

/** `port` of the network leads to the port `to` of this machine, every other one to the same. Resolves with its URL. */
export async function startLeadingProxy(t: TestContext, port: number, to: number): Promise<string> {
  const sockets = new Set<net.Socket>();
  const keep = (socket: net.Socket): void => void sockets.add(socket.on('error', () => undefined));
  const proxy = http.createServer().on('connect', ({ url = '' }, client: net.Socket) => {
    const asked = Number(/\d+$/.exec(url)?.[0]);
    const server = net.connect(asked === port ? to : asked, '127.0.0.1');
    keep(client);
    keep(server);
    client.write('HTTP/1.1 200 OK\r\n\r\n');
    client.pipe(server).pipe(client);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as net.AddressInfo).port}`;
}
