/** A program: builds the documentation to dist/site; each file has the path of its address. */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { build } from 'esbuild';
import MiniSearch from 'minisearch';
import { FILE_API, MANAGEMENT_API } from '../api/openapi/apis.js';
import { buildDocument } from '../api/openapi/document.js';
import { type LinkGroup, referencePage } from '../api/openapi/reference-page.js';
import { FILES, MANAGEMENT } from '../api/openapi/routes.js';
import { ERROR_CODES } from '../contract/errors.js';
import { compressFiles } from '../http/compress-files.js';
import { contentsOf } from './contents.js';
import { formsOf } from './forms.js';
import type { Forms } from './form-types.js';
import { IMAGES, render } from './markdown.js';
import { describedRoutes } from './route-table.js';
import { entriesOfPage, entriesOfReference } from './search-entries.js';
import { type Entry, SEARCH } from './search.js';
import { type Assets, shell } from './shell.js';
import { readSources, ROOT } from './sources.js';

const WEB = join(ROOT, 'src/docs/web');
const OUT = join(ROOT, 'dist/site');
const ASSETS = '/docs/assets/';

/** The digest of the sources of the last build. */
const MADE_OF = join(ROOT, 'dist/.site');

const sources = readSources();
const routes = describedRoutes();
const documents = [
  { api: FILE_API, links: FILES, weight: 0.9 },
  { api: MANAGEMENT_API, links: MANAGEMENT, weight: 0.6 },
].map(({ api, links, weight }) => ({ links, weight, document: buildDocument(api, routes, { publicUrl: '' }) }));
// The routes import the whole gateway, but the site depends only on their descriptions in the documents.
const madeOf = digestOf(JSON.stringify([sources, documents]), ...ownFiles().map((file) => readFileSync(file)));
if (existsSync(OUT) && existsSync(MADE_OF) && readFileSync(MADE_OF, 'utf8') === madeOf) process.exit();

rmSync(MADE_OF, { force: true });
rmSync(OUT, { recursive: true, force: true });
const assets = await bundle();
const contents = contentsOf(sources);
const isPage = (file: string): boolean => sources.some((source) => source.file === file);
const pages = contents
  .flatMap(({ pages: listed }) => listed)
  .map(({ source, title }) => ({ source, title, rendered: render(source, isPage) }));
const references = documents.map((one) => ({ ...one, content: referencePage(one.document, one.links.document) }));

const found = [
  ...pages.flatMap(({ source, title, rendered }, at) =>
    entriesOfPage(source.address, title, rendered, 1 - at / (2 * pages.length)),
  ),
  ...references.flatMap(({ links, document, weight }) => entriesOfReference(links.page, document, weight)),
];
const search = new MiniSearch<Entry>(SEARCH);
search.addAll(found.map((entry, id) => ({ ...entry, id })));
const searchPath = data('search', search);
const errors = Object.fromEntries(
  ERROR_CODES.flatMap((code) => {
    const entry = found.find(({ title, address }) => title === code && address.includes('#name-'));
    return entry === undefined ? [] : [[code, entry.address]];
  }),
);

const guides: LinkGroup[] = contents.map(({ title, pages: listed }) => ({
  title,
  links: listed.map((entry) => ({ href: entry.source.address, text: entry.title })),
}));
const order = guides.flatMap(({ links }) => links);
for (const { source, title, rendered } of pages) {
  const at = order.findIndex(({ href }) => href === source.address);
  const html = shell(
    {
      address: source.address,
      title,
      html: rendered.html,
      guides,
      headings: rendered.headings.filter(({ depth }) => depth === 2 || depth === 3),
      previous: order[at - 1],
      next: order[at + 1],
      data: { search: searchPath },
    },
    assets,
  );
  write(`${source.address}.html`, html);
  for (const image of rendered.images) copyImage(image);
}
for (const { links, document, content } of references) {
  const forms: Forms = { operations: formsOf(document), errors };
  const html = shell(
    {
      address: links.page,
      title: content.title,
      html: content.html,
      guides,
      operations: content.groups,
      headings: [],
      data: { search: searchPath, forms: data('forms', forms) },
    },
    assets,
  );
  write(`${links.page}.html`, html);
}
// The best level takes ten times as long, and saves a ninth.
compressFiles(OUT, 9);
writeFileSync(MADE_OF, madeOf);

/** The programs and data of the site, beside its pages. */
function ownFiles(): string[] {
  const folders = ['docs', 'src/docs', 'src/api/openapi'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true, encoding: 'utf8' })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const others = ['package-lock.json', 'src/base/html.ts', 'src/http/compress-files.ts', 'src/dashboard/web/icon.svg'];
  return [...folders, ...others.map((name) => join(ROOT, name))].sort();
}

function digestOf(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('base64url');
}

async function bundle(): Promise<Assets> {
  const { metafile } = await build({
    entryPoints: ['main.ts', 'theme.ts', 'site.css', '../../dashboard/web/icon.svg'].map((name) => join(WEB, name)),
    outdir: join(OUT, ASSETS),
    // With a digest in their names, browsers can cache them for ever.
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.svg': 'copy' },
    bundle: true,
    splitting: true,
    format: 'esm',
    minify: true,
    target: ['chrome123', 'firefox120', 'safari17.5'],
    metafile: true,
  });
  const pathOf = (entry: string): string => {
    const [file = ''] =
      Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(entry)) ?? [];
    return ASSETS + basename(file);
  };
  return { script: pathOf('main.ts'), theme: pathOf('theme.ts'), style: pathOf('site.css'), icon: pathOf('icon.svg') };
}

/** Writes data for the scripts. Returns its path. */
function data(name: string, value: unknown): string {
  const text = JSON.stringify(value);
  const path = `${ASSETS}${name}-${createHash('sha256').update(text).digest('hex').slice(0, 8)}.json`;
  write(path, text);
  return path;
}

/** test/docs/pages.test.ts finds missing images. */
function copyImage(image: string): void {
  if (!existsSync(join(ROOT, image))) return;
  const to = join(OUT, IMAGES, image.replace(/^docs\//, ''));
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(join(ROOT, image), to);
}

function write(path: string, text: string): void {
  const file = join(OUT, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
