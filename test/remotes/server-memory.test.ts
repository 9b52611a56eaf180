import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerMemory } from '../../src/remotes/server-memory.js';

const learning = (): ServerMemory<{ learned: boolean }> =>
  new ServerMemory<{ learned: boolean }>(() => ({ learned: false }));

test('facts about one server are kept for it, and are unknown to other protocols and gateways', () => {
  const [memory, another] = [learning(), learning()];
  memory.of('a:22', {}).learned = true;
  assert.deepEqual(
    [memory.of('a:22', {}), memory.of('a:23', {}), another.of('a:22', {})].map(({ learned }) => learned),
    [true, false, false],
  );
});

test('a server behind a proxy is not the one that has the same address elsewhere', () => {
  const memory = learning();
  const proxy = { url: 'http://proxy.example:3128', username: undefined };
  memory.of('10.0.0.5:22', { proxy }).learned = true;
  const ways = [{ proxy }, {}, { proxy: { ...proxy, url: 'http://other.example:3128' } }];
  assert.deepEqual(
    ways.map((way) => memory.of('10.0.0.5:22', way).learned),
    [true, false, false],
  );
});

test('the ten thousand servers used last are remembered', () => {
  const memory = learning();
  memory.of('first:22', {}).learned = true;
  memory.of('kept:22', {}).learned = true;
  for (let count = 0; count < 9_999; count++) {
    memory.of(`host-${count}:22`, {});
    memory.of('kept:22', {});
  }
  assert.deepEqual([memory.of('kept:22', {}).learned, memory.of('first:22', {}).learned], [true, false]);
});
