/**
 * Requests with small bodies and large values: parsing, schemas and answers take time by the value, not by the byte.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { nameFields, startOddServer, type OddRequest, type OddServer } from '../servers/scripted-sftp.js';
import { KEY, type TestGateway } from '../support/gateway.js';
import { REPLY, REQUEST } from '../../src/remotes/sftp/wire/wire.js';
import { assertServing, startWatchedGateway } from './support/loop.js';

let gateway: TestGateway;
let sftp: OddServer;
let odd: (request: OddRequest) => boolean = () => false;

before(async () => {
  sftp = await startOddServer({ odd: (request) => odd(request) });
  gateway = await startWatchedGateway({
    apiKeys: [{ name: 'all', key: KEY, scopes: ['read', 'write', 'exec', 'watch', 'admin'] }],
    connections: [
      { id: 's', name: 'S', type: 'sftp', host: '127.0.0.1', port: sftp.port, username: 'u', password: 'p' },
    ],
  });
});
after(async () => {
  await gateway?.stop();
  await sftp?.stop();
});

test('bodies of very many, very deep or nearly valid fields are refused while others are served', async () => {
  const many = (name: string, count: number): string =>
    `{${Array.from({ length: count }, (_, index) => `"${name}${index}":1`).join(',')}}`;
  const deep = '['.repeat(450_000) + ']'.repeat(450_000);
  const bodies = [
    deep,
    `${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}`,
    `{"path":${deep}}`,
    many('k', 80_000),
    many('path', 60_000),
    many('path', 15_000),
    `[${'0,'.repeat(500_000)}0]`,
    `{"path":"${'\\\\'.repeat(400_000)}"}`,
    `{"path":"${'\\"'.repeat(400_000)}"}`,
  ];
  const endpoints = ['/api/move/s', '/api/upload/s', '/api/append/s', '/api/watched-folders', '/manage/connections'];
  for (const endpoint of endpoints) {
    for (const body of bodies) {
      for (const prefer of ['handling=strict', 'handling=lenient']) {
        await assertServing(gateway, async () => {
          const headers = { 'Content-Type': 'application/json', Prefer: prefer };
          const { status, text } = await gateway.api.send(endpoint, { method: 'POST', body, headers });
          assert.ok(
            status === 400 || status === 413,
            `${endpoint} ${body.slice(0, 12)}: ${status} ${text.slice(0, 200)}`,
          );
        });
      }
    }
  }
});

test('a folder whose names differ only in their last letters is sorted in steps', async () => {
  let made = 0;
  odd = ({ type, reply, status }) => {
    if (type !== REQUEST.READDIR) return false;
    if (made > 20_000) status(1);
    else
      reply(
        REPLY.NAME,
        nameFields(Array.from({ length: 200 }, () => Buffer.from('n'.repeat(1000) + ((made++ * 7919) % 1_000_003)))),
      );
    return true;
  };
  await assertServing(gateway, async () => {
    made = 0;
    assert.equal((await gateway.api.get('/api/list/s?path=/')).status, 200);
  });
});
