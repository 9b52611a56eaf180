/**
 * The S3 front over every server, by the SDK of AWS, checked on the server's own disk. Connection `c1` is the bucket.
 */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketAclCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketLocationCommand,
  GetBucketLoggingCommand,
  GetBucketPolicyCommand,
  GetBucketRequestPaymentCommand,
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  GetObjectAclCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  type ObjectAttributes,
  paginateListObjectsV2,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
  type S3ServiceException,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import type { ServerEntry, TestServer } from '../servers/catalogue.js';
import { Checksum } from '../../src/s3/body/checksums.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';

export const PAIR = {
  accessKeyId: 'FTGATESTTESTTESTTEST',
  secretAccessKey: 'test-secret-of-forty-characters-0123456789',
};
const BUCKET = 'c1';
const MIB = 1024 * 1024;

/** Names that clients of S3 use; a server may refuse some. */
const NAMES = [
  'plain.txt',
  'with space.txt',
  'pl+us & more.txt',
  'ünï-日本-👍.txt',
  'per%20cent%.txt',
  "q'uote(1)!*.txt",
];

const fieldOf = (answer: object, name: string): unknown => new Map<string, unknown>(Object.entries(answer)).get(name);

async function sumOf(algorithm: string, bytes: Buffer): Promise<string> {
  const sum = await Checksum.open(`x-amz-checksum-${algorithm.toLowerCase()}`);
  sum.update(bytes);
  return sum.value();
}

export function s3Suite(entry: ServerEntry): void {
  if (entry.isSeamOnly === true) return;
  describe(`the S3 front on ${entry.name}`, { concurrency: 1 }, () => {
    let server: TestServer;
    let gateway: TestGateway;
    let client: S3Client;
    let base = '';
    let count = 0;

    before(async () => {
      server = await entry.start();
      gateway = await startGateway({
        connections: [{ id: BUCKET, name: 'Server', ...server.connection }],
        apiKeys: [{ name: 'test', key: KEY, s3: PAIR }],
        config: { s3: { enabled: true } },
      });
      client = clientOf(gateway);
      base = (server.base ?? '/').replace(/^\//, '').replace(/(.)$/, '$1/');
    });
    after(async () => {
      client?.destroy();
      await gateway?.stop();
      await server?.stop();
    });

    const fresh = (name = 'file.bin'): string => `${base}s3-${++count}/${name}`;
    const at = (Key: string) => ({ Bucket: BUCKET, Key });
    const put = (key: string, body: Buffer | string) => client.send(new PutObjectCommand({ ...at(key), Body: body }));
    const get = async (key: string, more = {}): Promise<Buffer> => {
      const { Body } = await client.send(new GetObjectCommand({ ...at(key), ...more }));
      return buffer(Body as Readable);
    };
    const onDisk = (key: string): Promise<Buffer> => server.disk.read(`/${key}`);

    test('the connection is a bucket', async () => {
      const { Buckets = [] } = await client.send(new ListBucketsCommand({}));
      assert.deepEqual(
        Buckets.map(({ Name }) => Name),
        [BUCKET],
      );
      await client.send(new HeadBucketCommand({ Bucket: BUCKET }));
      const { LocationConstraint } = await client.send(new GetBucketLocationCommand({ Bucket: BUCKET }));
      assert.ok((LocationConstraint as string | undefined) === undefined || (LocationConstraint as string) === '');
      await failsWith('NoSuchBucket', client.send(new GetObjectCommand({ Bucket: 'other', Key: 'a' })));
    });

    for (const [what, size] of [
      ['empty', 0],
      ['short', 1_000],
      ['of several megabytes', 5 * MIB + 7],
    ] as const) {
      test(`an object that is ${what}: put, head, get`, async () => {
        const key = fresh();
        const content = randomBytes(size);
        const stored = await put(key, content);
        assert.match(stored.ETag ?? '', /^"[^"]+-1"$/);
        assert.ok((await onDisk(key)).equals(content));
        const head = await client.send(new HeadObjectCommand(at(key)));
        assert.equal(head.ContentLength, size);
        assert.equal(head.ETag, stored.ETag);
        assert.ok((await get(key)).equals(content));
      });
    }

    test('a stream in chunks with a checksum in the trailer', async () => {
      const key = fresh();
      const content = randomBytes(3 * MIB);
      const Body = Readable.from([content.subarray(0, 100), content.subarray(100)]);
      await client.send(
        new PutObjectCommand({ ...at(key), Body, ContentLength: content.length, ChecksumAlgorithm: 'CRC32' }),
      );
      assert.ok((await onDisk(key)).equals(content));
    });

    test('checksums of every kind are verified and answered', async () => {
      const sums = {
        ChecksumCRC32: 'y/Q5Jg==',
        ChecksumCRC32C: '4waSgw==',
        ChecksumCRC64NVME: 'rosUhgp5mIg=',
        ChecksumSHA1: '98O8HYCOBHMq32eZZczDTKeuNEE=',
        ChecksumSHA256: 'FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=',
      };
      for (const [field, value] of Object.entries(sums)) {
        const stored = await client.send(new PutObjectCommand({ ...at(fresh()), Body: '123456789', [field]: value }));
        assert.equal(Object.entries(stored).find(([name]) => name === field)?.[1], value);
      }
    });

    test('a wrong checksum stores nothing, and what was there stays', async () => {
      const key = fresh();
      await put(key, 'first');
      const wrong = createHash('sha256').update('other').digest('base64');
      for (const body of ['second', 'x'.repeat(MIB)]) {
        await failsWith(
          'BadDigest',
          client.send(new PutObjectCommand({ ...at(key), Body: body, ChecksumSHA256: wrong })),
        );
      }
      assert.equal((await onDisk(key)).toString(), 'first');
      const folder = `/${key.slice(0, key.lastIndexOf('/'))}`;
      assert.deepEqual(await server.disk.files(folder), [`/${key}`]);
    });

    test('ranges and conditions', async () => {
      const key = fresh();
      const { ETag } = await put(key, '0123456789');
      assert.equal((await get(key, { Range: 'bytes=2-4' })).toString(), '234');
      assert.equal((await get(key, { Range: 'bytes=-3' })).toString(), '789');
      await failsWith('InvalidRange', get(key, { Range: 'bytes=10-' }));
      assert.equal((await get(key, { Range: 'bytes=4-2' })).toString(), '0123456789');
      assert.equal((await get(key, { PartNumber: 1 })).toString(), '0123456789');
      await failsWith('InvalidPartNumber', get(key, { PartNumber: 2 }));
      await failsWith('InvalidRequest', get(key, { PartNumber: 1, Range: 'bytes=2-4' }));
      assert.equal((await get(key, { IfMatch: ETag })).length, 10);
      await failsWith('PreconditionFailed', get(key, { IfMatch: '"other-1"' }));
      await assert.rejects(get(key, { IfNoneMatch: ETag }), statusIs(304));
      await assert.rejects(client.send(new HeadObjectCommand({ ...at(key), IfNoneMatch: ETag })), statusIs(304));
      await failsWith('PreconditionFailed', get(key, { IfUnmodifiedSince: new Date(0) }));
    });

    test('a head takes a range, as a get does', async () => {
      const key = fresh();
      const { ETag = '' } = await put(key, '0123456789');
      const head = async (more: object): Promise<readonly unknown[]> => {
        const answer = await client.send(new HeadObjectCommand({ ...at(key), ...more }));
        return [answer.$metadata.httpStatusCode, answer.ContentLength, answer.ContentRange];
      };
      const all = [200, 10, undefined];
      assert.deepEqual(await head({ Range: 'bytes=2-4' }), [206, 3, 'bytes 2-4/10']);
      assert.deepEqual(await head({ Range: 'bytes=-3' }), [206, 3, 'bytes 7-9/10']);
      assert.deepEqual(await head({ Range: 'bytes=8-20' }), [206, 2, 'bytes 8-9/10']);
      assert.deepEqual(await head({ PartNumber: 1 }), [206, 10, 'bytes 0-9/10']);
      for (const Range of ['bytes=4-2', 'bytes=0-1,3-4', 'lines=1-2']) assert.deepEqual(await head({ Range }), all);
      await assert.rejects(head({ Range: 'bytes=10-' }), statusIs(416));
      await assert.rejects(head({ PartNumber: 2 }), statusIs(416));
      // If-None-Match and If-Match count before the range.
      await assert.rejects(head({ Range: 'bytes=10-', IfNoneMatch: ETag }), statusIs(304));
      await assert.rejects(head({ Range: 'bytes=10-', IfMatch: '"other-1"' }), statusIs(412));
      const [empty, folder] = [fresh(), fresh('')];
      for (const one of [empty, folder]) await put(one, '');
      const first = { Range: 'bytes=0-' };
      await assert.rejects(client.send(new HeadObjectCommand({ ...at(empty), ...first })), statusIs(416));
      await failsWith('InvalidRange', get(empty, first));
      const { ContentLength } = await client.send(new HeadObjectCommand({ ...at(folder), ...first }));
      assert.equal(ContentLength, 0);
    });

    test('the client chooses fields of the answer', async () => {
      const key = fresh();
      await put(key, 'x');
      const ResponseContentDisposition = 'attachment; filename="日本 1.txt"';
      const chosen = {
        ResponseContentDisposition,
        ResponseContentType: 'text/x-own',
        ResponseCacheControl: 'no-cache',
      };
      for (const command of [GetObjectCommand, HeadObjectCommand]) {
        const answer = await client.send(new command({ ...at(key), ...chosen }));
        const { ContentDisposition, ContentType, CacheControl } = answer;
        assert.deepEqual([ContentType, CacheControl], ['text/x-own', 'no-cache']);
        assert.equal(
          ContentDisposition,
          `attachment; filename="?? 1.txt"; filename*=UTF-8''%E6%97%A5%E6%9C%AC%201.txt`,
        );
      }
    });

    test('If-None-Match: * never replaces', async () => {
      const key = fresh();
      const exclusive = (body: string) =>
        client.send(new PutObjectCommand({ ...at(key), Body: body, IfNoneMatch: '*' }));
      await exclusive('first');
      await failsWith('PreconditionFailed', exclusive('second'));
      assert.equal((await onDisk(key)).toString(), 'first');
    });

    test('the time of the metadata is the time of the file', async () => {
      const key = fresh();
      const Metadata = { mtime: '1700000000.5' };
      // Programs name the ACL that every object here has.
      await client.send(new PutObjectCommand({ ...at(key), Body: 'dated', Metadata, ACL: 'private' }));
      const head = await client.send(new HeadObjectCommand(at(key)));
      if (server.deviations.keepsTimes === 'no') return;
      assert.equal(Math.floor(Number(head.Metadata?.['mtime'])), 1_700_000_000);
    });

    test('a copy onto itself sets the time, and keeps the bytes', async () => {
      const key = fresh('touched.bin');
      const content = randomBytes(200_000);
      await put(key, content);
      const order = { ...at(key), CopySource: `${BUCKET}/${encodeURIComponent(key)}` };
      const touch = (mtime: string) =>
        client.send(new CopyObjectCommand({ ...order, MetadataDirective: 'REPLACE', Metadata: { mtime } }));
      const { CopyObjectResult } = await touch('1600000000');
      const head = await client.send(new HeadObjectCommand(at(key)));
      assert.equal(CopyObjectResult?.ETag, head.ETag);
      assert.ok((await onDisk(key)).equals(content));
      await failsWith('InvalidArgument', touch('yesterday'));
      if (server.deviations.keepsTimes === 'no') return;
      assert.equal(Math.floor(Number(head.Metadata?.['mtime'])), 1_600_000_000);
      assert.equal((await server.disk.modifiedAt(`/${key}`)).getTime(), 1_600_000_000_000);
    });

    test('names as clients write them', async () => {
      for (const name of NAMES.filter((one) => server.deviations.refusesName?.(one) !== true)) {
        const key = fresh(name);
        await put(key, name);
        assert.equal((await onDisk(key)).toString(), name);
        assert.equal((await get(key)).toString(), name);
      }
    });

    test('keys that are no paths are refused', async () => {
      for (const key of ['/lead', 'a//b', 'a/../b', '../b', 'a/./b', `a/${'x'.repeat(1_023)}`, 'a\u0001b']) {
        await assert.rejects(put(`${base}${key}`, 'x'), statusIs(400), key);
      }
    });

    test('folders are empty objects', async () => {
      const key = fresh('');
      await put(key, '');
      const head = await client.send(new HeadObjectCommand(at(key)));
      assert.equal(head.ContentLength, 0);
      await assert.rejects(client.send(new HeadObjectCommand(at(key.slice(0, -1)))), statusIs(404));
      await assert.rejects(put(key, 'content'), statusIs(400));
      const isNew = (Key: string) => client.send(new PutObjectCommand({ ...at(Key), Body: '', IfNoneMatch: '*' }));
      await failsWith('PreconditionFailed', isNew(key));
      await isNew(fresh(''));
      const copy = { CopySource: `${BUCKET}/${key}`, MetadataDirective: 'REPLACE' } as const;
      await client.send(new CopyObjectCommand({ ...at(key), ...copy }));
      await failsWith('NotImplemented', client.send(new CopyObjectCommand({ ...at(fresh('')), ...copy })));
      await client.send(new DeleteObjectCommand(at(key)));
      await assert.rejects(client.send(new HeadObjectCommand(at(key))), statusIs(404));
    });

    test('attributes of an object', async () => {
      const key = fresh('attributes.bin');
      const ask = (Key: string, ...ObjectAttributes: ObjectAttributes[]) =>
        client.send(new GetObjectAttributesCommand({ ...at(Key), ObjectAttributes }));
      await failsWith('NoSuchKey', ask(key, 'ETag'));
      await put(key, '12345');
      const head = await client.send(new HeadObjectCommand(at(key)));
      const all = await ask(key, 'ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize');
      assert.deepEqual([`"${all.ETag}"`, all.ObjectSize, all.StorageClass], [head.ETag, 5, 'STANDARD']);
      assert.deepEqual([all.Checksum, all.ObjectParts], [undefined, undefined]);
      assert.deepEqual(all.LastModified, head.LastModified);
      const { ETag, ObjectSize, StorageClass } = await ask(key, 'ObjectSize');
      assert.deepEqual([ETag, ObjectSize, StorageClass], [undefined, 5, undefined]);
      const folder = fresh('');
      await put(folder, '');
      assert.equal((await ask(folder, 'ObjectSize')).ObjectSize, 0);
      await client.send(new DeleteObjectCommand(at(folder)));
    });

    test('settings that were never made are answered as Amazon S3 answers', async () => {
      const Bucket = { Bucket: BUCKET };
      const { Status, MFADelete } = await client.send(new GetBucketVersioningCommand(Bucket));
      assert.deepEqual([Status, MFADelete], [undefined, undefined]);
      assert.equal((await client.send(new GetBucketLoggingCommand(Bucket))).LoggingEnabled, undefined);
      assert.equal((await client.send(new GetBucketRequestPaymentCommand(Bucket))).Payer, 'BucketOwner');
      await failsWith('NoSuchBucketPolicy', client.send(new GetBucketPolicyCommand(Bucket)));
      await failsWith('NoSuchTagSet', client.send(new GetBucketTaggingCommand(Bucket)));
      await failsWith('NoSuchLifecycleConfiguration', client.send(new GetBucketLifecycleConfigurationCommand(Bucket)));
      const key = fresh('settings & more.bin');
      await failsWith('NoSuchKey', client.send(new GetObjectTaggingCommand(at(key))));
      await failsWith('NoSuchKey', client.send(new GetObjectAclCommand(at(key))));
      await put(key, 'x');
      assert.deepEqual((await client.send(new GetObjectTaggingCommand(at(key)))).TagSet, []);
      const { Owner: owner } = await client.send(new ListBucketsCommand({}));
      for (const answer of [
        await client.send(new GetObjectAclCommand(at(key))),
        await client.send(new GetBucketAclCommand(Bucket)),
      ]) {
        assert.equal(answer.Owner?.ID, owner?.ID);
        assert.deepEqual(
          answer.Grants?.map(({ Grantee, Permission }) => [Grantee?.ID, Grantee?.Type, Permission]),
          [[owner?.ID, 'CanonicalUser', 'FULL_CONTROL']],
        );
      }
      await client.send(new DeleteObjectCommand(at(key)));
    });

    test('deleting is done when nothing is there', async () => {
      const key = fresh();
      await put(key, 'x');
      await client.send(new DeleteObjectCommand(at(key)));
      await failsWith('NoSuchKey', get(key));
      await client.send(new DeleteObjectCommand(at(key)));
    });

    test('many are deleted at once, each with its result', async () => {
      const keys = Array.from({ length: 12 }, () => fresh('a & b <c>.txt'));
      for (const key of keys.slice(2)) await put(key, 'x');
      const Delete = { Objects: [...keys, `${base}a//b`].map((Key) => ({ Key })) };
      const { Deleted = [], Errors = [] } = await client.send(new DeleteObjectsCommand({ Bucket: BUCKET, Delete }));
      assert.deepEqual(
        Deleted.map(({ Key }) => Key),
        keys,
      );
      assert.deepEqual(
        Errors.map(({ Key, Code }) => [Key, Code]),
        [[`${base}a//b`, 'InvalidArgument']],
      );
      const quiet = await client.send(
        new DeleteObjectsCommand({ Bucket: BUCKET, Delete: { Objects: [{ Key: keys[0] ?? '' }], Quiet: true } }),
      );
      assert.equal(quiet.Deleted, undefined);
    });

    test('a deletion of many with a condition or a version deletes nothing under it', async () => {
      const keys = [fresh(), fresh(), fresh(), fresh(), fresh()] as const;
      for (const key of keys) await put(key, 'x');
      const [etag, time, size, version, plain] = keys;
      const Objects = [
        { Key: etag, ETag: '"other-1"' },
        { Key: time, LastModifiedTime: new Date(0) },
        { Key: size, Size: 2 },
        { Key: version, VersionId: 'v1' },
        { Key: plain },
      ];
      const { Errors = [] } = await client.send(new DeleteObjectsCommand({ Bucket: BUCKET, Delete: { Objects } }));
      assert.deepEqual(
        Errors.map(({ Key, Code }) => [Key, Code]),
        keys.slice(0, -1).map((key) => [key, 'NotImplemented']),
      );
      for (const key of keys.slice(0, -1)) assert.equal((await get(key)).toString(), 'x');
      await failsWith('NoSuchKey', get(plain));
    });

    test('keys in XML as other programs write them: references by number, line ends, spaces that count', async () => {
      const [quoted, plain] = [fresh("it's.txt"), fresh('plain.txt')];
      for (const key of [quoted, plain]) await put(key, 'x');
      const objects = [quoted.replace("'", '&#39;'), plain.replace('plain', ' plain')];
      const text = objects.map((key) => `<Object>\n  <Key>${key}</Key>\n</Object>\n`).join('');
      const command = new DeleteObjectsCommand({ Bucket: BUCKET, Delete: { Objects: [{ Key: plain }] } });
      command.middlewareStack.add(
        (next) => (sent) => {
          assert.ok(typeof sent.request === 'object');
          Object.assign(sent.request ?? {}, { body: `<Delete>\n${text}</Delete>\n` });
          return next(sent);
        },
        { step: 'build', priority: 'high' },
      );
      const { Deleted = [] } = await client.send(command);
      assert.deepEqual(
        Deleted.map(({ Key }) => Key),
        [quoted, plain.replace('plain', ' plain')],
      );
      await failsWith('NoSuchKey', get(quoted));
      assert.equal((await get(plain)).toString(), 'x');
    });

    test('a copy, and one onto itself', async () => {
      const [from, to] = [fresh(), fresh('copy & more.bin')];
      const content = randomBytes(100_000);
      await put(from, content);
      const CopySource = `${BUCKET}/${encodeURIComponent(from)}`;
      const copied = await client.send(new CopyObjectCommand({ ...at(to), CopySource }));
      assert.match(copied.CopyObjectResult?.ETag ?? '', /-1"$/);
      assert.ok((await onDisk(to)).equals(content));
      await failsWith('InvalidRequest', client.send(new CopyObjectCommand({ ...at(from), CopySource })));
      await client.send(new CopyObjectCommand({ ...at(from), CopySource, MetadataDirective: 'REPLACE' }));
      assert.ok((await onDisk(from)).equals(content));
      await failsWith(
        'NoSuchKey',
        client.send(new CopyObjectCommand({ ...at(to), CopySource: `${BUCKET}/${base}none` })),
      );
    });

    test('lists: keys, common prefixes, pages, empty folders', async () => {
      const folder = fresh('');
      const names = ['a/1.txt', 'a/2.txt', 'a-b.txt', 'b.txt', 'c/d/e.txt', 'ä &.txt'].sort((x, y) => (x < y ? -1 : 1));
      for (const name of names) await put(folder + name, name);
      await put(`${folder}empty/`, '');
      const keys = [...names, 'empty/'].sort((x, y) => (x < y ? -1 : 1)).map((name) => folder + name);
      const list = (more: object) => client.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix: folder, ...more }));
      const whole = await list({});
      assert.deepEqual(
        whole.Contents?.map(({ Key }) => Key),
        keys,
      );
      assert.deepEqual(
        whole.Contents?.map(({ Size }) => Size),
        keys.map((key) => (key.endsWith('/') ? 0 : Buffer.byteLength(key.slice(folder.length)))),
      );
      const level = await list({ Delimiter: '/' });
      assert.deepEqual(
        level.Contents?.map(({ Key }) => Key?.slice(folder.length)),
        ['a-b.txt', 'b.txt', 'ä &.txt'],
      );
      assert.deepEqual(
        level.CommonPrefixes?.map(({ Prefix }) => Prefix?.slice(folder.length)),
        ['a/', 'c/', 'empty/'],
      );
      const inside = await list({ Prefix: `${folder}a` });
      assert.deepEqual(
        inside.Contents?.map(({ Key }) => Key),
        keys.filter((key) => key.startsWith(`${folder}a`)),
      );
      const found: (string | undefined)[] = [];
      for await (const page of paginateListObjectsV2({ client, pageSize: 2 }, { Bucket: BUCKET, Prefix: folder })) {
        found.push(...(page.Contents ?? []).map(({ Key }) => Key));
      }
      assert.deepEqual(found, keys);
      const first = await client.send(
        new ListObjectsCommand({ Bucket: BUCKET, Prefix: folder, MaxKeys: 3, Delimiter: '/' }),
      );
      const next = await client.send(
        new ListObjectsCommand({ Bucket: BUCKET, Prefix: folder, Marker: first.NextMarker, Delimiter: '/' }),
      );
      assert.equal((first.Contents?.length ?? 0) + (first.CommonPrefixes?.length ?? 0), 3);
      assert.equal((next.Contents?.length ?? 0) + (next.CommonPrefixes?.length ?? 0), 3);
      assert.equal((await list({ Prefix: `${folder}none/` })).KeyCount, 0);
      const head = await client.send(new HeadObjectCommand(at(`${folder}b.txt`)));
      const listed = whole.Contents?.find(({ Key }) => Key === `${folder}b.txt`);
      const [listedMs = NaN, headMs = NaN] = [listed, head].map((one) => one?.LastModified?.getTime());
      if (listedMs === headMs) assert.equal(listed?.ETag, head.ETag);
      else {
        // The listing shows only the minute: its tag is not that of the object, and is refused as a condition.
        assert.deepEqual([listedMs, listedMs % 60_000], [headMs - (headMs % 60_000), 0]);
        const IfMatch = listed?.ETag;
        await failsWith('PreconditionFailed', client.send(new GetObjectCommand({ ...at(`${folder}b.txt`), IfMatch })));
      }
    });

    test('a multipart upload: parts at once in any order, listed, completed', async () => {
      const key = fresh('multi part.bin');
      const parts = [5 * MIB, 5 * MIB, 5 * MIB, 1_234].map((size) => randomBytes(size));
      const { UploadId } = await client.send(new CreateMultipartUploadCommand(at(key)));
      const send = async (index: number) => {
        const { ETag } = await client.send(
          new UploadPartCommand({ ...at(key), UploadId, PartNumber: index + 1, Body: parts[index] }),
        );
        return { PartNumber: index + 1, ETag };
      };
      const sent = await Promise.all([2, 0, 3, 1].map(send));
      sent.sort((a, b) => a.PartNumber - b.PartNumber);
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET, Prefix: key }));
      assert.deepEqual(
        Uploads.map(({ Key, UploadId: id }) => [Key, id]),
        [[key, UploadId]],
      );
      const listed = await client.send(new ListPartsCommand({ ...at(key), UploadId }));
      assert.deepEqual(
        listed.Parts?.map(({ PartNumber, ETag, Size }) => [PartNumber, ETag, Size]),
        sent.map(({ PartNumber, ETag }, index) => [PartNumber, ETag, parts[index]?.length]),
      );
      const folder = `/${key.slice(0, key.lastIndexOf('/'))}`;
      await assert.rejects(client.send(new HeadObjectCommand(at(key))), statusIs(404));
      const list = new ListObjectsV2Command({ Bucket: BUCKET, Prefix: `${folder.slice(1)}/` });
      assert.deepEqual((await client.send(list)).Contents ?? [], []);
      const complete = (Parts: object[]) =>
        client.send(new CompleteMultipartUploadCommand({ ...at(key), UploadId, MultipartUpload: { Parts } }));
      const elsewhere = { Bucket: BUCKET, Key: `${key}2`, UploadId };
      await failsWith('NoSuchUpload', client.send(new AbortMultipartUploadCommand(elsewhere)));
      await failsWith('NoSuchUpload', client.send(new ListPartsCommand(elsewhere)));
      await failsWith('InvalidPartOrder', complete([...sent].reverse()));
      await failsWith('InvalidPart', complete([...sent, { PartNumber: 9, ETag: '"none"' }]));
      const wrongSize = client.send(
        new CompleteMultipartUploadCommand({
          ...at(key),
          UploadId,
          MultipartUpload: { Parts: sent },
          MpuObjectSize: 5 * MIB,
        }),
      );
      await failsWith('InvalidRequest', wrongSize);
      const done = await complete(sent);
      const content = Buffer.concat(parts);
      assert.ok((await onDisk(key)).equals(content));
      assert.deepEqual(await server.disk.files(folder), [`/${key}`]);
      const head = await client.send(new HeadObjectCommand(at(key)));
      assert.equal(head.ETag, done.ETag);
      const { json } = await gateway.api.get('/api/transfers', { query: { limit: '2', type: 'upload' } });
      const [last] = json['transfers'] as { path: string; fileSize: number }[];
      assert.deepEqual(last && [last.path, last.fileSize], [`/${key}`, content.length]);
    });

    for (const [ChecksumAlgorithm, ChecksumType] of [
      ['CRC32', 'COMPOSITE'],
      ['CRC64NVME', 'FULL_OBJECT'],
    ] as const) {
      test(`a multipart upload with checksums: ${ChecksumAlgorithm}, ${ChecksumType}`, async () => {
        const key = fresh('summed.bin');
        const name = `Checksum${ChecksumAlgorithm}`;
        const begun = await client.send(
          new CreateMultipartUploadCommand({ ...at(key), ChecksumAlgorithm, ChecksumType }),
        );
        assert.deepEqual([begun.ChecksumAlgorithm, begun.ChecksumType], [ChecksumAlgorithm, ChecksumType]);
        const { UploadId } = begun;
        const parts = [5 * MIB, 1_234].map((size) => randomBytes(size));
        const sums = await Promise.all(parts.map((part) => sumOf(ChecksumAlgorithm, part)));
        const whole = ChecksumType === 'FULL_OBJECT' ? parts : sums.map((sum) => Buffer.from(sum, 'base64'));
        const joined = await sumOf(ChecksumAlgorithm, Buffer.concat(whole));
        const expected = ChecksumType === 'FULL_OBJECT' ? joined : `${joined}-${parts.length}`;
        const send = (index: number, more: object) =>
          client.send(
            new UploadPartCommand({ ...at(key), UploadId, PartNumber: index + 1, Body: parts[index], ...more }),
          );
        // A short one: the gateway refuses it before its bytes, and may close the socket while a long one is sent.
        const short = { Body: parts[1], ChecksumSHA1: await sumOf('SHA1', parts[1] as Buffer) };
        await failsWith('InvalidRequest', send(0, short));
        await failsWith('BadDigest', send(0, { [name]: sums[1] }));
        const tags = await Promise.all(parts.map((_, index) => send(index, { [name]: sums[index] })));
        const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET, Prefix: key }));
        assert.deepEqual(
          Uploads.map((upload) => [upload.ChecksumAlgorithm, upload.ChecksumType]),
          [[ChecksumAlgorithm, ChecksumType]],
        );
        const listed = await client.send(new ListPartsCommand({ ...at(key), UploadId }));
        assert.deepEqual([listed.ChecksumAlgorithm, listed.ChecksumType], [ChecksumAlgorithm, ChecksumType]);
        assert.deepEqual(
          listed.Parts?.map((part) => fieldOf(part, name)),
          sums,
        );
        const complete = (given: readonly (string | undefined)[], more: object = {}) => {
          const Parts = tags.map(({ ETag }, index) => ({ ETag, PartNumber: index + 1, [name]: given[index] }));
          const MultipartUpload = { Parts };
          return client.send(new CompleteMultipartUploadCommand({ ...at(key), UploadId, MultipartUpload, ...more }));
        };
        await failsWith('InvalidPart', complete([...sums].reverse()));
        const otherType = ChecksumType === 'FULL_OBJECT' ? 'COMPOSITE' : 'FULL_OBJECT';
        await failsWith('InvalidRequest', complete(sums, { ChecksumType: otherType }));
        await failsWith('BadDigest', complete(sums, { [name]: sums[0] }));
        await assert.rejects(client.send(new HeadObjectCommand(at(key))), statusIs(404));
        const done = await complete(sums, { ChecksumType, [name]: expected });
        assert.deepEqual([fieldOf(done, name), done.ChecksumType], [expected, ChecksumType]);
        assert.ok((await onDisk(key)).equals(Buffer.concat(parts)));
      });
    }

    test('lists show no checksums of an upload that was begun without one', async () => {
      const key = fresh('unsummed.bin');
      const plain = clientOf(gateway, PAIR, { requestChecksumCalculation: 'WHEN_REQUIRED' });
      const { UploadId } = await plain.send(new CreateMultipartUploadCommand(at(key)));
      const part = { ...at(key), UploadId, PartNumber: 1, Body: '123456789', ChecksumCRC32: 'y/Q5Jg==' };
      await plain.send(new UploadPartCommand(part));
      const listed = await plain.send(new ListPartsCommand({ ...at(key), UploadId }));
      assert.deepEqual([listed.ChecksumAlgorithm, listed.ChecksumType], [undefined, undefined]);
      assert.deepEqual(
        listed.Parts?.map(({ Size, ChecksumCRC32 }) => [Size, ChecksumCRC32]),
        [[9, undefined]],
      );
      await plain.send(new AbortMultipartUploadCommand({ ...at(key), UploadId }));
      plain.destroy();
    });

    test('checksums that no object can have', async () => {
      const begin = (more: object) => client.send(new CreateMultipartUploadCommand({ ...at(fresh()), ...more }));
      await failsWith('InvalidRequest', begin({ ChecksumAlgorithm: 'MD5' }));
      await failsWith('InvalidRequest', begin({ ChecksumAlgorithm: 'SHA256', ChecksumType: 'FULL_OBJECT' }));
      await failsWith('InvalidRequest', begin({ ChecksumAlgorithm: 'CRC64NVME', ChecksumType: 'COMPOSITE' }));
      await failsWith('InvalidRequest', begin({ ChecksumType: 'COMPOSITE' }));
    });

    test('an aborted multipart upload leaves nothing', async () => {
      const key = fresh('aborted.bin');
      const { UploadId } = await client.send(new CreateMultipartUploadCommand(at(key)));
      const part = { ...at(key), UploadId, PartNumber: 1, Body: randomBytes(100_000) };
      await client.send(new UploadPartCommand(part));
      await client.send(new AbortMultipartUploadCommand({ ...at(key), UploadId }));
      await failsWith('NoSuchUpload', client.send(new UploadPartCommand(part)));
      assert.deepEqual(await server.disk.files(`/${key.slice(0, key.lastIndexOf('/'))}`), []);
    });

    test('parts are copied from other objects', async () => {
      const [from, key] = [fresh('source.bin'), fresh('joined.bin')];
      const content = randomBytes(6 * MIB);
      await put(from, content);
      const { UploadId } = await client.send(new CreateMultipartUploadCommand(at(key)));
      const copy = async (PartNumber: number, range: string) => {
        const { CopyPartResult } = await client.send(
          new UploadPartCopyCommand({
            ...at(key),
            UploadId,
            PartNumber,
            CopySource: `${BUCKET}/${encodeURIComponent(from)}`,
            CopySourceRange: range,
          }),
        );
        return { PartNumber, ETag: CopyPartResult?.ETag };
      };
      // Each needs two sessions of the one server: more at once than it has sessions.
      const numbers = Array.from({ length: 12 }, (_, index) => index + 1);
      const Parts = await Promise.all(numbers.map((number) => copy(number, `bytes=${number}-${5 * MIB + number - 1}`)));
      await client.send(new CompleteMultipartUploadCommand({ ...at(key), UploadId, MultipartUpload: { Parts } }));
      const copied = numbers.map((number) => content.subarray(number, 5 * MIB + number));
      assert.ok((await onDisk(key)).equals(Buffer.concat(copied)));
    });

    for (const [ChecksumAlgorithm, ChecksumType] of [
      ['CRC32', 'FULL_OBJECT'],
      ['SHA256', 'COMPOSITE'],
      ['CRC64NVME', 'FULL_OBJECT'],
    ] as const) {
      test(`parts that come without a checksum have that of their upload: ${ChecksumAlgorithm}`, async () => {
        const [from, key] = [fresh('source.bin'), fresh('summed.bin')];
        const content = randomBytes(5 * MIB + 100);
        await put(from, content);
        const plain = clientOf(gateway, PAIR, { requestChecksumCalculation: 'WHEN_REQUIRED' });
        const name = `Checksum${ChecksumAlgorithm}`;
        const order = { ...at(key), ChecksumAlgorithm, ChecksumType };
        const { UploadId } = await plain.send(new CreateMultipartUploadCommand(order));
        const parts = [content.subarray(100), content, content.subarray(7, 5 * MIB + 7), content.subarray(0, 9)];
        const sums = await Promise.all(parts.map((part) => sumOf(ChecksumAlgorithm, part)));
        const part = (PartNumber: number) => ({ ...at(key), UploadId, PartNumber });
        const copy = async (number: number, range: object) => {
          const source = { CopySource: `${BUCKET}/${encodeURIComponent(from)}`, ...range };
          const { CopyPartResult = {} } = await plain.send(new UploadPartCopyCommand({ ...part(number), ...source }));
          return CopyPartResult;
        };
        const send = (number: number, more: object = {}) =>
          plain.send(new UploadPartCommand({ ...part(number), Body: parts[number - 1], ...more }));
        const stored = [
          await copy(1, { CopySourceRange: `bytes=100-${5 * MIB + 99}` }),
          await copy(2, {}),
          await send(3),
          await send(4, { [name]: sums[3] }),
        ];
        assert.deepEqual(
          stored.map((one) => fieldOf(one, name)),
          sums,
        );
        const listed = await plain.send(new ListPartsCommand({ ...at(key), UploadId }));
        assert.deepEqual(
          listed.Parts?.map((one) => fieldOf(one, name)),
          sums,
        );
        const whole = ChecksumType === 'FULL_OBJECT' ? parts : sums.map((sum) => Buffer.from(sum, 'base64'));
        const joined = await sumOf(ChecksumAlgorithm, Buffer.concat(whole));
        const expected = ChecksumType === 'FULL_OBJECT' ? joined : `${joined}-${parts.length}`;
        const complete = (given: string | undefined) => {
          const Parts = stored.map(({ ETag }, index) => ({ ETag, PartNumber: index + 1, [name]: sums[index] }));
          const object = { ...at(key), UploadId, MultipartUpload: { Parts }, ChecksumType, [name]: given };
          return plain.send(new CompleteMultipartUploadCommand(object));
        };
        await failsWith('BadDigest', complete(sums[0]));
        const done = await complete(expected);
        assert.deepEqual([fieldOf(done, name), done.ChecksumType], [expected, ChecksumType]);
        assert.ok((await onDisk(key)).equals(Buffer.concat(parts)));
        plain.destroy();
      });
    }

    test('the history has one item for each object', async () => {
      const key = fresh('history.bin');
      await put(key, 'history');
      const { json } = await gateway.api.get('/api/transfers', { query: { limit: '1' } });
      const [last] = json['transfers'] as { type: string; path: string; fileSize: number; status: string }[];
      assert.deepEqual(last && [last.type, last.path, last.fileSize, last.status], ['upload', `/${key}`, 7, 'success']);
    });
  });
}

export function clientOf(gateway: TestGateway, pair = PAIR, changes: S3ClientConfig = {}): S3Client {
  return new S3Client({
    endpoint: `${gateway.url}/s3`,
    region: 'us-east-1',
    forcePathStyle: true,
    // The SDK writes into it.
    credentials: { ...pair },
    maxAttempts: 1,
    ...changes,
  });
}

const statusIs = (status: number) => (error: unknown) =>
  (error as S3ServiceException).$metadata?.httpStatusCode === status;

async function failsWith(code: string, work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.equal((error as Error).name, code, String(error));
    return true;
  });
}
