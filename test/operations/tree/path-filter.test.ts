/** Which entries of a tree include and exclude globs select, and which of its folders need not be listed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode } from '../../../src/base/errors.js';
import { createPathFilter, createPatternFilter, type PathFilter } from '../../../src/operations/tree/path-filter.js';

/** Like a walk: an entry is checked only if all folders above it are entered. */
function taken(filter: PathFilter, paths: readonly string[]): string[] {
  return paths.filter((path) => {
    const parts = path.split('/');
    const above = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
    return above.every((folder) => filter.enters(folder)) && filter.takes(path);
  });
}

const TREE = ['a.csv', '.hidden.csv', 'in', 'in/a.csv', 'in/b.tmp', 'in/tmp/c.csv', 'tmp', 'tmp/d.csv', 'out/.x/e.csv'];

test('without a pattern everything is selected', () => {
  assert.deepEqual(taken(createPathFilter({}), TREE), TREE);
});

test('a pattern without a slash is for names, at any depth', () => {
  const expected = ['a.csv', '.hidden.csv', 'in/a.csv', 'in/tmp/c.csv', 'tmp/d.csv', 'out/.x/e.csv'];
  assert.deepEqual(taken(createPathFilter({ include: ['*.csv'] }), TREE), expected);
});

test('one with a slash is for paths', () => {
  const filter = createPathFilter({ include: ['in/*.csv', '/tmp/**'] });
  assert.deepEqual(taken(filter, TREE), ['in/a.csv', 'tmp/d.csv']);
  assert.deepEqual(
    ['in', 'tmp', 'out', 'in/tmp'].filter((folder) => filter.enters(folder)),
    ['in', 'tmp'],
  );
});

test('an excluded folder is left out with everything below it, and not even listed', () => {
  const named = createPathFilter({ exclude: ['tmp', '*.tmp'] });
  assert.deepEqual(taken(named, TREE), ['a.csv', '.hidden.csv', 'in', 'in/a.csv', 'out/.x/e.csv']);
  assert.deepEqual([named.enters('tmp'), named.enters('in/tmp'), named.enters('in')], [false, false, true]);

  const emptied = createPathFilter({ exclude: ['tmp/**'] });
  assert.deepEqual([emptied.enters('tmp'), emptied.enters('in/tmp')], [false, true]);
  assert.equal(emptied.takes('tmp'), true);
});

test('exclude takes precedence over include', () => {
  const filter = createPathFilter({ include: ['*.csv'], exclude: ['in/**'] });
  assert.deepEqual(taken(filter, TREE), ['a.csv', '.hidden.csv', 'tmp/d.csv', 'out/.x/e.csv']);
});

test('a pattern of a listing matches the whole path', () => {
  assert.deepEqual(taken(createPatternFilter('*.csv', 'pattern'), TREE), ['a.csv', '.hidden.csv']);
  assert.deepEqual(taken(createPatternFilter('**/e.csv', 'pattern'), TREE), ['out/.x/e.csv']);
  assert.equal(createPatternFilter('*.csv', 'pattern').enters('in'), false);
});

test('an invalid glob is refused with the name of its field', () => {
  const isRefused = (field: string) => (error: unknown) =>
    hasCode(error, 'bad_request') && String(error).includes(field);
  assert.throws(() => createPathFilter({ include: ['[a'] }), isRefused('include'));
  assert.throws(() => createPathFilter({ exclude: ['x/{a'] }), isRefused('exclude'));
  assert.throws(() => createPatternFilter('(a', 'pattern'), isRefused('pattern'));
});
