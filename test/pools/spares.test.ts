/**
 * Spare leases give one file more speed, on sessions that nothing else uses. A failure is an operation that waits for
 * one, or a spare lease that shares a session with its operation.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PoolBusy } from '../../src/pools/pool.js';
import { ask, failure, giveBack, poolOf, rest, ScriptedServer, ScriptedSession } from './scripted.js';

const never = new AbortController().signal;
const SPARE = { signal: never, priority: 'spare' } as const;

function readyServer(capacity = 4): ScriptedServer {
  const server = new ScriptedServer(capacity);
  server.auto = (number) => new ScriptedSession(`s${number}`, capacity);
  return server;
}

test('each gets a session of its own: an idle one first, then a new one', async () => {
  const server = readyServer();
  const pool = poolOf(server, { maxSessions: 3 });
  const other = ask(pool);
  await rest();
  giveBack(other);
  const [first] = await pool.acquire(SPARE);
  assert.equal(server.sessions.length, 1);
  const [[second], [third]] = await Promise.all([pool.acquire(SPARE), pool.acquire(SPARE)]);
  assert.deepEqual(
    [first, second, third].map((lease) => lease?.item.split('.')[0]),
    ['s1', 's2', 's3'],
  );
  await assert.rejects(pool.acquire(SPARE), PoolBusy);
  for (const lease of [first, second, third]) lease?.release('keep');
  assert.deepEqual(pool.gauge, { host: 'example:22', open: 3, leased: 0, waiting: 0 });
});

test('an operation shares its session with other operations, but with no spare lease', async () => {
  const server = readyServer();
  const pool = poolOf(server, { maxSessions: 1 });
  const client = ask(pool);
  await rest();
  await assert.rejects(pool.acquire(SPARE), PoolBusy);
  const beside = ask(pool);
  await rest();
  assert.notEqual(beside.leases, undefined);
  giveBack(client);
  giveBack(beside);
});

test('a request takes a free slot beside a spare lease, and recalls it if there is none', async () => {
  const server = readyServer(1);
  const pool = poolOf(server, { maxSessions: 2 });
  let recalls = 0;
  const [spare] = await pool.acquire({ ...SPARE, recall: () => recalls++ });
  const first = ask(pool);
  await rest();
  assert.notEqual(first.leases, undefined);
  assert.equal(recalls, 0);
  const second = ask(pool);
  await rest();
  assert.deepEqual([second.leases, recalls], [undefined, 1]);
  await assert.rejects(pool.acquire(SPARE), PoolBusy);
  const third = ask(pool);
  await rest();
  assert.equal(recalls, 1, 'once is enough');
  spare?.release('keep');
  await rest();
  assert.notEqual(second.leases, undefined);
  giveBack(first);
  await rest();
  giveBack(second);
  giveBack(third);
});

test('a request takes over a session that is being opened for a spare lease', async () => {
  const server = new ScriptedServer(1);
  const pool = poolOf(server, { maxSessions: 1 });
  const spare = pool.acquire(SPARE);
  spare.catch(() => undefined);
  const client = ask(pool);
  await rest();
  server.admit();
  await rest();
  assert.notEqual(client.leases, undefined);
  giveBack(client);
  const [lease] = await spare;
  lease?.release('keep');
  assert.equal(server.logins, 1);
});

test('a refused login ends the wait for a spare lease, and nothing else', async () => {
  const server = readyServer(1);
  const pool = poolOf(server);
  const client = ask(pool);
  await rest();
  server.auto = undefined;
  const spare = assert.rejects(pool.acquire(SPARE), PoolBusy);
  await rest();
  server.refuse(failure('too_many_sessions'));
  await spare;
  giveBack(client);
  await rest();
  assert.deepEqual(pool.gauge, { host: 'example:22', open: 1, leased: 0, waiting: 0, learned: 1 });
});
