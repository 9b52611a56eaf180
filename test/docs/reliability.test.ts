import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { documentedCases, DOCUMENT, documentOf, recordsCases, rowOf } from '../support/reliability.js';

const cases = documentedCases();

test('docs/reliability.md names only tests that record cases', () => {
  for (const file of new Set(cases.map((one) => one.file))) {
    const source = fileURLToPath(new URL(`../../../test/${file}`, import.meta.url));
    assert.ok(existsSync(source) && recordsCases(readFileSync(source, 'utf8')), file);
  }
});

test('docs/reliability.md has each case once, with text in every cell and at least one try', () => {
  const rows = cases.map((one) => `${one.area} ${one.file} ${rowOf({ ...one, tries: 0 })}`);
  assert.equal(new Set(rows).size, rows.length);
  for (const { what, done, held, tries } of cases) {
    assert.ok(
      what !== '' && done !== '' && held !== '' && tries > 0,
      rowOf({ area: 'Faults', what, done, held, tries }),
    );
  }
});

// The script once wrote a text of its own, which was older than the page's.
test('npm run reliability changes the rows of docs/reliability.md, and nothing else', () => {
  const page = readFileSync(DOCUMENT, 'utf8');
  assert.equal(documentOf(cases), page);
  const [first, ...others] = cases;
  assert.ok(first !== undefined);
  const other = documentOf([{ ...first, tries: first.tries + 1 }, ...others]).split('\n');
  const changed = page.split('\n').filter((line, index) => line !== other[index]);
  assert.deepEqual(changed, [rowOf(first)]);
});
