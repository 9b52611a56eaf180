/** Walks of trees compared with a model: every entry once, in order if that is promised, from after any of them. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { GatewayError, hasCode } from '../../../src/base/errors.js';
import { createPathFilter, createPatternFilter } from '../../../src/operations/tree/path-filter.js';
import { type FolderRules, walk, walkInOrder, type TreeEntry } from '../../../src/operations/tree/walk.js';
import { parseRemotePath, rawNameOf, ROOT, type RemotePath } from '../../../src/remotes/path.js';
import type { FileInfo, ListOptions, Remote } from '../../../src/remotes/remote.js';

const bytesOf = (key: string): Buffer => Buffer.from(key);
const byKey = (a: string, b: string): number => Buffer.compare(bytesOf(a), bytesOf(b));

/** A tree by its keys, "in/" and "in/a.csv", listed in the given order. */
class ModelRemote {
  readonly #keys: readonly string[];
  readonly #root: RemotePath;
  readonly #links: ReadonlySet<string>;
  readonly listed: string[] = [];
  readonly can = {};

  constructor(keys: readonly string[], root = ROOT, links: ReadonlySet<string> = new Set()) {
    this.#keys = keys;
    this.#root = root;
    this.#links = links;
  }

  async *list(folder: RemotePath): AsyncGenerator<readonly FileInfo[]> {
    this.listed.push(folder);
    const prefix = folder === this.#root ? '' : `${folder.slice(this.#root === ROOT ? 1 : this.#root.length + 1)}/`;
    for (const key of this.#keys) {
      if (!key.startsWith(prefix) || !/^[^/]+\/?$/.test(key.slice(prefix.length))) continue;
      yield [this.infoOf(key)];
    }
  }

  protected infoOf(key: string): FileInfo {
    const isDirectory = key.endsWith('/');
    const below = isDirectory ? key.slice(0, -1) : key;
    const path = (this.#root === ROOT ? `/${below}` : `${this.#root}/${below}`) as RemotePath;
    const name = below.slice(below.lastIndexOf('/') + 1);
    const info = { name, path, size: 0, isDirectory, modifiedAt: new Date(0) };
    return this.#links.has(key) ? { ...info, isLink: true } : info;
  }
}

/** A remote that lists it all in one go, in order. */
class TreeModelRemote extends ModelRemote {
  readonly #inOrder: readonly string[];

  constructor(inOrder: readonly string[]) {
    super(inOrder);
    this.#inOrder = inOrder;
  }

  async *listTree(_folder: RemotePath, { after = '' }: { after?: string } = {}): AsyncGenerator<readonly FileInfo[]> {
    for (const key of this.#inOrder.toSorted(byKey)) {
      // A store does not know folders: those above the next key are listed again.
      if (byKey(key, after) > 0 || after.startsWith(key)) yield [this.infoOf(key)];
    }
  }
}

const seam = (model: ModelRemote): Remote => model as unknown as Remote;

async function keysOf(entries: AsyncIterable<TreeEntry>, most = Infinity): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of entries) {
    keys.push(key);
    if (keys.length === most) break;
  }
  return keys;
}

/** Page after page, each from after the last entry of the one before. */
async function pages(remote: Remote, options: Parameters<typeof walkInOrder>[2], size: number): Promise<string[]> {
  const all: string[] = [];
  for (;;) {
    const page = await keysOf(walkInOrder(remote, ROOT, { ...options, after: all.at(-1), expected: size }), size);
    all.push(...page);
    if (page.length < size) return all;
  }
}

const NAMES = ['a', 'b', 'a b', 'a.b', 'a0', 'B', '-', 'é', '\uffee', '😀', '.x'];

const trees = fc
  .array(fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 }), { maxLength: 20 })
  .chain((paths) => {
    const folders = new Set(paths.flatMap((path) => path.slice(1).map((_, at) => path.slice(0, at + 1).join('/'))));
    const files = new Set(paths.map((path) => path.join('/')).filter((path) => !folders.has(path)));
    const keys = [...[...folders].map((folder) => `${folder}/`), ...files];
    return fc.shuffledSubarray(keys, { minLength: keys.length });
  });

suite('against a model', () => {
  test('a walk returns everything once', async () => {
    await fc.assert(
      fc.asyncProperty(trees, async (keys) => {
        const all = keys.toSorted();
        assert.deepEqual((await keysOf(walk(seam(new ModelRemote(keys)), ROOT, { isDeep: true }))).sort(), all);
        assert.deepEqual((await keysOf(walk(seam(new TreeModelRemote(keys)), ROOT, { isDeep: true }))).sort(), all);
        const level = keys.filter((key) => /^[^/]+\/?$/.test(key));
        assert.deepEqual(
          (await keysOf(walk(seam(new ModelRemote(keys)), ROOT, { isDeep: false }))).sort(),
          level.sort(),
        );
      }),
    );
  });

  test('pages of a tree are its paths in order, each once, for any page size', async () => {
    await fc.assert(
      fc.asyncProperty(trees, fc.integer({ min: 1, max: 7 }), async (keys, size) => {
        const expected = keys.toSorted(byKey);
        for (const model of [new ModelRemote(keys), new TreeModelRemote(keys)]) {
          assert.deepEqual(await pages(seam(model), { isDeep: true }, size), expected);
        }
      }),
    );
  });

  test('pages of one level are sorted as a listing is', async () => {
    await fc.assert(
      fc.asyncProperty(trees, fc.integer({ min: 1, max: 7 }), async (keys, size) => {
        const level = keys.filter((key) => /^[^/]+\/?$/.test(key));
        const expected = level.toSorted(
          (a, b) => Number(b.endsWith('/')) - Number(a.endsWith('/')) || byKey(a.replace('/', ''), b.replace('/', '')),
        );
        assert.deepEqual(await pages(seam(new ModelRemote(keys)), { isDeep: false }, size), expected);
      }),
    );
  });

  test('a pattern selects the same in pages, in walks and in a store that lists the tree in one go', async () => {
    const patterns = fc.constantFrom('**', '*', 'a/*', '*/b', '**/b', 'a/**/B', '{a,b}/*', '!(a)/**', '**/a*');
    await fc.assert(
      fc.asyncProperty(trees, patterns, fc.integer({ min: 1, max: 4 }), async (keys, glob, size) => {
        const filters = [createPatternFilter(glob, 'pattern'), createPathFilter({ include: [glob], exclude: ['b'] })];
        for (const [index, filter] of filters.entries()) {
          const isOut = (path: string): boolean => index === 1 && path.split('/').includes('b');
          const paths = keys.toSorted(byKey).map((key) => [key, key.replace(/\/$/, '')] as const);
          const expected = paths.filter(([, path]) => filter.takes(path) && !isOut(path)).map(([key]) => key);
          for (const model of [new ModelRemote(keys), new TreeModelRemote(keys)]) {
            assert.deepEqual(await pages(seam(model), { isDeep: true, filter }, size), expected, glob);
            const walked = await keysOf(walk(seam(model), ROOT, { isDeep: true, filter }));
            assert.deepEqual(walked.sort(byKey), expected, glob);
          }
        }
      }),
    );
  });
});

test('a folder in which a pattern can match nothing is not listed', async () => {
  const model = new ModelRemote(['in/', 'in/a.csv', 'in/x/', 'in/x/b.csv', 'out/', 'out/c.csv']);
  const filter = createPatternFilter('in/*.csv', 'pattern');
  assert.deepEqual(await keysOf(walk(seam(model), ROOT, { isDeep: true, filter })), ['in/a.csv']);
  assert.deepEqual(await keysOf(walkInOrder(seam(model), ROOT, { isDeep: true, filter })), ['in/a.csv']);
  assert.deepEqual(model.listed, ['/', '/in', '/', '/in']);
});

test('in a folder with more sub-folders than are kept, each is walked once', async () => {
  const folders = Array.from({ length: 12_000 }, (_, index) => `${index}/`);
  const keys = folders.flatMap((folder, index) => (index % 1_000 === 0 ? [folder, `${folder}f`] : [folder]));
  const byFolder = new Map<string, string[]>([
    ['/', folders],
    ...folders.map((folder) => [`/${folder.slice(0, -1)}`, [] as string[]] as const),
  ]);
  for (const key of keys) if (key.endsWith('f')) byFolder.get(`/${key.slice(0, -2)}`)?.push(key);
  // The model's own listing scans all keys for each folder.
  class Quick extends ModelRemote {
    override async *list(folder: RemotePath): AsyncGenerator<readonly FileInfo[]> {
      this.listed.push(folder);
      for (const key of byFolder.get(folder) ?? []) yield [this.infoOf(key)];
    }
  }
  for (const walked of [walk, walkInOrder]) {
    const model = new Quick(keys);
    const found = await keysOf(walked(seam(model), ROOT, { isDeep: true }));
    assert.deepEqual(found.toSorted(byKey), keys.toSorted(byKey));
    assert.equal(model.listed.filter((folder) => folder === '/').length, 2);
    assert.equal(model.listed.length, 2 + folders.length);
  }
});

test('a link to a folder is listed and not entered', async () => {
  const model = new ModelRemote(['a/', 'a/loop/', 'a/loop/a/'], ROOT, new Set(['a/loop/']));
  assert.deepEqual(await keysOf(walk(seam(model), ROOT, { isDeep: true })), ['a/', 'a/loop/']);
  assert.deepEqual(await keysOf(walkInOrder(seam(model), ROOT, { isDeep: true })), ['a/', 'a/loop/']);
});

suite('with rules for folders', () => {
  const rulesOf = (listed: string[], rules: Partial<FolderRules> = {}): FolderRules => ({
    listing: (below) => void listed.push(below),
    enters: () => true,
    mostFolders: 100,
    mostLevels: 32,
    ...rules,
  });

  test('a walk yields the files, and lists each folder by itself, also where the tree could be listed in one go', async () => {
    await fc.assert(
      fc.asyncProperty(trees, async (keys) => {
        for (const model of [new ModelRemote(keys), new TreeModelRemote(keys)]) {
          const listed: string[] = [];
          const folders = rulesOf(listed);
          const found = await keysOf(walk(seam(model), ROOT, { isDeep: true, folders }));
          assert.deepEqual(found.sort(byKey), keys.filter((key) => !key.endsWith('/')).sort(byKey));
          const inTree = keys.filter((key) => key.endsWith('/')).map((key) => key.slice(0, -1));
          assert.deepEqual(listed.sort(byKey), ['', ...inTree].sort(byKey));
          assert.equal(model.listed.length, listed.length);
          const flat = await keysOf(walk(seam(model), ROOT, { isDeep: false, folders: rulesOf([]) }));
          assert.deepEqual(flat.sort(byKey), keys.filter((key) => !key.includes('/')).sort(byKey));
        }
      }),
    );
  });

  test('links to folders are entered, and refused folders are not', async () => {
    const model = new ModelRemote(['a/', 'a/f', 'link/', 'link/g', 'out/', 'out/h'], ROOT, new Set(['link/']));
    const listed: string[] = [];
    const asked: string[] = [];
    const enters = ({ key, path }: TreeEntry): boolean => {
      asked.push(`${key} ${path}`);
      return key !== 'out/';
    };
    const folders = rulesOf(listed, { enters });
    assert.deepEqual((await keysOf(walk(seam(model), ROOT, { isDeep: true, folders }))).sort(), ['a/f', 'link/g']);
    assert.deepEqual(listed, ['', 'a', 'link']);
    assert.deepEqual(asked, ['a/ /a', 'link/ /link', 'out/ /out']);
  });

  test('more folders than allowed, and more levels, are an error that names both limits', async () => {
    const wide = new ModelRemote(['a/', 'b/', 'c/']);
    const deep = new ModelRemote(['a/', 'a/b/', 'a/b/c/', 'a/b/c/f']);
    const outcome = async (model: ModelRemote, rules: Partial<FolderRules>): Promise<string> => {
      const folders = rulesOf([], rules);
      return keysOf(walk(seam(model), ROOT, { isDeep: true, folders })).then(String, (error: GatewayError) => {
        assert.equal(error.code, 'remote_failure');
        return error.clientText;
      });
    };
    assert.equal(await outcome(wide, { mostFolders: 4 }), '');
    assert.match(await outcome(wide, { mostFolders: 3 }), /^\/ holds more than 3 folders, or .* 32 levels deep/);
    assert.equal(await outcome(deep, { mostLevels: 3 }), 'a/b/c/f');
    assert.match(await outcome(deep, { mostLevels: 2 }), /^\/ holds more than 100 folders, or .* 2 levels deep/);
  });

  test('what a listing leaves out is reported with its folder', async () => {
    const leftOut = { name: Buffer.from('x'), isDirectory: false, why: 'unreadable' } as const;
    class Omitting extends ModelRemote {
      override async *list(folder: RemotePath, options?: ListOptions): AsyncGenerator<readonly FileInfo[]> {
        yield* super.list(folder);
        await options?.leftOut?.(leftOut);
      }
    }
    const model = new Omitting(['a/', 'a/b/', 'f'], parseRemotePath('/in', ROOT, 'path'));
    const seen: string[] = [];
    const options = { isDeep: true, leftOut: (below: string) => void seen.push(below) };
    const root = parseRemotePath('/in', ROOT, 'path');
    await keysOf(walk(seam(model), root, { ...options, folders: rulesOf([]) }));
    assert.deepEqual(seen.splice(0), ['', 'a', 'a/b']);
    await keysOf(walkInOrder(seam(model), root, options));
    assert.deepEqual(seen, ['', 'a', 'a/b']);
  });
});

test('a loop that a server hides ends at a depth, with the root in the error', async () => {
  const endless = {
    can: {},
    list: async function* (folder: RemotePath) {
      const path = `${folder === ROOT ? '' : folder}/loop`;
      yield [{ name: 'loop', path, isDirectory: true, size: 0, modifiedAt: new Date(0) }];
    },
  } as unknown as Remote;
  const isTooDeep = (error: unknown): boolean =>
    hasCode(error, 'remote_failure') && /\/x holds .* 100 levels/.test(String(error));
  const root = parseRemotePath('/x', ROOT, 'path');
  await assert.rejects(keysOf(walk(endless, root, { isDeep: true })), isTooDeep);
  await assert.rejects(keysOf(walkInOrder(endless, root, { isDeep: true })), isTooDeep);
});

test('links that lead back up and are not shown as links end soon, exactly like folders with equal listings', async () => {
  const at = (name: string, isDirectory: boolean, ms: number) => ({
    name,
    isDirectory,
    size: 1,
    modifiedAt: new Date(ms),
  });
  const remoteOf = (entriesIn: (folder: RemotePath) => ReturnType<typeof at>[]): Remote =>
    ({
      can: {},
      list: async function* (folder: RemotePath) {
        yield entriesIn(folder).map((one) => ({ ...one, path: `${folder === ROOT ? '' : folder}/${one.name}` }));
      },
    }) as unknown as Remote;
  const links = ['l1', 'l2', 'l3', 'l4', 'l5'];
  const looped = remoteOf(() => [at('file', false, 7), ...links.map((name) => at(name, true, 8))]);
  // Three levels with the same names, whose times differ slightly.
  const shards = ['0', '1', '2'];
  const sharded = remoteOf((folder) => {
    const depth = folder === ROOT ? 0 : folder.split('/').length - 1;
    return shards.map((name) => at(name, depth < 3, name === '2' ? depth : 9));
  });
  // A copy of a folder in itself, once.
  const nested = remoteOf((folder) => {
    const isLast = folder === '/in/in';
    return [at('file', false, 7), at('in', !isLast, 8)];
  });
  for (const walked of [walk, walkInOrder]) {
    const found = await keysOf(walked(looped, ROOT, { isDeep: true }));
    assert.equal(found.length, (1 + links.length) * 6);
    assert.equal((await keysOf(walked(sharded, ROOT, { isDeep: true }))).length, 3 + 9 + 27 + 81);
    assert.ok((await keysOf(walked(nested, ROOT, { isDeep: true }))).includes('in/in/file'));
  }
  const all = await keysOf(walkInOrder(looped, ROOT, { isDeep: true }));
  assert.deepEqual(await pages(looped, { isDeep: true }, 7), all);
});

test('a sub-folder that disappears meanwhile is no error; one that may not be read is, and so is the root', async () => {
  const failing = (code: 'not_found' | 'not_a_folder' | 'permission_denied', at: string): Remote => {
    class Failing extends ModelRemote {
      override list(folder: RemotePath): AsyncGenerator<readonly FileInfo[]> {
        if (folder === at) throw new GatewayError(code, `${folder} fails`, { step: 'open' });
        return super.list(folder);
      }
    }
    return seam(new Failing(['a/', 'a/f', 'b/', 'b/f']));
  };
  for (const walked of [walk, walkInOrder]) {
    for (const code of ['not_found', 'not_a_folder'] as const) {
      assert.deepEqual((await keysOf(walked(failing(code, '/a'), ROOT, { isDeep: true }))).sort(), ['a/', 'b/', 'b/f']);
      await assert.rejects(keysOf(walked(failing(code, '/'), ROOT, { isDeep: true })), (error) => hasCode(error, code));
    }
    const denied = keysOf(walked(failing('permission_denied', '/a'), ROOT, { isDeep: true }));
    await assert.rejects(denied, (error) => hasCode(error, 'permission_denied'));
  }
});

test('names that are not UTF-8 keep their bytes, in folders and below them', async () => {
  const rawName = Buffer.from([0x61, 0xff]).toString('base64');
  const other = Buffer.from([0x61, 0xfe]).toString('base64');
  const asked: RemotePath[] = [];
  const remote = {
    can: {},
    list: async function* (folder: RemotePath) {
      asked.push(folder);
      const common = { size: 0, modifiedAt: new Date(0) };
      if (folder === ROOT) {
        yield [
          { ...common, name: 'a\ufffd', path: '/a\ufffd', rawName, isDirectory: true },
          { ...common, name: 'a\ufffd', path: '/a\ufffd', rawName: other, isDirectory: false },
        ];
      } else yield [{ ...common, name: 'f', path: `${folder}/f`, isDirectory: false }];
    },
  } as unknown as Remote;
  for (const walked of [walk, walkInOrder]) {
    const keys = await keysOf(walked(remote, ROOT, { isDeep: true }));
    assert.deepEqual(keys.sort(), ['a\udcfe', 'a\udcff/', 'a\udcff/f']);
    assert.equal(rawNameOf((asked.at(-1) ?? '').slice(1)), rawName);
  }
  assert.deepEqual(await pages(remote, { isDeep: true }, 1), ['a\udcfe', 'a\udcff/', 'a\udcff/f']);
});
