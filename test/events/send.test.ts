/** Requests to receivers over kept connections. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { GatewayError } from '../../src/base/errors.js';
import { createSender } from '../../src/events/send.js';
import { createDialer } from '../../src/remotes/dial/dial.js';
import { withCode } from '../support/errors.js';
import { ended, startUpgrading } from '../servers/upgrading.js';

const RULES: Parameters<typeof createDialer>[0] = {
  localAddress: '',
  connections: { allowPrivate: true, deny: [] },
  urlFetch: { allow: [] },
  webhooks: { allow: ['127.0.0.1/32'] },
};

test('a connection that the receiver has closed meanwhile is no failed attempt', async (t) => {
  const served = new Map<Socket, number>();
  let answersAgain = true;
  const receiver = http.createServer((request, response) => {
    const { socket } = request;
    const before = served.get(socket) ?? 0;
    served.set(socket, before + 1);
    if (before > 0 || !answersAgain) socket.resetAndDestroy();
    else response.writeHead(204).end();
  });
  t.after(() => receiver.close());
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const sender = createSender({ dialer: createDialer(RULES, () => []), timeoutMs: 30_000, requireHttps: false });
  t.after(() => sender.close());
  const send = () => sender.send(url, {}, '{}', { owner: 'a1', signal: new AbortController().signal });

  const first = await Promise.all([send(), send(), send()]);
  assert.deepEqual(
    first.map(({ status }) => status),
    [204, 204, 204],
  );
  assert.equal((await send()).status, 204);
  assert.ok([...served.values()].includes(2), 'a kept connection was tried');

  // A new connection that breaks is a failure.
  answersAgain = false;
  await assert.rejects(send(), (error) => error instanceof GatewayError && error.code === 'unreachable');
});

test('a receiver that changes the protocol is a failed attempt', async (t) => {
  const receiver = await startUpgrading(t);
  const sender = createSender({ dialer: createDialer(RULES, () => []), timeoutMs: 30_000, requireHttps: false });
  t.after(() => sender.close());
  const sent = sender.send(receiver.url.href, {}, '{}', { owner: 'a1', signal: new AbortController().signal });
  await assert.rejects(ended(sent, receiver), withCode('unreachable', /changes the protocol \(101\)/));
});
