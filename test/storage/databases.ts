/** The databases of every storage test, and how the tests open a storage on one. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startEmbedded } from '../../src/storage/embedded/embedded.js';
import type { NodeTiming } from '../../src/storage/cluster/nodes.js';
import { openStorage } from '../../src/storage/open.js';
import { CHANNEL, type Topic } from '../../src/storage/postgres/notices.js';
import type { NewTransfer, Storage, StorageOptions, TransferOutcome } from '../../src/storage/storage.js';
import { layEmbedded } from '../servers/data-folders.js';
import { type PostgresChoices, startPostgres } from '../servers/postgres.js';
import { eventually } from '../support/eventually.js';
import { type Sql, withSql } from '../support/sql.js';

export { withSql };

export interface TestServer {
  /**
   * The URL of its first database, which already has the gateway's tables when the run prepared them
   * (servers/data-folders.ts).
   */
  readonly url: string;
  /** Makes an empty database; resolves to its connection string. */
  createDatabase(): Promise<string>;
  /** Kills the server; it restarts itself or when `revive` is called. */
  kill(): Promise<void>;
  revive(): Promise<void>;
  stop(): Promise<void>;
}

export interface DatabaseKind {
  readonly name: string;
  start(): Promise<TestServer>;
}

export const DATABASES: readonly DatabaseKind[] = [
  { name: 'embedded PostgreSQL', start: startEmbeddedServer },
  { name: 'PostgreSQL server', start: () => startSystemServer() },
];

async function startEmbeddedServer(): Promise<TestServer> {
  const folder = await makeTempFolder();
  const dataDir = path.join(folder, 'data');
  await layEmbedded(dataDir);
  const server = await startEmbedded(dataDir, () => undefined);
  return {
    url: server.url,
    createDatabase: () => createDatabase(server.url),
    async kill() {
      if (server.pid !== undefined) process.kill(server.pid, 'SIGKILL');
    },
    revive: async () => undefined,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
}

export async function startSystemServer(choices?: PostgresChoices): Promise<TestServer> {
  const server = await startPostgres(choices);
  return {
    url: server.url,
    createDatabase: () => createDatabase(server.url),
    kill: () => server.kill(),
    revive: () => server.restart(),
    stop: () => server.stop(),
  };
}

let databases = 0;

async function createDatabase(serverUrl: string): Promise<string> {
  const name = `test_${process.pid}_${++databases}`;
  await withSql(serverUrl, (sql) => sql.unsafe(`create database ${name}`));
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Notifies all nodes that work of the topic is due: without a notice they find it at their next poll. */
export async function tellDue(sql: Sql, topic: Topic, inMs = 0): Promise<void> {
  await sql`select pg_notify(${CHANNEL}, ${`${topic} ${inMs}`})`;
}

/** Makes regular checks of all folders of the database due now. */
export async function makeChecksDue(sql: Sql): Promise<void> {
  await sql`update watched_folders set next_check_at = now() where not is_follow_up and next_check_at > now()`;
  await tellDue(sql, 'folders');
}

/** Makes a regular check of the folder due now. */
export async function makeCheckDue(sql: Sql, folderId: string): Promise<void> {
  await sql`update watched_folders set next_check_at = now() where id = ${folderId}`;
  await tellDue(sql, 'folders');
}

/** Readable for other users: the embedded server does not run as root. */
export async function makeTempFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gateway-storage-'));
  await chmod(folder, 0o755);
  return folder;
}

export const TEST_KEY = 'ab'.repeat(32);
/** Fast enough for tests, slow enough for a busy machine. */
export const TEST_TIMING: NodeTiming = { heartbeatMs: 100, deadAfterMs: 1500 };

export function testOptions(url: string, changes: Partial<StorageOptions> = {}): StorageOptions {
  return {
    dataDir: '/nonexistent',
    url,
    poolSize: 6,
    connectTimeoutMs: 10_000,
    masterKey: TEST_KEY,
    retentionDays: 0,
    log: () => undefined,
    ...changes,
  };
}

export function openTest(url: string, changes: Partial<StorageOptions> = {}): Promise<Storage> {
  return openStorage(testOptions(url, changes), TEST_TIMING);
}

export const SUCCESS: TransferOutcome = { status: 'success', fileSize: 7, errorMessage: null, errorCode: null };
export const FAILURE: TransferOutcome = {
  status: 'failed',
  fileSize: 0,
  errorMessage: 'no such file',
  errorCode: 'not_found',
};

export function upload(accountId: string, changes: Partial<NewTransfer> = {}): NewTransfer {
  return {
    accountId,
    connectionId: 'warehouse',
    keyId: undefined,
    requestId: 'request-1',
    type: 'upload',
    direction: 'outbound',
    filename: 'a.txt',
    path: '/upload/a.txt',
    countsAction: true,
    ...changes,
  };
}

/** Polls until `check` returns a value; for facts that only the database has. */
export async function until<T>(check: () => Promise<T | undefined>, what: string): Promise<T> {
  let found: T | undefined;
  await eventually(async () => (found = await check()) !== undefined, what);
  return found ?? assert.fail(what);
}

export interface Child {
  readonly process: ChildProcess;
  /** Lines of its standard output so far. */
  readonly lines: string[];
  /** Resolves to the first line for which `match` holds, even an earlier one. */
  line(match: (line: string) => boolean): Promise<string>;
  /** The exit code; the signal's name when it was killed. */
  readonly exit: Promise<number | NodeJS.Signals | null>;
}

/** Runs a program of child.ts in a process of its own. */
export function startChild(program: string, options: Partial<StorageOptions> = {}, ...args: string[]): Child {
  const script = fileURLToPath(new URL('child.js', import.meta.url));
  const child = spawn(process.execPath, [script, program, JSON.stringify(options), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const watchers = new Set<() => void>();
  const reader = createInterface(child.stdout);
  reader.on('line', (line) => {
    lines.push(line);
    for (const watcher of watchers) watcher();
  });
  let closed = false;
  reader.once('close', () => {
    closed = true;
    for (const watcher of watchers) watcher();
  });
  return {
    process: child,
    lines,
    exit: new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal))),
    line: (match) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = lines.find(match);
          if (found !== undefined) resolve(found);
          else if (closed)
            reject(new Error(`${program} ended without the line that was waited for: ${lines.join(' | ')}`));
          else return;
          watchers.delete(look);
        };
        watchers.add(look);
        look();
      }),
  };
}
