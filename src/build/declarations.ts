/**
 * The types of the client, dist/src/client/*.d.ts: for its package, and for programs that import it from the gateway's
 * package.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './root.js';

const run = promisify(execFile);

export const DECLARATIONS = join(ROOT, 'dist/src/client');

let declared: Promise<void> | undefined;

/** Runs once per process. Needs the type checker, which is a tool (test/tools): `npm ci` builds without it. */
export function declareClient(): Promise<void> {
  return (declared ??= declare());
}

async function declare(): Promise<void> {
  // Other processes that stage packages at the same time then find complete files.
  const made = mkdtempSync(join(ROOT, 'dist/declarations-'));
  try {
    const checker = join(ROOT, 'node_modules/typescript/bin/tsc');
    await run(process.execPath, [checker, '-p', 'src/client', '--outDir', made], { cwd: ROOT });
    const types = join(made, 'client');
    for (const name of readdirSync(types)) renameSync(join(types, name), join(DECLARATIONS, name));
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
