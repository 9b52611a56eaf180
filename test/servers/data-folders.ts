/**
 * Data folders of databases, made by the first test of a run that needs one and copied for all others: making one takes
 * longer than most tests. Tests of the first start make their own.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Names the folder in which a run keeps them; a test that runs alone has none. */
export const TEMPLATES_VARIABLE = 'TEST_TEMPLATES';

/**
 * Fills `target` with what `make` puts into an empty folder: by `make` itself, or as a copy of its result in this run.
 */
export async function layDataFolder(
  name: string,
  target: string,
  make: (folder: string) => Promise<void>,
): Promise<void> {
  const templates = process.env[TEMPLATES_VARIABLE];
  if (templates === undefined) return make(target);
  const template = path.join(templates, name);
  if (!existsSync(template)) {
    const draft = await mkdtemp(`${template}-`);
    // Servers run as other users.
    await chmod(draft, 0o755);
    await make(draft);
    await rename(draft, template).catch(async (error: unknown) => {
      // Another process was faster: its result is the same.
      await rm(draft, { recursive: true, force: true });
      if (!existsSync(template)) throw error;
    });
  }
  const parts = (await readdir(template)).map((part) => path.join(template, part));
  await run('cp', ['--archive', '--target-directory', target, ...parts]);
}

/** An embedded PostgreSQL with the gateway's empty tables, unless `dataDir` has one. */
export async function layEmbedded(dataDir: string): Promise<void> {
  if (process.env[TEMPLATES_VARIABLE] === undefined) return;
  const made = await mkdir(dataDir, { recursive: true });
  // Like the gateway makes it.
  if (made !== undefined) await chmod(dataDir, 0o711);
  if ((await readdir(dataDir)).some((name) => name.startsWith('postgres-'))) return;
  await layDataFolder('embedded', dataDir, makeEmbedded);
}

async function makeEmbedded(folder: string): Promise<void> {
  // Loaded only by the process that makes it.
  const [{ startEmbedded }, { Database }, { migrate }] = await Promise.all([
    import('../../src/storage/embedded/embedded.js'),
    import('../../src/storage/postgres/database.js'),
    import('../../src/storage/postgres/migrate.js'),
  ]);
  const log = (): void => undefined;
  const server = await startEmbedded(folder, log);
  try {
    const database = new Database(server.target, { poolSize: 1, connectTimeoutMs: 60_000, log });
    await database.connect();
    await migrate(database);
    await database.close();
  } finally {
    await server.stop();
  }
}
