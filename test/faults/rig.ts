/**
 * A gateway over real servers, each behind a proxy that fails on command, and checks for everything a fault could
 * leave.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import type { HistoryItem } from '../api/support.js';
import { FTP_SERVERS, S3_SERVERS, SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startGateway, type ApiAnswer, type GatewayOptions, type TestGateway } from '../support/gateway.js';
import { startProxy, type Proxy } from '../support/proxy.js';
import { eventually } from '../support/eventually.js';
import { startTogether } from '../support/together.js';

export const KIB = 1024;
export const MIB = 1024 * 1024;
export const PROTOCOLS = ['sftp', 'ftp', 's3'] as const;
export type ProtocolName = (typeof PROTOCOLS)[number];

export interface Remote {
  readonly server: TestServer;
  readonly proxy: Proxy;
  /** As in the configuration file, through the proxy. */
  readonly connection: Readonly<Record<string, unknown>>;
}

export type Remotes = Readonly<Record<ProtocolName, Remote>>;
export type Servers = Readonly<Record<ProtocolName, TestServer>>;

export async function startServers(): Promise<Servers> {
  const [sftp, ftp, s3] = [SFTP_SERVERS[1], FTP_SERVERS[0], S3_SERVERS[0]].map((entry) => entry ?? assert.fail());
  assert.ok(sftp !== undefined && ftp !== undefined && s3 !== undefined);
  const [one, other, store] = await startTogether([sftp.start(), ftp.start(), s3.start()]);
  return { sftp: one, ftp: other, s3: store };
}

/** A separate proxy in front of a server, and the connection through it. */
export async function behindProxy(server: TestServer, id: string): Promise<Remote> {
  const { endpoint, port, type } = server.connection;
  const proxy = await startProxy(Number(port ?? new URL(String(endpoint)).port), { ftp: type === 'ftp' });
  const place = type === 's3' ? { endpoint: `http://127.0.0.1:${proxy.port}` } : { port: proxy.port };
  return { server, proxy, connection: { id, name: id, ...server.connection, ...place } };
}

export async function startRemotes(): Promise<Remotes & { stop(): Promise<void> }> {
  const servers = await startServers();
  const [sftp, ftp, s3] = await Promise.all([
    behindProxy(servers.sftp, 'sftp'),
    behindProxy(servers.ftp, 'ftp'),
    behindProxy(servers.s3, 's3'),
  ]);
  return {
    sftp,
    ftp,
    s3,
    stop: async () => {
      await Promise.all([sftp, ftp, s3].map(({ proxy }) => proxy.stop()));
      await Promise.all([sftp, ftp, s3].map(({ server }) => server.stop()));
    },
  };
}

export function overRemotes(remotes: Remotes, options: GatewayOptions = {}): Promise<TestGateway> {
  return startGateway({ connections: PROTOCOLS.map((protocol) => remotes[protocol].connection), ...options });
}

export interface Gauges {
  readonly open: number;
  readonly leased: number;
  readonly waiting: number;
  readonly requests: number;
  readonly queuedRows: number;
}

export async function gauges(gateway: TestGateway): Promise<Gauges> {
  const { text } = await gateway.api.get('/metrics');
  const sum = (name: string): number =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)$`, 'gm'))].reduce((all, [, n]) => all + Number(n), 0);
  return {
    open: sum('ftg_pool_sessions_open'),
    leased: sum('ftg_pool_leases'),
    waiting: sum('ftg_pool_waiting'),
    requests: sum('ftg_open_requests'),
    queuedRows: sum('ftg_history_queued_rows'),
  };
}

export function descriptors(gateway: TestGateway): number {
  return readdirSync(`/proc/${gateway.pid}/fd`).length;
}

/**
 * Opens what a gateway keeps open permanently (database connections, threads), so that a later count is meaningful: the
 * database's pool grows with concurrent queries, so there are bursts of them until none opens anything more.
 */
export async function warmUp(gateway: TestGateway): Promise<number> {
  const { json } = await gateway.api.get('/api/connections');
  const [first] = json['connections'] as { readonly id: string }[];
  const operation = (): Promise<ApiAnswer> =>
    gateway.api.get(`/api/exists/${first?.id ?? ''}`, { query: { path: '/x' } });
  const listing = (): Promise<ApiAnswer> => gateway.api.get('/api/transfers');
  await Promise.all(Array.from({ length: 40 }, (_, number) => (number % 2 === 0 ? operation() : listing())));
  await eventually(async () => (await gauges(gateway)).open === 0, 'the sessions of the warm-up are closed');
  let most = 0;
  for (let bursts = 0; bursts < 4; bursts++) {
    await Promise.all(Array.from({ length: 100 }, listing));
    gateway.api.close();
    const rests = await restingDescriptors(gateway);
    if (rests > most) bursts = 0;
    most = Math.max(most, rests);
  }
  return most;
}

async function restingDescriptors(gateway: TestGateway): Promise<number> {
  let count = Infinity;
  let unchanged = 0;
  await eventually(() => {
    const before = count;
    count = descriptors(gateway);
    unchanged = count === before ? unchanged + 1 : 0;
    return unchanged === 8;
  }, 'the number of descriptors rests');
  return count;
}

/**
 * The database's pool opens its last connection when this many queries are concurrent for the first time, which may be
 * late.
 */
const MAY_OPEN_LATE = 1;

/**
 * Nothing is leased, no request waits, and there are no more sessions or descriptors than at rest. Needs a short
 * pools.*.idleTimeoutMs.
 */
export async function leavesNothing(gateway: TestGateway, atRest: number): Promise<void> {
  let seen: Gauges | undefined;
  try {
    await eventually(async () => {
      seen = await gauges(gateway);
      gateway.api.close();
      const { open, leased, waiting, requests, queuedRows } = seen;
      // The request for the metrics is one itself.
      if (open + leased + waiting + queuedRows > 0 || requests > 1) return false;
      return descriptors(gateway) <= atRest + MAY_OPEN_LATE;
    }, 'sessions and descriptors are given back');
  } catch (error) {
    throw new Error(`${JSON.stringify(seen)}, ${descriptors(gateway)} descriptors, ${atRest} at rest`, {
      cause: error,
    });
  }
}

/** The newest history item of a connection. */
export async function lastItemOf(gateway: TestGateway, connection: string): Promise<HistoryItem | undefined> {
  const { json } = await gateway.api.get('/api/transfers', { query: { connection_id: connection, limit: '1' } });
  return (json['transfers'] as HistoryItem[])[0];
}

/** No history item is under way. Waits for those of list and exists, whose end may follow their answer. */
export async function nothingPending(gateway: TestGateway): Promise<boolean> {
  const pending = async (): Promise<readonly HistoryItem[]> => {
    const { json } = await gateway.api.get('/api/transfers', { query: { status: 'pending', limit: '100' } });
    return json['transfers'] as HistoryItem[];
  };
  if ((await pending()).some(({ type }) => type !== 'list' && type !== 'exists')) return false;
  await eventually(async () => (await pending()).length === 0, 'the rows of lists have followed');
  return true;
}

export function answerText(answer: ApiAnswer): string {
  return `${answer.status} ${String(answer.headers['x-error-code'])} ${answer.text.slice(0, 300)}`;
}

/** Their names in the reliability table. */
export const TITLES: Readonly<Record<ProtocolName, string>> = { sftp: 'SFTP', ftp: 'FTP', s3: 'S3' };

/** Random bytes after a name, so that a file on a disk shows which upload it came from. */
export function contentOf(name: string, size: number): Buffer {
  const content = randomBytes(size);
  content.write(`${name}\n`);
  return content;
}
