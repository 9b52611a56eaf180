/**
 * Builds the pages of links into dist/links and the dashboard into dist/dashboard. Each text file gets a brotli and a gzip
 * copy.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { derived } from '../build/derived.js';
import { compressFiles } from '../http/compress-files.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const WEB = join(ROOT, 'src/dashboard/web');
const OUT = join(ROOT, 'dist/dashboard');
const TARGETS = ['chrome123', 'firefox120', 'safari17.5'];

// The page contains its only script and its only style sheet.
await build({
  entryPoints: [join(WEB, 'link/link.ts'), join(WEB, 'link/link.css')],
  outdir: join(ROOT, 'dist/links'),
  bundle: true,
  format: 'esm',
  minify: true,
  target: TARGETS,
});

rmSync(OUT, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: [join(WEB, 'main.tsx')],
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
  plugins: [derived],
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
  const preloads = [...atOnce].map((path) => `<link rel="modulepreload" href="${address(path)}" />\n    `);
  return readFileSync(join(WEB, 'index.html'), 'utf8')
    .replace('./icon.svg', address(icon))
    .replace('./main.css', address(cssBundle))
    .replace(
      '<script type="module" src="./main.tsx">',
      `${preloads.join('')}<script type="module" src="${address(main)}">`,
    );
}

function importsOf(file: string): string[] {
  const imports = metafile.outputs[file]?.imports ?? [];
  return imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => path);
}

function address(file: string): string {
  return `/assets/${basename(file)}`;
}
