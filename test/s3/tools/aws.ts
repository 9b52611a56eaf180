import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { BUCKET, filesIn, filesOnServer, type Place } from './place.js';

const AWS = '/usr/bin/aws';
const AT = `s3://${BUCKET}/aws`;

/** Runs the tool with these arguments. */
type Aws = (...args: readonly string[]) => Promise<string>;

export function awsTests(place: () => Place): void {
  const aws = awsOn(place);
  fileTests(place, aws);
  requestTests(place, aws);
  removalTests(place, aws);
}

/** Only what moves files, for requests of s3api are answered in the same way in front of every server. */
export function awsFileTests(place: () => Place): void {
  const aws = awsOn(place);
  fileTests(place, aws);
  removalTests(place, aws);
}

function awsOn(place: () => Place): Aws {
  return (...args) => place().run(AWS, ['--endpoint-url', place().pathEndpoint, ...args]);
}

function fileTests(place: () => Place, aws: Aws): void {
  const s3: Aws = (...args) => aws('s3', ...args);

  test('s3 ls: the connection is a bucket', async () => {
    assert.match(await s3('ls'), new RegExp(` ${BUCKET}\n`));
  });

  test('s3 cp, there and back', async () => {
    const { source, folder, server } = place();
    for (const name of ['plain.txt', 'large.bin']) {
      await s3('cp', path.join(source, name), `${AT}/cp/${name}`);
      const back = path.join(folder, 'aws-back', name);
      await s3('cp', `${AT}/cp/${name}`, back);
      assert.ok(
        (await server.disk.read(`/aws/cp/${name}`)).equals(
          (await filesIn(path.dirname(back))).get(name) ?? Buffer.of(0),
        ),
      );
    }
    assert.match(await s3('ls', `${AT}/cp/`), / 1000 plain\.txt/);
  });

  test('s3 cp between keys, s3 mv', async () => {
    const { server } = place();
    await s3('cp', `${AT}/cp/plain.txt`, `${AT}/cp/copy.txt`);
    await s3('mv', `${AT}/cp/copy.txt`, `${AT}/cp/moved.txt`);
    assert.deepEqual((await filesOnServer(place(), '/aws/cp')).has('copy.txt'), false);
    assert.deepEqual(await server.disk.read('/aws/cp/moved.txt'), await server.disk.read('/aws/cp/plain.txt'));
  });

  test('s3 sync sends each file once, and deletes what the source has not', async () => {
    const { source, folder } = place();
    assert.equal((await s3('sync', source, `${AT}/sync`, '--no-progress')).match(/^upload: /gm)?.length, 6);
    assert.deepEqual(await filesOnServer(place(), '/aws/sync'), await filesIn(source));
    assert.equal(await s3('sync', source, `${AT}/sync`, '--no-progress'), '');
    await s3('cp', path.join(source, 'plain.txt'), `${AT}/sync/extra.txt`);
    assert.match(await s3('sync', source, `${AT}/sync`, '--delete', '--no-progress'), /^delete: .*extra\.txt/);
    const back = path.join(folder, 'aws-sync');
    await s3('sync', `${AT}/sync`, back);
    assert.deepEqual(await filesIn(back), await filesIn(source));
    await rm(back, { recursive: true });
  });

  test('s3 cp of a large file, in parts', async () => {
    const { inParts, folder, server } = place();
    await s3('cp', inParts, `${AT}/parts.bin`, '--no-progress');
    assert.ok((await server.disk.read('/aws/parts.bin')).equals(await readFile(inParts)));
    const back = path.join(folder, 'aws-parts.bin');
    await s3('cp', `${AT}/parts.bin`, back, '--no-progress');
    assert.ok((await readFile(back)).equals(await readFile(inParts)));
  });

  test('s3 cp between keys, in parts: tags of the source are asked for', async () => {
    const { server } = place();
    await s3('cp', `${AT}/parts.bin`, `${AT}/parts-copy.bin`, '--no-progress');
    assert.ok((await server.disk.read('/aws/parts-copy.bin')).equals(await server.disk.read('/aws/parts.bin')));
  });
}

function requestTests(place: () => Place, aws: Aws): void {
  const s3: Aws = (...args) => aws('s3', ...args);

  test('s3api: attributes of an object', async () => {
    const at = ['--bucket', BUCKET, '--key', 'aws/parts.bin'];
    const attributes = ['--object-attributes', 'ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize'];
    assert.match(await aws('s3api', 'get-object-attributes', ...at, ...attributes), /"ObjectSize": 33554439/);
  });

  test('s3api: settings that were never made', async () => {
    const bucket = ['--bucket', BUCKET];
    assert.equal(await aws('s3api', 'get-bucket-versioning', ...bucket), '');
    assert.match(await aws('s3api', 'get-bucket-acl', ...bucket), /"Permission": "FULL_CONTROL"/);
    assert.match(await aws('s3api', 'get-object-tagging', ...bucket, '--key', 'aws/parts.bin'), /"TagSet": \[\]/);
    await assert.rejects(aws('s3api', 'get-bucket-policy', ...bucket), /NoSuchBucketPolicy/);
  });

  test('s3api: an upload in parts is listed, and leaves nothing once it is aborted', async () => {
    const at = ['--bucket', BUCKET, '--key', 'aws/aborted.bin'];
    const created = await aws('s3api', 'create-multipart-upload', ...at, '--query', 'UploadId', '--output', 'text');
    const upload = ['--upload-id', created.trim()];
    const body = path.join(place().source, 'large.bin');
    await aws('s3api', 'upload-part', ...at, ...upload, '--part-number', '1', '--body', body);
    assert.match(await aws('s3api', 'list-parts', ...at, ...upload), /"Size": 3145728/);
    assert.ok((await aws('s3api', 'list-multipart-uploads', '--bucket', BUCKET)).includes(created.trim()));
    await aws('s3api', 'abort-multipart-upload', ...at, ...upload);
    await assert.rejects(aws('s3api', 'list-parts', ...at, ...upload), /NoSuchUpload/);
    assert.ok((await place().server.disk.files('/aws')).every((file) => !file.includes('aborted')));
  });

  test('s3 presign: the link needs no key', async () => {
    const link = (await s3('presign', `${AT}/cp/plain.txt`)).trim();
    const answer = await fetch(link);
    assert.equal(answer.status, 200);
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), await place().server.disk.read('/aws/cp/plain.txt'));
    assert.equal((await fetch(link.replace('plain.txt', 'moved.txt'))).status, 403);
  });

  test('s3api: a range, and a key that is not there', async () => {
    const { folder, server } = place();
    const file = path.join(folder, 'aws-range');
    await aws('s3api', 'get-object', '--bucket', BUCKET, '--key', 'aws/cp/plain.txt', '--range', 'bytes=10-19', file);
    assert.deepEqual(
      (await filesIn(folder)).get('aws-range'),
      (await server.disk.read('/aws/cp/plain.txt')).subarray(10, 20),
    );
    await assert.rejects(aws('s3api', 'head-object', '--bucket', BUCKET, '--key', 'aws/none'), /404/);
  });

  test('s3 mb and s3 rb are refused: connections are made and deleted by the API', async () => {
    await assert.rejects(s3('mb', 's3://another'), /NotImplemented/);
    await assert.rejects(s3('rb', `s3://${BUCKET}`), /NotImplemented/);
  });
}

function removalTests(place: () => Place, aws: Aws): void {
  const s3: Aws = (...args) => aws('s3', ...args);

  test('s3 rm', async () => {
    await s3('rm', `${AT}/cp/moved.txt`);
    assert.equal((await filesOnServer(place(), '/aws/cp')).has('moved.txt'), false);
    await s3('rm', '--recursive', AT);
    assert.deepEqual(await place().server.disk.files('/aws'), []);
  });
}
