/** A server that gives scripted answers and records the requests. */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { TestContext } from 'node:test';

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

export type Reply = (response: http.ServerResponse, request: http.IncomingMessage) => void;

export interface FaultServer {
  readonly url: string;
  readonly asked: readonly Asked[];
}

/** The last reply answers all further requests. */
export async function startFaultServer(t: TestContext, replies: readonly Reply[]): Promise<FaultServer> {
  const asked: Asked[] = [];
  const server = http.createServer((request, response) => {
    void buffer(request)
      .then((body) => {
        asked.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
        replies[Math.min(asked.length, replies.length) - 1]?.(response, request);
      })
      // The client has left; an answer would reach no one.
      .catch(() => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

export function error(status: number, code: string, headers: Record<string, string> = {}): Reply {
  return (response) => {
    response.writeHead(status, {
      'Content-Type': 'application/json',
      'X-Error-Code': code,
      'X-Request-Id': 'r-1',
      ...headers,
    });
    response.end(JSON.stringify({ error: `it was ${code}` }));
  };
}

export function ok(value: unknown): Reply {
  return (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(value));
  };
}

export const cut: Reply = (_, request) => request.socket.destroy();
