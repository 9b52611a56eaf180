/**
 * The Debian packages of the servers and programs that the tests and the bench use. Installed if this process may,
 * otherwise the user is asked to.
 */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { access, chmod, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const POLICY = '/usr/sbin/policy-rc.d';

/** An object store. */
export const SWIFT = [
  ...['python3-swift', 'python3-lxml', 'swift-proxy', 'swift-account', 'swift-container', 'swift-object', 'memcached'],
];

/** Resolves when every package is there; rejects with the command to type if this process may not install. */
export async function ensurePackages(names: readonly string[]): Promise<void> {
  const missing: string[] = [];
  for (const name of names) if (!(await isInstalled(name))) missing.push(name);
  if (missing.length === 0) return;
  const command = `apt-get install -y --no-install-recommends ${missing.join(' ')}`;
  if (process.getuid?.() !== 0 || !(await exists('/usr/bin/apt-get'))) {
    throw new Error(`these tests need programs that are not installed; as root on Debian or Ubuntu, type: ${command}`);
  }
  console.log(`installing ${missing.join(' ')}`);
  await withoutStartingDaemons(async () => {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const options = { env, maxBuffer: 64 * 1024 * 1024 };
    await run('apt-get', ['-o', 'DPkg::Lock::Timeout=300', 'update'], options);
    await run('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...command.split(' ').slice(1)], options);
  });
}

async function isInstalled(name: string): Promise<boolean> {
  // Any PostgreSQL from 15 on will do, from any source.
  if (name === 'postgresql' && (await hasPostgres())) return true;
  try {
    const { stdout } = await run('dpkg-query', ['-W', '-f=${Status}', name]);
    return stdout.startsWith('install ok installed');
  } catch {
    return false;
  }
}

async function hasPostgres(): Promise<boolean> {
  for (const major of ['18', '17', '16', '15'])
    if (await exists(`/usr/lib/postgresql/${major}/bin/initdb`)) return true;
  return false;
}

/** Package scripts would start the servers on their default ports. */
async function withoutStartingDaemons(work: () => Promise<void>): Promise<void> {
  const isOurs = !(await exists(POLICY));
  if (isOurs) {
    await writeFile(POLICY, '#!/bin/sh\nexit 101\n');
    await chmod(POLICY, 0o755);
  }
  try {
    await work();
  } finally {
    if (isOurs) await rm(POLICY, { force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

const UNPACKED = '/var/tmp/ftg-test-packages';

/**
 * The folder that these packages are unpacked in: those that conflict with others, or bring services. With `needs`, also
 * what they need and the system does not have.
 */
export function unpacked(packages: readonly string[], { needs = false } = {}): string {
  const root = path.join(UNPACKED, packages[0] ?? '');
  if (existsSync(path.join(root, 'complete'))) return root;
  const downloads = mkdtempSync(path.join(os.tmpdir(), 'ftg-download-'));
  execFileSync('apt-get', ['download', ...(needs ? missingFor(packages) : packages)], {
    cwd: downloads,
    stdio: 'pipe',
  });
  mkdirSync(root, { recursive: true });
  for (const file of readdirSync(downloads)) execFileSync('dpkg', ['-x', path.join(downloads, file), root]);
  rmSync(downloads, { recursive: true });
  writeFileSync(path.join(root, 'complete'), '');
  return root;
}

/** What an installation would add, which is only rehearsed. */
function missingFor(packages: readonly string[]): string[] {
  const plan = execFileSync('apt-get', ['install', '-s', '--no-install-recommends', ...packages], { encoding: 'utf8' });
  return [...plan.matchAll(/^Inst (\S+)/gm)].map(([, name = '']) => name);
}
