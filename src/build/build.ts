/** Builds the parts of dist that are more than modules, each when its sources have changed. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as esbuild from 'esbuild';
import { BUNDLE, buildBundle, inputsOf } from './bundle.js';
import { clientFiles, PYTHON_SOURCES } from './clients/files.js';
import { declareClient } from './declarations.js';
import { BuildRecord, type Sources } from './record.js';
import { ROOT } from './root.js';

export { buildOnChange } from './on-change.js';

const run = promisify(execFile);

interface Part extends Sources {
  /** Needs a tool (test/tools), so `npm run build` does not make it. */
  readonly isOnRequest?: boolean;
  /** Parts that are made before it. */
  readonly needs?: readonly string[];
  /** It is made again if one is missing. */
  readonly outputs: readonly string[];
  /** Resolves to its source files other than `files` and `folders`. */
  make: () => Promise<readonly string[]>;
}

const PARTS: Readonly<Record<string, Part>> = {
  bundle: { outputs: [BUNDLE], make: buildBundle },
  dashboard: {
    outputs: ['dist/dashboard', 'dist/links'],
    folders: ['src/dashboard/web', 'src/contract'],
    make: () => runProgram('src/dashboard/build.ts'),
  },
  site: {
    outputs: ['dist/site'],
    folders: ['docs', 'src/docs/web'],
    // The documents in the root folder are also pages.
    files: [
      ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
      ...['src/dashboard/web/icon.svg', 'src/config/example.yaml'],
    ],
    make: () => runProgram('src/docs/build.ts'),
  },
  validators: {
    outputs: ['dist/validators'],
    files: ['src/base/formats.ts'],
    make: () => runProgram('src/build/compile-schemas.ts'),
  },
  example: {
    outputs: ['config/gateway.example.yaml'],
    files: ['src/config/example.yaml'],
    make: () => runProgram('src/build/example.ts'),
  },
  man: { outputs: ['dist/man/ftg.1'], files: ['package.json'], make: () => runProgram('src/cli/man/build.ts') },
  // In src, where compilers, editors and Python look for the imports of a client.
  clients: {
    outputs: clientFiles(),
    folders: [PYTHON_SOURCES],
    make: () => runProgram('src/build/clients/build.ts'),
  },
  declarations: {
    isOnRequest: true,
    needs: ['clients'],
    outputs: ['dist/src/client/index.d.ts'],
    files: ['tsconfig.json'],
    folders: ['src/client'],
    make: async () => {
      await declareClient();
      return [];
    },
  },
};

/** Builds these parts; none = all but those on request. */
export async function buildParts(wanted: readonly string[]): Promise<void> {
  const unknown = wanted.find((name) => !(name in PARTS));
  if (unknown !== undefined) throw new Error(`there is no part ${unknown}, only ${Object.keys(PARTS).join(', ')}`);
  const needs = new Set(wanted.flatMap((name) => PARTS[name]?.needs ?? []));
  if (needs.size > 0) await buildParts([...needs]);
  const record = new BuildRecord();
  const due = Object.entries(PARTS).filter(([name, part]) => {
    if (wanted.length === 0 ? part.isOnRequest === true : !wanted.includes(name)) return false;
    return !record.isCurrent(name, part) || part.outputs.some((output) => !existsSync(join(ROOT, output)));
  });
  const made = await Promise.allSettled(
    due.map(async ([name, { make, files = [], folders = [] }]) => {
      const found = await make();
      record.set(name, { files: [...files, ...found], folders });
    }),
  );
  if (due.length > 0) record.save();
  const failed = made.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/** Runs a module as a program. Resolves to its imports. */
async function runProgram(source: string): Promise<string[]> {
  const scan = esbuild.build({
    entryPoints: [source],
    absWorkingDir: ROOT,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  await run(process.execPath, [join(ROOT, 'dist', source.replace(/\.ts$/, '.js'))], { cwd: ROOT });
  return inputsOf((await scan).metafile);
}
