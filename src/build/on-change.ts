/** `npm run dev`: on each change of src, builds the gateway and restarts it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { context } from 'esbuild';
import { PROGRAM_OPTIONS } from './bundle.js';
import { clientFiles } from './clients/files.js';
import { BuildRecord } from './record.js';
import { ROOT } from './root.js';

/** Editors write a file in several steps. */
const REST_MS = 50;

/**
 * Builds the modules, restarts the gateway, then makes the types. Parts outside the bundle, such as the dashboard, need
 * `npm run build`.
 */
export async function buildOnChange(buildModules: () => Promise<void>, makeTypes: () => Promise<void>): Promise<void> {
  const record = new BuildRecord();
  record.forget('bundle');
  record.save();
  const bundle = await context(PROGRAM_OPTIONS);
  let gateway: ChildProcess | undefined;
  let due: NodeJS.Timeout | undefined;
  let building = Promise.resolve();

  const build = async (): Promise<void> => {
    const startedAt = performance.now();
    try {
      await Promise.all([buildModules(), bundle.rebuild()]);
    } catch {
      // esbuild has reported the error, and the gateway continues unchanged.
      return;
    }
    console.log(`built in ${Math.round(performance.now() - startedAt)} ms`);
    await stop(gateway);
    gateway = start();
    await makeTypes().catch((error: unknown) => console.error('no types:', error));
  };
  const made = new Set(clientFiles());
  watch(join(ROOT, 'src'), { recursive: true }, (_, name) => {
    if (name !== null && made.has(`src/${name.replaceAll('\\', '/')}`)) return;
    clearTimeout(due);
    due = setTimeout(() => {
      building = building.then(build);
    }, REST_MS);
  });
  process.once('SIGINT', () => void stop(gateway).then(() => process.exit()));
  await (building = build());
}

function start(): ChildProcess {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly start: string };
  };
  const [, , ...words] = scripts.start.split(' ');
  return spawn(process.execPath, words, { cwd: ROOT, stdio: 'inherit' });
}

/** Like a supervisor: running transfers may finish. */
async function stop(gateway: ChildProcess | undefined): Promise<void> {
  if (gateway === undefined || gateway.exitCode !== null || gateway.signalCode !== null) return;
  gateway.kill('SIGINT');
  await once(gateway, 'exit');
}
