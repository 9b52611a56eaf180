/** Packets that are built and encrypted in place, and those that come, with every kind of cipher. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { suite, test } from 'node:test';
import { pump } from '../../../src/operations/pump.js';
import { OutgoingPackets } from '../../../src/remotes/sftp/wire/outgoing.js';
import { lentBody } from '../../operations/lent-bytes.js';
import { startSshd } from '../../servers/sshd.js';
import { get, openRemote, path, sftpConnection } from '../support/harness.js';

const NEVER = new AbortController().signal;
const KIB = 1024;
const CIPHERS = [
  ['aes128-gcm@openssh.com'],
  ['aes256-gcm@openssh.com'],
  ['chacha20-poly1305@openssh.com'],
  ['aes128-ctr', 'hmac-sha2-256-etm@openssh.com'],
  ['aes256-ctr', 'hmac-sha2-512'],
  ['aes192-ctr', 'hmac-sha2-256'],
] as const;
/** Around the sizes of packets and requests, and those of which several are one packet. */
const CHUNKS = [512 * KIB, 1, 255 * KIB, 64 * KIB - 1, 300, 32 * KIB, 255 * KIB + 1, 100 * KIB];

suite('the bytes of a file', () => {
  for (const [cipher, mac] of CIPHERS) {
    for (const rekey of ['', 'RekeyLimit 1M']) {
      test(`${cipher} ${mac ?? ''} ${rekey}`, async (t) => {
        const server = await startSshd([`Ciphers ${cipher}`, ...(mac === undefined ? [] : [`MACs ${mac}`]), rekey]);
        t.after(() => server.stop());
        const { remote, session } = await openRemote(sftpConnection(server));
        t.after(() => session.close());
        for (const sizes of [CHUNKS, [512 * KIB], [7_001]]) {
          const bytes = randomBytes(9 * KIB * KIB + 4_321);
          const place = path(`${server.files}/${sizes.length}-${sizes[0]}`);
          const writer = await remote.write(place, { size: bytes.length });
          const size = await pump(lentBody(bytes, sizes), writer, { signal: NEVER, size: bytes.length });
          await writer.commit({ size, exclusive: false });
          assert.ok((await get(remote, place)).equals(bytes));
        }
      });
    }
  }
});

test('what was written before the end of a socket is sent', async (t) => {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [peer] = (await once(server, 'connection')) as [Socket];
  const packets = new OutgoingPackets(socket);
  socket.write('first ');
  assert.equal(packets.queuedBytes, 6);
  socket.write(Buffer.alloc(400 * KIB, 'x'));
  socket.write('last');
  socket.end();
  const received = Buffer.concat(await peer.toArray());
  assert.equal(received.toString(), `first ${'x'.repeat(400 * KIB)}last`);
  peer.destroy();
});
