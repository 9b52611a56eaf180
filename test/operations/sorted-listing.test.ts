import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { joinPath, ROOT } from '../../src/remotes/path.js';
import type { FileInfo } from '../../src/remotes/remote.js';
import { compareCodePoints, compareFiles, SortedListing } from '../../src/operations/sorted-listing.js';
import { anyCharacter } from '../support/any-character.js';

const at = new Date(0);
const entry = (name: string, isDirectory = false): FileInfo => ({
  name,
  path: joinPath(ROOT, name),
  size: 0,
  isDirectory,
  modifiedAt: at,
});

test('names are compared by code points, like their UTF-8 bytes', () => {
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom('a', 'b', '\ue000', '\uffff', '😀', '𐀀'), anyCharacter),
    maxLength: 6,
  });
  fc.assert(
    fc.property(text, text, (a, b) => {
      fc.pre(a.isWellFormed() && b.isWellFormed());
      assert.equal(Math.sign(compareCodePoints(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
    { numRuns: 2_000 },
  );
});

test('folders first, then names; nothing is lost or doubled', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.string({ minLength: 1, maxLength: 4 }), fc.boolean()), { maxLength: 50 }),
      (list) => {
        const listing = new SortedListing(compareFiles);
        for (const [name, isDirectory] of list) listing.add(entry(name, isDirectory));
        const expected = list
          .map(([name, isDirectory]) => entry(name, isDirectory))
          .sort(
            (a, b) =>
              Number(b.isDirectory) - Number(a.isDirectory) || Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)),
          );
        assert.deepEqual(
          [...listing].map(({ name, isDirectory }) => [name, isDirectory]),
          expected.map(({ name, isDirectory }) => [name, isDirectory]),
        );
      },
    ),
  );
});

test('200,000 entries are sorted without a long pause', () => {
  const listing = new SortedListing(compareFiles);
  // Milliseconds of processor time, so that a busy machine does not matter.
  let longest = 0;
  for (let index = 0; index < 200_000; index++) {
    // Every number once, far from its place.
    const number = (index * 7_919) % 200_000;
    const before = process.cpuUsage();
    listing.add(entry(String(number).padStart(6, '0'), number % 10 === 0));
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
  }
  let count = 0;
  let last: FileInfo | undefined;
  for (const file of listing) {
    if (last !== undefined) {
      assert.ok(last.isDirectory || !file.isDirectory);
      if (last.isDirectory === file.isDirectory) assert.ok(last.name < file.name);
    }
    last = file;
    count++;
  }
  assert.equal(count, 200_000);
  // Sorting everything at once takes several hundred milliseconds.
  assert.ok(longest < 100, `${longest} ms for one entry`);
});
