/** The gateway as a separate process with a configuration made for the case. */
import { createHmac, hash, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signingKeyOf } from '../../src/base/aws-signature.js';
import type { ProfileFile } from '../report/profile.js';
import { AllocationMeter } from './allocation-meter.js';
import { residentMiB } from './process-meter.js';
import { startService, type Service } from './process.js';
import { pathOn, type Target } from './target.js';
import { freePort } from '../../test/support/ports.js';
import { MAIN, mainOf, START_ARGS, unbundledOf } from '../../test/support/start-args.js';

const WITHOUT_NATIVE_CRYPTO = new URL('without-native-crypto.js', import.meta.url).href;
const COUNTING_ENTRIES = new URL('entered-modules.js', import.meta.url).href;
/** Gateways that share a database share its master key. */
const MASTER_KEY = Buffer.alloc(32, 'bench').toString('base64');
const KEY = 'ftg_bench-0123456789abcdefghijklmnop';
export const S3_PAIR = {
  accessKeyId: 'BENCH0123456789ABCDE',
  secretAccessKey: 'bench-secret-0123456789-0123456789-01234',
};
/** On a busy machine clients wait, which is no failure here. */
const PATIENT_MS = 120_000;
/** The type follows the rule for names of connections. */
export type Connections = Readonly<Record<string, Target>>;

export interface GatewayOptions {
  readonly connections: Connections;
  /** Settings of `server` that differ from the defaults. */
  readonly server?: Readonly<Record<string, unknown>>;
  /** The number of accounts without connections, beside the one that has them. */
  readonly accounts?: number;
  /** Limits of pools.default that differ from the defaults. */
  readonly pool?: Readonly<Record<string, number>>;
  /** Other sections of gateway.yaml that differ from the defaults. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** With the S3 front, for the key S3_PAIR. */
  readonly hasS3?: boolean;
  /** The folder for a CPU profile, written when it stops. */
  readonly profileFolder?: string | undefined;
  /** False: like a machine on which the native crypto of ssh2 was not built. */
  readonly hasNativeCrypto?: boolean;
  /** Count the allocations on its heap. */
  readonly countsAllocation?: boolean;
  /** The file for its entered modules (entered-modules.ts). */
  readonly enteredFile?: string;
  /** A built checkout of another version. */
  readonly checkout?: string | undefined;
}

export interface GatewayUnderTest extends Service {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Those without connections. */
  readonly accounts: readonly BenchAccount[];
  /** The first process of its embedded database; absent if it uses another one. */
  readonly databasePid?: number;
  /** The 99th percentile of its event loop's delays since the last call, in ms. */
  readonly loopDelayMs: () => Promise<number>;
  /** The longest of these delays. */
  readonly longestStallMs: () => Promise<number>;
  /** Resident memory when it was ready, before its first request. */
  readonly restMiB: number;
  /** On the heaps of all its event loops, as far as they were collected; 0 unless it is counted. */
  readonly allocatedBytes: () => number;
  /** The future file of its CPU profile. */
  readonly profile: ProfileFile | undefined;
}

interface BenchAccount {
  readonly email: string;
  readonly headers: Readonly<Record<string, string>>;
}

export async function startGateway({
  connections,
  server = {},
  accounts = 0,
  pool = {},
  settings = {},
  hasS3 = false,
  profileFolder,
  hasNativeCrypto = true,
  countsAllocation = false,
  enteredFile,
  checkout,
}: GatewayOptions): Promise<GatewayUnderTest> {
  // On a disk, not in memory: commits of the history must have their real cost.
  const folder = mkdtempSync('/tmp/ftg-bench-');
  chmodSync(folder, 0o755);
  const port = await freePort();
  const file = join(folder, 'gateway.yaml');
  const further = Array.from({ length: accounts }, (_, index) => ({
    email: `bench-${index}@example.com`,
    key: `${KEY}${index}`,
  }));
  const config = {
    // All clients have one address.
    server: { port, retireSeconds: 0, connectionsPerAddress: 0, ...server },
    dataDir: join(folder, 'data'),
    log: { level: 'warn', pretty: false },
    pools: { default: { acquireTimeoutMs: PATIENT_MS, ...pool } },
    ...settings,
    ...(hasS3 ? { s3: { enabled: true } } : {}),
    accounts: [
      {
        email: 'bench@example.com',
        plan: 'pro',
        apiKeys: [
          {
            name: 'bench',
            key: KEY,
            scopes: ['read', 'write', 'watch', 'admin'],
            ...(hasS3 ? { s3: S3_PAIR } : {}),
          },
        ],
        connections: Object.entries(connections).map(([id, target]) => connectionConfig(id, target)),
      },
      ...further.map(({ email, key }) => ({
        email,
        plan: 'pro',
        apiKeys: [{ name: 'bench', key, scopes: ['read'] }],
        connections: [],
      })),
    ],
  };
  // Every JSON text is YAML.
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  const url = `http://127.0.0.1:${port}`;
  const profileName = `${randomUUID()}.cpuprofile`;
  const profiling =
    profileFolder === undefined
      ? []
      : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`, `--cpu-prof-name=${profileName}`];
  // Profiles and counts name each module by its file, which the bundle does not have.
  const isBundled = profileFolder === undefined && enteredFile === undefined;
  const bundled = checkout === undefined ? MAIN : mainOf(checkout);
  const main = isBundled ? bundled : unbundledOf(checkout);
  const preloaded = [
    ...(hasNativeCrypto ? [] : ['--import', WITHOUT_NATIVE_CRYPTO]),
    ...(enteredFile === undefined ? [] : ['--import', COUNTING_ENTRIES]),
  ];
  const counting = countsAllocation ? ['--trace-gc-nvp'] : [];
  const allocation = new AllocationMeter();
  const startedAt = performance.now();
  const service = await startService(process.execPath, [...profiling, ...preloaded, ...counting, ...START_ARGS, main], {
    env: {
      GATEWAY_CONFIG: file,
      GATEWAY_MASTER_KEY: MASTER_KEY,
      ...(enteredFile === undefined ? {} : { ENTERED_FILE: enteredFile }),
    },
    hear: (text) => allocation.take(text),
    isReady: async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200,
  });
  return {
    pid: service.pid,
    restMiB: residentMiB(service.pid),
    ...embeddedIn(config.dataDir),
    profile:
      profileFolder === undefined
        ? undefined
        : { path: join(profileFolder, profileName), skipMs: performance.now() - startedAt },
    url,
    headers: headersOf(KEY),
    accounts: further.map(({ email, key }) => ({ email, headers: headersOf(key) })),
    loopDelayMs: () => eventLoopLag(url, 'p99'),
    longestStallMs: () => eventLoopLag(url, 'max'),
    allocatedBytes: () => allocation.bytes,
    stop: async () => {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function headersOf(key: string): Readonly<Record<string, string>> {
  return { Authorization: `Bearer ${key}` };
}

/** The server writes its process id into the first line of a file in its folder. */
function embeddedIn(dataDir: string): { readonly databasePid?: number } {
  const cluster = (existsSync(dataDir) ? readdirSync(dataDir) : []).find((name) => /^postgres-\d+$/.test(name));
  if (cluster === undefined) return {};
  return { databasePid: Number(readFileSync(join(dataDir, cluster, 'postmaster.pid'), 'utf8').split('\n')[0]) };
}

/** The event loop's delay in prom-client's metrics since the last request, in ms. */
async function eventLoopLag(url: string, figure: 'p99' | 'max'): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^nodejs_eventloop_lag_${figure}_seconds (\\S+)$`, 'm').exec(text)?.[1] ?? NaN) * 1000;
}

export interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

type Place = { readonly gateway: GatewayUnderTest; readonly connection: string; readonly target: Target };

export function uploadRequest({ gateway, connection, target }: Place, name: string): Request {
  const path = pathOn(target, name);
  const folder = path.slice(0, path.lastIndexOf('/')) || '/';
  const query = new URLSearchParams({ path: folder, filename: path.slice(path.lastIndexOf('/') + 1) });
  return {
    method: 'POST',
    url: `${gateway.url}/api/upload/${connection}?${query.toString()}`,
    headers: { ...gateway.headers, 'Content-Type': 'application/octet-stream' },
  };
}

export function getRequest(
  { gateway, connection, target }: Place,
  operation: 'download' | 'exists' | 'list',
  name: string,
  more: Readonly<Record<string, string>> = {},
): Request {
  const query = new URLSearchParams({ path: pathOn(target, name), ...more });
  return {
    method: 'GET',
    url: `${gateway.url}/api/${operation}/${connection}?${query.toString()}`,
    headers: gateway.headers,
  };
}

/** A request of the S3 front, signed for an hour. Names of these files need no encoding. */
export function presignedRequest(method: string, { gateway, connection, target }: Place, name: string): Request {
  const { host } = new URL(gateway.url);
  const path = `/s3/${connection}${pathOn(target, name)}`;
  const date = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${date.slice(0, 8)}/us-east-1/s3/aws4_request`;
  const credential = encodeURIComponent(`${S3_PAIR.accessKeyId}/${scope}`);
  const query =
    `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${credential}` +
    `&X-Amz-Date=${date}&X-Amz-Expires=3600&X-Amz-SignedHeaders=host`;
  const canonical = `${method}\n${path}\n${query}\nhost:${host}\n\nhost\nUNSIGNED-PAYLOAD`;
  const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash('sha256', canonical, 'hex')}`;
  const signature = createHmac('sha256', signingKeyOf(scope, S3_PAIR.secretAccessKey)).update(text).digest('hex');
  return { method, url: `${gateway.url}${path}?${query}&X-Amz-Signature=${signature}`, headers: {} };
}

function connectionConfig(id: string, target: Target): Record<string, unknown> {
  const common = { id, name: id };
  switch (target.protocol) {
    case 'sftp': {
      const { host, port, username, keyFile, folder, proxy, via } = target;
      const way = { ...(proxy === undefined ? {} : { proxy: { url: proxy } }), ...(via === undefined ? {} : { via }) };
      const login = { host, port, username, privateKeyFile: keyFile };
      return { ...common, type: 'sftp', ...login, ...way, defaultPath: folder };
    }
    case 'ftp': {
      const { host, port, username, password } = target;
      return { ...common, type: 'ftp', host, port, username, password, tls: 'none', defaultPath: '/' };
    }
    case 's3': {
      const { endpoint, region, bucket, accessKeyId, secretAccessKey } = target;
      const login = { endpoint, region, bucket, accessKeyId, secretAccessKey };
      return { ...common, type: 's3', ...login, forcePathStyle: true, defaultPath: '/' };
    }
  }
}
