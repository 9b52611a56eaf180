/** HAProxy on loopback with the unchanged configuration of config/deploy. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ApiClient } from './gateway.js';
import { freePort } from './ports.js';
import { eventually } from './eventually.js';

const HAPROXY = '/usr/sbin/haproxy';
const CONFIGURATION = fileURLToPath(new URL('../../../config/deploy/haproxy.cfg', import.meta.url));
/** Replaces the configured number, which needs more descriptors than every machine gives. */
const MAX_CONNECTIONS = '1000';

export interface LoadBalancer {
  readonly port: number;
  readonly api: ApiClient;
  stop(): Promise<void>;
}

/** Resolves when it has found a ready node. */
export async function startLoadBalancer(gateways: readonly [number, number, number]): Promise<LoadBalancer> {
  const port = await freePort();
  const nodes = gateways.map((gateway, index) => [`GATEWAY_${index + 1}`, `127.0.0.1:${gateway}`] as const);
  const child: ChildProcess = spawn(HAPROXY, ['-db', '-n', MAX_CONNECTIONS, '-f', CONFIGURATION], {
    env: { ...process.env, LISTEN: `127.0.0.1:${port}`, ...Object.fromEntries(nodes) },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  const api = new ApiClient(port);
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`the load balancer ended with ${child.exitCode}`);
    return (await api.get('/readyz').catch(() => undefined))?.status === 200;
  }, 'a ready node behind the load balancer');
  return {
    port,
    api,
    stop: async () => {
      api.close();
      child.kill('SIGTERM');
      await exited;
    },
  };
}
