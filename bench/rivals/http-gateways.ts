/** Other programs that take HTTP requests and use the same remote server. */
import { fileURLToPath } from 'node:url';
import type { Request } from '../lab/gateway.js';
import { accepts, startService, type Service } from '../lab/process.js';
import type { Target } from '../lab/target.js';
import { rcloneEnvironment, rcloneRemote } from './rclone.js';
import { freePort } from '../../test/support/ports.js';

export interface HttpRival extends Service {
  readonly name: string;
  upload(name: string): Request;
  download(name: string): Request;
}

export const WEBDAV = 'rclone serve webdav';

/** With its defaults. */
export async function startWebdav(target: Target): Promise<HttpRival> {
  const port = await freePort();
  const args = ['serve', 'webdav', rcloneRemote(target, ''), '--addr', `127.0.0.1:${port}`];
  const service = await startService('rclone', args, {
    env: await rcloneEnvironment(target),
    isReady: () => accepts('127.0.0.1', port),
  });
  return { name: WEBDAV, ...requests(port), pid: service.pid, stop: () => service.stop() };
}

/** See naive-gateway.ts. */
export async function startNaiveGateway(target: Target): Promise<HttpRival> {
  const port = await freePort();
  const script = fileURLToPath(new URL('naive-gateway.js', import.meta.url));
  const service = await startService(process.execPath, [script, String(port), JSON.stringify(target)], {
    isReady: () => accepts('127.0.0.1', port),
  });
  return { name: 'naive gateway', ...requests(port), pid: service.pid, stop: () => service.stop() };
}

function requests(port: number): Pick<HttpRival, 'upload' | 'download'> {
  const url = `http://127.0.0.1:${port}`;
  return {
    upload: (name) => ({ method: 'PUT', url: `${url}/${name}`, headers: {} }),
    download: (name) => ({ method: 'GET', url: `${url}/${name}`, headers: {} }),
  };
}
