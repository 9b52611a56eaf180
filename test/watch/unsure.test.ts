import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnsureEntries } from '../../src/watch/unsure.js';

const LEFT_OUT = { isDirectory: false, why: 'unreadable' } as const;

function holds(unsure: UnsureEntries, ...paths: readonly string[]): boolean[] {
  return paths.map((path) => unsure.mayHold(Buffer.from(path)));
}

test('a known name: this entry, and everything below it', () => {
  const unsure = new UnsureEntries();
  for (const folder of ['', 'a', 'a/b']) unsure.listing(folder);
  unsure.add('a', { name: Buffer.from('x'), ...LEFT_OUT });
  assert.deepEqual(holds(unsure, 'x', 'a/x', 'a/x/y', 'a/x/y/z', 'a/b/x', 'a/y'), [
    false,
    true,
    true,
    true,
    false,
    false,
  ]);
});

test('an unknown name: everything in the folder, and in its sub-folders that were not listed', () => {
  const unsure = new UnsureEntries();
  for (const folder of ['', 'a', 'a/b']) unsure.listing(folder);
  unsure.add('a', { name: undefined, line: '#@!', ...LEFT_OUT });
  assert.deepEqual(holds(unsure, 'x', 'a/x', 'a/c/x', 'a/b/x', 'a/b/c/x'), [false, true, true, false, false]);
});

test('nothing left out: everything that is not listed is gone', () => {
  const unsure = new UnsureEntries();
  unsure.listing('');
  assert.deepEqual(holds(unsure, 'x', 'a/x'), [false, false]);
});
