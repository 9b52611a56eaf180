/** PostgreSQL refuses to run as root. This module chooses the user for it and gives its folders to that user. */
import { execFile } from 'node:child_process';
import { chown, lstat, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { StartupError } from '../startup.js';

const NOBODY = 65534;
/** Used if the system has it. */
const OWN_USER = 'ftg-database';
const run = promisify(execFile);

export interface RunAs {
  /** Owner of the server's folders; undefined = the user who creates them. */
  readonly owner: number | undefined;
  /** The program and arguments that start something as that user, and the options for spawn. */
  command(
    program: string,
    args: readonly string[],
  ): {
    readonly program: string;
    readonly args: readonly string[];
    readonly ids: { readonly uid?: number; readonly gid?: number };
  };
}

const AS_IS: RunAs = { owner: undefined, command: (program, args) => ({ program, args, ids: {} }) };

const asUser = (id: number): RunAs => ({
  owner: id,
  command: (program, args) => ({ program, args, ids: { uid: id, gid: id } }),
});

/** The server runs as root outside its user namespace, and reaches root's folders; inside, it has an ordinary user. */
const IN_NAMESPACE: RunAs = {
  owner: 0,
  command: (program, args) => ({
    program: 'unshare',
    args: ['--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`, program, ...args],
    ids: {},
  }),
};

/** How to run the server on a folder in `parent`. StartupError if that is impossible. */
export async function chooseRunAs(parent: string): Promise<RunAs> {
  if (process.platform === 'win32' || process.getuid?.() !== 0) return AS_IS;
  const id = await unprivilegedUser();
  if (await canReach(parent, id)) return asUser(id);
  try {
    await run('unshare', ['--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`, 'true'], {
      env: childEnvironment(),
      timeout: 5000,
    });
    return IN_NAMESPACE;
  } catch {
    throw new StartupError(
      `the embedded PostgreSQL does not run as root and ${parent} cannot be reached by other users: ` +
        'run the gateway as an ordinary user, choose a dataDir below folders of mode 0755, or set database.url',
    );
  }
}

/** A dedicated user is better than the shared unprivileged one: other services that use that one could read the files. */
async function unprivilegedUser(): Promise<number> {
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const id = new RegExp(`^${OWN_USER}:[^:]*:([1-9]\\d*):`, 'm').exec(users)?.[1];
  return id === undefined ? NOBODY : Number(id);
}

/** Whether a user without special rights can pass through every folder down to `folder` and read in it. */
export async function canReach(folder: string, uid: number): Promise<boolean> {
  for (let current = path.resolve(folder); ; current = path.dirname(current)) {
    const { mode, uid: owner } = await stat(current);
    if ((mode & (owner === uid ? 0o100 : 0o001)) === 0) return false;
    if (current === path.dirname(current)) return true;
  }
}

/** Gives a folder and its content to `owner` unless it already belongs to that user. */
export async function giveTo(folder: string, owner: number | undefined): Promise<void> {
  if (owner === undefined || (await lstat(folder)).uid === owner) return;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) await giveTo(file, owner);
    else if (entry.isFile()) await chown(file, owner, owner);
  }
  // Last, so that an interrupted walk is repeated.
  await chown(folder, owner, owner);
}

/**
 * The environment of child processes. That of this process contains the master key and every secret that the
 * configuration refers to, and other processes of the child's user can read the child's environment
 * (/proc/<pid>/environ).
 */
const PASSED_ON = /^(PATH|LANG|LANGUAGE|LC_[A-Z]+|TZ|HOME|LD_LIBRARY_PATH)$/;
/** Windows programs need some of these to start; the case of its names does not matter. */
const PASSED_ON_WINDOWS = /^(PATH|PATHEXT|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|TEMP|TMP|USERPROFILE|TZ)$/i;

export function childEnvironment(added: Readonly<Record<string, string>> = {}): Record<string, string | undefined> {
  const passedOn = process.platform === 'win32' ? PASSED_ON_WINDOWS : PASSED_ON;
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => passedOn.test(name))), ...added };
}
