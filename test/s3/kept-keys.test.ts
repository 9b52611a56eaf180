/** Lists that continue: a large folder is listed once for many pages, in counted memory, and never an old one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Budget } from '../../src/budgets/budget.js';
import { Memory } from '../../src/budgets/memory.js';
import type { Connection } from '../../src/connections/connection.js';
import type { Operation } from '../../src/operations/operation.js';
import { KeptKeys } from '../../src/operations/tree/kept-keys.js';
import type { KeysOptions } from '../../src/operations/tree/list-keys.js';
import { ROOT, type RemotePath } from '../../src/remotes/path.js';
import type { FileInfo, Remote } from '../../src/remotes/remote.js';

const MIB = 1024 ** 2;
const MODIFIED = new Date('2026-01-30T08:15:00.000Z');
/** 1000000 by hand. */
const FILES = Number(process.env['KEYS'] ?? 30_000);

const connection = { id: 'c1', accountId: 'a1', type: 'sftp', host: 'one' } as unknown as Connection;

/** Folders of files, listed in no order. */
class CountingRemote {
  readonly can = {};
  readonly folders: Map<string, number>;
  listed = 0;

  constructor(folders: Readonly<Record<string, number>>) {
    this.folders = new Map(Object.entries(folders));
  }

  async *list(folder: RemotePath): AsyncGenerator<readonly FileInfo[]> {
    this.listed += 1;
    const above = folder === ROOT ? '' : `${folder}/`.slice(1);
    const files = this.folders.get(above) ?? 0;
    // A prime number that divides none of them.
    for (let index = 0; index < files; index++) {
      const name = `f${String((index * 7919) % files).padStart(7, '0')}`;
      yield [this.#infoOf(`/${above}${name}`, name, false)];
    }
    if (above !== '') return;
    for (const one of this.folders.keys())
      if (one !== '') yield [this.#infoOf(`/${one.slice(0, -1)}`, one.slice(0, -1), true)];
  }

  #infoOf(path: string, name: string, isDirectory: boolean): FileInfo {
    return { name, path: path as RemotePath, size: 1, isDirectory, modifiedAt: MODIFIED };
  }
}

class Lister {
  readonly budget: Budget;
  readonly kept: KeptKeys;
  readonly #remote: CountingRemote;

  constructor(remote: CountingRemote, capacity = 64 * MIB) {
    this.#remote = remote;
    this.budget = new Budget({ name: 'memoryBytes', unit: 'bytes', capacity });
    this.kept = new KeptKeys(this.budget);
  }

  async page(options: Partial<KeysOptions>, of = connection): Promise<{ keys: string[]; next: string | undefined }> {
    const operation = {
      signal: new AbortController().signal,
      use: (work: (remote: Remote) => Promise<unknown>) => work(this.#remote as unknown as Remote),
      locate: () => undefined,
      mark: () => undefined,
    } as unknown as Operation;
    const memory = new Memory(this.budget, 'a1');
    const wanted = { prefix: '', delimiter: '', after: '', limit: 1000, ...options } as const;
    const { entries, next } = await this.kept.page(operation, of, memory.hold(), wanted);
    memory.release();
    return { keys: entries.map((entry) => ('key' in entry ? entry.key : `(${entry.prefix})`)), next };
  }

  /** The number of all keys, which come in order; `took` is called after each page. */
  async count(options: Partial<KeysOptions> = {}, took = (): void => undefined): Promise<number> {
    let [found, last] = [0, ''];
    for (let after: string | undefined = ''; after !== undefined;) {
      const page = await this.page({ ...options, after });
      for (const key of page.keys) {
        assert.ok(key > last, `${key} after ${last}`);
        last = key;
      }
      found += page.keys.length;
      after = page.next;
      took();
    }
    return found;
  }
}

test(`a folder of ${FILES} files is listed once for nine pages, in flat memory`, async (t) => {
  for (const delimiter of ['', '/'] as const) {
    const remote = new CountingRemote({ '': FILES });
    const lister = new Lister(remote);
    let most = 0;
    const began = performance.now();
    const took = (): void => void (most = Math.max(most, lister.budget.of('a1').used));
    assert.equal(await lister.count({ delimiter }, took), FILES);
    t.diagnostic(`${remote.listed} listings, ${Math.round(performance.now() - began)} ms, ${most} bytes were counted`);
    assert.ok(remote.listed <= FILES / 10_000 + 1, `${remote.listed} listings`);
    assert.ok(most > 0 && most < 8 * MIB, `${most} bytes`);
    lister.kept.close();
    assert.equal(lister.budget.of('a1').used, 0);
  }
});

test('the last page says that it is the last, also if it was read with the one before', async () => {
  for (const files of [2, 3]) {
    const lister = new Lister(new CountingRemote({ '': files }));
    const found: string[] = [];
    for (let after: string | undefined = ''; after !== undefined;) {
      const page = await lister.page({ limit: 1, after });
      found.push(...page.keys);
      assert.equal(page.keys.length, 1);
      after = page.next;
    }
    assert.equal(found.length, files);
  }
});

test('so is a tree of large folders, and small ones are each listed once', async () => {
  const large = new CountingRemote({ '': 0, 'a/': 15_000, 'b/': 15_000, 'c/': 3 });
  assert.equal(await new Lister(large).count(), 30_003);
  assert.ok(large.listed <= 15, `${large.listed} listings`);

  const names = Array.from({ length: 500 }, (_, index) => [`d${String(index).padStart(3, '0')}/`, 7] as const);
  const small = new CountingRemote({ '': 3, ...Object.fromEntries(names) });
  assert.equal(await new Lister(small).count({ limit: 700 }), 3503);
  // A page lists the root and its folders, the last of them for the next page as well.
  assert.ok(small.listed <= 500 + 16, `${small.listed} listings`);
});

test('the last page says that it is the last, also if it is a full one', async () => {
  const trees: readonly Readonly<Record<string, number>>[] = [
    { '': 3000 },
    { '': 1, 'a/': 2999 },
    { '': 2999, 'g/': 0 },
  ];
  for (const folders of trees) {
    let pages = 0;
    assert.equal(await new Lister(new CountingRemote(folders)).count({}, () => void (pages += 1)), 3000);
    assert.equal(pages, 3);
  }
});

test('a page of another list, of a changed connection, or after what was kept is read', async () => {
  const remote = new CountingRemote({ '': 5000 });
  const lister = new Lister(remote);
  const { next = '' } = await lister.page({});
  const listings = async (options: Partial<KeysOptions>, of?: Connection): Promise<number> => {
    const before = remote.listed;
    await lister.page(options, of);
    return remote.listed - before;
  };
  assert.equal(await listings({ after: next, prefix: 'f' }), 1);
  assert.equal(await listings({ after: next, delimiter: '/' }), 1);
  assert.equal(await listings({ after: next }, { ...connection, id: 'c2' }), 1);
  assert.equal(await listings({ after: next }), 0);
  assert.equal(await listings({ after: next }), 1, 'a kept list continues once');
  assert.equal(await listings({ after: next }, { ...connection, host: 'two' } as Connection), 1);
  await lister.page({});
  assert.equal(await listings({ after: next, limit: 5000 }), 1, 'too few are kept');
  lister.kept.close();
});

test('what is kept is half a minute old at most, and never older than a list that was read since', async (t) => {
  const remote = new CountingRemote({ '': 3000 });
  const lister = new Lister(remote);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { next = '' } = await lister.page({});
  assert.ok(lister.budget.of('a1').used > 0);
  t.mock.timers.tick(30_001);
  assert.equal(lister.budget.of('a1').used, 0);
  assert.equal((await lister.page({ after: next })).keys.length, 1000);
  assert.equal(remote.listed, 2);

  await lister.page({});
  remote.folders.set('', 1001);
  await lister.page({});
  assert.deepEqual((await lister.page({ after: next })).keys, ['f0001000']);
  lister.kept.close();
});

test('without room in memory nothing is kept, and lists are the same', async () => {
  const remote = new CountingRemote({ '': 5000 });
  const lister = new Lister(remote, 2 * MIB);
  assert.equal(await lister.count(), 5000);
  assert.equal(remote.listed, 5);
  assert.equal(lister.budget.of('a1').used, 0);
});
