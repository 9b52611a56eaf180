/** `--watch`: runs the files of a request, and again those that a changed source belongs to, until it is stopped. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import path from 'node:path';
import { forgetImports, reachedBy } from './imports.js';
import { FOLDER, ROOT, select, type Request } from './selection.js';

/** Editors write a file in several steps. */
const REST_MS = 50;
const WATCHED = ['src', 'test'];

export async function runOnChange(request: Request): Promise<void> {
  const tiers = request.tiers.map((tier) => `--tier=${tier}`);
  const runFiles = async (parts: readonly string[]): Promise<void> => {
    await node('--enable-source-maps', path.join(FOLDER, 'run.js'), ...tiers, ...parts);
    console.log('\nwaiting for changes of src and test');
  };
  const changed = new Set<string>();
  let due: NodeJS.Timeout | undefined;
  let running = runFiles(request.parts);
  const runChanged = async (): Promise<void> => {
    const sources = [...changed];
    changed.clear();
    if (sources.length === 0 || (await node(path.join(ROOT, 'build.js'), 'modules')) !== 0) return;
    forgetImports();
    const names = affectedBy(sources, select(request));
    if (names.length > 0) await runFiles(names);
  };
  for (const folder of WATCHED)
    watch(path.join(ROOT, folder), { recursive: true }, (_event, name) => {
      if (name === null || !name.endsWith('.ts')) return;
      changed.add(path.join(folder, name));
      clearTimeout(due);
      due = setTimeout(() => {
        running = running.then(runChanged);
      }, REST_MS);
    });
  await running;
}

/** The compiled test files among `names` that load one of the sources. Paths of sources begin at the root. */
export function affectedBy(sources: readonly string[], names: readonly string[]): string[] {
  const compiled = sources.map((source) => path.join(ROOT, 'dist', source.replace(/\.ts$/, '.js')));
  return names.filter((name) => {
    const file = path.join(FOLDER, name);
    const reached = reachedBy(file);
    return compiled.some((one) => one === file || reached.has(one));
  });
}

/** Ends with this process, if a signal ends it. */
async function node(...args: readonly string[]): Promise<number | null> {
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  const end = (signal: NodeJS.Signals): void => {
    child.kill(signal);
    process.exit(1);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);
  const [code] = (await once(child, 'exit')) as [number | null];
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end);
  return code;
}
