/**
 * The cost of one more field, error or kind, in files written by hand: it must not rise. cost.test.ts shows that
 * nothing else is needed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { changedFiles, RECIPES } from './recipes.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

for (const recipe of RECIPES) {
  test(`${recipe.change}: at most ${recipe.most} files by hand`, () => {
    const files = changedFiles(recipe, ROOT);
    assert.ok(files.size <= recipe.most, [...files.keys()].join(', '));
  });
}

test('a place that does not exist is reported', () => {
  const edits = [{ file: 'package.json', after: 'no such text', text: '' }];
  const recipe = { change: 'nothing', name: 'nothing', most: 1, edits };
  assert.throws(() => changedFiles(recipe, ROOT), /package\.json has no no such text/);
});
