/**
 * A page of ListObjectsV2 with any mutation: correct entries, an error, or a counted omission; never a shorter list.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { GatewayError } from '../../../src/base/errors.js';
import { parseRemotePath, ROOT } from '../../../src/remotes/path.js';
import type { Remote } from '../../../src/remotes/remote.js';
import { S3Stub, xml } from '../../servers/scripted-s3.js';
import { connectionTo, S3Rig } from '../support/s3-rig.js';
import { entriesOf } from '../../support/seam.js';

const NAMES = ['a.txt', 'keep.csv', 'z z.bin'];
const FOLDER = parseRemotePath('/in', ROOT, 'path');
const entryOf = (name: string): string =>
  `<Contents><Key>in/${name}</Key><Size>1234</Size><LastModified>2026-01-02T03:04:05.678Z</LastModified></Contents>`;
const HEAD = `<IsTruncated>false</IsTruncated><KeyCount>${NAMES.length}</KeyCount>`;

let stub: S3Stub;
let rig: S3Rig;
let remote: Remote;
let page = '';

before(async () => {
  stub = await S3Stub.start();
  rig = new S3Rig(connectionTo({ endpoint: stub.endpoint, bucket: 'b' }));
  remote = await rig.open();
  stub.early = ({ method, key, query }) =>
    method === 'GET' && key === '' && query.has('list-type')
      ? xml(`<ListBucketResult>${page}</ListBucketResult>`)
      : undefined;
});
after(async () => {
  rig.close();
  await stub.stop();
});

/** Sizes by name, and how many entries were left out. */
async function listed(isTree: boolean): Promise<readonly [Map<string, number>, number]> {
  const sizes = new Map<string, number>();
  let leftOut = 0;
  const options = { leftOut: async () => void (leftOut += 1) };
  const reported = isTree ? remote.listTree?.(FOLDER, options) : remote.list(FOLDER, options);
  assert.ok(reported);
  for await (const { name, size } of entriesOf(reported)) sizes.set(name, size);
  return [sizes, leftOut];
}

test('an entry that has no key, or is missing although it is counted', async () => {
  for (const odd of [
    '<Contents><Size>1</Size></Contents>',
    '<Contents><Key></Key><Size>1</Size></Contents>',
    entryOf('keep.csv').replaceAll('Contents', 'Content'),
    '',
  ]) {
    page = HEAD + [entryOf('a.txt'), odd, entryOf('z z.bin')].join('');
    for (const isTree of [false, true]) {
      const [sizes, leftOut] = await listed(isTree);
      assert.deepEqual([[...sizes.keys()], leftOut], [['a.txt', 'z z.bin'], 1], `${odd} ${isTree}`);
    }
  }
});

test('any mutation of an entry', async () => {
  const printable = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code));
  const kinds = fc.constantFrom('replace', 'insert', 'remove', 'cut');
  await fc.assert(
    fc.asyncProperty(fc.nat(2), fc.nat(200), kinds, printable, async (at, place, kind, character) => {
      const entries = NAMES.map(entryOf);
      const good = entries[at] ?? '';
      const where = place % good.length;
      const behind = good.slice(kind === 'insert' ? where : where + 1);
      const rest = kind === 'cut' ? '' : (kind === 'remove' ? '' : character) + behind;
      entries[at] = good.slice(0, where) + rest;
      page = HEAD + entries.join('');
      try {
        const [sizes, leftOut] = await listed(false);
        assert.ok(sizes.size + leftOut >= NAMES.length, `${sizes.size} and ${leftOut}: ${entries[at]}`);
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
      }
    }),
    { numRuns: 150 },
  );
});
