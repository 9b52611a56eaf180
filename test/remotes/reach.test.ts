/**
 * What is reported about unreachable servers, at every step on the way to a session. A failure is an outage
 * that is not reported, because the server hung up a moment later than others would have.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import { GatewayError } from '../../src/base/errors.js';
import type { Connection } from '../../src/connections/connection.js';
import { defaultSettings } from '../../src/contract/connection/definition.js';
import { ftp } from '../../src/contract/connection/ftp.js';
import { sftp } from '../../src/contract/connection/sftp.js';
import { asOfReaching, isOfReaching } from '../../src/remotes/reach.js';
import { openSeam } from '../support/seam.js';

const COMMON = { id: 'c', accountId: 'a', name: 'C', isActive: true, rootPath: '/', atomicUploads: true, pool: {} };
const LOGIN = { host: '127.0.0.1', username: 'u', password: 'p' };
const SFTP = { ...defaultSettings(sftp), type: 'sftp', hostKeys: [] };
const FTP = { ...defaultSettings(ftp), type: 'ftp' };

const MANNERS: Readonly<Record<string, (socket: net.Socket) => void>> = {
  'hangs up': (socket) => socket.end(),
  'hangs up in its greeting': (socket) => socket.end('220-Welcome\r\n'),
  'talks nonsense': (socket) => socket.end('\u0000\u0001\r\n'),
  'resets the connection': (socket) => socket.resetAndDestroy(),
  'resets it in its greeting': (socket) => socket.write('220-Welcome\r\n', () => socket.resetAndDestroy()),
};

for (const [what, act] of Object.entries(MANNERS)) {
  for (const type of [SFTP, FTP]) {
    test(`${type.type}: a server that ${what}`, { timeout: 900_000 }, async () => {
      const server = net.createServer((socket) => act(socket.on('error', () => undefined)));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as net.AddressInfo;
      const noted: string[] = [];
      const reach = {
        reached: () => void noted.push('reached'),
        failed: (_: Connection, { code }: GatewayError) => void noted.push(code),
      };
      const seam = openSeam({ ...COMMON, ...LOGIN, ...type, port } as unknown as Connection, { reach });
      try {
        await assert.rejects(seam.use((remote) => remote.probe()));
        assert.equal(noted.length, 1, noted.join());
        assert.notEqual(noted[0], 'reached');
      } finally {
        seam.close();
        server.close();
      }
    });
  }
}

test('for a check, silence counts at every step, and a refusal does not', () => {
  const silence = new GatewayError('stall_timeout', 'no answer', { step: 'open' });
  assert.ok(!isOfReaching(silence) && isOfReaching(asOfReaching(silence)));
  const refusal = new GatewayError('permission_denied', 'no', { step: 'open' });
  assert.equal(asOfReaching(refusal), refusal);
});
