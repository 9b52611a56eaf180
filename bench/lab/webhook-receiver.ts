/** Receives events, and records when each arrived and which files it reports. */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WebhookReceiver {
  readonly url: string;
  /** Names of the reported files, each as often as it was reported. */
  readonly names: readonly string[];
  /** From the detection, by the event's time, to the first request with it; in ms. */
  readonly delaysMs: readonly number[];
  /** When the first request of each event arrived, by its id; in ms. */
  readonly arrivals: ReadonlyMap<string, number>;
  /** Forgets everything received so far. */
  clear(): void;
  /** @throws if fewer files have arrived by then */
  expect(files: number, withinMs: number): Promise<void>;
  /** The same for deliveries: those of one event to several paths count for each path. */
  expectDeliveries(deliveries: number, withinMs: number): Promise<void>;
  stop(): Promise<void>;
}

interface ReceivedEvent {
  readonly timestamp: string;
  readonly data: { readonly files?: readonly { readonly name: string }[] };
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const names: string[] = [];
  const delaysMs: number[] = [];
  const arrivals = new Map<string, number>();
  let deliveries = 0;
  const seen = new Set<string>();
  const listeners = new Set<() => void>();
  const server = http.createServer((request, response) => {
    const arrivedAt = performance.timeOrigin + performance.now();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.writeHead(204).end();
      const id = String(request.headers['webhook-id']);
      const delivery = `${id} ${request.url}`;
      if (seen.has(delivery)) return;
      seen.add(delivery);
      deliveries += 1;
      if (!arrivals.has(id)) arrivals.set(id, arrivedAt);
      const { timestamp, data } = JSON.parse(Buffer.concat(chunks).toString()) as ReceivedEvent;
      delaysMs.push(arrivedAt - Date.parse(timestamp));
      names.push(...(data.files ?? []).map(({ name }) => name));
      for (const listener of listeners) listener();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const until = (count: () => number, wanted: number, of: string, withinMs: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        clearTimeout(timer);
        listeners.delete(look);
        finish();
      };
      const look = (): void => {
        if (count() >= wanted) settle(resolve);
      };
      const timer = setTimeout(() => {
        settle(() => reject(new Error(`${count()} of ${wanted} ${of} arrived within ${withinMs} ms`)));
      }, withinMs);
      listeners.add(look);
      look();
    });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    names,
    delaysMs,
    arrivals,
    clear: () => {
      names.length = 0;
      delaysMs.length = 0;
      arrivals.clear();
      deliveries = 0;
    },
    expect: (files, withinMs) => until(() => names.length, files, 'files', withinMs),
    expectDeliveries: (wanted, withinMs) => until(() => deliveries, wanted, 'deliveries', withinMs),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
