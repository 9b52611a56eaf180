/** Heads with a range, of files that are longer than their server reports: a range of an unknown size is none. */
import { GetObjectAttributesCommand, HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import {
  type Misreporting,
  startMisreportingFtp,
  startMisreportingS3,
  startMisreportingSftp,
} from '../servers/misreporting.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { clientOf, PAIR } from './suite.js';

const IDS = ['sftp', 'ftp', 's3'] as const;
/** The second is too long to be measured for a head. */
const [SHORT_BYTES, LONG_BYTES] = [2_340, 300_000];

describe('a head with a range, where 0 bytes are reported', () => {
  let servers: readonly Misreporting[] = [];
  let gateway: TestGateway;
  let client: S3Client;

  before(async () => {
    servers = [await startMisreportingSftp(), await startMisreportingFtp('SIZE'), await startMisreportingS3()];
    for (const server of servers) {
      server.put('/short.bin', randomBytes(SHORT_BYTES), 0);
      server.put('/long.bin', randomBytes(LONG_BYTES), 0);
      server.put('/true.bin', randomBytes(SHORT_BYTES), SHORT_BYTES);
    }
    gateway = await startGateway({
      connections: servers.map(({ connection }, index) => ({ id: IDS[index], name: IDS[index], ...connection })),
      apiKeys: [{ name: 'test', key: KEY, s3: PAIR }],
      config: { s3: { enabled: true } },
    });
    client = clientOf(gateway);
  });
  after(async () => {
    client?.destroy();
    await gateway?.stop();
    for (const server of servers) await server.stop();
  });

  for (const Bucket of IDS) {
    // A store announces the length with the bytes.
    const length = Bucket === 's3' ? LONG_BYTES : undefined;
    test(`${Bucket}: 200 and all of it; 206 where the size is true`, async () => {
      const head = async (Key: string): Promise<readonly unknown[]> => {
        const answer = await client.send(new HeadObjectCommand({ Bucket, Key, Range: 'bytes=10-19' }));
        return [answer.$metadata.httpStatusCode, answer.ContentLength, answer.ContentRange];
      };
      assert.deepEqual(await head('true.bin'), [206, 10, `bytes 10-19/${SHORT_BYTES}`]);
      assert.deepEqual(await head('short.bin'), [200, SHORT_BYTES, undefined]);
      assert.deepEqual(await head('long.bin'), [200, length, undefined]);
      const order = { Bucket, Key: 'long.bin', ObjectAttributes: ['ObjectSize' as const] };
      assert.equal((await client.send(new GetObjectAttributesCommand(order))).ObjectSize, length);
    });
  }
});
