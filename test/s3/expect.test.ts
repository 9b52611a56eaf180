/** A client that waits for 100 before it sends its body. What each front end shows of a wrong signature. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { bytesOf, type Shot, Signer } from '../attacks/support/s3-signer.js';
import { RawClient } from '../http/support/raw-client.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { PAIR } from './suite.js';

const OTHER = { ...PAIR, secretAccessKey: 'another-secret-of-forty-characters-01234' };
const CONTENT = 'hello';

for (const frontEnd of ['uws', 'node'] as const) {
  describe(`Expect: 100-continue: ${frontEnd}`, { concurrency: 1 }, () => {
    let sshd: TestSshd;
    let gateway: TestGateway;

    before(async () => {
      sshd = await startSshd();
      const { port, username, clientKeyFile: privateKeyFile, files: rootPath } = sshd;
      const server = { type: 'sftp' as const, host: '127.0.0.1', port, username, privateKeyFile, rootPath };
      gateway = await startGateway({
        connections: [{ id: 'c1', name: 'Server', ...server }],
        apiKeys: [{ name: 'test', key: KEY, s3: PAIR }],
        config: { s3: { enabled: true }, server: { frontEnd } },
      });
    });
    after(async () => {
      await gateway?.stop();
      await sshd?.stop();
    });

    /** Only the head of a request. */
    async function ask(more: Partial<Shot> = {}): Promise<RawClient> {
      const headers = { expect: '100-continue' };
      const shot = { method: 'PUT', path: '/s3/c1/a.txt', body: CONTENT, headers, unsigned: ['expect'], ...more };
      const bytes = bytesOf(new Signer(gateway.port, PAIR).sign(shot));
      const client = await RawClient.open(gateway.port);
      return client.send(bytes.subarray(0, bytes.length - CONTENT.length));
    }

    test('100 comes when the body is wanted', async () => {
      const client = await ask();
      assert.equal((await client.answer()).status, 100);
      assert.equal((await client.send(CONTENT).answer()).status, 200);
      client.socket.destroy();
    });

    test('a wrong signature gets 403', async () => {
      const client = await ask({ pair: OTHER });
      // uWebSockets.js answers 100 itself, before any of our code sees the request.
      if (frontEnd === 'uws') assert.equal((await client.answer()).status, 100);
      const answer = await client.answer();
      assert.equal(answer.status, 403);
      assert.match(answer.body.toString(), /<Code>SignatureDoesNotMatch<\/Code>/);
      client.socket.destroy();
    });
  });
}
