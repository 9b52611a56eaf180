/**
 * The embedded database: a real PostgreSQL as a child process, on a Unix socket that only its user can open (on systems
 * without Unix sockets: TCP with a random password). It lives as long as this process: a shell that waits on a pipe
 * from this process stops the server when this process is killed. If the server is killed, it is started again.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, copyFile, lstat, mkdir, open, rm, stat, statfs, truncate } from 'node:fs/promises';
import { createServer, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf, systemCodeOf } from '../../base/errors.js';
import { within } from '../../base/deadline.js';
import { Periodic } from '../../base/periodic.js';
import { retryDelay } from '../../base/retry-schedule.js';
import {
  awaitFreeFolder,
  clusterFolder,
  createCluster,
  lastLine,
  ownMark,
  readPassword,
  SUPERUSER,
  type ServerPrograms,
} from './embedded-folder.js';
import { readText, signalProcess } from './processes.js';
import { locatePrograms } from './embedded-package.js';
import type { DatabaseTarget } from '../postgres/target.js';
import { childEnvironment, chooseRunAs, giveTo, type RunAs } from './run-as.js';
import { type Log, StartupError } from '../startup.js';

const DATABASE = 'postgres';
const PORT = 5432;
/** sun_path holds 104 bytes on macOS and 108 on Linux, the end mark included. */
const MAX_SOCKET_PATH = 103;
const START_TIMEOUT_MS = 60_000;
const POLL_EVERY_MS = 5;
const FAST_SHUTDOWN_MS = 20_000;
const IMMEDIATE_SHUTDOWN_MS = 5000;
/** With less free space PostgreSQL may fail to start, and to log the reason. */
const MIN_FREE_BYTES = 1024 * 1024;
const MAX_LOG_BYTES = 5 * 1024 * 1024;
const TRIM_EVERY_MS = 60_000;
const RESTARTS = { firstMs: 100, longestMs: 10_000 };
/** A server that ran this long counts as healthy again. */
const SOUND_AFTER_MS = 60_000;

/** A pipe that closes without a line means that the gateway has died. The shell ignores the signals of a terminal. */
const WATCHDOG = 'trap "" HUP INT TERM; read -r line || kill -INT "$1"';

/** Small but safe: fsync and synchronous commit stay on. */
const SETTINGS = {
  max_connections: '50',
  shared_buffers: '64MB',
  max_wal_size: '512MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // Processes that one gateway does not need.
  io_method: 'sync',
  max_parallel_workers_per_gather: '0',
  max_logical_replication_workers: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // A failed statement would write its parameters into the log.
  log_min_error_statement: 'panic',
} as const;

export interface EmbeddedServer {
  readonly target: DatabaseTarget;
  /** The same as a connection string, for other threads of this process. Contains the password. */
  readonly url: string;
  /** Process id of the server; undefined between its death and its restart. */
  readonly pid: number | undefined;
  /** Ends the server in fast mode: open transactions are rolled back, everything committed is on disk. */
  stop(): Promise<void>;
}

interface EmbeddedOptions {
  /** How other processes connect; the default is a socket if the platform has them. */
  readonly transport?: 'socket' | 'tcp';
}

/**
 * Starts the server on `<dataDir>/postgres-<major>`; creates the folder at the first start. Throws a StartupError of
 * one line.
 */
export async function startEmbedded(dataDir: string, log: Log, options: EmbeddedOptions = {}): Promise<EmbeddedServer> {
  const root = path.resolve(dataDir);
  await makeDataDir(root);
  const runAs = await chooseRunAs(root);
  const programs = await locatePrograms(root, runAs);
  const cluster = await clusterFolder(root, programs.major);
  if (!existsSync(cluster)) await createCluster(cluster, programs, runAs);
  await giveTo(cluster, runAs.owner);
  const transport = options.transport ?? (process.platform === 'win32' ? 'tcp' : 'socket');
  const server = new Supervisor(cluster, programs, runAs, transport, await readPassword(cluster), log);
  await server.start();
  return server;
}

class Supervisor implements EmbeddedServer {
  readonly #cluster: string;
  readonly #programs: ServerPrograms;
  readonly #runAs: RunAs;
  readonly #log: Log;
  readonly #password: string;
  readonly #socketFolder: string | undefined;
  readonly #logFile: string;
  #port = PORT;
  /** Restarts since the last long run. */
  #restarts = 0;
  #child: ChildProcess | undefined;
  #watchdog: ChildProcess | undefined;
  #exited = Promise.resolve();
  #restarting: Promise<void> | undefined;
  readonly #stopping = new AbortController();
  readonly #trimming = new Periodic(() => trimLog(this.#logFile), TRIM_EVERY_MS);

  constructor(
    cluster: string,
    programs: ServerPrograms,
    runAs: RunAs,
    transport: 'socket' | 'tcp',
    password: string,
    log: Log,
  ) {
    this.#cluster = cluster;
    this.#programs = programs;
    this.#runAs = runAs;
    this.#password = password;
    this.#log = log;
    this.#socketFolder = transport === 'socket' ? socketFolderFor(cluster) : undefined;
    this.#logFile = `${cluster}.log`;
  }

  get target(): DatabaseTarget {
    const place =
      this.#socketFolder === undefined
        ? { host: '127.0.0.1', port: this.#port }
        : { path: `${this.#socketFolder}/.s.PGSQL.${PORT}` };
    return {
      label: `of the embedded PostgreSQL in ${this.#cluster}`,
      url: undefined,
      options: { ...place, user: SUPERUSER, password: this.#password, database: DATABASE, ssl: false },
    };
  }

  get url(): string {
    const host = this.#socketFolder === undefined ? `127.0.0.1:${this.#port}` : `localhost:${PORT}`;
    const query = this.#socketFolder === undefined ? '' : `?host=${encodeURIComponent(this.#socketFolder)}`;
    return `postgres://${SUPERUSER}:${this.#password}@${host}/${DATABASE}${query}`;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    if (this.#socketFolder === undefined) this.#port = await freePort();
    await this.#startOnce();
    this.#trimming.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#trimming.stop(), this.#restarting]);
    const child = this.#child;
    if (child !== undefined) {
      await this.#shutDown(child);
      this.#dismissWatchdog();
    }
    if (this.#socketFolder !== undefined) await rm(this.#socketFolder, { recursive: true, force: true });
  }

  async #shutDown(child: ChildProcess): Promise<void> {
    const { pid } = child;
    if (pid === undefined) return;
    for (const [signal, patience] of [
      ['SIGINT', FAST_SHUTDOWN_MS],
      ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
    ] as const) {
      if (process.platform === 'win32') this.#pgCtlStop(signal === 'SIGINT' ? 'fast' : 'immediate');
      else signalProcess(pid, signal);
      const ended = this.#exited.then(() => true);
      if (await within(ended, patience, () => false)) return;
    }
    this.#log('error', 'the embedded PostgreSQL does not stop', { process: pid });
  }

  /** Windows has no signals. */
  #pgCtlStop(mode: 'fast' | 'immediate'): void {
    const args = ['stop', '--no-wait', '--mode', mode, '--pgdata', this.#cluster];
    spawn(this.#programs.pgCtl, args, { env: childEnvironment(this.#programs.environment), stdio: 'ignore' }).on(
      'error',
      () => undefined,
    );
  }

  async #startOnce(): Promise<void> {
    await awaitFreeFolder(this.#cluster);
    if (this.#socketFolder !== undefined) await makeSocketFolder(this.#socketFolder, this.#runAs.owner);
    await trimLog(this.#logFile);
    const logStart = (await stat(this.#logFile).catch(() => ({ size: 0 }))).size;
    const child = await this.#spawnServer();
    try {
      await this.#untilReady(child);
    } catch (error) {
      this.#dismissWatchdog();
      if (!(error instanceof ServerEnded)) throw error;
      // Another gateway may have been faster by a moment; its name says more than PostgreSQL's own message.
      await awaitFreeFolder(this.#cluster);
      const words = (await readText(this.#logFile)).slice(logStart);
      const fatal = words.split('\n').findLast((line) => line.includes('FATAL')) ?? lastLine(words);
      const reason = (await isDiskFull(this.#cluster)) ? `its disk is full${fatal && `; ${fatal}`}` : fatal;
      throw new StartupError(
        `the embedded PostgreSQL in ${this.#cluster} does not start: ${reason || 'it said nothing'} (see ${this.#logFile})`,
      );
    }
  }

  async #spawnServer(): Promise<ChildProcess> {
    const settings = {
      ...SETTINGS,
      listen_addresses: this.#socketFolder === undefined ? '127.0.0.1' : '',
      port: String(this.#port),
      unix_socket_directories: this.#socketFolder ?? '',
      unix_socket_permissions: '0700',
      // Shows the next gateway on this folder which process started this server.
      cluster_name: await ownMark(),
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const { program, args, ids } = this.#runAs.command(this.#programs.postgres, ['-D', this.#cluster, ...flags]);
    const logHandle = await open(this.#logFile, 'a', 0o600);
    try {
      const child = spawn(program, [...args], {
        ...ids,
        cwd: '/',
        env: childEnvironment(this.#programs.environment),
        // A process group of its own: Ctrl-C in a terminal must not stop the database before the gateway has drained.
        detached: true,
        stdio: ['ignore', logHandle.fd, logHandle.fd],
      });
      this.#exited = new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.once('error', () => resolve());
      });
      child.unref();
      this.#child = child;
      this.#watch(child, ids);
      return child;
    } finally {
      await logHandle.close();
    }
  }

  #watch(child: ChildProcess, ids: { readonly uid?: number; readonly gid?: number }): void {
    if (child.pid === undefined || process.platform === 'win32') return;
    const watchdog = spawn('/bin/sh', ['-c', WATCHDOG, 'watchdog', String(child.pid)], {
      ...ids,
      cwd: '/',
      env: childEnvironment(),
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    watchdog.on('error', (error) => this.#log('warn', 'no watchdog for the database', { reason: error.message }));
    watchdog.stdin.on('error', () => undefined);
    watchdog.unref();
    if (watchdog.stdin instanceof Socket) watchdog.stdin.unref();
    this.#watchdog = watchdog;
  }

  #dismissWatchdog(): void {
    this.#watchdog?.stdin?.end('\n');
    this.#watchdog = undefined;
  }

  async #untilReady(child: ChildProcess): Promise<void> {
    const lockFile = path.join(this.#cluster, 'postmaster.pid');
    const deadline = performance.now() + START_TIMEOUT_MS;
    let ended = child.pid === undefined;
    void this.#exited.then(() => (ended = true));
    while (performance.now() < deadline) {
      if (ended) throw new ServerEnded();
      // The eighth line is the state; the first line shows that the file belongs to this server.
      const lines = (await readText(lockFile)).split('\n');
      if (lines[0] === String(child.pid) && lines[7]?.trim() === 'ready') {
        const readyAt = performance.now();
        void this.#exited.then(() => this.#onExit(readyAt));
        return;
      }
      await delay(POLL_EVERY_MS);
    }
    await this.#shutDown(child);
    throw new StartupError(
      `the embedded PostgreSQL in ${this.#cluster} was not ready within a minute (see ${this.#logFile})`,
    );
  }

  #onExit(readyAt: number): void {
    if (this.#stopping.signal.aborted) return;
    this.#child = undefined;
    this.#dismissWatchdog();
    this.#log('error', 'the embedded PostgreSQL ended; it is started again', { log: this.#logFile });
    if (performance.now() - readyAt > SOUND_AFTER_MS) this.#restarts = 0;
    this.#restarting ??= this.#restart().finally(() => (this.#restarting = undefined));
  }

  /** Never rejects. Retries until it succeeds or the gateway stops, because nothing works without a database. */
  async #restart(): Promise<void> {
    for (;;) {
      await delay(retryDelay(RESTARTS, ++this.#restarts), undefined, { signal: this.#stopping.signal }).catch(
        () => undefined,
      );
      if (this.#stopping.signal.aborted) return;
      try {
        await this.#startOnce();
        this.#log('info', 'the embedded PostgreSQL runs again');
        return;
      } catch (error) {
        this.#log('error', messageOf(error));
      }
    }
  }
}

class ServerEnded extends Error {}

async function makeDataDir(root: string): Promise<void> {
  try {
    const made = await mkdir(root, { recursive: true });
    // When this process is root, the server runs as another user and must be able to pass through the folder: the
    // umask must not forbid it.
    if (made !== undefined && process.getuid?.() === 0) await chmod(root, 0o711);
  } catch (error) {
    throw new StartupError(`dataDir: ${root} cannot be made: ${messageOf(error)}`);
  }
}

/** Beside the data, or in the system's temporary folder if that path would be too long for a socket. */
function socketFolderFor(cluster: string): string {
  const beside = `${cluster}.socket`;
  if (Buffer.byteLength(`${beside}/.s.PGSQL.${PORT}`) <= MAX_SOCKET_PATH) return beside;
  const name = createHash('sha256').update(cluster).digest('hex').slice(0, 16);
  return path.join(tmpdir(), `ftg-${process.getuid?.() ?? 0}-${name}`);
}

async function makeSocketFolder(folder: string, owner: number | undefined): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (systemCodeOf(error) !== 'EEXIST') throw error;
  });
  const found = await lstat(folder);
  const own = process.getuid?.();
  // In a shared temporary folder another user may have created it first.
  if (!found.isDirectory() || (found.uid !== own && found.uid !== owner)) {
    throw new StartupError(`${folder} belongs to somebody else; choose a dataDir with a shorter path`);
  }
  await chmod(folder, 0o700);
  if (owner !== undefined) await chown(folder, owner, owner);
}

async function isDiskFull(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize < MIN_FREE_BYTES;
}

/** The server appends, so its log file can be truncated while it runs; one former log is kept. */
async function trimLog(file: string): Promise<void> {
  const { size } = await stat(file).catch(() => ({ size: 0 }));
  if (size <= MAX_LOG_BYTES) return;
  await copyFile(file, `${file}.1`).catch(() => undefined);
  await truncate(file).catch(() => undefined);
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', resolve);
  });
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : PORT;
}
