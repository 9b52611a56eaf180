/** A webhook receiver on loopback, which records what it gets and gives the answers that the test sets. */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly at: number;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  readonly body: EventBody;
}

export interface EventBody {
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    readonly watchedFolder: { readonly id: string; readonly name: string; readonly path: string };
    readonly connection: { readonly id: string; readonly name: string; readonly type: string };
    readonly files: readonly {
      readonly name: string;
      readonly path: string;
      readonly size: number;
      readonly isDirectory: boolean;
      readonly modifiedAt: string;
      readonly rawName?: string;
      readonly event: string;
    }[];
  };
}

export type Responder = (received: Received, response: http.ServerResponse) => void;

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  respond: Responder;
  /** The names of all files in events, those that were answered with 2xx or with other statuses. */
  names(): string[];
  close(): Promise<void>;
}

export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { url = '/', headers } = request;
      const item = { at: Date.now(), path: url, headers, text, body: JSON.parse(text) as EventBody };
      received.push(item);
      receiver.respond(item, response);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${address.port}/hook`,
    port: address.port,
    received,
    respond: (_, response) => response.writeHead(204).end(),
    names: () => received.flatMap(({ body }) => body.data.files.map(({ name }) => name)),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}
