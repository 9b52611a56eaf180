/**
 * The memory of bodies and answers counts by client, on both front ends; clients that leave a paused socket are
 * noticed.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Budgets } from '../../src/budgets/budgets.js';
import { hasCode } from '../../src/base/errors.js';
import type { HttpRequest } from '../../src/http/types.js';
import { readWholeBody } from '../../src/http/whole-body.js';
import { MiB } from './support/bytes.js';
import { startFrontEnd, testBudgets, untilGone } from './support/front-end.js';
import { RawClient } from './support/raw-client.js';
import { eventually } from '../support/eventually.js';

const used = (budgets: Budgets): number => budgets.memoryBytes.gauge.used;
const post = (length: number): string => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;

for (const frontEnd of ['uws', 'node'] as const) {
  describe(`memory of requests, ${frontEnd}`, { concurrency: true }, () => {
    test('an unread body is held back within bounds, and counted until it is gone', async (t) => {
      const budgets = testBudgets();
      const front = await startFrontEnd(t, untilGone, { budgets, frontEnd });
      const client = await RawClient.open(front.port);
      client.send(post(64 * MiB), Buffer.alloc(8 * MiB));
      await eventually(() => used(budgets) > 0, 'it counts');
      assert.ok(used(budgets) < 3 * MiB, `${used(budgets)} bytes`);
      await front.server.drain(0);
      await eventually(() => used(budgets) === 0, 'it is given back');
      client.socket.destroy();
    });

    test('a client that leaves while its socket is paused is noticed', async (t) => {
      let reason: unknown;
      const front = await startFrontEnd(
        t,
        async (request: HttpRequest) =>
          untilGone(request).catch((error: unknown) => ((reason = error), { status: 500 })),
        { frontEnd },
      );
      const client = await RawClient.open(front.port);
      client.send(post(64 * MiB), Buffer.alloc(64 * 1024));
      client.socket.destroySoon();
      await front.over(1);
      await eventually(() => hasCode(reason, 'client_gone'), 'the handler hears of it');
      client.socket.destroy();
    });

    test('a chunk without memory ends the request, and the handler gets the reason', async (t) => {
      const budgets = testBudgets({ memoryBytes: 32 * 1024 });
      const { port } = await startFrontEnd(
        t,
        async (request) =>
          untilGone(request).catch((error: unknown) => ({ status: hasCode(error, 'overloaded') ? 503 : 500 })),
        { budgets, frontEnd },
      );
      const client = await RawClient.open(port);
      client.send(post(MiB), Buffer.alloc(128 * 1024));
      // One front end passes on what came with the head, the other one what is requested.
      if (frontEnd === 'uws') assert.equal((await client.answer()).status, 503);
      client.socket.destroy();
      await eventually(() => used(budgets) === 0, 'nothing is left');
    });

    test('a body that is read whole has a deadline for all of it, however steadily it arrives', async (t) => {
      const { port } = await startFrontEnd(
        t,
        async (request) => ({ status: 200, body: await readWholeBody(request, { maxBytes: 1_000, withinMs: 1_500 }) }),
        { frontEnd },
      );
      const client = await RawClient.open(port);
      client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n');
      const trickle = setInterval(() => client.send(' '), 100);
      await client.closed;
      clearInterval(trickle);
      assert.equal(client.received.length, 0);
    });

    test('a long text counts until a slow reader has it; one without memory is refused', async (t) => {
      const budgets = testBudgets({ memoryBytes: 40 * MiB });
      const front = await startFrontEnd(t, async () => ({ status: 200, body: 'x'.repeat(24 * MiB) }), {
        budgets,
        frontEnd,
      });
      const slow = await RawClient.open(front.port);
      slow.socket.pause();
      slow.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await eventually(() => used(budgets) === 24 * MiB, 'it counts');
      const second = await RawClient.open(front.port);
      const answer = await second.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n').answer();
      assert.deepEqual([answer.status, answer.field('x-error-code')], [503, 'overloaded']);
      slow.socket.resume();
      assert.equal((await slow.answer()).body.length, 24 * MiB);
      await eventually(() => used(budgets) === 0, 'it is given back');
      for (const { socket } of [slow, second]) socket.destroy();
    });
  });
}

for (const frontEnd of ['uws', 'node'] as const) {
  test(`waiting uploads hold only what came with their heads, and all of them are served, ${frontEnd}`, async (t) => {
    const [count, size] = [24, MiB];
    // One account may hold four fifths of it: less than all bodies, and more than their beginnings.
    const budgets = testBudgets({ memoryBytes: 20 * MiB });
    let open: (() => void) | undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    let waiting = 0;
    let line = opened;
    const front = await startFrontEnd(
      t,
      (request) => {
        request.claims.admit('account', false);
        waiting++;
        const served = line.then(async () => {
          let bytes = 0;
          for await (const chunk of request.body as AsyncIterable<Buffer>) bytes += chunk.length;
          return { status: 200, body: String(bytes) };
        });
        line = served.then(() => undefined);
        return served;
      },
      { budgets, frontEnd },
    );
    const clients = await Promise.all(Array.from({ length: count }, () => RawClient.open(front.port)));
    for (const client of clients) client.send(post(size), Buffer.alloc(size));
    await eventually(() => waiting === count, 'all of them wait');
    open?.();
    const answers = await Promise.all(clients.map((client) => client.answer()));
    assert.deepEqual([...new Set(answers.map(({ status, body }) => `${status} ${body.toString()}`))], [`200 ${size}`]);
    for (const { socket } of clients) socket.destroy();
    await eventually(() => used(budgets) === 0, 'nothing is left');
  });
}
