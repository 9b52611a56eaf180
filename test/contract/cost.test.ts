/**
 * With only the lines of recipes.ts the project compiles, and the changes appear in everything that derives from
 * definitions.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costs } from './cost.js';
import { RECIPES } from './recipes.js';

test('the changes compile, and appear wherever they belong', async () => {
  const all = await costs();
  assert.equal(all.length, RECIPES.length);
  for (const { change, missing } of all) assert.deepEqual(missing, [], change);
});
