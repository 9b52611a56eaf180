/** One exchange over a scripted socket: cases that no client can reliably cause. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { toGatewayError } from '../../src/base/errors.js';
import { unrouted } from '../../src/http/answer.js';
import { BeginTurns } from '../../src/http/begin-turns.js';
import { Exchange, type ExchangeHost } from '../../src/http/exchange.js';
import type { AnswerHead, ClientSocket } from '../../src/http/front-end.js';
import type { HttpHandler } from '../../src/http/types.js';
import { testBudgets, untilGone } from './support/front-end.js';

class ScriptedSocket implements ClientSocket {
  readonly head;
  readonly hasWholeRequest = false;
  readonly answers: number[] = [];
  isClosed = false;
  /** The next bytes of the body. */
  bring: (chunk: Buffer) => void = () => assert.fail('there is no body');

  constructor(length: number) {
    this.head = {
      method: 'PUT',
      path: '/',
      query: '',
      repeated: new Set<string>(),
      peer: { address: '192.0.2.1' },
      headers: new Map([['content-length', String(length)]]),
    };
  }

  onAborted(): void {}
  onBody(accept: (chunk: Buffer, isLast: boolean, isLent: boolean) => void): void {
    this.bring = (chunk) => accept(chunk, false, true);
  }
  pause(): void {}
  resume(): void {}
  keepAlive(): void {}
  sendHead({ status }: AnswerHead): void {
    this.answers.push(status);
  }
  sendWhole({ status }: AnswerHead): void {
    this.answers.push(status);
  }
  openSink(): never {
    throw new Error('no answer is streamed here');
  }
  close(): void {
    this.isClosed = true;
  }
}

function begin(socket: ScriptedSocket, handle: HttpHandler, memoryBytes = 16 * 1024 * 1024): Exchange {
  const host: ExchangeHost = {
    limits: { idleTimeoutMs: 60_000, minBytesPerSecond: 0 },
    trustedProxies: [],
    isDraining: false,
    budgets: testBudgets({ memoryBytes }),
    turns: new BeginTurns(),
    handle,
    over: () => undefined,
  };
  return new Exchange(socket, host);
}

test('a chunk without memory does not replace an answer that is about to be sent', async () => {
  const socket = new ScriptedSocket(10_000_000);
  const exchange = begin(socket, async () => ({ status: 429, body: 'refused' }), 100_000);
  // The answer is ready, and waits for bytes that may be among those that are being passed on.
  await exchange.settled;
  assert.deepEqual(socket.answers, []);
  socket.bring(Buffer.alloc(500_000));
  await turn();
  await turn();
  assert.deepEqual([socket.answers, socket.isClosed], [[429], false]);
});

/** A client that sends this many bytes per second, for this many seconds, to a route that expects 1,024 per second. */
async function sends(t: TestContext, bytes: number, seconds: number, isRead = true): Promise<ScriptedSocket> {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const socket = new ScriptedSocket(10_000_000);
  const exchange = begin(socket, async (request) => {
    request.expectPace(1_024);
    if (isRead) request.body.resume();
    return untilGone(request).catch((error: unknown) => unrouted(toGatewayError(error)));
  });
  await turn();
  for (let second = 1; second <= seconds && socket.answers.length === 0; second++) {
    now += 1_000;
    socket.bring(Buffer.alloc(bytes));
    await turn();
    exchange.tick(second);
    await turn();
    await turn();
  }
  t.mock.restoreAll();
  return socket;
}

test('a route may require a least speed of its clients, over half a minute', async (t) => {
  const slow = await sends(t, 100, 40);
  assert.deepEqual([slow.answers, slow.isClosed], [[503], false]);
  assert.deepEqual((await sends(t, 100, 29)).answers, [], 'not before');
  assert.deepEqual((await sends(t, 3_000, 120)).answers, [], 'a slow line is fast enough');
  assert.deepEqual((await sends(t, 0, 50, false)).answers, [], 'time that the gateway takes does not count');
});

test('time in which the process does not run does not count against the client', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const socket = new ScriptedSocket(10_000_000);
  const exchange = begin(socket, async (request) => {
    request.body.resume();
    return untilGone(request).catch((error: unknown) => unrouted(toGatewayError(error)));
  });
  await turn();
  const tickAfter = (ms: number): void => {
    now += ms;
    exchange.tick(1);
  };
  tickAfter(1_000);
  tickAfter(90_000);
  assert.ok(!socket.isClosed, 'what it has sent is still to be read');
  for (let second = 0; second < 60; second++) tickAfter(1_000);
  assert.ok(!socket.isClosed);
  tickAfter(1_000);
  assert.ok(socket.isClosed, 'it is silent for a minute');
});
