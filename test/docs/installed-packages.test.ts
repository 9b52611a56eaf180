/** The facts in docs/contributing.md about the packages that `npm ci` installs. */
import assert from 'node:assert/strict';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LOCKED } from '../../src/release/lock.js';
import { ROOT } from '../../src/release/places.js';

const MIB = 1024 * 1024;
/** A larger clone takes too long to install. */
const MOST_MB = 260;
const PAGE = readFileSync(join(ROOT, 'docs/contributing.md'), 'utf8');
const SECTION = PAGE.split('## What is installed')[1]?.split('\n## ')[0] ?? '';

/** Each file is counted once, even under several names: esbuild links its program into two packages. */
const counted = new Set<number>();

/** The size of the files on the disk, without the packages inside. */
function sizeOf(folder: string): number {
  return readdirSync(folder).reduce(
    (size, name) => {
      const path = join(folder, name);
      const found = lstatSync(path);
      if (found.isDirectory()) return name === 'node_modules' ? size : size + sizeOf(path);
      if (found.nlink > 1 && counted.has(found.ino)) return size;
      counted.add(found.ino);
      return size + found.blocks * 512;
    },
    lstatSync(folder).blocks * 512,
  );
}

/** By name. For packages per system, only those of this system are installed. */
const sizes = new Map(
  Object.keys(LOCKED)
    .filter((place) => place !== '' && lstatSync(join(ROOT, place), { throwIfNoEntry: false }) !== undefined)
    .sort()
    .map((place) => [place.slice('node_modules/'.length), sizeOf(join(ROOT, place)) / MIB]),
);
const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
/** The processor and the version of Node.js differ between machines. */
const anywhere = (name: string): string => name.replace(/\/(linux|darwin|windows|win32)-(x64|arm64)(-\d+)?$/, '/…');

function rows(begins: string): string[][] {
  const table = SECTION.slice(SECTION.indexOf(begins)).split('\n\n')[1] ?? '';
  return [...table.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)].map(([, name = '', cells = '']) => [
    name,
    ...cells.split(' | '),
  ]);
}

test('npm ci installs at most 260 MB, and the page has the size', () => {
  assert.ok(sizes.size > 200, 'the packages were not found');
  assert.ok(total <= MOST_MB, `${total.toFixed(1)} MB`);
  const [, stated] = /^\| `npm ci` \|.*\| (\d+) \|$/m.exec(SECTION) ?? [];
  assert.ok(Math.abs(Number(stated) - total) < 8, `${total.toFixed(1)} MB`);
});

test('the page gives the purpose of each of the ten largest packages', () => {
  const largest = [...sizes].sort(([, a], [, b]) => b - a).slice(0, 10);
  const listed = rows('The ten largest packages');
  assert.deepEqual(
    listed.map(([name = '']) => anywhere(name)).sort(),
    largest.map(([name]) => anywhere(name)).sort(),
    largest.map(([name, size]) => `${name} ${size.toFixed(1)}`).join('\n'),
  );
  for (const [name = '', stated, purpose = ''] of listed) {
    const [, size = 0] = largest.find(([one]) => anywhere(one) === anywhere(name)) ?? [];
    // Packages that are built for a processor differ in size.
    const tolerance = anywhere(name) === name ? 1 : size / 2;
    assert.ok(Math.abs(Number(stated) - size) <= tolerance, `${name}: ${size.toFixed(1)} MB`);
    assert.ok(purpose.length > 5, name);
  }
});

test('small packages with a reason to stay are dependencies', () => {
  const kept = rows('Small ones').map(([name = '']) => name);
  assert.equal(kept.length, 5);
  for (const name of kept) assert.equal(LOCKED[`node_modules/${name}`]?.dev, undefined, name);
});
