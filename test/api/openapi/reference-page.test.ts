/** The reference page: complete, and nothing in it makes a browser load anything. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { referencePage } from '../../../src/api/openapi/reference-page.js';
import { codesOf, fileApi, managementApi } from './route-table.js';

const OWN = { document: '/openapi.json', page: '/docs' };
const OTHER = { document: '/manage/openapi.json', page: '/manage/docs', title: 'Management' };
const { document } = fileApi('https://files.example.com');
const { html, policy } = referencePage(document, OWN, OTHER);
const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? '';

test('nothing is loaded: no element that loads, no url in the style, and a policy that forbids it', () => {
  const tags = [...html.matchAll(/<([a-z][a-z0-9]*)([^>]*)>/g)].map(([, name = '', rest = '']) => ({ name, rest }));
  assert.ok(tags.length > 1_000);
  const loading = [
    'script',
    'link',
    'img',
    'iframe',
    'object',
    'embed',
    'video',
    'audio',
    'source',
    'svg',
    'base',
    'form',
  ];
  assert.deepEqual(
    tags.filter(({ name }) => loading.includes(name)),
    [],
  );
  const attributes = tags.flatMap(({ rest }) => [...rest.matchAll(/([\w-]+)="[^"]*"/g)].map(([, name = '']) => name));
  const plain = ['charset', 'class', 'content', 'href', 'id', 'lang', 'name', 'scope', 'tabindex', 'aria-label'];
  assert.deepEqual(
    [...new Set(attributes)].filter((name) => !plain.includes(name)),
    [],
  );
  const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, target = '']) => target);
  assert.deepEqual(
    links.filter((target) => !target.startsWith('#') && target !== OWN.document && target !== OTHER.page),
    [],
  );
  assert.doesNotMatch(style, /url\(|@import|expression/i);
  assert.match(policy, /^default-src 'none'; style-src 'sha256-/);
  assert.ok(policy.includes(createHash('sha256').update(style).digest('base64')));
});

for (const [name, page, shown] of [
  ['files', html, document],
  [
    'management',
    referencePage(managementApi().document, OTHER, { ...OWN, title: 'Files' }).html,
    managementApi().document,
  ],
] as const) {
  test(`${name}: every link has its target, and every id stands once`, () => {
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id);
    assert.equal(new Set(ids).size, ids.length);
    const targets = [...page.matchAll(/href="#([^"]*)"/g)].map(([, id = '']) => id);
    assert.deepEqual(
      targets.filter((id) => !ids.includes(id)),
      [],
    );
  });

  test(`${name}: every operation, schema and code is on the page`, () => {
    for (const item of Object.values(shown.paths)) {
      for (const [method, { operationId }] of Object.entries(item)) {
        if (method !== 'head') assert.ok(page.includes(`<article id="${operationId}">`), operationId);
      }
    }
    for (const name of Object.keys(shown.components.schemas)) assert.ok(page.includes(`id="schema-${name}"`), name);
    for (const code of codesOf(shown)) assert.ok(page.includes(`<code>${code}</code>`), code);
  });
}

test('texts are escaped', () => {
  const title = '<img src=x onerror=alert(1)>';
  const hostile = { ...document, info: { ...document.info, title, description: `\`${title}\`` } };
  assert.ok(!referencePage(hostile, OWN, OTHER).html.includes('<img'));
});

test('it reads on a phone, in light and in dark, and from the keyboard', () => {
  assert.match(html, /<meta name="viewport" content="width=device-width, initial-scale=1">/);
  assert.match(html, /<html lang="en">/);
  assert.match(html, /<a class="skip" href="#content">/);
  assert.match(style, /prefers-color-scheme: dark/);
  assert.match(style, /:focus-visible/);
});
