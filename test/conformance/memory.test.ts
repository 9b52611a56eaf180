import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { patterned } from '../remotes/support/harness.js';
import { FRONT_END } from '../support/front-end.js';
import { memoryOf, resetPeakMemory, startGateway, type TestGateway } from '../support/gateway.js';
import { FTP_SERVERS, S3_SERVERS, SFTP_SERVERS, type ServerEntry, type TestServer } from '../servers/catalogue.js';

const MIB = 1024 ** 2;
/** The front end makes no difference to the protocols: on the second one, one protocol and fewer bytes are enough. */
const IS_SECOND = FRONT_END === 'node';
const SIZE = (IS_SECOND ? 300 : 1024) * MIB;
const ALLOWED = 100 * MIB;

const entries = [
  SFTP_SERVERS.find(({ name }) => name === 'OpenSSH, key'),
  FTP_SERVERS.find(({ name }) => name === 'vsftpd'),
  S3_SERVERS[0],
]
  .filter((entry): entry is ServerEntry => entry !== undefined)
  .slice(0, IS_SECOND ? 1 : undefined);

for (const entry of entries) {
  describe(`${SIZE / MIB} MiB through a gateway on ${entry.name}: complete, in bounded memory`, () => {
    let server: TestServer;
    let gateway: TestGateway;
    let idle: number;
    let digest: string;

    before(async () => {
      server = await entry.start();
      gateway = await startGateway({ connections: [{ id: 'c1', name: 'Server', ...server.connection }] });
      // Code that the first session and the first transfer load stays loaded.
      const first = patterned(1024 * 1024);
      await upload('warm', 1024 * 1024, first.body);
      await (await gateway.api.open('/api/download/c1', { query: { path: '/warm' } })).resume().toArray();
      idle = memoryOf(gateway.pid).now;
    });

    after(async () => {
      await gateway?.stop();
      await server?.stop();
    });

    const upload = (filename: string, length: number, body: ReturnType<typeof patterned>['body']) =>
      gateway.api.send('/api/upload/c1', {
        method: 'POST',
        query: { path: '/', filename },
        headers: { 'Content-Type': 'application/octet-stream', 'Content-Length': String(length) },
        body,
      });

    function checkPeak(what: string): void {
      const grown = memoryOf(gateway.pid).peak - idle;
      assert.ok(grown < ALLOWED, `${what}: ${Math.round(grown / 1024 / 1024)} MiB over idle`);
    }

    test('up', async () => {
      resetPeakMemory(gateway.pid);
      const source = patterned(SIZE);
      const answer = await upload('big', SIZE, source.body);
      assert.equal(answer.status, 200, answer.text);
      digest = source.digest();
      checkPeak('upload');
    });

    test('down', async () => {
      resetPeakMemory(gateway.pid);
      const response = await gateway.api.open('/api/download/c1', { query: { path: '/big' } });
      assert.equal(response.headers['content-length'], String(SIZE));
      const hash = createHash('sha256');
      for await (const chunk of response) hash.update(chunk as Buffer);
      assert.equal(hash.digest('hex'), digest);
      checkPeak('download');
    });
  });
}
