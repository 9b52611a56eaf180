/** A tree on S3 is one listing without a delimiter, begun at the requested key; and the mistakes of stores. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { walk, walkInOrder } from '../../../src/operations/tree/walk.js';
import { parseRemotePath, ROOT } from '../../../src/remotes/path.js';
import type { Remote } from '../../../src/remotes/remote.js';
import { listed, S3Stub, s3Error, type Intercept } from '../../servers/scripted-s3.js';
import { withCode } from '../../support/errors.js';
import { connectionTo, S3Rig } from '../support/s3-rig.js';
import { entriesOf } from '../../support/seam.js';

const PAGE = 3;
const KEYS = ['in/', 'in/a', 'in/b/c/d', 'in/b/e', 'in/b/f', 'in/b0', 'in/g/', 'in/h', 'other'];
const TREE = ['a', 'b/', 'b/c/', 'b/c/d', 'b/e', 'b/f', 'b0', 'g/', 'h'];

describe('a tree of an S3 store', () => {
  let stub: S3Stub;
  let rig: S3Rig;
  let remote: Remote;
  const folder = parseRemotePath('/in', ROOT, 'path');

  before(async () => {
    stub = await S3Stub.start();
  });
  after(() => stub.stop());
  afterEach(() => rig.close());
  beforeEach(async () => {
    stub.reset();
    rig = new S3Rig(connectionTo({ endpoint: stub.endpoint, bucket: 'b' }));
    remote = await rig.open();
    stub.early = store(KEYS);
  });

  /** Pages of three, in the new form, or in the old form of an old store. */
  function store(keys: readonly string[], isOld = false): Intercept {
    return ({ method, key, query }) => {
      if (method !== 'GET' || key !== '') return undefined;
      if (isOld && query.has('list-type')) return s3Error(501, 'NotImplemented');
      const from = query.get('continuation-token') ?? query.get('start-after') ?? query.get('marker') ?? '';
      const rest = keys.filter((name) => name.startsWith(query.get('prefix') ?? '') && name > from);
      const page = rest.slice(0, PAGE);
      const next = isOld ? '' : `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>`;
      return rest.length > PAGE ? listed(page, `<IsTruncated>true</IsTruncated>${next}`) : listed(page);
    };
  }

  const keysOf = async (entries: ReturnType<typeof walk>): Promise<string[]> => {
    const keys: string[] = [];
    for await (const { key } of entries) keys.push(key);
    return keys;
  };
  const requests = (): (string | null)[][] =>
    stub.requests.map(({ query }) => ['delimiter', 'start-after', 'marker'].map((name) => query.get(name)));

  test('one level is in the order of its keys, with the folders that a page shows apart', async () => {
    const folders = ['b/', 'c-/', 'y/', '\uffee/', '😀/'].map((name) => `<Prefix>in/${name}</Prefix>`);
    const files = ['a', 'b', 'b0', 'c-a', 'x', 'z', '\u{1f601}'].map((name) => `in/${name}`);
    stub.early = () => listed(files, folders.map((one) => `<CommonPrefixes>${one}</CommonPrefixes>`).join(''));
    const names: string[] = [];
    for await (const { name, isDirectory } of entriesOf(remote.list(folder)))
      names.push(isDirectory ? `${name}/` : name);
    assert.deepEqual(names, ['a', 'b', 'b/', 'b0', 'c-/', 'c-a', 'x', 'y/', 'z', '\uffee/', '😀/', '😁']);
  });

  test('takes a request per page of keys, in any number of folders', async () => {
    assert.deepEqual(await keysOf(walk(remote, folder, { isDeep: true })), TREE);
    assert.deepEqual(requests(), [
      [null, null, null],
      [null, null, null],
      [null, null, null],
    ]);
  });

  test('begins after any entry, without earlier ones, on old stores too', async () => {
    for (const isOld of [false, true]) {
      stub.early = store(KEYS, isOld);
      for (const [index, entry] of TREE.entries()) {
        stub.requests.length = 0;
        assert.deepEqual(
          await keysOf(walkInOrder(remote, folder, { isDeep: true, after: entry })),
          TREE.slice(index + 1),
        );
        const begins = requests().flatMap(([, startAfter, marker]) => [startAfter, marker]);
        assert.ok(begins.includes(`in/${entry}`), JSON.stringify(requests()));
      }
    }
  });

  test('times are those of marker objects; keys that are no path are left out and reported', async () => {
    stub.early = store(['in/a//b', 'in/c/', 'in/c/../d', 'in/c/e', 'in/f/g']);
    const times = new Map<string, number>();
    for await (const { key, file } of walk(remote, folder, { isDeep: true })) times.set(key, file.modifiedAt.getTime());
    const shown = Date.parse('2026-01-02T03:04:05Z');
    assert.deepEqual(
      [...times],
      [
        ['c/', shown],
        ['c/e', shown],
        ['f/', 0],
        ['f/g', shown],
      ],
    );
    const facts = { bucket: 'b', folder: '/in', count: 2, entries: ['"a//b"', '"c/../d"'] };
    assert.deepEqual(rig.notes.log.at(-1)?.facts, facts);
  });

  test('a store that does not list in order is not continued by cursor', async () => {
    stub.early = ({ query }) => {
      const isFirst = !query.has('continuation-token');
      return isFirst
        ? listed(['in/b', 'in/c'], '<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>')
        : listed(['in/a']);
    };
    await assert.rejects(keysOf(walk(remote, folder, { isDeep: true })), withCode('protocol_error'));
  });

  test('nothing there, or a file', async () => {
    stub.objects.set('file', Buffer.from('x'));
    const at = (path: string): Promise<string[]> =>
      keysOf(walk(remote, parseRemotePath(path, ROOT, 'path'), { isDeep: true }));
    await assert.rejects(at('/absent'), withCode('not_found'));
    await assert.rejects(at('/file'), withCode('not_a_folder'));
    stub.early = store([]);
    assert.deepEqual(await at('/'), []);
  });

  test('the files of one folder begin after a file, and are read no further than requested', async () => {
    const names = Array.from({ length: 3_000 }, (_, index) => `in/${String(index).padStart(4, '0')}`);
    stub.early = store(names);
    let seen = 0;
    for await (const { key } of walkInOrder(remote, folder, { isDeep: false, after: '0009', expected: 20 })) {
      assert.equal(key, String(10 + seen).padStart(4, '0'));
      if (++seen === 20) break;
    }
    assert.equal(stub.requests[0]?.query.get('start-after'), 'in/0009');
    // At least a thousand entries are kept.
    assert.ok(stub.requests.length <= 1_000 / PAGE + 2, `${stub.requests.length} requests`);
  });
});
