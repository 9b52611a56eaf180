/** ListBuckets: pages, prefixes and regions, as Amazon S3 documents them. */
import { ListBucketsCommand, paginateListBuckets, type S3Client } from '@aws-sdk/client-s3';
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { clientOf, PAIR } from './suite.js';

const LIMITED = { accessKeyId: 'FTGALIMITEDLIMITEDLI', secretAccessKey: PAIR.secretAccessKey };
const OTHER = { accessKeyId: 'FTGAOTHEROTHEROTHERO', secretAccessKey: PAIR.secretAccessKey };
/** In no order. */
const IDS = ['b2', 'a-1', 'c', 'a_1', 'b1', 'b10', 'a1'];
const IN_ORDER = ['a-1', 'a1', 'a_1', 'b1', 'b10', 'b2', 'c'];

describe('ListBuckets', { concurrency: 1 }, () => {
  let gateway: TestGateway;
  let client: S3Client;
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-buckets-'));
  chmodSync(folder, 0o755);

  // Nothing connects to these servers.
  const connectionOf = (id: string) => ({
    id,
    name: id,
    type: 'sftp',
    host: '127.0.0.1',
    port: 9,
    username: 'u',
    password: 'p',
  });
  const start = async (): Promise<void> => {
    gateway = await startGateway({
      dataDir: path.join(folder, 'data'),
      config: {
        s3: { enabled: true, region: 'eu-test-1' },
        accounts: [
          {
            email: 'a@example.com',
            plan: 'pro',
            connections: IDS.map(connectionOf),
            apiKeys: [
              { name: 'test', key: KEY, s3: PAIR },
              { name: 'limited', key: `${KEY}-2`, connections: ['b2', 'c', 'a1'], s3: LIMITED },
            ],
          },
          {
            email: 'b@example.com',
            plan: 'pro',
            connections: [connectionOf('a-foreign')],
            apiKeys: [{ name: 'other', key: `${KEY}-3`, s3: OTHER }],
          },
        ],
      },
    });
    client = clientOf(gateway, PAIR, { region: 'eu-test-1' });
  };
  const stop = async (): Promise<void> => {
    client?.destroy();
    await gateway?.stop();
  };
  before(start);
  after(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const list = async (more: object = {}, pair = PAIR) => {
    const own = pair === PAIR ? client : clientOf(gateway, pair, { region: 'eu-test-1' });
    const answer = await own.send(new ListBucketsCommand(more));
    if (own !== client) own.destroy();
    const { Buckets = [], ContinuationToken, Prefix } = answer;
    return {
      names: Buckets.map(({ Name }) => Name),
      regions: new Set(Buckets.map(({ BucketRegion }) => BucketRegion)),
      ContinuationToken,
      Prefix,
    };
  };

  test('without parameters the answer has all of them', async () => {
    const none = { regions: new Set([undefined]), ContinuationToken: undefined, Prefix: undefined };
    assert.deepEqual(await list(), { names: IN_ORDER, ...none });
  });

  test('in pages of every size', async () => {
    for (const pageSize of [1, 2, 3, 7, 10_000]) {
      const found: (string | undefined)[] = [];
      let pages = 0;
      for await (const { Buckets = [] } of paginateListBuckets({ client, pageSize }, {})) {
        pages += 1;
        found.push(...Buckets.map(({ Name }) => Name));
      }
      assert.deepEqual([found, pages], [IN_ORDER, Math.ceil(IN_ORDER.length / pageSize)]);
    }
  });

  test('a prefix is repeated, and counts on each page', async () => {
    const regions = new Set(['eu-test-1']);
    const first = await list({ Prefix: 'b', MaxBuckets: 2 });
    assert.deepEqual([first.names, first.Prefix, first.regions], [['b1', 'b10'], 'b', regions]);
    const second = await list({ Prefix: 'b', MaxBuckets: 2, ContinuationToken: first.ContinuationToken });
    assert.deepEqual(second, { names: ['b2'], regions, ContinuationToken: undefined, Prefix: 'b' });
    assert.deepEqual((await list({ Prefix: 'none' })).names, []);
    assert.deepEqual((await list({ Prefix: 'B' })).names, []);
  });

  test('another region has none', async () => {
    assert.deepEqual((await list({ BucketRegion: 'eu-test-1' })).names, IN_ORDER);
    assert.deepEqual((await list({ BucketRegion: 'us-west-2' })).names, []);
  });

  test('a key with few connections sees these alone, and another account none, also with a token', async () => {
    const { ContinuationToken } = await list({ MaxBuckets: 2 });
    assert.deepEqual((await list({ MaxBuckets: 2 }, LIMITED)).names, ['a1', 'b2']);
    assert.deepEqual((await list({ ContinuationToken }, LIMITED)).names, ['b2', 'c']);
    assert.deepEqual((await list({}, OTHER)).names, ['a-foreign']);
    assert.deepEqual((await list({ ContinuationToken }, OTHER)).names, []);
  });

  test('a token survives a restart', async () => {
    const { ContinuationToken } = await list({ MaxBuckets: 4 });
    await stop();
    await start();
    assert.deepEqual((await list({ ContinuationToken })).names, ['b10', 'b2', 'c']);
  });
});
