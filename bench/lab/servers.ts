/** The servers of the bench: OpenSSH, vsftpd, an S3 store in memory, and the same ones at the end of a long line. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startVsftpd } from '../../test/servers/ftp.js';
import { startSshd } from '../../test/servers/sshd.js';
import { accepts, startService } from './process.js';
import type { FtpTarget, S3Target, SftpTarget, Target } from './target.js';
import { freeHundred, freePort } from '../../test/support/ports.js';

export interface Running<T> {
  readonly value: T;
  readonly stop: () => Promise<void>;
}

const PASSIVE_PORTS = 100;
/** Other addresses of loopback: the same ports, through the long line, without a window and with one. */
const FAR_HOSTS = ['127.0.0.2', '127.0.0.3'] as const;

export async function startSftp(scratch: string): Promise<Running<SftpTarget>> {
  // As many concurrent logins as the largest case has sessions; the server's default refuses some of them.
  const server = await startSshd(['MaxStartups 500', 'MaxSessions 10']);
  const folder = join(scratch, 'sftp');
  mkdirSync(folder);
  const { port, username, clientKeyFile } = server;
  return {
    value: { protocol: 'sftp', host: '127.0.0.1', port, username, keyFile: clientKeyFile, folder },
    stop: () => server.stop(),
  };
}

export async function startFtp(): Promise<Running<{ target: FtpTarget; passivePorts: readonly number[] }>> {
  const first = freeHundred();
  const last = first + PASSIVE_PORTS - 1;
  const server = await startVsftpd({
    extra: [`pasv_min_port=${first}`, `pasv_max_port=${last}`, 'max_clients=400', 'max_per_ip=400'],
  });
  const { port, username, password, folder } = server;
  const passivePorts = Array.from({ length: PASSIVE_PORTS }, (_, index) => first + index);
  return {
    value: { target: { protocol: 'ftp', host: '127.0.0.1', port, username, password, folder }, passivePorts },
    stop: () => server.stop(),
  };
}

export const startStore = (): Promise<Running<S3Target>> => startStoreOf('s3-store.js');

/** A store of any number of objects, without content. */
export const startLargeStore = (): Promise<Running<S3Target>> => startStoreOf('large-store.js');

/** Takes uploads in parts, and keeps nothing. */
export const startSink = (): Promise<Running<S3Target>> => startStoreOf('s3-sink.js');

async function startStoreOf(program: string): Promise<Running<S3Target>> {
  const port = await freePort();
  const script = fileURLToPath(new URL(program, import.meta.url));
  const service = await startService(process.execPath, ['--max-semi-space-size=64', script, String(port)], {
    isReady: () => accepts('127.0.0.1', port),
  });
  return {
    value: {
      protocol: 's3',
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      bucket: 'bench',
      accessKeyId: 'bench',
      secretAccessKey: 'bench-secret',
    },
    stop: () => service.stop(),
  };
}

/**
 * The same server, with a round trip of `roundTripMs` between it and its clients. `windowBytes`: what one direction of a
 * connection moves in it; 0 = any number.
 */
export async function startFarAway(
  target: Target,
  roundTripMs: number,
  morePorts: readonly number[] = [],
  windowBytes = 0,
): Promise<Running<Target>> {
  const port = target.protocol === 's3' ? Number(new URL(target.endpoint).port) : target.port;
  const script = fileURLToPath(new URL('delay-proxy.js', import.meta.url));
  const ports = [port, ...morePorts].map(String);
  const host = FAR_HOSTS[windowBytes === 0 ? 0 : 1];
  const line = [host, '127.0.0.1', String(roundTripMs), String(windowBytes)];
  const service = await startService(process.execPath, [script, ...line, ...ports], {
    isReady: () => accepts(host, port),
  });
  const far = target.protocol === 's3' ? { ...target, endpoint: `http://${host}:${port}` } : { ...target, host };
  return { value: far, stop: () => service.stop() };
}
