/**
 * One account by itself sends more than its share of the memory at once. It failed once with 500 uploads of 1 MiB: 394
 * were refused, although they could have waited.
 */
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type RawAnswer, RawClient } from '../http/support/raw-client.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';

const MiB = 1024 * 1024;
/** All of them together are more than its share, four fifths, and what comes with their heads is less. */
const UPLOADS = 40;
const MEMORY = 32 * MiB;

describe('one account without others', () => {
  let sshd: TestSshd;
  let gateway: TestGateway;

  before(async () => {
    sshd = await startSshd(['MaxStartups 500']);
    const { port, username, clientKeyFile, files } = sshd;
    const login = { type: 'sftp', host: '127.0.0.1', port, username, privateKeyFile: clientKeyFile };
    gateway = await startGateway({
      connections: [{ id: 'files', name: 'Files', ...login, rootPath: files, defaultPath: '/' }],
      config: { budgets: { memoryBytes: MEMORY } },
    });
  });
  after(async () => {
    await gateway?.stop();
    await sshd?.stop();
  });

  test('uploads that do not fit into its memory wait, and succeed', async () => {
    const head = (name: string): string =>
      `POST /api/upload/files?filename=${name} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n` +
      `Content-Type: application/octet-stream\r\nContent-Length: ${MiB}\r\n\r\n`;
    const clients: RawClient[] = [];
    const send = async (index: number): Promise<RawAnswer> => {
      const client = await RawClient.open(gateway.port);
      clients.push(client);
      return client.send(head(`crowd-${index}.bin`), Buffer.alloc(MiB, 'x')).answer();
    };
    const answers = await Promise.all(Array.from({ length: UPLOADS }, (_, index) => send(index)));
    const refused = answers.filter(({ status }) => status !== 200);
    assert.deepEqual(
      refused.map(({ status, body }) => `${status} ${body.toString()}`),
      [],
    );
    for (const { socket } of clients) socket.destroy();
    const sizes = readdirSync(sshd.files).map((name) => statSync(join(sshd.files, name)).size);
    assert.deepEqual([sizes.length, new Set(sizes)], [UPLOADS, new Set([MiB])]);
    held({
      area: 'Attacks',
      what: 'Uploads at once that are more than an account’s share of the memory',
      tries: UPLOADS,
      done: `${UPLOADS} of 1 MiB, from one account, with 32 MiB for all`,
      held: 'those that wait for a session hold what came with their heads; all of them succeed',
    });
  });
});
