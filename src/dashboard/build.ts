/**
 * A program: builds the pages of links to dist/links, and the dashboard to dist/dashboard, every text file of which has a
 * brotli and a gzip copy beside it.
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

// One script and one style, which stand in the page itself.
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
  // The digest in their names lets browsers keep them for ever.
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
  // What the first scripts ask for at once comes with them, not after them.
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
