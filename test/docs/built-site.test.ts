/** The built documentation: complete, and no page runs code or loads anything from elsewhere. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import MiniSearch from 'minisearch';
import { lexer, type Tokens } from 'marked';
import { addressOf, CONTENTS, readSources, ROOT } from '../../src/docs/sources.js';
import { type Entry, find, SEARCH } from '../../src/docs/search.js';
import { codesOf, fileApi } from '../api/openapi/route-table.js';
import { drawings } from './diagrams.js';
import { blocksOf } from './snippets.js';

const SITE = join(ROOT, 'dist/site');
/** READMEs of the packages are not part of the site. */
const SOURCES = readSources();
const PAGES = SOURCES.map(({ file }) => file);
const textOf = (page: string): string => SOURCES.find(({ file }) => file === page)?.text ?? assert.fail(page);
const pages = new Map(
  readdirSync(SITE, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.html'))
    .map((name) => [`/${name.replace(/\.html$/, '')}`, readFileSync(join(SITE, name), 'utf8')]),
);
const html = (address: string): string => pages.get(address) ?? assert.fail(`there is no page ${address}`);
const idsOf = (text: string): string[] => [...text.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id);

test('every Markdown file is a page, beside the reference pages', () => {
  assert.deepEqual([...pages.keys()].sort(), [...PAGES.map(addressOf), '/docs', '/manage/docs'].sort());
});

test('every link leads to a page or a part of one, every image exists, and every id is unique', () => {
  for (const [address, text] of pages) {
    const ids = idsOf(text);
    assert.equal(new Set(ids).size, ids.length, address);
    for (const [, target = ''] of text.matchAll(/ (?:href|src)="([^"]*)"/g)) {
      if (/^(https?|mailto):/.test(target)) continue;
      const [path = '', anchor] = target.replaceAll('&amp;', '&').split('#');
      const isPage = path === '' || pages.has(path);
      const isOfTheGateway = path === '/' || /^\/(manage\/)?openapi\.json$/.test(path);
      assert.ok(isPage || isOfTheGateway || existsSync(join(SITE, path)), `${address} links to ${target}`);
      if (anchor !== undefined && isPage) {
        const found = path === '' ? ids : idsOf(html(path));
        assert.ok(found.includes(anchor), `${address} links to ${target}`);
      }
    }
  }
});

test('no page has content that the policy would block, and nothing comes from elsewhere', () => {
  for (const [address, text] of pages) {
    assert.doesNotMatch(text, /<style|<script(?![^>]*\bsrc=")|<[^>]*\s(style|on\w+)=/, address);
    assert.doesNotMatch(text, /<(script|img|link|iframe|source|video|audio)[^>]*(src|href)="(https?:)?\/\//, address);
  }
});

test('the drawings match the diagrams: npm run diagrams makes them', () => {
  const made = drawings();
  assert.ok(made.size > 5, 'the diagrams were not found');
  assert.deepEqual(
    readdirSync(join(ROOT, 'docs/diagrams')).sort(),
    [...made.keys()].map((file) => basename(file)).sort(),
  );
  for (const [file, drawing] of made) assert.equal(readFileSync(join(ROOT, file), 'utf8'), drawing, file);
});

test('every diagram is drawn', () => {
  for (const page of PAGES) {
    const diagrams = blocksOf(page).filter(({ language }) => language === 'mermaid');
    const drawn = html(addressOf(page)).match(/<svg [^>]*role="img" aria-label="Diagram: /g) ?? [];
    assert.equal(drawn.length, diagrams.length, page);
  }
});

test('each page leads on to the next, and the last one back', () => {
  const order = [...html('/docs/readme').matchAll(/<nav class="contents"[^]*?<\/nav>/g)]
    .flatMap(([contents]) => [...contents.matchAll(/href="([^"]*)"/g)])
    .map(([, href = '']) => href);
  assert.deepEqual([...order].sort(), PAGES.map(addressOf).sort());
  for (const [at, address] of order.entries()) {
    const to = (rel: string): string | undefined => new RegExp(`rel="${rel}" href="([^"]*)"`).exec(html(address))?.[1];
    assert.deepEqual([to('prev'), to('next')], [order[at - 1], order[at + 1]], address);
  }
});

const [, indexPath = ''] = / data-search="([^"]*)"/.exec(html('/docs')) ?? [];
const index = MiniSearch.loadJSON<Entry>(readFileSync(join(SITE, indexPath), 'utf8'), SEARCH);
const found = (text: string): string[] => find(index, text).map((hit) => hit.found.address);

test('the search finds every error code, every key of the configuration and every operation by its name', () => {
  const { document } = fileApi();
  for (const code of codesOf(document)) assert.match(found(code)[0] ?? '', /^\/docs\/.*#name-/, code);
  const configuration = textOf('docs/operate/configuration.md');
  const keys = [...configuration.matchAll(/^\| `([a-z]\w*\.[\w.]+)` \|/gm)].map(([, key = '']) => key);
  assert.ok(keys.length > 50);
  for (const key of keys) {
    assert.ok(
      found(key)
        .slice(0, 3)
        .some((address) => address.startsWith('/docs/operate/configuration#name-')),
      key,
    );
  }
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, { operationId, summary }] of Object.entries(item)) {
      if (method === 'head' && 'get' in item) continue;
      assert.ok(found(summary).slice(0, 12).includes(`/docs#${operationId}`), `${method} ${path}: ${summary}`);
    }
  }
});

/** The questions that the contents page answers with a link. */
const questions = SOURCES.filter(({ file }) => file === CONTENTS)
  .flatMap(({ text }) => lexer(text))
  .filter((token): token is Tokens.Table => token.type === 'table')
  .flatMap(({ rows }) => rows.flat())
  .flatMap(({ tokens }) => tokens)
  .filter((token): token is Tokens.Link => token.type === 'link' && /\?$/.test((token as Tokens.Link).text));

for (const { text, href } of questions) {
  test(`the search answers: ${text}`, () => {
    const page = addressOf(join('docs', href.split('#')[0] ?? ''));
    const pagesFound = found(text).map((address) => address.split('#')[0]);
    assert.ok(pagesFound.slice(0, 5).includes(page), `${page} is not among ${pagesFound.slice(0, 5).join(' ')}`);
  });
}

/** Searches that once found nothing, and the page with the answer. */
const TYPED: readonly (readonly [text: string, address: string])[] = [
  ['running two nodes', '/docs/integrate/faq#how-do-i-run-two-nodes'],
  ['partner without an API', '/docs/integrate/faq#how-does-a-partner-without-an-api-send-me-files'],
  ['a key for one folder', '/docs/integrate/faq#how-do-i-limit-a-key-to-one-folder'],
  ['browser upload without a key', '/docs/integrate/links'],
  ['docker log in', '/docs/start/docker'],
];

for (const [text, address] of TYPED) {
  test(`the search finds: ${text}`, () => {
    const hits = found(text).slice(0, 5);
    assert.ok(
      hits.some((hit) => hit === address || hit.startsWith(`${address}#`)),
      `${address} is not among ${hits.join(' ')}`,
    );
  });
}
