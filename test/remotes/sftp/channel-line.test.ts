import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { ChannelLine } from '../../../src/remotes/sftp/session/channel-line.js';

interface Channel {
  alive: boolean;
}

interface Opening {
  readonly done: (channel: Channel) => void;
  readonly fail: (error: Error) => void;
}

/** A queue with its openings under way. */
function line() {
  const openings: Opening[] = [];
  const spare = new ChannelLine<Channel>();
  const open = (): Promise<Channel> => new Promise((done, fail) => openings.push({ done, fail }));
  return { openings, spare, want: () => spare.wait(open) };
}

const channel = (): Channel => ({ alive: true });

test('a returned channel serves the first in the queue, and the one opened for it the next', async () => {
  const { openings, spare, want } = line();
  const order: string[] = [];
  const [first, second] = [want().then(() => order.push('first')), want().then(() => order.push('second'))];
  assert.equal(openings.length, 1);
  spare.put(channel());
  await first;
  assert.deepEqual(order, ['first']);
  openings[0]?.done(channel());
  await second;
  assert.deepEqual([order, spare.hasSpare], [['first', 'second'], false]);
});

test('nothing more is opened while enough openings are under way, and an unneeded one leaves a spare channel', async () => {
  const { openings, spare, want } = line();
  for (let round = 0; round < 3; round++) {
    const wanted = want();
    spare.put(channel());
    await wanted;
  }
  assert.equal(openings.length, 1);
  openings[0]?.done(channel());
  await turn();
  assert.notEqual(spare.take(), undefined);
  assert.equal(spare.take(), undefined);
});

test('dead channels are not kept', () => {
  const { spare } = line();
  const dying = channel();
  spare.put({ alive: false });
  spare.put(dying);
  dying.alive = false;
  assert.equal(spare.take(), undefined);
});

test('a refused opening fails the last in the queue; those before it continue', async () => {
  const { openings, want } = line();
  const outcomes = Promise.allSettled([want(), want()]);
  openings[0]?.fail(new Error('refused'));
  await turn();
  assert.equal(openings.length, 2);
  openings[1]?.done(channel());
  const [first, last] = await outcomes;
  assert.deepEqual([first.status, last.status], ['fulfilled', 'rejected']);
});

test('in every case all waiters settle, and no channel is lost or given twice', async () => {
  const step = fc.constantFrom('want', 'back', 'done', 'fail');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { openings, spare, want } = line();
      const held: Channel[] = [];
      let made = 0;
      let waiting = 0;
      let answered = 0;
      const settle = (how: 'done' | 'fail'): void => {
        const opening = openings.shift();
        if (how === 'fail' || opening === undefined) return opening?.fail(new Error('refused'));
        made++;
        opening.done(channel());
      };
      for (const one of steps) {
        if (one === 'want') {
          waiting++;
          const spared = spare.take();
          const come = (got: Channel): void => {
            assert.ok(!held.includes(got));
            held.push(got);
          };
          const wanted = spared === undefined ? want().then(come) : Promise.resolve(come(spared));
          void wanted.catch(() => undefined).finally(() => answered++);
        } else if (one === 'back') {
          const given = held.shift();
          if (given !== undefined) spare.put(given);
        } else settle(one);
        await turn();
        assert.ok(openings.length <= Math.max(1, 2 * made), 'the openings at once');
      }
      for (let left = 100; left > 0 && openings.length > 0; left--) {
        settle('done');
        await turn();
      }
      assert.equal(answered, waiting);
      assert.equal(held.length + spare.takeAll().length, made);
    }),
    { numRuns: 200 },
  );
});
