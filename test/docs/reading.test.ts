/**
 * The aids for readers: the contents of long pages, and the questions of docs/README.md with the sections that answer
 * them.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { PAGES, ROOT } from './snippets.js';

const read = (name: string): string =>
  readFileSync(path.join(ROOT, name), 'utf8').replaceAll(/^ *```[^]*?^ *```$/gm, '');
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
const LINK = /\]\(([^)\s]+)\)/g;

for (const page of PAGES.filter((name) => /^docs\/(?:start|integrate|operate)\//.test(name))) {
  const [before = '', ...sections] = read(page).split(/^## /m);
  if (!/\]\(#/.test(before)) continue;
  test(`${page}: its contents name each heading, in order`, () => {
    const named = [...before.matchAll(LINK)].flatMap(([, target = '']) =>
      target.startsWith('#') ? [target.slice(1)] : [],
    );
    const headings = sections.map((section) => anchorOf(section.split('\n')[0] ?? ''));
    assert.deepEqual(
      named.filter((anchor) => headings.includes(anchor)),
      headings,
    );
  });
}

/** Words per minute. */
const MOST_WORDS = 250;

test('each of the ten questions of each reader is answered within a minute of reading', () => {
  const page = 'docs/README.md';
  const table = read(page).split(/^## Ten questions.*$/m)[1] ?? '';
  const questions = [...table.matchAll(/\[([^\]]+\?)\]\(([^)\s]+)\)/g)];
  assert.equal(questions.length, 30);
  for (const [, question = '', target = ''] of questions) {
    const [file = '', anchor] = target.split('#');
    const text = read(path.join(path.dirname(page), file));
    const parts = text.split(/^(?=#+ )/m);
    const at =
      anchor === undefined ? 0 : parts.findIndex((part) => anchorOf(/^#+ (.*)/.exec(part)?.[1] ?? '') === anchor);
    const answer = (parts[at] ?? '').replaceAll(LINK, ']').match(/[A-Za-z][\w'-]*/g) ?? [];
    assert.ok(
      at >= 0 && answer.length >= 8 && answer.length <= MOST_WORDS,
      `${question} ${target}: ${answer.length} words`,
    );
  }
});
