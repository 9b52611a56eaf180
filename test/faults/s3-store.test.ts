/** A real S3 store whose disk is full, and one that denies everything, over HTTP. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { CreateBucketCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { expectError, uploadRaw } from '../api/support.js';
import { startSwift, type SwiftServer } from '../servers/swift.js';
import { startGateway, type ApiAnswer, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { contentOf, lastItemOf, leavesNothing, MIB, answerText, warmUp } from './rig.js';
import { eventually } from '../support/eventually.js';

/** Objects, the databases of accounts and containers, and Swift's other files. */
const DISK_BYTES = 24 * MIB;

let store: SwiftServer;
let client: S3Client;
let gateway: TestGateway;
let atRest: number;

before(async () => {
  store = await startSwift(DISK_BYTES);
  const { endpoint, region, accessKeyId, secretAccessKey, guest } = store;
  const credentials = { accessKeyId, secretAccessKey };
  client = new S3Client({ endpoint, region, forcePathStyle: true, credentials: { ...credentials } });
  await client.send(new CreateBucketCommand({ Bucket: 'files' }));
  const bucket = { type: 's3', endpoint, region, bucket: 'files', defaultPath: '/' };
  gateway = await startGateway({
    connections: [
      { ...bucket, id: 'small', name: 'Small', ...credentials },
      { ...bucket, id: 'guest', name: 'Guest', ...guest },
    ],
    config: { pools: { default: { idleTimeoutMs: 1_000 } } },
  });
  atRest = await warmUp(gateway);
});

after(async () => {
  client?.destroy();
  await gateway?.stop();
  await store?.stop();
});

const upload = (id: string, filename: string, content: Buffer | string): Promise<ApiAnswer> =>
  uploadRaw(gateway.api, id, { path: '/', filename }, content);

test("S3: the store's disk is full", async () => {
  assert.equal((await upload('small', 'kept.bin', 'old')).status, 200);
  const read = (): Promise<ApiAnswer> => gateway.api.get('/api/read/small', { query: { path: '/kept.bin' } });
  const isBack = (): Promise<void> =>
    eventually(async () => (await read()).status === 200, 'Swift looks at its disk again');
  const answers: ApiAnswer[] = [];
  answers.push(await upload('small', 'kept.bin', contentOf('too large', DISK_BYTES + MIB)));
  await isBack();
  answers.push(
    // The length is unknown, so it is sent in parts.
    await gateway.api.send('/api/upload/small', {
      method: 'POST',
      query: { path: '/', filename: 'kept.bin' },
      body: Readable.from([contentOf('in parts', DISK_BYTES), Buffer.alloc(MIB)]),
      headers: { 'Content-Type': 'application/octet-stream' },
    }),
  );
  for (const answer of answers) {
    assert.equal(answer.status, 502, answerText(answer));
    assert.match(String(answer.headers['x-error-code']), /^(?:no_space|remote_failure)$/, answerText(answer));
  }
  assert.equal((await lastItemOf(gateway, 'small'))?.status, 'failed');
  await isBack();
  assert.equal((await read()).json['content'], 'old');
  const isClean = async (): Promise<boolean> => {
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: 'files' }));
    return Uploads.length === 0;
  };
  // While Swift does not use its disk, an upload cannot be aborted either: that is tried again.
  await eventually(isClean, 'no upload is open');
  const fits = await upload('small', 'kept.bin', contentOf('fits', 2 * MIB));
  assert.equal(fits.status, 200, answerText(fits));
  held({
    area: 'Faults',
    what: "S3: the store's disk is full",
    done: 'uploads larger than the space that is left, whole and in parts',
    held: '502 in the words of the store; the old object stays, no upload stays open; what fits is taken',
    tries: answers.length,
  });
});

test('S3: the store denies permission', async () => {
  for (const answer of [
    await upload('guest', 'kept.bin', 'mine'),
    await gateway.api.get('/api/read/guest', { query: { path: '/kept.bin' } }),
    await gateway.api.post('/api/delete/guest', { path: '/kept.bin' }),
    await gateway.api.get('/api/list/guest'),
  ]) {
    expectError(answer, 'permission_denied', /denied/i);
  }
  assert.equal((await gateway.api.get('/api/exists/small', { query: { path: '/kept.bin' } })).json['exists'], true);
  held({
    area: 'Faults',
    what: 'S3: the store denies permission',
    done: 'an upload, a read, a deletion and a listing by a login without rights',
    held: '403 permission_denied in the words of the store; the object stays',
    tries: 4,
  });
});

test('nothing is left', () => leavesNothing(gateway, atRest));
