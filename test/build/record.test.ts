/** A part of dist is built again when its sources have changed, and not otherwise. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { BuildRecord } from '../../src/build/record.js';

const FOLDERS = ['docs'];
let root: string;
const write = (name: string, text: string): void => writeFileSync(path.join(root, name), text);
const isCurrent = (): boolean => new BuildRecord(root).isCurrent('site', { folders: FOLDERS });
const build = (): void => {
  const record = new BuildRecord(root);
  record.set('site', { folders: FOLDERS, files: ['src/build.ts', 'node_modules/library/index.js'] });
  record.save();
};

before(() => {
  root = mkdtempSync(path.join(tmpdir(), 'ftg-build-'));
  for (const folder of ['dist', 'docs/deep', 'src']) mkdirSync(path.join(root, folder), { recursive: true });
  write('docs/deep/page.md', 'one');
  write('src/build.ts', 'one');
  write('package-lock.json', '{}');
});
after(() => rmSync(root, { recursive: true }));

test('a part that was never built is due, and a built one is not, regardless of the times of its files', () => {
  assert.equal(isCurrent(), false);
  build();
  assert.equal(isCurrent(), true);
  utimesSync(path.join(root, 'docs/deep/page.md'), new Date(), new Date());
  assert.equal(isCurrent(), true);
});

const changes: readonly (readonly [string, () => void])[] = [
  ['a file of a folder', () => write('docs/deep/page.md', 'two')],
  ['a new file of a folder', () => write('docs/new.md', '')],
  ['a file that has gone', () => rmSync(path.join(root, 'docs/new.md'))],
  ['a source', () => write('src/build.ts', 'two')],
  ['the libraries', () => write('package-lock.json', '{ "changed": true }')],
];
for (const [what, change] of changes) {
  test(`${what}: the part is due, once`, () => {
    change();
    assert.equal(isCurrent(), false);
    build();
    assert.equal(isCurrent(), true);
  });
}
