import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerMemory } from '../../src/remotes/server-memory.js';

const learning = (): ServerMemory<{ learned: boolean }> =>
  new ServerMemory<{ learned: boolean }>(() => ({ learned: false }));

test('what was learned of one server is kept for it, and no other protocol or gateway knows', () => {
  const [memory, another] = [learning(), learning()];
  memory.of('a:22').learned = true;
  assert.deepEqual(
    [memory.of('a:22'), memory.of('a:23'), another.of('a:22')].map(({ learned }) => learned),
    [true, false, false],
  );
});

test('ten thousand servers are remembered, those that were used last', () => {
  const memory = learning();
  memory.of('first:22').learned = true;
  memory.of('kept:22').learned = true;
  for (let count = 0; count < 9_999; count++) {
    memory.of(`host-${count}:22`);
    memory.of('kept:22');
  }
  assert.deepEqual([memory.of('kept:22').learned, memory.of('first:22').learned], [true, false]);
});
