import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { eventually } from '../support/eventually.js';
import { SHARED_VARIABLE, type Stoppable, useShared } from '../support/shared.js';
import { serveShared } from './shared.js';

interface Numbered extends Stoppable {
  readonly number: number;
}

let folder: string;
let end: () => Promise<void>;
let outer: string | undefined;
const started: number[] = [];
const stopped: number[] = [];
const start = async (): Promise<Numbered> => {
  const number = started.length;
  started.push(number);
  return { number, stop: async () => void stopped.push(number) };
};
const unasked = async (): Promise<Numbered> => assert.fail('the run has one');

before(async () => {
  outer = process.env[SHARED_VARIABLE];
  folder = mkdtempSync(path.join(tmpdir(), 'ftg-shared-'));
  end = await serveShared(folder, {
    many: { start },
    one: { start, isExclusive: true },
    broken: { start: () => Promise.reject(new Error('it does not start')) },
  });
});
after(() => {
  if (outer !== undefined) process.env[SHARED_VARIABLE] = outer;
  rmSync(folder, { recursive: true });
});

test('a server that serves many is started once, however many ask at once', async () => {
  const all = await Promise.all([1, 2, 3].map(() => useShared('many', unasked)));
  assert.deepEqual(
    all.map(({ number }) => number),
    [0, 0, 0],
  );
  for (const one of all) await one.stop();
  assert.deepEqual([started, stopped], [[0], []]);
});

test('an exclusive one serves one file at a time, and the next one when it is given back', async () => {
  const [first, second] = [await useShared('one', unasked), await useShared('one', unasked)];
  assert.deepEqual([first.number, second.number], [1, 2]);
  await second.stop();
  const third = await useShared('one', unasked);
  assert.equal(third.number, 2);
  for (const one of [first, third]) await one.stop();
  assert.deepEqual(stopped, []);
});

test('an exclusive one ends when the file that has it dies', async () => {
  const socket = net.connect(process.env[SHARED_VARIABLE] ?? '');
  socket.write('one\n');
  await once(socket, 'data');
  socket.destroy();
  await eventually(() => stopped.length === 1, 'it has ended');
});

test('a server that does not start fails each file that asks, with its reason', async () => {
  for (const _ of [1, 2]) await assert.rejects(useShared('broken', unasked), /it does not start/);
  await assert.rejects(useShared('unknown', unasked), /there is no shared unknown/);
});

test('what has started ends with the run, and a file without a run starts its own', async () => {
  await end();
  assert.deepEqual([...stopped].sort(), [0, 1, 2]);
  const own = await useShared('many', start);
  assert.equal(own.number, 3);
});
