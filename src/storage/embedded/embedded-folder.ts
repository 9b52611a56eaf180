/** The data folder of the embedded server: finds its owner, and creates a new one. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { systemCodeOf } from '../../base/errors.js';
import {
  hasProcess,
  isAlive,
  isSameProcess,
  type ProcessMark,
  readText,
  signalProcess,
  startTimeOf,
} from './processes.js';
import { childEnvironment, type RunAs } from './run-as.js';
import { StartupError } from '../startup.js';

export interface ServerPrograms {
  /** Major version: a data folder works with one major version only. */
  readonly major: number;
  readonly initdb: string;
  readonly postgres: string;
  readonly pgCtl: string;
  /** Variables to add to the environment of each program. */
  readonly environment: Readonly<Record<string, string>>;
}

const run = promisify(execFile);

/** The watchdog of a killed gateway needs a moment to stop its server (51 ms measured). */
const WATCHDOG_MS = 500;
const FAST_SHUTDOWN_MS = 15_000;
const IMMEDIATE_SHUTDOWN_MS = 5000;
const POLL_EVERY_MS = 25;
const INITDB_TIMEOUT_MS = 120_000;
/** The pause before each attempt grows by 100 ms: 12 seconds in all, about ten times what initdb takes. */
const REMOVE_RETRIES = 15;

export const SUPERUSER = 'gateway';
const PASSWORD_FILE = 'gateway.password';

/** The path of this version's data folder. StartupError if there is only one of another major version. */
export async function clusterFolder(dataDir: string, major: number): Promise<string> {
  const majors = (await readdir(dataDir))
    .map((name) => /^postgres-(\d+)$/.exec(name)?.[1])
    .filter((found) => found !== undefined);
  const other = majors.find((found) => found !== String(major));
  if (other !== undefined && !majors.includes(String(major))) {
    throw new StartupError(
      `dataDir holds a database of PostgreSQL ${other} (${path.join(dataDir, `postgres-${other}`)}) and this program brings ` +
        `PostgreSQL ${major}: start the former program, or move its data with pg_dump to a server and set database.url`,
    );
  }
  return path.join(dataDir, `postgres-${major}`);
}

/**
 * Creates the data folder, completely or not at all, with a random password for its one user inside. If two gateways do
 * so at once, one wins; the other finds the folder in use when it starts its server.
 */
export async function createCluster(cluster: string, programs: ServerPrograms, runAs: RunAs): Promise<void> {
  await removeDeadDrafts(cluster);
  const draft = draftFolderOf(cluster);
  await removeDraft(draft);
  await mkdir(draft, { mode: 0o700 });
  const password = path.join(draft, PASSWORD_FILE);
  await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600 });
  if (runAs.owner !== undefined) {
    await chown(password, runAs.owner, runAs.owner);
    await chown(draft, runAs.owner, runAs.owner);
  }
  const data = path.join(draft, 'data');
  const { program, args, ids } = runAs.command(programs.initdb, [
    ...['--pgdata', data, '--username', SUPERUSER, '--pwfile', password, '--auth', 'scram-sha-256'],
    ...['--encoding', 'UTF8', '--locale', 'C', '--no-instructions'],
  ]);
  try {
    const env = childEnvironment(programs.environment);
    await run(program, [...args], { ...ids, env, cwd: '/', timeout: INITDB_TIMEOUT_MS });
    await rename(password, path.join(data, PASSWORD_FILE));
    await rename(data, cluster);
  } catch (error) {
    if (isTaken(error)) return;
    const words = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    throw new StartupError(
      `the embedded PostgreSQL cannot make its data folder: ${lastLine(words)}; or set database.url`,
    );
  } finally {
    await removeDraft(draft);
  }
}

/** The draft of this process; it is renamed once it is complete. */
export function draftFolderOf(folder: string): string {
  return `${folder}.new-${process.pid}`;
}

/** Removes the drafts of gateways that were killed while they created the folder. */
export async function removeDeadDrafts(folder: string): Promise<void> {
  for (const name of await readdir(path.dirname(folder))) {
    const pid = name.startsWith(`${path.basename(folder)}.new-`) ? Number(name.split('-').at(-1)) : 0;
    if (pid > 0 && !(await isAlive(pid))) await removeDraft(path.join(path.dirname(folder), name));
  }
}

/**
 * The initdb of a killed gateway continues and creates files in folders that are being emptied, so the removal is
 * retried.
 */
export function removeDraft(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: REMOVE_RETRIES });
}

function isTaken(error: unknown): boolean {
  return ['ENOTEMPTY', 'EEXIST'].includes(systemCodeOf(error));
}

export async function readPassword(cluster: string): Promise<string> {
  const file = path.join(cluster, PASSWORD_FILE);
  try {
    return await readFile(file, 'utf8');
  } catch {
    throw new StartupError(`the password file ${file} of the embedded PostgreSQL cannot be read`);
  }
}

/**
 * Resolves when no server runs on the folder. Waits for a server whose gateway is dead, then stops it. A server of a
 * live gateway is a StartupError that names it.
 */
export async function awaitFreeFolder(cluster: string): Promise<void> {
  const began = performance.now();
  let signalled: NodeJS.Signals | undefined;
  for (;;) {
    const pid = await runningServer(cluster);
    if (pid === undefined) return;
    const owner = await ownerOfServer(cluster);
    if (owner !== undefined && (await isSameProcess(owner))) {
      throw new StartupError(
        `dataDir: another gateway (process ${owner.pid}) uses the embedded database in ${cluster}; ` +
          'give each gateway a dataDir of its own, or share one PostgreSQL by database.url',
      );
    }
    const elapsed = performance.now() - began;
    if (elapsed > WATCHDOG_MS + FAST_SHUTDOWN_MS + IMMEDIATE_SHUTDOWN_MS) {
      throw new StartupError(`a leftover PostgreSQL (process ${pid}) on ${cluster} does not stop; end it by hand`);
    }
    const signal = elapsed > WATCHDOG_MS + FAST_SHUTDOWN_MS ? 'SIGQUIT' : elapsed > WATCHDOG_MS ? 'SIGINT' : undefined;
    if (signal !== undefined && signal !== signalled) {
      signalled = signal;
      signalProcess(pid, signal);
    }
    await delay(POLL_EVERY_MS);
  }
}

/**
 * The process that holds the folder, if it is alive. Removes a stale lock file, which PostgreSQL itself would trust for
 * ever.
 */
async function runningServer(cluster: string): Promise<number | undefined> {
  const lockFile = path.join(cluster, 'postmaster.pid');
  const pid = Number.parseInt(await readText(lockFile), 10);
  if (!(pid > 0)) return undefined;
  if (await isAlive(pid)) {
    const name = await readText(`/proc/${pid}/comm`);
    if (name === '' || name.startsWith('postgres')) return pid;
  }
  // In containers another program soon gets the same number, or the zombie is never reaped.
  if (hasProcess(pid)) await rm(lockFile, { force: true });
  return undefined;
}

/** The mark of this process in the command line of the server that it starts. */
export async function ownMark(): Promise<string> {
  return `gateway_${process.pid}_${await startTimeOf(process.pid)}`;
}

/** The process that started the server: PostgreSQL keeps its command line in the data folder. */
async function ownerOfServer(cluster: string): Promise<ProcessMark | undefined> {
  const mark = /gateway_(\d+)_(\d+)/.exec(await readText(path.join(cluster, 'postmaster.opts')));
  return mark === null ? undefined : { pid: Number(mark[1]), started: mark[2] ?? '0' };
}

export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() ?? '';
}
