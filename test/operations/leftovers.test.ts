/** Hidden files of operations that were cut, on servers that are slower than the removal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../src/base/errors.js';
import { Sweeper } from '../../src/operations/leftovers.js';
import { parseRemotePath, ROOT } from '../../src/remotes/path.js';

const HIDDEN = parseRemotePath('/.ftg-tag-name', ROOT, 'path');
const missing = () => Promise.reject(new GatewayError('not_found', 'there is no such file'));

for (const [what, attempts, removals] of [
  ['a file that the server makes late is removed', [missing, missing, () => Promise.resolve()], 3],
  ['one that never appears is looked for three times', [missing, missing, missing, missing], 3],
  ['one that is removed is not looked for again', [() => Promise.resolve(), missing], 1],
] as const) {
  test(what, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const queue = [...attempts];
    let calls = 0;
    const remove = (): Promise<void> => {
      calls += 1;
      return queue.shift()?.() ?? Promise.resolve();
    };
    const sweeper = new Sweeper({
      remotes: { use: (_: unknown, __: unknown, work: (remote: object) => unknown) => work({ remove }) },
      store: { tag: 'tag' },
      connections: {},
      log: () => undefined,
    } as unknown as ConstructorParameters<typeof Sweeper>[0]);
    sweeper.for({ id: 'files' } as Parameters<Sweeper['for']>[0]).removeLater(HIDDEN);
    for (let minute = 0; minute < 30; minute++) {
      t.mock.timers.tick(60_000);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    }
    assert.equal(calls, removals);
    await sweeper.stop();
  });
}

const FILE = parseRemotePath('/file', ROOT, 'path');

for (const [what, files, done] of [
  ['is moved back if nothing is at its name', { [HIDDEN]: 'former' }, { [FILE]: 'former' }],
  ['is removed if another one took its place', { [HIDDEN]: 'former', [FILE]: 'new' }, { [FILE]: 'new' }],
  [
    'is left where it is if a folder took its place',
    { [HIDDEN]: 'former', [FILE]: 'a folder' },
    { [HIDDEN]: 'former', [FILE]: 'a folder' },
  ],
  ['needs nothing if it is gone', {}, {}],
] as const) {
  test(`a file that was aside ${what}`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const there = new Map<string, string>(Object.entries(files));
    const take = (name: string): string => {
      const content = there.get(name);
      if (content === undefined) throw new GatewayError('not_found', 'there is no such file');
      there.delete(name);
      return content;
    };
    const remote = {
      stat: async (name: string) => (there.has(name) ? { isDirectory: there.get(name) === 'a folder' } : missing()),
      remove: async (name: string) => void take(name),
      move: async (from: string, to: string) => void there.set(to, take(from)),
    };
    const forgotten: string[] = [];
    const sweeper = new Sweeper({
      remotes: { use: (_: unknown, __: unknown, work: (on: object) => unknown) => work(remote) },
      store: {
        tag: 'tag',
        expectAside: async (...about: readonly string[]) => about.join(' '),
        forget: async (note: string) => void forgotten.push(note),
      },
      connections: {},
      log: () => undefined,
    } as unknown as ConstructorParameters<typeof Sweeper>[0]);
    const note = await sweeper.for({ id: 'files' } as Parameters<Sweeper['for']>[0]).expectAside(HIDDEN, FILE);
    assert.deepEqual(forgotten, []);
    note.settleLater();
    t.mock.timers.tick(60_000);
    for (let turn = 0; turn < 40; turn++) await Promise.resolve();
    assert.deepEqual(Object.fromEntries(there), done);
    assert.deepEqual(forgotten, [`files ${HIDDEN} ${FILE}`]);
    await sweeper.stop();
  });
}
