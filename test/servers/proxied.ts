import { type Proxy, startProxy } from '../support/proxy.js';
import type { TestServer } from './catalogue.js';

export interface ProxiedServers {
  /** In the order of the servers. */
  readonly proxies: readonly Proxy[];
  /** As the configuration of a gateway takes them. */
  readonly connections: readonly object[];
  readonly stop: () => Promise<void>;
}

/** A separate proxy to each server: other tests do not see its faults, nor it their sessions. */
export async function startProxied(
  servers: readonly TestServer[],
  ids: readonly string[],
  more: object = {},
): Promise<ProxiedServers> {
  const proxies: Proxy[] = [];
  const connections: object[] = [];
  for (const [index, { connection }] of servers.entries()) {
    const { endpoint: text } = connection;
    const endpoint = typeof text === 'string' ? new URL(text) : undefined;
    const proxy = await startProxy(Number(endpoint?.port ?? connection['port']), { ftp: connection.type === 'ftp' });
    proxies.push(proxy);
    if (endpoint !== undefined) endpoint.port = String(proxy.port);
    const place = endpoint === undefined ? { port: proxy.port } : { endpoint: endpoint.href };
    connections.push({ id: ids[index], name: ids[index], ...connection, ...place, ...more });
  }
  const stop = async (): Promise<void> => void (await Promise.all(proxies.map((proxy) => proxy.stop())));
  return { proxies, connections, stop };
}
