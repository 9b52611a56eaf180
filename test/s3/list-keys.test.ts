/** The keys of a connection, page after page, compared with a model of a store: any tree, prefix, delimiter and limit. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { UNCOUNTED } from '../../src/budgets/memory.js';
import { GatewayError, hasCode } from '../../src/base/errors.js';
import type { Operation } from '../../src/operations/operation.js';
import { listKeys, type KeyEntry, type KeysOptions } from '../../src/operations/tree/list-keys.js';
import { ROOT, type RemotePath } from '../../src/remotes/path.js';
import type { FileInfo, LeftOut, ListOptions, Remote } from '../../src/remotes/remote.js';

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const MODIFIED = new Date('2026-01-30T08:15:00.000Z');

interface Extras {
  readonly links?: readonly string[];
  readonly leftOut?: Readonly<Record<string, readonly LeftOut[]>>;
}

/** A server with folders, by its paths: "in/" and "in/a.csv". */
class FolderRemote {
  readonly listed: string[] = [];
  readonly can: Partial<Remote['can']> = {};
  readonly #paths: readonly string[];
  readonly #extras: Extras;

  constructor(paths: readonly string[], extras: Extras = {}) {
    this.#paths = paths;
    this.#extras = extras;
  }

  async *list(folder: RemotePath, { leftOut }: ListOptions = {}): AsyncGenerator<readonly FileInfo[]> {
    this.listed.push(folder);
    const above = folder === ROOT ? '' : `${folder.slice(1)}/`;
    if (above !== '' && !this.#paths.includes(above)) {
      const isFile = this.#paths.includes(above.slice(0, -1));
      throw new GatewayError(isFile ? 'not_a_folder' : 'not_found', `${folder} is no folder`, { step: 'open' });
    }
    for (const path of this.#paths) {
      if (path.startsWith(above) && /^[^/]+\/?$/.test(path.slice(above.length))) yield [this.infoOf(path)];
    }
    for (const what of this.#extras.leftOut?.[above] ?? []) await leftOut?.(what);
  }

  async stat(path: RemotePath): Promise<FileInfo> {
    const below = path.slice(1);
    const found = this.#paths.find((one) => one === below || one === `${below}/`);
    if (found === undefined) throw new GatewayError('not_found', `${path} is missing`, { step: 'open' });
    return this.infoOf(found);
  }

  protected infoOf(path: string): FileInfo {
    const isDirectory = path.endsWith('/');
    const below = isDirectory ? path.slice(0, -1) : path;
    const name = below.slice(below.lastIndexOf('/') + 1);
    const info = {
      name,
      path: `/${below}` as RemotePath,
      size: isDirectory ? 0 : 7,
      isDirectory,
      modifiedAt: MODIFIED,
    };
    return this.#extras.links?.includes(path) === true ? { ...info, isLink: true } : info;
  }
}

/** A store, by its keys. Each listing counts the entries that are read of it. */
class StoreRemote {
  readonly can = { listsInOrder: true } as const;
  readonly #keys: readonly string[];
  entriesRead = 0;

  constructor(keys: readonly string[]) {
    this.#keys = keys.toSorted(byBytes);
  }

  async *list(folder: RemotePath, { after = '' }: ListOptions = {}): AsyncGenerator<readonly FileInfo[]> {
    const above = folder === ROOT ? '' : `${folder.slice(1)}/`;
    let former = '';
    for (const key of this.#keysIn(folder, above)) {
      const below = key.slice(above.length);
      if (below === '' || byBytes(below, after) <= 0) continue;
      const shown = below.slice(0, below.indexOf('/') + 1 || below.length + 1);
      if (shown === former) continue;
      former = shown;
      this.entriesRead += 1;
      yield [this.#infoOf(above + shown, false)];
    }
  }

  async *listTree(folder: RemotePath, { after = '' }: { after?: string } = {}): AsyncGenerator<readonly FileInfo[]> {
    const above = folder === ROOT ? '' : `${folder.slice(1)}/`;
    let open: string[] = [];
    for (const key of this.#keysIn(folder, above)) {
      const below = key.slice(above.length);
      if (below === '' || byBytes(below, after) <= 0) continue;
      const names = below.split('/').slice(0, -1);
      const folders = names.map((_, at) => `${names.slice(0, at + 1).join('/')}/`);
      for (const one of folders) if (!open.includes(one)) yield [this.#infoOf(above + one, one === below)];
      open = folders;
      this.entriesRead += 1;
      if (!key.endsWith('/')) yield [this.#infoOf(key, true)];
    }
  }

  async stat(path: RemotePath): Promise<FileInfo> {
    const key = path.slice(1);
    if (this.#keys.includes(key)) return this.#infoOf(key, true);
    const found = this.#keys.find((one) => one.startsWith(`${key}/`));
    if (found === undefined) throw new GatewayError('not_found', `${path} is missing`, { step: 'open' });
    return this.#infoOf(`${key}/`, found === `${key}/`);
  }

  #keysIn(folder: RemotePath, above: string): string[] {
    const keys = this.#keys.filter((key) => key.startsWith(above));
    if (keys.length === 0 && folder !== ROOT) throw new GatewayError('not_found', `${folder} is missing`);
    return keys;
  }

  #infoOf(key: string, isKept: boolean): FileInfo {
    const isDirectory = key.endsWith('/');
    const below = isDirectory ? key.slice(0, -1) : key;
    const name = below.slice(below.lastIndexOf('/') + 1);
    const modifiedAt = isKept || !isDirectory ? MODIFIED : new Date(0);
    return { name, path: `/${below}` as RemotePath, size: isDirectory ? 0 : 7, isDirectory, modifiedAt };
  }
}

const operationOn = (remote: FolderRemote | StoreRemote): Operation =>
  ({
    signal: new AbortController().signal,
    use: (work: (remote: Remote) => Promise<unknown>) => work(remote as unknown as Remote),
    locate: () => undefined,
    mark: () => undefined,
  }) as unknown as Operation;

const pageFrom = (remote: FolderRemote | StoreRemote, options: Partial<KeysOptions> = {}) =>
  listKeys(operationOn(remote), UNCOUNTED, { prefix: '', delimiter: '', after: '', limit: 1000, ...options });

const shown = (entry: KeyEntry): string => ('prefix' in entry ? `(${entry.prefix})` : entry.key);

async function keysFrom(remote: FolderRemote | StoreRemote, options: Partial<KeysOptions> = {}): Promise<string[]> {
  const all: string[] = [];
  let after = options.after ?? '';
  for (;;) {
    const { entries, next } = await pageFrom(remote, { ...options, after });
    assert.ok(entries.length <= (options.limit ?? 1000));
    assert.ok(next === undefined || entries.length === (options.limit ?? 1000));
    all.push(...entries.map(shown));
    if (next === undefined) return all;
    after = next;
  }
}

/** What Amazon S3 lists of these keys. */
function modelOf(keys: readonly string[], { prefix = '', delimiter = '', after = '' }: Partial<KeysOptions>): string[] {
  const found: string[] = [];
  for (const key of keys.toSorted(byBytes)) {
    if (!key.startsWith(prefix) || byBytes(key, after) <= 0) continue;
    const end = delimiter === '' ? 0 : key.indexOf('/', prefix.length) + 1;
    const common = key.slice(0, end);
    if (end > 0 && common === after) continue;
    const one = end > 0 ? `(${common})` : key;
    if (found.at(-1) !== one) found.push(one);
  }
  return found;
}

const NAMES = ['a', 'b', 'a b', 'a.b', 'a0', 'ab', 'B', '-', 'é', '\uffee', '😀', '.x'];
const paths = fc.array(fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 }), { maxLength: 20 });

interface Tree {
  readonly folders: readonly string[];
  readonly files: readonly string[];
}

const trees = paths.map((all): Tree => {
  const folders = new Set(all.flatMap((path) => path.slice(1).map((_, at) => `${path.slice(0, at + 1).join('/')}/`)));
  const rest = [...new Set(all.map((path) => path.join('/')))].filter((path) => !folders.has(`${path}/`));
  // Every third one is an empty folder.
  const [empty, files] = [rest.filter((_, at) => at % 3 === 0), rest.filter((_, at) => at % 3 !== 0)];
  return { folders: [...folders, ...empty.map((path) => `${path}/`)], files };
});

const requests = fc.record({
  prefix: fc.oneof(
    fc.constant(''),
    fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }).map((names) => names.join('/')),
    fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 2 }).map((names) => `${names.join('/')}/`),
    fc.constantFrom('/', '//', 'a//', './', '../', 'a/../', '\u0000/', 'a/\n', '\udfff'.toWellFormed()),
  ),
  delimiter: fc.constantFrom('' as const, '/' as const),
  after: fc.oneof(
    fc.constant(''),
    fc.array(fc.constantFrom(...NAMES, ''), { minLength: 1, maxLength: 3 }).map((names) => names.join('/')),
  ),
  limit: fc.integer({ min: 1, max: 7 }),
});

suite('against a model', () => {
  test('a server with folders lists its files and its empty folders', async () => {
    await fc.assert(
      fc.asyncProperty(trees, requests, async ({ folders, files }, request) => {
        const all = [...folders, ...files];
        const isEmpty = (folder: string): boolean => !all.some((path) => path !== folder && path.startsWith(folder));
        const keys = [...files, ...folders.filter(isEmpty)];
        assert.deepEqual(await keysFrom(new FolderRemote(all), request), modelOf(keys, request));
      }),
      { numRuns: 1000 },
    );
  });

  test('a store lists its objects and its markers', async () => {
    await fc.assert(
      fc.asyncProperty(trees, requests, async ({ folders, files }, request) => {
        const isNeeded = (folder: string): boolean => !files.some((path) => path.startsWith(folder));
        const keys = [...files, ...folders.filter((folder, at) => at % 2 === 0 || isNeeded(folder))];
        assert.deepEqual(await keysFrom(new StoreRemote(keys), request), modelOf(keys, request));
      }),
      { numRuns: 1000 },
    );
  });
});

test('a page says what follows it, and its entries have the facts of the files', async () => {
  const remote = new FolderRemote(['a/', 'a/b', 'c', 'e/']);
  const first = await pageFrom(remote, { limit: 2 });
  assert.deepEqual(first.entries.map(shown), ['a/b', 'c']);
  assert.equal(first.next, 'c');
  const last = await pageFrom(remote, { limit: 2, after: 'c' });
  assert.equal(last.next, undefined);
  assert.deepEqual(
    last.entries.map((entry) => ('info' in entry ? [entry.key, entry.info.size, entry.info.modifiedAt] : [])),
    [['e/', 0, MODIFIED]],
  );
  const none = { entries: [], next: undefined, incomplete: 0, rest: [], isEnd: true };
  assert.deepEqual(await pageFrom(remote, { limit: 0 }), none);
});

test('folders outside the prefix are not listed, and those before the place of a page are not either', async () => {
  const remote = new FolderRemote(['a/', 'a/f', 'b/', 'b/re/', 'b/re/x', 'b/read', 'b/so/', 'b/so/y', 'c/', 'c/f']);
  assert.deepEqual(await keysFrom(remote, { prefix: 'b/re' }), ['b/re/x', 'b/read']);
  assert.deepEqual(remote.listed.splice(0), ['/b', '/b/re']);
  assert.deepEqual(await keysFrom(remote, { after: 'b/so/' }), ['b/so/y', 'c/f']);
  assert.deepEqual(remote.listed.splice(0), ['/', '/b', '/b/so', '/c']);
  assert.deepEqual(await keysFrom(remote, { delimiter: '/' }), ['(a/)', '(b/)', '(c/)']);
  assert.deepEqual(remote.listed.splice(0), ['/']);
});

test('a store is read from the prefix to its end', async () => {
  const names = Array.from({ length: 5000 }, (_, index) => `k${String(index).padStart(4, '0')}`);
  for (const delimiter of ['', '/'] as const) {
    const remote = new StoreRemote(['a', ...names, 'z']);
    assert.deepEqual(await keysFrom(remote, { prefix: 'k200', delimiter }), names.slice(2000, 2010));
    assert.ok(remote.entriesRead <= (delimiter === '' ? 12 : 1002), `${remote.entriesRead} entries`);
  }
});

test('a prefix that is no folder lists nothing; a root that is missing is an error', async () => {
  const remote = new FolderRemote(['a/', 'a/f']);
  for (const prefix of ['x/', 'a/f/', 'x/y/z', '/', '/a/', 'a//', './', '../', 'a/../', 'a/\u0001/']) {
    for (const delimiter of ['', '/'] as const) assert.deepEqual(await keysFrom(remote, { prefix, delimiter }), []);
  }
  class Lost extends FolderRemote {
    override list(): AsyncGenerator<readonly FileInfo[]> {
      throw new GatewayError('not_found', '/ is missing', { step: 'open' });
    }
  }
  await assert.rejects(keysFrom(new Lost([])), (error) => hasCode(error, 'not_found'));
  class Refusing extends FolderRemote {
    override list(): AsyncGenerator<readonly FileInfo[]> {
      throw new GatewayError('permission_denied', 'no', { step: 'open' });
    }
  }
  await assert.rejects(keysFrom(new Refusing([]), { prefix: 'a/' }), (error) => hasCode(error, 'permission_denied'));
});

test('a link to a folder is a common prefix, is not entered, and is listed by its prefix', async () => {
  const remote = new FolderRemote(['d/', 'd/l/', 'd/l/x', 'l/', 'l/f', 'n'], { links: ['l/', 'd/l/'] });
  assert.deepEqual(await keysFrom(remote), ['n']);
  assert.deepEqual(await keysFrom(remote, { delimiter: '/' }), ['(d/)', '(l/)', 'n']);
  assert.deepEqual(await keysFrom(remote, { prefix: 'l/' }), ['l/f']);
  assert.deepEqual(await keysFrom(remote, { prefix: 'l/', delimiter: '/' }), ['l/f']);
});

test('unfinished files of gateways are not listed, and their folder is not empty', async () => {
  const hidden = '.ftg-0123abcd-1.a';
  const piece = '.ftg-up-0123456789ab.a';
  const remote = new FolderRemote(['d/', `d/${hidden}`, hidden, 'e/', '.ftg-mine', piece, `d/${piece}`]);
  assert.deepEqual(await keysFrom(remote), ['.ftg-mine', 'e/']);
  assert.deepEqual(await keysFrom(remote, { delimiter: '/' }), ['.ftg-mine', '(d/)', '(e/)']);
  assert.deepEqual(await keysFrom(remote, { prefix: 'd/' }), []);
});

suite('what a server lists and no key can express', () => {
  const left = (why: LeftOut['why'], name: string | undefined): LeftOut => {
    const what = { name: name === undefined ? undefined : Buffer.from(name), isDirectory: false, why };
    return name === undefined ? { ...what, line: 'a strange line' } : what;
  };

  test('links that lead nowhere are counted, and make their folder no empty one', async () => {
    const leftOut = { 'd/': [left('link', 'gone'), left('link', 'lost')], '': [left('link', 'x')] };
    const remote = new FolderRemote(['d/', 'f'], { leftOut });
    const { entries, incomplete } = await pageFrom(remote);
    assert.deepEqual(entries.map(shown), ['f']);
    assert.equal(incomplete, 3);
    assert.equal((await pageFrom(remote, { prefix: 'f' })).incomplete, 0);
    assert.equal((await pageFrom(remote, { prefix: 'd/' })).entries.length, 0);
  });

  test('other entries fail the list, with their number and one of them', async () => {
    const failure = async (remote: FolderRemote, options: Partial<KeysOptions> = {}): Promise<string> => {
      const error = await pageFrom(remote, options).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      assert.ok(error instanceof GatewayError);
      assert.equal(error.code, 'remote_failure');
      return error.clientText;
    };
    const lines = new FolderRemote(['d/', 'f'], { leftOut: { '': [left('unreadable', undefined)] } });
    assert.equal(await failure(lines), '/ holds an entry that no key can express, such as "a strange line"');
    assert.match(await failure(lines, { prefix: 'x', delimiter: '/' }), /a strange line/);
    assert.deepEqual(await keysFrom(lines, { prefix: 'd/' }), ['d/']);

    const names = new FolderRemote(['d/', 'd/f'], {
      leftOut: { 'd/': [left('name', 'a\\b'), left('name', 'a\u0001')] },
    });
    assert.equal(await failure(names), '/ holds 2 entries that no key can express, such as "d/a\\\\b"');
    assert.match(await failure(names, { prefix: 'd/a' }), /2 entries/);
    assert.deepEqual(await keysFrom(names, { prefix: 'd/f' }), ['d/f']);
  });

  test('so do names that are not UTF-8', async () => {
    const rawName = (byte: number): string => Buffer.from([0x61, byte]).toString('base64');
    const remote = new FolderRemote([]);
    remote.list = async function* () {
      for (const byte of [0xfe, 0xff]) {
        const path = '/a\ufffd' as RemotePath;
        yield [{ name: 'a\ufffd', path, rawName: rawName(byte), size: 0, isDirectory: false, modifiedAt: MODIFIED }];
      }
      yield [{ name: 'b', path: '/b' as RemotePath, size: 0, isDirectory: false, modifiedAt: MODIFIED }];
    };
    for (const delimiter of ['', '/'] as const) {
      await assert.rejects(pageFrom(remote, { delimiter }), /2 entries that no key can express, such as "a\ufffd"/);
      assert.deepEqual(await keysFrom(remote, { prefix: 'b', delimiter }), ['b']);
    }
  });
});
