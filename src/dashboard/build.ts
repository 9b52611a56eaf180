/**
 * Builds the pages of links into dist/links and the dashboard into dist/dashboard. Each text file gets a brotli and a gzip
 * copy.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { derived } from '../build/derived.js';
import { compressFiles } from '../http/compress-files.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const WEB = join(ROOT, 'src/dashboard/web');
const MAIN = join(WEB, 'main.tsx');
const BASE = join(WEB, 'base.ts');
const APP = join(WEB, 'app.tsx');
const TEXTS = join(WEB, 'texts/');
const OUT = join(ROOT, 'dist/dashboard');
const TARGETS = ['chrome123', 'firefox120', 'safari17.5'];

/**
 * Keeps the modules of the first load in two files, `base` and `app`: every text imports the first, and every part that is
 * loaded later the second. Without these imports, esbuild makes a file of each set of parts that share a module.
 */
const firstTogether: Plugin = {
  name: 'first together',
  setup: (building) => {
    const later = new Set<string>();
    building.onResolve({ filter: /\.tsx?$/ }, ({ kind, path, resolveDir }) => {
      if (kind === 'dynamic-import') later.add(resolve(resolveDir, path));
      return undefined;
    });
    building.onLoad({ filter: /[\\/]dashboard[\\/]web[\\/].*\.tsx?$/ }, ({ path }) => {
      if (path !== MAIN && !later.has(path)) return undefined;
      const isBeforeApp = path === MAIN || path === APP || path.startsWith(TEXTS);
      const contents = `import ${JSON.stringify(isBeforeApp ? BASE : APP)};\n${readFileSync(path, 'utf8')}`;
      return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' };
    });
  },
};

// The page contains its only script and its only style sheet.
await build({
  entryPoints: [join(WEB, 'link/link.ts'), join(WEB, 'link/link.css')],
  outdir: join(ROOT, 'dist/links'),
  bundle: true,
  format: 'esm',
  minify: true,
  target: TARGETS,
  plugins: [derived],
});

rmSync(OUT, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: [MAIN],
  outdir: join(OUT, 'assets'),
  publicPath: '/assets/',
  // The names contain a digest of the content, so browsers may cache the files forever.
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  loader: { '.svg': 'file' },
  bundle: true,
  splitting: true,
  format: 'esm',
  jsx: 'automatic',
  jsxImportSource: 'visible-text',
  alias: { 'visible-text/jsx-runtime': join(WEB, 'ui/jsx-runtime.ts') },
  minify: true,
  target: TARGETS,
  plugins: [derived, firstTogether],
  metafile: true,
});
writeFileSync(join(OUT, 'index.html'), page());
compressFiles(OUT, 11);

function page(): string {
  const built = Object.entries(metafile.outputs);
  const [main = '', { cssBundle = '' } = {}] = built.find(([, output]) => output.cssBundle) ?? [];
  const [app = ''] = built.find(([, { entryPoint }]) => entryPoint?.endsWith('/app.tsx')) ?? [];
  const icon = built.find(([file]) => file.endsWith('.svg'))?.[0] ?? '';
  // The page preloads the modules that the first scripts import.
  const atOnce = new Set([app, ...[main, app].flatMap(importsOf)]);
  checkTexts([main, ...atOnce].flatMap((file) => Object.keys(metafile.outputs[file]?.inputs ?? {})));
  const preloads = [...atOnce].map((path) => `<link rel="modulepreload" href="${address(path)}" />\n    `);
  return readFileSync(join(WEB, 'index.html'), 'utf8')
    .replace('./icon.svg', address(icon))
    .replace('./main.css', address(cssBundle))
    .replace(
      '<script type="module" src="./main.tsx">',
      `${preloads.join('')}<script type="module" src="${address(main)}">`,
    );
}

/** Throws if a module of the first load uses a text that is loaded later. */
function checkTexts(modules: readonly string[]): void {
  const namesIn = (file: string, name: RegExp): string[] =>
    [...readFileSync(file, 'utf8').matchAll(name)].map(([, found = '']) => found);
  const later = new Set(namesIn(join(TEXTS, 'en/later.ts'), /export \{ (\w+) \}/g));
  for (const module of modules.filter((file) => file.startsWith('src/dashboard/')))
    for (const name of namesIn(module, /\bt\.(\w+)/g))
      if (later.has(name)) throw new Error(`${module} uses t.${name}, which is loaded after the first screen`);
}

function importsOf(file: string): string[] {
  const imports = metafile.outputs[file]?.imports ?? [];
  return imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => path);
}

function address(file: string): string {
  return `/assets/${basename(file)}`;
}
