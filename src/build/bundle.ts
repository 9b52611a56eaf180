/**
 * The programs in their installed form: dist/bundle/main.js (the gateway), ftg.js, and the files of their threads, with
 * the libraries in them. Code that the first request does not need is in chunks that load on first use. So a start
 * reads some twenty files instead of a thousand.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild';
import { ROOT } from './root.js';

export const BUNDLE = 'dist/bundle';

/**
 * A thread is started by the name of its file, in the same folder as the file that starts it: `new
 * URL('./key-worker.js', import.meta.url)`.
 */
export const PROGRAMS = {
  main: 'src/main.ts',
  ftg: 'src/cli/main.ts',
  'event-loop.worker': 'src/app/threads/event-loop.worker.ts',
  'base64.worker': 'src/workers/base64.worker.ts',
  'key-worker': 'src/remotes/sftp/keys/key-worker.ts',
};

/**
 * These stay packages: native code, which has a build for each system, and piscina, which starts one of its own files
 * as a thread.
 */
const PACKAGES = ['koffi', 'uWebSockets.js', 'uWebSockets.js-compat', 'cpu-features', 'piscina'];

/** The native half of a package that is in the bundle: ssh2/lib/protocol/crypto/build/Release/sshcrypto.node. */
const nativeHalves: Plugin = {
  name: 'native halves',
  setup: (building) => {
    building.onResolve({ filter: /\.node$/ }, ({ path, resolveDir }) => {
      const [, inPackages = path] =
        /^.*node_modules\/(.*)$/.exec(resolve(resolveDir, path).replaceAll('\\', '/')) ?? [];
      return { path: inPackages, external: true };
    });
  },
};

export const PROGRAM_OPTIONS = {
  entryPoints: PROGRAMS,
  absWorkingDir: ROOT,
  outdir: BUNDLE,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  chunkNames: '[name]-[hash]',
  // A start parses it all: a third less text.
  minifyWhitespace: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  // Read when the log writes an error (observe/source-positions.ts), so without the sources themselves.
  sourcemap: 'linked',
  sourcesContent: false,
  external: PACKAGES,
  plugins: [nativeHalves],
  // For libraries that are CommonJS modules.
  banner: {
    js: [
      "import { createRequire as requireFrom } from 'node:module';",
      'const require = requireFrom(import.meta.url), __dirname = import.meta.dirname;',
    ].join('\n'),
  },
} as const satisfies BuildOptions;

/** Resolves to the source files. */
export async function buildBundle(): Promise<string[]> {
  const { metafile, outputFiles } = await build({ ...PROGRAM_OPTIONS, write: false });
  const folder = join(ROOT, BUNDLE);
  // Chunks have a digest in their names: those of the last build would stay.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { path, contents } of outputFiles) writeFileSync(path, contents, { mode: 0o755 });
  return inputsOf(metafile);
}

export const inputsOf = ({ inputs }: Metafile): string[] => Object.keys(inputs);
