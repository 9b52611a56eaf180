/** Receives the events of watched folders, and records how long each took. */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WebhookReceiver {
  readonly url: string;
  /** Names of the reported files, each as often as it was reported. */
  readonly names: readonly string[];
  /** From the detection, by the event's time, to the first request with it; in ms. */
  readonly delaysMs: readonly number[];
  /** Forgets everything received so far. */
  clear(): void;
  /** @throws if fewer files have arrived by then */
  expect(files: number, withinMs: number): Promise<void>;
  stop(): Promise<void>;
}

interface FilesEvent {
  readonly timestamp: string;
  readonly data: { readonly files: readonly { readonly name: string }[] };
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const names: string[] = [];
  const delaysMs: number[] = [];
  const seen = new Set<string>();
  const listeners = new Set<() => void>();
  const server = http.createServer((request, response) => {
    const arrivedAt = Date.now();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.writeHead(204).end();
      const id = String(request.headers['webhook-id']);
      if (seen.has(id)) return;
      seen.add(id);
      const { timestamp, data } = JSON.parse(Buffer.concat(chunks).toString()) as FilesEvent;
      delaysMs.push(arrivedAt - Date.parse(timestamp));
      names.push(...data.files.map(({ name }) => name));
      for (const listener of listeners) listener();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    names,
    delaysMs,
    clear: () => {
      names.length = 0;
      delaysMs.length = 0;
    },
    expect: (files, withinMs) =>
      new Promise((resolve, reject) => {
        const settle = (finish: () => void): void => {
          clearTimeout(timer);
          listeners.delete(look);
          finish();
        };
        const look = (): void => {
          if (names.length >= files) settle(resolve);
        };
        const timer = setTimeout(() => {
          settle(() => reject(new Error(`${names.length} of ${files} files were reported within ${withinMs} ms`)));
        }, withinMs);
        listeners.add(look);
        look();
      }),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
