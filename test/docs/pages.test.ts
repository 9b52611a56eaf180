/** The pages agree with the project: links lead somewhere, commands and keys exist, generated pages are current. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/load.js';
import { readSources } from '../../src/docs/sources.js';
import { PAGES, ROOT } from './snippets.js';

const SOURCES = new Map(readSources().map(({ file, text }) => [file, text]));
/** The text of a page, with the tables that the build inserts. */
const read = (name: string): string => SOURCES.get(name) ?? readFileSync(path.join(ROOT, name), 'utf8');
/** Without code, where brackets mean something else. */
const prose = (name: string): string =>
  read(name)
    .replaceAll(/^```[^]*?^```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, '');

const anchors = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

for (const page of PAGES) {
  test(`${page}: every link leads somewhere`, () => {
    for (const [, target = ''] of prose(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [file = '', anchor] = target.split('#');
      const linked = file === '' ? page : path.join(path.dirname(page), file);
      assert.ok(existsSync(path.join(ROOT, linked)), `${page} links to ${target}`);
      if (anchor !== undefined) assert.ok(anchors(read(linked)).includes(anchor), `${page} links to ${target}`);
    }
  });

  test(`${page}: every script that it names exists`, () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const [, script = ''] of read(page).matchAll(/\bnpm run ([\w:-]+)/g)) assert.ok(script in scripts, script);
  });

  test(`${page}: every key of the configuration that it names exists`, () => {
    const known = loadConfig({ env: {} });
    const keys =
      /`((?:server|database|pools|streams|workers|limits|network|watcher|webhooks|history|log|metrics)(?:\.(?!ts\b)\w+)+)`/g;
    for (const [, key = ''] of read(page).matchAll(keys)) {
      const found = key
        .split('.')
        .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], known);
      assert.notEqual(found, undefined, `${page} names ${key}`);
    }
  });
}

test('the page of the dashboard has every screen of its menu, with its key', () => {
  const letters = (text: string, pattern: RegExp): string[] =>
    [...text.matchAll(pattern)].map(([, letter = '']) => letter).sort();
  const shown = letters(read('docs/start/dashboard.md'), /^\| .* \| `g` `(\w)` \|/gm);
  assert.deepEqual(shown, letters(read('src/dashboard/web/shell/places.ts'), /letter: '(\w)'/g));
});

/** The cells of the rows of a page's tables that begin with this text. */
const rowsOf = (page: string, begins: string): string[][] =>
  read(page)
    .split('\n')
    .filter((line) => line.startsWith(`| ${begins} |`))
    .map((line) => line.split('|').map((cell) => cell.trim()));

test('the sizing follows from the measured tables', () => {
  /** GiB a second that one core of the gateway moves. */
  const measured = (what: string): number => {
    const [row = []] = rowsOf('docs/performance.md', what);
    const [, seconds] = /^([\d.]+) s$/.exec(row[3] ?? '') ?? assert.fail(`${what}: ${row.join('|')}`);
    return 1 / Number(seconds);
  };
  const cells = (begins: string): string[] => rowsOf('docs/operate/size.md', begins)[0]?.slice(2, -1) ?? [];
  for (const protocol of ['sftp', 'ftp', 's3']) {
    const expected = ['up', 'down'].map((way) => measured(`${protocol} ${way} 512 MiB`).toFixed(2));
    assert.deepEqual(cells(protocol), expected, protocol);
  }
  const far = ['up', 'down'].map((way) => measured(`sftp ${way} 256 MiB at 50 ms`).toFixed(2));
  assert.deepEqual(cells('sftp at 50 ms'), far);
  const [up, down] = [measured('sftp up 512 MiB') / 2, measured('sftp down 512 MiB') / 2];
  assert.deepEqual(cells('large files over SFTP, up / down, GiB/s'), [
    `${up.toFixed(2)} / ${down.toFixed(2)}`,
    `${(up * 10).toFixed(1)} / ${(down * 10).toFixed(1)}`,
    `${(up * 1000).toFixed(0)} / ${(down * 1000).toFixed(0)}`,
  ]);
});
