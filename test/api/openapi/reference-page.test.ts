/**
 * The content of the reference pages: complete, and without elements that make a browser load anything. test/docs/site
 * has the whole pages.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { referencePage } from '../../../src/api/openapi/reference-page.js';
import { codesOf, fileApi, managementApi } from './route-table.js';

const { document } = fileApi('https://files.example.com');
const { html } = referencePage(document, '/openapi.json');

test('nothing is loaded: no element that loads, and links that stay on the page', () => {
  const tags = [...html.matchAll(/<([a-z][a-z0-9]*)([^>]*)>/g)].map(([, name = '', rest = '']) => ({ name, rest }));
  assert.ok(tags.length > 1_000);
  const loading = ['script', 'link', 'img', 'iframe', 'object', 'embed', 'video', 'audio', 'source', 'svg', 'base'];
  assert.deepEqual(
    tags.filter(({ name }) => [...loading, 'form', 'style'].includes(name)),
    [],
  );
  const attributes = tags.flatMap(({ rest }) => [...rest.matchAll(/([\w-]+)="[^"]*"/g)].map(([, name = '']) => name));
  const plain = ['class', 'href', 'id', 'scope', 'tabindex', 'aria-hidden'];
  assert.deepEqual(
    [...new Set(attributes)].filter((name) => !plain.includes(name)),
    [],
  );
  const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, target = '']) => target);
  assert.deepEqual(
    links.filter((target) => !target.startsWith('#')),
    ['/openapi.json'],
  );
});

for (const [name, shown] of [
  ['files', document],
  ['management', managementApi().document],
] as const) {
  const { html: page, groups } = referencePage(shown, '/openapi.json');
  test(`${name}: every link has its target, and every id is unique`, () => {
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id);
    assert.equal(new Set(ids).size, ids.length);
    const listed = groups.flatMap(({ links }) => links.map(({ href }) => href.slice(1)));
    const targets = [...listed, ...[...page.matchAll(/href="#([^"]*)"/g)].map(([, id = '']) => id)];
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
  assert.ok(!referencePage(hostile, '/openapi.json').html.includes('<img'));
});
