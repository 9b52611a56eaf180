/** A proxy that answers by a script, and never reaches anything. */
import { once } from 'node:events';
import net from 'node:net';
import type { TestContext } from 'node:test';

/** Text or bytes; `last`: the connection ends after it; undefined: it is closed without an answer. */
export type ProxyAnswer = string | readonly number[] | { readonly last: string } | undefined;

export interface ScriptedProxy {
  readonly port: number;
  readonly sockets: readonly net.Socket[];
  /** What was asked, piece by piece. */
  readonly asked: readonly string[];
}

/** Answers each piece that arrives on a connection with the next answer. */
export async function startScriptedProxy(t: TestContext, ...answers: readonly ProxyAnswer[]): Promise<ScriptedProxy> {
  const sockets: net.Socket[] = [];
  const asked: string[] = [];
  const server = net.createServer((socket) => {
    sockets.push(socket);
    const left = [...answers];
    socket
      .on('error', () => undefined)
      .on('data', (piece) => {
        asked.push(piece.toString('latin1'));
        if (left.length === 0) return;
        const next = left.shift();
        if (next === undefined) socket.destroy();
        else if (typeof next === 'string') socket.write(next);
        else if ('last' in next) socket.end(next.last);
        else socket.write(Buffer.from(next));
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as net.AddressInfo).port, sockets, asked };
}
