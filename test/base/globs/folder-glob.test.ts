/** Which folders a walk may leave out for a glob: never one in which it matches something. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileFolderGlob } from '../../../src/base/globs/folder-glob.js';
import { compileGlob } from '../../../src/base/globs/glob.js';

const CASES: readonly (readonly [glob: string, entered: readonly string[], others: readonly string[]])[] = [
  ['*.csv', [], ['a', 'a/b']],
  ['in/*.csv', ['in'], ['out', 'in/x', '.in']],
  ['in/*/2026/*.csv', ['in', 'in/a', 'in/a/2026'], ['in/a/2025', 'out', 'in/a/2026/x']],
  ['in/**/*.csv', ['in', 'in/a', 'in/a/b/c'], ['out', 'out/in']],
  ['**', ['a', 'a/b/c'], []],
  ['**.csv', ['a'], []],
  ['{a,b}/c', ['a', 'b'], ['c', 'a/c']],
  ['{a/b,c}/d', ['a', 'a/b', 'c', 'x'], []],
  ['!(a|b)/c', ['c'], ['a', 'b']],
  ['!a/*', ['a', 'b'], []],
  ['[a]/\\[b\\]/*', ['a', 'a/[b]'], ['b', 'a/b']],
  ['[)/x]', ['a'], []],
];
for (const [glob, entered, others] of CASES) {
  test(glob, () => {
    const enters = compileFolderGlob(glob);
    for (const folder of entered) assert.equal(enters(folder), true, folder);
    for (const folder of others) assert.equal(enters(folder), false, folder);
  });
}

test('an invalid glob is refused', () => {
  assert.throws(() => compileFolderGlob('a/[b'), SyntaxError);
});

test('no folder above a match is left out', () => {
  const piece = fc.constantFrom(
    ...[
      'a',
      'b',
      'ab',
      '.',
      '*',
      '?',
      '**',
      '[ab]',
      '[^a]',
      '{a,b}',
      '{a/b,ab}',
      '@(a|b)',
      '!(a|b)',
      '+(a|b)',
      '\\a',
      '!',
    ],
    ...['/', '/', '/', '[', ']', '(', ')', '\\', '{', '}'],
  );
  const globs = fc.array(piece, { minLength: 1, maxLength: 7 }).map((pieces) => pieces.join(''));
  const names = fc.constantFrom('a', 'b', 'ab', '.a', 'ba', 'aab', '!a', '[', '{', 'x');
  const paths = fc.array(names, { minLength: 2, maxLength: 4 });
  const check = fc.property(
    globs,
    fc.array(paths, { minLength: 30, maxLength: 30 }),
    fc.boolean(),
    (glob, all, dot) => {
      let matches: (text: string) => boolean;
      try {
        matches = compileGlob(glob, { dot });
      } catch {
        assert.throws(() => compileFolderGlob(glob, { dot }));
        return;
      }
      const enters = compileFolderGlob(glob, { dot });
      for (const parts of all.filter((path) => matches(path.join('/')))) {
        for (let depth = 1; depth < parts.length; depth++) {
          assert.ok(enters(parts.slice(0, depth).join('/')), `${glob} and ${parts.join('/')}`);
        }
      }
    },
  );
  fc.assert(check, { numRuns: Number(process.env['GLOB_RUNS'] ?? 4000) });
});
