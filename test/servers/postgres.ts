/** A throw-away PostgreSQL cluster from the system's packages, on its own loopback port. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../support/ports.js';
import { layDataFolder } from './data-folders.js';

const run = promisify(execFile);
const PROGRAMS = '/usr/lib/postgresql';
const USER = 'gateway';
const PASSWORD = 'test-password';
const START_TIMEOUT_MS = 240_000;

export interface PostgresServer {
  /** For its database `postgres`; others can be created in it. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Kills the server and all its processes with SIGKILL; the cluster is kept. */
  kill(): Promise<void>;
  /** Starts it again, on the same port, after kill(). */
  restart(): Promise<void>;
  /** Stops it with all its processes (SIGSTOP), connections open, until the returned function is called. */
  freeze(): Promise<() => void>;
  /** Sets its clock this many milliseconds off the true time; for a server that was started with `clock`. */
  setClock(offsetMs: number): Promise<void>;
  /** Ends the server and removes the cluster. */
  stop(): Promise<void>;
}

export interface PostgresChoices {
  /** Settings of the server, such as `max_connections=20`. */
  readonly settings?: readonly string[];
  /** Its clock can be set. */
  readonly clock?: boolean;
  /** The folder for its cluster; absent = the one for temporary files. */
  readonly parent?: string;
}

const FAKE_CLOCK = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';

export async function startPostgres({
  settings = [],
  clock = false,
  parent = tmpdir(),
}: PostgresChoices = {}): Promise<PostgresServer> {
  const bin = await findPrograms();
  const ids = serverIds();
  const folder = await mkdtemp(path.join(parent, 'gateway-postgres-'));
  give(folder, ids);
  await layDataFolder('server', folder, (place) => makeCluster(bin, place, ids));
  const data = path.join(folder, 'data');
  const port = await freePort();
  const clockFile = path.join(folder, 'clock');
  const setClock = async (offsetMs: number): Promise<void> => {
    // So that it is never read half written.
    await writeFile(`${clockFile}.next`, `${offsetMs < 0 ? '-' : '+'}${Math.abs(offsetMs) / 1000}`);
    await chmod(`${clockFile}.next`, 0o644);
    await rename(`${clockFile}.next`, clockFile);
  };
  if (clock) await setClock(0);
  const env = clock ? fakeClock(clockFile) : {};
  const start = (): Promise<ChildProcess> =>
    startServer(path.join(bin, 'postgres'), data, { folder, port, ids, settings, env });
  let server = await start();
  return {
    url: `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/postgres`,
    port,
    get pid() {
      return server.pid ?? 0;
    },
    async kill() {
      const children = await childrenOf(server.pid ?? 0);
      await end(server, 'SIGKILL');
      // They notice its death themselves and end; while one is alive, no other server starts on the cluster.
      await Promise.all(children.map(untilGone));
      await untilPortIsFree(port);
    },
    async restart() {
      server = await start();
    },
    async freeze() {
      const pid = server.pid ?? 0;
      // The process that forks them first: then there is no new one.
      process.kill(pid, 'SIGSTOP');
      const all = [...(await childrenOf(pid)), pid];
      const tell = (signal: NodeJS.Signals): void => {
        for (const one of all) {
          try {
            process.kill(one, signal);
          } catch {
            // It has ended.
          }
        }
      };
      tell('SIGSTOP');
      return () => tell('SIGCONT');
    },
    setClock,
    async stop() {
      await end(server, 'SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** As `data` in a folder. */
async function makeCluster(bin: string, folder: string, ids: Ids): Promise<void> {
  const data = path.join(folder, 'data');
  const passwordFile = path.join(folder, 'password');
  await mkdir(data);
  await writeFile(passwordFile, PASSWORD);
  for (const file of [data, passwordFile]) give(file, ids);
  const initArgs = ['-D', data, '-U', USER, '--pwfile', passwordFile, '-A', 'scram-sha-256', '-E', 'UTF8'];
  await run(path.join(bin, 'initdb'), [...initArgs, '--locale', 'C', '--no-sync'], { ...ids, cwd: '/' });
}

function give(file: string, { uid, gid }: Ids): void {
  if (uid !== undefined && gid !== undefined) chownSync(file, uid, gid);
}

export async function findPrograms(): Promise<string> {
  const versions = (await readdir(PROGRAMS).catch(() => [])).map(Number).filter((version) => version >= 15);
  const [oldest] = versions.sort((a, b) => a - b);
  if (oldest === undefined) throw new Error(`no PostgreSQL 15 or newer below ${PROGRAMS}; install postgresql-15`);
  return path.join(PROGRAMS, String(oldest), 'bin');
}

interface Ids {
  readonly uid?: number;
  readonly gid?: number;
}

/** PostgreSQL does not run as root: the package's own user is used for that. */
function serverIds(): Ids {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** The library reads the file each time, in every process of the server; monotonic clocks stay true. */
function fakeClock(file: string): NodeJS.ProcessEnv {
  if (!existsSync(FAKE_CLOCK)) throw new Error(`${FAKE_CLOCK} is missing; install libfaketime`);
  return {
    LD_PRELOAD: FAKE_CLOCK,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}

interface Start {
  readonly folder: string;
  readonly port: number;
  readonly ids: Ids;
  readonly settings: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

async function startServer(program: string, data: string, start: Start): Promise<ChildProcess> {
  const { folder, port, ids } = start;
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    ...start.settings,
  ];
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  const env = { ...process.env, ...start.env };
  const server = spawn(program, args, { ...ids, env, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
  let words = '';
  server.stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-4000)));
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const lines = (await readFile(path.join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
    if (lines[0] === String(server.pid) && lines[7]?.trim() === 'ready') return server;
    if (server.exitCode !== null || Date.now() > deadline) throw new Error(`PostgreSQL did not start: ${words}`);
    await delay(10);
  }
}

async function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = new Promise((resolve) => server.once('exit', resolve));
  server.kill(signal);
  await exited;
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

/** Its new parent may leave it a zombie, which holds nothing any more. */
async function untilGone(pid: number): Promise<void> {
  const isThere = async (): Promise<boolean> => {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    return text !== undefined && !/^\) [ZX]/.test(text.slice(text.lastIndexOf(')')));
  };
  while (await isThere()) await delay(10);
}

async function untilPortIsFree(port: number): Promise<void> {
  for (;;) {
    const probe = createServer();
    const free = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (free) return void (await new Promise((resolve) => probe.close(resolve)));
    await delay(10);
  }
}
