/** The promises of the seam on Ceph, and what only a store with encryption and storage classes of its own can show. */
import { CreateBucketCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { S3Connection } from '../../../src/connections/connection.js';
import { remoteSuite, seamOf } from '../../remote-suite.js';
import { RADOSGW } from '../../servers/catalogue.js';
import { KMS_KEY, type RadosgwServer, shareRadosgw } from '../../servers/radosgw.js';
import { connectionTo, failsWith, fetchAll, PART, patterned, S3Rig, store } from '../support/s3-rig.js';

const SIZES = [0, 10, 2 * 1024 * 1024, PART + 5];
const KEY = Buffer.alloc(32, 'one').toString('base64');

describe('S3', { concurrency: 4 }, () => {
  for (const entry of RADOSGW) remoteSuite(entry.name, seamOf(entry));
});

describe('Ceph', () => {
  let server: RadosgwServer;
  let client: S3Client;
  const bucket = `own-${randomUUID()}`;
  const rigs: S3Rig[] = [];

  before(async () => {
    server = await shareRadosgw();
    const { endpoint, region, accessKeyId, secretAccessKey } = server;
    client = new S3Client({ endpoint, region, credentials: { accessKeyId, secretAccessKey }, forcePathStyle: true });
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
  });
  after(async () => {
    for (const rig of rigs) rig.close();
    client.destroy();
    await server.stop();
  });

  const open = (settings: Partial<S3Connection>): S3Rig => {
    const { endpoint, region, accessKeyId, secretAccessKey } = server;
    const rig = new S3Rig({ ...connectionTo({ endpoint, region, accessKeyId, secretAccessKey, bucket }), ...settings });
    rigs.push(rig);
    return rig;
  };

  for (const uploader of ['streamed', 'sdk'] as const)
    for (const [what, settings] of [
      ['a key of the customer', { encryption: { type: 'customer' }, encryptionKey: KEY }],
      ['a key of its management', { encryption: { type: 'kms', keyId: KMS_KEY } }],
      ['the storage class STANDARD', { storageClass: 'STANDARD' }],
      ['an access list', { acl: 'private' }],
      ['checksums of every body', { checksums: 'always' }],
      ['checksums of no body', { checksums: 'never' }],
    ] as const)
      test(`objects with ${what} come back unchanged (${uploader})`, async () => {
        const remote = await open({ uploader, ...settings }).open();
        for (const size of SIZES) {
          const name = `/${randomUUID()}`;
          await store(remote, name, patterned(size));
          assert.deepEqual(await fetchAll(remote, name), patterned(size), `${size} bytes`);
        }
      });

  test('an object of a customer is not read with another key, or without one', async () => {
    const customer = { encryption: { type: 'customer' } } as const;
    const remote = await open({ ...customer, encryptionKey: KEY }).open();
    await store(remote, '/sealed', patterned(1000));
    const other = await open({ ...customer, encryptionKey: Buffer.alloc(32, 'two').toString('base64') }).open();
    await assert.rejects(fetchAll(other, '/sealed'), /sealed/);
    await assert.rejects(fetchAll(await open({}).open(), '/sealed'), failsWith('remote_failure'));
  });

  test('an object of the key management says so', async () => {
    const remote = await open({ encryption: { type: 'kms', keyId: KMS_KEY } }).open();
    await store(remote, '/managed', patterned(1000));
    const head = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'managed' }));
    assert.deepEqual([head.ServerSideEncryption, head.SSEKMSKeyId], ['aws:kms', KMS_KEY]);
  });
});
