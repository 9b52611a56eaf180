/** The cost of making a folder with its parents, with any number of existing ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { makeFolders } from '../../src/remotes/make-folders.js';
import { parentOf, parseRemotePath, ROOT, type RemotePath } from '../../src/remotes/path.js';

/** A tree of folders that counts its calls. */
class Folders {
  asked = 0;
  readonly standing = new Set<RemotePath>([ROOT]);

  readonly tryToMake = async (path: RemotePath): Promise<'made' | 'exists' | 'absent'> => {
    this.asked++;
    if (this.standing.has(path)) return 'exists';
    if (!this.standing.has(parentOf(path))) return 'absent';
    this.standing.add(path);
    return 'made';
  };

  readonly make = async (path: RemotePath): Promise<void> => {
    this.asked++;
    assert.ok(this.standing.has(parentOf(path)), `${path} before its parent`);
    this.standing.add(path);
  };
}

const levels = (count: number): RemotePath =>
  parseRemotePath(`/${Array.from({ length: count }, () => 'd').join('/')}`, ROOT, 'path');

test('every level is made once, and the way up costs the logarithm of what is missing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 1400 }), fc.integer({ min: 0, max: 1400 }), async (depth, there) => {
      const folders = new Folders();
      for (let level = 1; level <= there; level++) folders.standing.add(levels(level));
      const { created } = await makeFolders(levels(depth), folders);
      assert.equal(created, there < depth);
      assert.equal(folders.standing.size, Math.max(depth, there) + 1);
      const missing = Math.max(0, depth - there);
      assert.ok(folders.asked <= 2 * missing + 2 * Math.log2(missing + 1) + 1, `${folders.asked} for ${missing}`);
    }),
    { numRuns: 60 },
  );
});

test('one missing folder costs one request, and so does an existing one', async () => {
  const folders = new Folders();
  assert.deepEqual(await makeFolders(levels(1), folders), { created: true });
  assert.deepEqual(await makeFolders(levels(1), folders), { created: false });
  assert.equal(folders.asked, 2);
});
