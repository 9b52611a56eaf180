/**
 * Two tenants of one gateway: A attacks, B works on and measures.
 *
 *   const tenants = await startTenants({ config: { … } }); // a gateway process, an OpenSSH server for each of them
 *   const report = await tenants.measure(t, { seconds: 4, attack: async () => { …; return { stop: async () => … }; }
 *   });
 *   assertIsolated(report); // no failure of B's, p99 at most 3 × alone, ≤ 400 MiB
 *   await tenants.stop();
 *
 * `measure` runs B alone, then B during the attack, then B after the attack was stopped. B is a separate process
 * (victim.ts) that sends all kinds of small requests in turn, login among them, and times each. Every party has its own
 * loopback address (ADDRESSES), so that limits by client address can be distinguished. Memory is the gateway's resident
 * memory at its peak between the attack's start and the end. Attacks with many sockets: crowd.ts.
 *
 * Scaled to seconds by default; ISOLATION=all runs the `full` values of `scaled(full, small)`.
 */
import assert from 'node:assert/strict';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startSshd, type TestSshd } from '../../servers/sshd.js';
import { memoryOf, resetPeakMemory, startGateway, type ApiClient, type TestGateway } from '../../support/gateway.js';
import type { Sample, VictimOptions } from './victim.js';
import { startTogether } from '../../support/together.js';

export const IS_FULL_SCALE = process.env['ISOLATION'] === 'all';
export const scaled = (full: number, small: number): number => (IS_FULL_SCALE ? full : small);

export const A = {
  key: 'ftg_tenant-a-0123456789-abcdefgh',
  email: 'a@example.com',
  password: 'tenant a: correct horse',
};
export const B = {
  key: 'ftg_tenant-b-0123456789-abcdefgh',
  email: 'b@example.com',
  password: 'tenant b: battery staple',
};
/** Client addresses; `nobody` has no key. */
export const ADDRESSES = { a: '127.0.0.2', b: '127.0.0.3', nobody: '127.0.0.4' } as const;
/** The name of both tenants' connections. */
export const CONNECTION = 'files';

export const MAX_MEMORY_BYTES = 400 * 1024 * 1024;
const MAX_RATIO = 3;
/** Below this, a p99 of a few samples is noise of a shared machine. */
const NOISE_MS = IS_FULL_SCALE ? 100 : 1_500;
/** A machine that others share may pause more than once. */
export const MOST_AGAIN = 3;
/** B is measured under attack for the whole time; before and after it, without competition, for this part of it. */
const QUIET_PART = IS_FULL_SCALE ? 1 : 0.5;
/** By default a server drops some of more than ten logins at once. */
const ADMITS_ALL = ['MaxStartups 500'];
const VICTIM = fileURLToPath(new URL('./victim.js', import.meta.url));

export interface TenantsOptions {
  /** Further keys of the configuration; the pools are as in production, not as patient as in other tests. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** More fields of A's account: `apiKeys` and `connections` here are added to its own. */
  readonly a?: { readonly apiKeys?: readonly object[]; readonly connections?: readonly object[] };
  /** More fields of A's own connection, such as `pool`. */
  readonly aConnection?: Readonly<Record<string, unknown>>;
  /** The same for B's. */
  readonly bConnection?: Readonly<Record<string, unknown>>;
  /** B is the client of a proxy: `X-Forwarded-For` with its address, from this peer. */
  readonly viaProxy?: string;
}

export interface Attack {
  stop(): Promise<void>;
}

export interface Measured {
  readonly count: number;
  /** As `kind status text`. */
  readonly failures: readonly string[];
  /** Milliseconds by kind of request. */
  readonly p50: Readonly<Record<string, number>>;
  readonly p99: Readonly<Record<string, number>>;
}

export interface IsolationReport {
  readonly alone: Measured;
  readonly attacked: Measured;
  /** Once the attack has stopped. */
  readonly after: Measured;
  readonly memory: { readonly before: number; readonly peak: number };
}

export interface Tenants {
  readonly gateway: TestGateway;
  readonly a: ApiClient;
  readonly b: ApiClient;
  readonly aServer: TestSshd;
  readonly bServer: TestSshd;
  measure(
    t: Pick<TestContext, 'diagnostic'>,
    options: { readonly seconds: number; readonly attack: () => Promise<Attack> },
  ): Promise<IsolationReport>;
  stop(): Promise<void>;
}

export async function startTenants(options: TenantsOptions = {}): Promise<Tenants> {
  const [aServer, bServer] = await startTogether([startSshd(ADMITS_ALL), startSshd(ADMITS_ALL)]);
  const accounts = [
    {
      email: A.email,
      password: A.password,
      plan: 'pro',
      apiKeys: [{ name: 'a', key: A.key }, ...(options.a?.apiKeys ?? [])],
      connections: [{ ...connectionTo(aServer), ...options.aConnection }, ...(options.a?.connections ?? [])],
    },
    {
      email: B.email,
      password: B.password,
      plan: 'pro',
      apiKeys: [{ name: 'b', key: B.key }],
      connections: [{ ...connectionTo(bServer, 'b-'), ...options.bConnection }],
    },
  ];
  const { pools, ...others } = (options.config ?? {}) as { pools?: { default?: object } };
  const production = { acquireTimeoutMs: 15_000, connectTimeoutMs: 10_000, stallTimeoutMs: 30_000 };
  const config = { ...others, pools: { ...pools, default: { ...production, ...pools?.default } }, accounts };
  const servers = [aServer, bServer];
  const gateway = await startGateway({ config }).catch(async (error: unknown) => {
    await Promise.all(servers.map((server) => server.stop()));
    throw error;
  });
  const { port } = gateway;
  const [a, b] = [gateway.client(A.key), gateway.client(B.key)];
  const victim = await startVictim({ port, ...B, connection: `b-${CONNECTION}`, ...addressing(options) });
  return {
    gateway,
    a,
    b,
    aServer,
    bServer,
    measure: async (t, { seconds, attack }) => {
      await victim.run(1);
      const alone = await victim.run(seconds * QUIET_PART);
      const before = memoryOf(gateway.pid).now;
      resetPeakMemory(gateway.pid);
      const running = await attack();
      let attacked = await victim.run(seconds);
      for (let again = 0; again < MOST_AGAIN && slowKinds(alone, attacked).length > 0; again++)
        attacked = calmer(attacked, await victim.run(seconds));
      await running.stop();
      const after = await victim.run(seconds * QUIET_PART);
      const isAlive = gateway.process.exitCode === null && gateway.process.signalCode === null;
      const peak = isAlive ? memoryOf(gateway.pid).peak : Infinity;
      const report = { alone, attacked, after, memory: { before, peak } };
      for (const line of linesOf(report)) t.diagnostic(line);
      return report;
    },
    stop: async () => {
      victim.stop();
      await gateway.stop();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** B has no failures, is at most three times as slow at its slowest, and the process stays small. */
export function assertIsolated({ alone, attacked, after, memory }: IsolationReport): void {
  assert.deepEqual(alone.failures, [], 'B alone');
  assert.deepEqual(attacked.failures.slice(0, 5), [], 'B while A attacks');
  assert.deepEqual(after.failures.slice(0, 5), [], 'B after the attack');
  assert.deepEqual(slowKinds(alone, attacked), [], `p99 alone: ${JSON.stringify(alone.p99)}`);
  assert.ok(memory.peak <= MAX_MEMORY_BYTES, `${toMiB(memory.peak)} MiB resident`);
}

function slowKinds(alone: Measured, attacked: Measured): [kind: string, ms: number][] {
  return Object.entries(attacked.p99).filter(([kind, ms]) => isSlow(alone.p99[kind] ?? 0, ms));
}

/** Whether work takes much longer during an attack than alone. */
export const isSlow = (aloneMs: number, attackedMs: number): boolean =>
  attackedMs > Math.max(NOISE_MS, MAX_RATIO * aloneMs);

/** The effect of an attack repeats; a pause of the machine does not. All failures count. */
function calmer(first: Measured, second: Measured): Measured {
  const lower = (a: Measured['p99'], b: Measured['p99']): Measured['p99'] =>
    Object.fromEntries(Object.entries(a).map(([kind, ms]) => [kind, Math.min(ms, b[kind] ?? ms)]));
  return {
    count: first.count + second.count,
    failures: [...first.failures, ...second.failures],
    p50: lower(first.p50, second.p50),
    p99: lower(first.p99, second.p99),
  };
}

function addressing({ viaProxy }: TenantsOptions): Pick<VictimOptions, 'address' | 'forwardedFor'> {
  return viaProxy === undefined ? { address: ADDRESSES.b } : { address: viaProxy, forwardedFor: ADDRESSES.b };
}

function connectionTo(server: TestSshd, prefix = ''): object {
  return {
    id: `${prefix}${CONNECTION}`,
    name: 'Files',
    type: 'sftp',
    host: '127.0.0.1',
    port: server.port,
    username: server.username,
    privateKeyFile: server.clientKeyFile,
    rootPath: server.files,
    defaultPath: '/',
  };
}

interface Victim {
  run(seconds: number): Promise<Measured>;
  stop(): void;
}

async function startVictim(options: VictimOptions): Promise<Victim> {
  const child: ChildProcess = fork(VICTIM, [JSON.stringify(options)]);
  await once(child, 'message');
  return {
    run: async (seconds) => {
      const answer = once(child, 'message') as Promise<[Sample[]]>;
      child.send(seconds);
      const gone = once(child, 'exit').then(() => Promise.reject(new Error('the victim process ended')));
      gone.catch(() => undefined);
      const [samples] = await Promise.race([answer, gone]);
      return measured(samples);
    },
    stop: () => void child.kill(),
  };
}

function measured(samples: readonly Sample[]): Measured {
  const kinds = [...new Set(samples.map(({ kind }) => kind))];
  const quantile = (part: number): Record<string, number> =>
    Object.fromEntries(
      kinds.map((kind) => {
        const times = samples.filter((one) => one.kind === kind).map(({ ms }) => ms);
        times.sort((left, right) => left - right);
        return [kind, Math.round(times[Math.ceil(times.length * part) - 1] ?? NaN)];
      }),
    );
  const failures = samples.flatMap(({ kind, failure }) => (failure === undefined ? [] : [`${kind} ${failure}`]));
  return { count: samples.length, failures, p50: quantile(0.5), p99: quantile(0.99) };
}

function linesOf({ memory, ...phases }: IsolationReport): string[] {
  const lines = Object.entries(phases).map(([phase, { count, failures, p50, p99 }]) => {
    const kinds = Object.keys(p99).map((kind) => `${kind} ${p50[kind]}/${p99[kind]}`);
    return `${phase}: ${count} requests, ${failures.length} failed; p50/p99 ms: ${kinds.join(', ')}`;
  });
  return [...lines, `memory: ${toMiB(memory.before)} MiB before, ${toMiB(memory.peak)} MiB at the peak`];
}

const toMiB = (bytes: number): number => Math.round(bytes / 1024 / 1024);

/** For a crowd to be in place before B is measured. */
export const settle = (ms: number): Promise<void> => delay(ms);
