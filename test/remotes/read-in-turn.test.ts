/** Many connections to servers that all have bytes: they are read in turns of the event loop. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { readInTurn } from '../../src/remotes/dial/read-in-turn.js';
import { eventually } from '../support/eventually.js';

const MIB = 1024 * 1024;
const SOCKETS = 24;
const BYTES = 6 * MIB;
/** What all receive in two turns, and what each receives without waiting. */
const MOST_BYTES = 2 * 4 * MIB + 128 * 1024 + 2 * SOCKETS * 32 * 1024;

test('no turn passes on more than its share, every byte arrives in order, and one that is cut stops none', async (t) => {
  const content = Buffer.alloc(BYTES);
  for (let at = 0; at < BYTES; at += 4) content.writeUInt32LE(at, at);
  const server = net.createServer((socket) => socket.on('error', () => undefined).end(content));
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as net.AddressInfo;
  const received = Array.from({ length: SOCKETS }, () => [] as Buffer[]);
  const bytesOf = (chunks: readonly Buffer[]): number => chunks.reduce((sum, { length }) => sum + length, 0);
  const sockets = received.map((chunks) => {
    const socket = net.connect(port, '127.0.0.1');
    readInTurn(socket);
    return socket.on('data', (chunk) => void chunks.push(chunk));
  });
  const [cut] = sockets as [net.Socket];
  const ends = Promise.all(sockets.slice(1).map((socket) => once(socket, 'end')));
  let isOver = false;
  void ends.then(() => (isOver = true));
  let cutAt: number | undefined;
  for (let before = 0; !isOver;) {
    await turn();
    const bytes = received.map(bytesOf);
    const all = bytes.reduce((sum, one) => sum + one, 0);
    assert.ok(all - before <= MOST_BYTES, `${all - before} bytes in one turn`);
    before = all;
    if (cutAt === undefined && (bytes[0] ?? 0) > MIB) {
      cut.destroy();
      cutAt = bytes[0];
    }
  }
  for (const chunks of received.slice(1)) assert.ok(Buffer.concat(chunks).equals(content));
  await eventually(() => cut.closed, 'it is closed');
  assert.equal(bytesOf(received[0] ?? []), cutAt);
});
