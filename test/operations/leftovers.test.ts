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
