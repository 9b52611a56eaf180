/** The soak's system: a gateway with its own SFTP, FTP and S3 server, and the pieces of its load. */
import { mkdirSync } from 'node:fs';
import { ApiClient, type ApiAnswer } from '../../test/support/gateway.js';
import { startGateway } from './gateway.js';
import { startFtp, startSftp, startStore } from './servers.js';
import { pathOn, type Protocol, type Target } from './target.js';

/** Idle sessions are gone before the soak checks what is left. */
const SESSION_IDLE_MS = 2_000;

export interface SoakTarget {
  readonly pid: number;
  upload(protocol: Protocol, path: string, content: Buffer): Promise<void>;
  download(protocol: Protocol, path: string): Promise<Buffer>;
  copy(from: Protocol, source: string, to: Protocol, path: string): Promise<void>;
  list(protocol: Protocol, path: string): Promise<void>;
  history(): Promise<void>;
  /** Begins an upload and resets the connection half way. */
  leaveHalfWay(protocol: Protocol, path: string): Promise<void>;
  /** Closes idle client connections, which are descriptors of the gateway. */
  closeIdle(): void;
  /** Reads one metric of /metrics, summed over its labels, or those that contain `label`. */
  metrics(): Promise<(name: string, label?: string) => number>;
  stop(): Promise<void>;
}

export async function startSoakTarget(scratch: string): Promise<SoakTarget> {
  const [sftp, ftp, s3] = await Promise.all([startSftp(scratch), startFtp(), startStore()]);
  const targets: Readonly<Record<Protocol, Target>> = { sftp: sftp.value, ftp: ftp.value.target, s3: s3.value };
  mkdirSync(`${sftp.value.folder}/soak`);
  const gateway = await startGateway({ connections: targets, pool: { idleTimeoutMs: SESSION_IDLE_MS } });
  const key = (gateway.headers['Authorization'] ?? '').replace('Bearer ', '');
  const api = new ApiClient(Number(new URL(gateway.url).port), key);
  const at = (protocol: Protocol, path: string): string => pathOn(targets[protocol], path.slice(1));

  const put = (
    protocol: Protocol,
    path: string,
    body: Buffer,
    length = body.length,
  ): Parameters<ApiClient['leave']> => {
    const place = at(protocol, path);
    const cut = place.lastIndexOf('/');
    return [
      `/api/upload/${protocol}`,
      {
        method: 'POST',
        query: { path: place.slice(0, cut) || '/', filename: place.slice(cut + 1) },
        body,
        headers: { 'Content-Type': 'application/octet-stream', 'Content-Length': String(length) },
      },
    ];
  };

  return {
    pid: gateway.pid,
    upload: async (protocol, path, content) => void good(await api.send(...put(protocol, path, content))),
    download: async (protocol, path) =>
      good(await api.get(`/api/download/${protocol}`, { query: { path: at(protocol, path) } })).bytes,
    copy: async (from, source, to, path) =>
      void good(
        await api.post('/api/copy', {
          source_connection_id: from,
          source_path: at(from, source),
          dest_connection_id: to,
          dest_path: at(to, path),
        }),
      ),
    list: async (protocol, path) =>
      void good(await api.get(`/api/list/${protocol}`, { query: { path: at(protocol, path) } })),
    history: async () => void good(await api.get('/api/transfers', { query: { limit: '50' } })),
    leaveHalfWay: (protocol, path) => api.leave(...put(protocol, path, Buffer.alloc(300_000), 600_000)),
    closeIdle: () => api.close(),
    metrics: async () => {
      const { text } = await api.get('/metrics');
      return (name, label = '') =>
        [...text.matchAll(new RegExp(`^${name}(?:\\{([^}]*)\\})? (\\S+)$`, 'gm'))]
          .filter(([, labels = '']) => labels.includes(label))
          .reduce((sum, [, , value]) => sum + Number(value), 0);
    },
    stop: async () => {
      api.close();
      await gateway.stop();
      await Promise.all([sftp.stop(), ftp.stop(), s3.stop()]);
    },
  };
}

function good(answer: ApiAnswer): ApiAnswer {
  if (answer.status === 200) return answer;
  throw new Error(`${answer.status} ${answer.text.slice(0, 300)}`);
}
