/** Globs: what they mean is what picomatch says, and none holds the event loop. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import picomatch from 'picomatch';
import { compileGlob } from '../../src/watch/glob.js';

class TooSlow extends Error {}
const compile = (glob: string): ((text: string) => boolean) => compileGlob(glob, (text) => new TooSlow(text));

suite('globs', () => {
  const GLOBS = [
    '*.csv',
    '!*.csv',
    '**/*.csv',
    'in/**',
    '{a,b}*.{csv,txt}',
    '*.@(csv|txt)',
    '!(a|b)*',
    '+(ab)c',
    '*-*-*.csv',
  ];
  const TEXTS = ['a.csv', '.csv', 'b.txt', 'in/a/b.csv', 'in/.a', 'ababc', 'a-b-c.csv', `${'long-'.repeat(40)}.csv`];
  for (const glob of GLOBS) {
    test(`${glob} means what picomatch says, also where it is watched over`, () => {
      const wanted = picomatch(glob);
      for (const text of TEXTS) assert.equal(compile(glob)(text), wanted(text), text);
    });
  }

  const ENDLESS = ['*a'.repeat(20) + 'b', '+(*)b', '(a*)+b', '{a,aa}'.repeat(160) + 'b', '*(*a)b'];
  for (const glob of ENDLESS) {
    test(`${glob.slice(0, 12)} is given up`, () => assert.throws(() => compile(glob)('a'.repeat(240)), TooSlow));
  }

  test('after one that was given up the next is matched', () => {
    const matches = compile('+(*)b');
    assert.throws(() => matches('a'.repeat(240)), TooSlow);
    assert.equal(matches('aab'), true);
  });

  test('brackets that are never closed are refused', () => {
    for (const glob of ['[a', '{a', '+(a']) assert.throws(() => compile(glob), SyntaxError, glob);
  });
});
