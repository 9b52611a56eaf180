/**
 * A minimal load balancer: it polls each node's /readyz at a fixed rate, gives the requests to the ready ones in turn
 * over kept connections, and never repeats one. A request that a node loses is lost for its client.
 */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { ApiClient } from './gateway.js';
import { eventually } from './eventually.js';
import { KeptConnections } from './kept-connections.js';

/** An answer that comes later says nothing: the machine is busy, and the node may serve all the same. */
const PROBE_MS = 10_000;

export interface PlainBalancer {
  readonly api: ApiClient;
  /** Ports of the nodes that it considers ready. */
  readonly ready: ReadonlySet<number>;
  stop(): Promise<void>;
}

/** Resolves when it has found all nodes ready. */
export async function startPlainBalancer(nodes: readonly number[], pollMs: number): Promise<PlainBalancer> {
  const agent = new KeptConnections();
  const ready = new Set<number>();
  let turn = 0;
  const server = http.createServer((request, response) => {
    const port = [...ready][turn++ % ready.size];
    const { method, url: path, headers } = request;
    const onward = http.request(
      { agent: agent.dropRested(), host: '127.0.0.1', port, method, path, headers },
      (answer) => {
        // The connection to the client belongs to the balancer.
        const { connection: _, 'keep-alive': __, ...fields } = answer.headers;
        response.writeHead(answer.statusCode ?? 502, fields);
        pipeline(answer, response, () => undefined);
      },
    );
    onward.on('error', (error) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end(`node ${port}: ${String(error)}`);
    });
    pipeline(request, onward, () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  /** Nodes whose answer is awaited: a late one must not undo that of a later probe. */
  const asked = new Set<number>();
  const probe = (port: number): void => {
    if (asked.has(port)) return;
    asked.add(port);
    let isLate = false;
    const request = http.get({ host: '127.0.0.1', port, path: '/readyz', timeout: PROBE_MS }, (answer) => {
      answer.resume();
      if (answer.statusCode === 200) ready.add(port);
      else ready.delete(port);
    });
    request.on('timeout', () => {
      isLate = true;
      request.destroy();
    });
    request.on('error', () => isLate || ready.delete(port));
    request.on('close', () => asked.delete(port));
  };
  const pollAll = (): void => nodes.forEach(probe);
  const poll = setInterval(pollAll, pollMs);
  pollAll();
  await eventually(() => ready.size === nodes.length, 'the balancer finds all nodes ready');
  const api = new ApiClient((server.address() as AddressInfo).port);
  return {
    api,
    ready,
    stop: async () => {
      clearInterval(poll);
      api.close();
      agent.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
