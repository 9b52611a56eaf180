/** The words of the pages are in a dictionary or in test/docs/words.txt, and plain. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSources } from '../../src/docs/sources.js';
import { readingEase } from './reading-ease.js';
import { PAGES, ROOT } from './snippets.js';

const CSPELL = join(ROOT, 'node_modules/cspell/bin.mjs');

/** The unknown words, each with its place. */
function misspelled(files: readonly string[], input = ''): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const args = [
      CSPELL,
      'lint',
      '--no-progress',
      '--no-summary',
      '--no-color',
      '--config',
      join(ROOT, 'test/docs/cspell.json'),
      ...files,
    ];
    const child = execFile(process.execPath, args, { cwd: ROOT }, (error, stdout, stderr) => {
      // cspell exits with 1 when it has found a word.
      if (error !== null && error.code !== 1) reject(new Error(stderr, { cause: error }));
      else resolve(stdout.split('\n').filter((line) => line !== ''));
    });
    child.stdin?.end(input);
  });
}

test('every word of every page is in a dictionary; right words that are in none go into test/docs/words.txt', async () => {
  assert.deepEqual(await misspelled(PAGES), []);
});

/** The text that the build inserts into pages. */
const INSERTED = readSources().flatMap(({ file, text }) => {
  const own = new Set(readFileSync(ROOT + file, 'utf8').split('\n'));
  const lines = text.split('\n').filter((line) => !own.has(line));
  return lines.length === 0 ? [] : [{ file, text: `${lines.join('\n')}\n` }];
});

test('so is every word that is inserted into a page, and it is plain', async () => {
  assert.ok(INSERTED.length > 0, 'nothing was inserted');
  for (const { text, file } of INSERTED) {
    assert.deepEqual(await misspelled(['stdin'], text), [], file);
    assert.deepEqual(unwantedIn(text), [], file);
  }
});

test('a misspelled word is found', async () => {
  assert.match((await misspelled(['stdin'], 'The gatway sends `gatwey`.\n')).join(), /gatway/);
});

/** Words that a page avoids, with plain ones. */
const UNWANTED: readonly (readonly [words: RegExp, instead: string])[] = [
  [/\b(stands?|stood)\b(?! in (between|the way))/i, 'is, has, holds'],
  [/\btold\b(?! (to|about))/i, 'reports, says, knows'],
  [/\bmend(s|ed|ing)?\b/i, 'fix, correct'],
  [/\bin order to\b/i, 'to'],
  [/\butili[sz]e/i, 'use'],
  [/\b(simply|obviously|of course)\b/i, 'nothing: what is simple for the writer may not be for the reader'],
];

function unwantedIn(text: string): string[] {
  const prose = text.replaceAll(/^```[^]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '…');
  return UNWANTED.flatMap(([words, instead]) => {
    const found = new RegExp(`.{0,40}${words.source}.{0,20}`, 'i').exec(prose)?.[0];
    return found === undefined ? [] : [`"${found}": better ${instead}`];
  });
}

for (const page of PAGES.filter((name) => /^(README|docs\/(README|start\/|integrate\/|operate\/))/.test(name))) {
  test(`${page}: plain words`, () => assert.deepEqual(unwantedIn(readFileSync(ROOT + page, 'utf8')), []));
}

test('an unwanted word is found, and not in code', () => {
  assert.equal(unwantedIn('The name stands here.').length, 1);
  assert.equal(unwantedIn('Call `told`.\n```sh\nmend\n```\n').length, 0);
});

test('short words and sentences are easy to read, long ones are not; code counts as a word', () => {
  const easy = readingEase('The cat sat on the mat. It was glad of the sun.');
  const hard = readingEase('Administrative reorganisations necessitate comprehensive interdepartmental communication.');
  assert.ok(easy.figure > 90 && hard.figure < 0, `${easy.figure} ${hard.figure}`);
  assert.equal(readingEase('Call `POST /api/upload` right now.\n\n```sh\nnot read\n```\n').words, 4);
});
