import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { OwnerTurns } from '../../src/storage/postgres/owner-turns.js';

test('the writes of one owner run one after the other, beside those of others', async () => {
  const turns = new OwnerTurns();
  const log: string[] = [];
  const gates = new Map<string, () => void>();
  const work = (name: string) => async (): Promise<string> => {
    log.push(name);
    await new Promise<void>((open) => gates.set(name, open));
    return name;
  };
  const open = async (name: string): Promise<void> => {
    gates.get(name)?.();
    await turn();
  };
  const first = turns.run('a', work('a1'));
  const second = turns.run('a', work('a2'));
  const urgent = turns.run('a', work('urgent'), 1);
  const other = turns.run('b', work('b1'));
  await turn();
  assert.deepEqual(log, ['a1', 'b1']);
  await open('b1');
  assert.equal(await other, 'b1');
  await open('a1');
  assert.deepEqual(log, ['a1', 'b1', 'urgent']);
  await open('urgent');
  await open('a2');
  assert.deepEqual(await Promise.all([first, second, urgent]), ['a1', 'a2', 'urgent']);
});

test('the caller gets the error of its write, and the next write runs', async () => {
  const turns = new OwnerTurns();
  const failing = turns.run('a', () => Promise.reject(new Error('refused')));
  const next = turns.run('a', () => Promise.resolve('done'));
  await assert.rejects(failing, /refused/);
  assert.equal(await next, 'done');
});
