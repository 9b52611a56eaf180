/** Turns of the event loop, divided among transfers by bytes. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { TransferTurns } from '../../src/base/turn-share.js';
import { atOnce } from '../support/at-once.js';

const KIB = 1024;
const CHUNK = 512 * KIB;
/** What all transfers receive in one turn. Between two turns of a test there may be the begin of two of theirs. */
const SHARE = 8 * CHUNK;

class Transfer {
  readonly turns = new TransferTurns();
  received = 0;
  readonly done: Promise<void>;

  /** Receives `chunks` of `bytes` each, each as soon as it may. */
  constructor(bytes: number, chunks: number) {
    this.done = new Promise((resolve) => {
      const next = (): void => {
        while (this.received < bytes * chunks) {
          if (!this.turns.await(bytes, next)) return;
          this.received += bytes;
          this.turns.spend(bytes);
        }
        resolve();
      };
      queueMicrotask(next);
    });
  }
}

/** Nothing waits, and the share is not used up. */
function assertUnused(): void {
  assert.equal(
    new TransferTurns().await(SHARE, () => undefined),
    true,
  );
}

const sum = (transfers: readonly Transfer[]): number => transfers.reduce((all, { received }) => all + received, 0);

beforeEach(() => turn());

test('no turn takes more than the share, and transfers get equal parts of it', async () => {
  const chunks = 40;
  const transfers = Array.from({ length: 64 }, () => new Transfer(CHUNK, chunks));
  const all = Promise.all(transfers.map(({ done }) => done));
  for (let before = 0; before < 64 * chunks * CHUNK;) {
    await turn();
    const received = sum(transfers);
    assert.ok(received > before, 'a turn moves something');
    assert.ok(received - before <= 2 * SHARE, `${received - before} bytes in one turn`);
    before = received;
    const bytes = transfers.map((transfer) => transfer.received);
    // The first one does not wait for others that have not come yet.
    assert.ok(Math.max(...bytes) - Math.min(...bytes) <= SHARE + CHUNK, bytes.join(' '));
  }
  await all;
  await turn();
  assertUnused();
});

test('a single transfer does not wait while the share lasts', async () => {
  const transfer = new Transfer(CHUNK, 8);
  await transfer.done;
  await turn();
  assertUnused();
});

test('small chunks wait together; the first ones of a turn do not wait', async () => {
  const large = Array.from({ length: 16 }, () => new Transfer(CHUNK, 64));
  await Promise.resolve();
  const few = new Transfer(4 * KIB, 8);
  const many = new Transfer(64 * KIB, 32);
  await Promise.resolve();
  assert.equal(few.received, 32 * KIB);
  assert.equal(many.received, 0);
  let turns = 0;
  for (; many.received < 32 * 64 * KIB; turns++) await turn();
  assert.ok(turns < 50, `${turns} turns for as many bytes as four large chunks have`);
  await atOnce(Promise.all(large.map(({ done }) => done)), 'the large ones');
});

test('a transfer that ends while it waits leaves its place to others', async () => {
  const transfers = Array.from({ length: 20 }, () => new Transfer(CHUNK, 16));
  await turn();
  const gone = transfers.filter((_, index) => index % 2 === 1);
  const received = gone.map((transfer) => {
    transfer.turns.end();
    return transfer.received;
  });
  const others = transfers.filter((transfer) => !gone.includes(transfer));
  await atOnce(Promise.all(others.map(({ done }) => done)), 'the others');
  assert.deepEqual(
    gone.map((transfer) => transfer.received),
    received,
  );
  await turn();
  assertUnused();
});

test('bytes that may come are taken from the turn that allows them', async () => {
  const transfers = Array.from({ length: 20 }, () => new TransferTurns());
  const called: number[] = [];
  const ask = (turns: TransferTurns, index: number): boolean => turns.await(CHUNK, () => called.push(index));
  const allowed = transfers.filter(ask);
  assert.equal(allowed.length, 8);
  await turn();
  assert.deepEqual(called, [8, 9, 10, 11, 12, 13, 14, 15]);
  // Bytes that were allowed do not wait again.
  assert.deepEqual(allowed.filter(ask), allowed);
  for (const turns of allowed) turns.spend(CHUNK);
  await turn();
  assert.deepEqual(called.slice(8), [16, 17, 18, 19]);
});
