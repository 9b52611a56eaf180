import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { type ListingReader, ListingTurns } from '../../src/budgets/listing-turns.js';

/** The longest turn. */
const TURN_MS = 100;

/** In batches of one. */
async function* numbers(): AsyncGenerator<readonly number[]> {
  for (let number = 0; ; number++) yield [number];
}

test('a short listing needs no turn, and is complete and in order', async () => {
  const turns = new ListingTurns();
  const short = async function* (): AsyncGenerator<readonly number[]> {
    for (let number = 0; number < 256; number += 2) yield [number, number + 1];
  };
  const read: number[] = [];
  for await (const batch of turns.reader('a', () => assert.fail('it waits')).read(short())) read.push(...batch);
  assert.deepEqual(
    read,
    Array.from({ length: 256 }, (_, index) => index),
  );
});

test('long listings of one account leave turns to another one', async (t) => {
  // No turn ends by its time.
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const turns = new ListingTurns();
  const open = Array.from({ length: 80 }, () => turns.reader('a', () => new AbortController().signal).read(numbers()));
  // Each reads on until it has a turn, or waits for one.
  const waiting = await Promise.all(
    open.map(async (listing) => {
      for (let entries = 0; entries <= 256; entries++) await listing.next();
      const next = listing.next().then(() => false);
      for (let turns = 0; turns < 3; turns++) await turn();
      return Promise.race([next, Promise.resolve(true)]);
    }),
  );
  assert.ok(waiting.filter(Boolean).length >= 80 - 52, 'one account alone has four fifths of 64 turns');
  const other = turns.reader('b', () => new AbortController().signal).read(numbers());
  for (let entries = 0; entries < 300; entries++) assert.deepEqual((await other.next()).value, [entries]);
  await other.return();
  // A reader that has stopped keeps no turn, and a waiting one gets it.
  const read = Promise.all(open.map(async (listing) => listing.next()));
  t.mock.timers.tick(TURN_MS);
  await read;
  await Promise.all(open.map(async (listing) => listing.return()));
});

test('a reader that waits for a turn leaves with the reason of its end', async () => {
  const turns = new ListingTurns();
  const controller = new AbortController();
  const gone = new Error('gone');
  const reader = turns.reader('a', () => controller.signal).read(numbers());
  for (let entries = 0; entries <= 256; entries++) await reader.next();
  controller.abort(gone);
  await assert.rejects(async () => {
    for (let entries = 0; entries < 10_000; entries++) await reader.next();
  }, gone);
});

test(
  'listings of one operation that are read at once take one turn, which is returned',
  { timeout: 60_000 },
  async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    const turns = new ListingTurns();
    const open = (): ListingReader => turns.reader('a', () => new AbortController().signal);
    /** Reads on until it has a turn, or waits for one. */
    const advance = async (listing: AsyncGenerator<readonly number[]>): Promise<IteratorResult<readonly number[]>> => {
      for (let entries = 0; entries <= 256; entries++) await listing.next();
      return listing.next();
    };
    // One account by itself has 51 turns. There are more rounds than that.
    for (let round = 0; round < 70; round++) {
      const holders = Array.from({ length: 51 }, () => open().read(numbers()));
      await Promise.all(holders.map(advance));
      const reader = open();
      const together = [reader.read(numbers()), reader.read(numbers())];
      const waiting = together.map(advance);
      for (let passed = 0; passed < 3; passed++) await turn();
      // All holders return their turns in one moment.
      t.mock.timers.tick(TURN_MS);
      await Promise.all(waiting);
      await Promise.all([...holders, ...together].map(async (listing) => listing.return(undefined)));
    }
  },
);
