import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { BUCKET, type Place } from './place.js';

const PYTHON = '/usr/bin/python3';
const CLIENT = `
import boto3, io, os, sys
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
s3 = boto3.client('s3', endpoint_url=sys.argv[1], config=Config(signature_version='s3v4', s3={'addressing_style': 'path'}))
bucket, source, in_parts = sys.argv[2:]
`;

function pythonAt(place: () => Place): (script: string) => Promise<string> {
  return (script) => {
    const { pathEndpoint, source, inParts } = place();
    return place().run(PYTHON, ['-c', CLIENT + script, pathEndpoint, BUCKET, path.join(source, 'large.bin'), inParts]);
  };
}

export function boto3PartsTests(place: () => Place): void {
  const python = pythonAt(place);

  for (const [what, config] of [
    ['its defaults', 'None'],
    ['max_concurrency=10', 'TransferConfig(max_concurrency=10)'],
  ] as const) {
    test(`upload_file of a large file, in parts, with ${what}`, async () => {
      await python(`s3.upload_file(in_parts, bucket, 'boto3/parts.bin', Config=${config})`);
      assert.ok((await place().server.disk.read('/boto3/parts.bin')).equals(await readFile(place().inParts)));
      await python("s3.delete_object(Bucket=bucket, Key='boto3/parts.bin')");
    });
  }
}

export function boto3Tests(place: () => Place): void {
  const python = pythonAt(place);

  test('upload_file and download_file with their defaults', async () => {
    await python(`
s3.upload_file(source, bucket, 'boto3/large.bin')
s3.download_file(bucket, 'boto3/large.bin', 'boto3.bin')
assert open(source, 'rb').read() == open('boto3.bin', 'rb').read()
`);
    assert.equal((await place().server.disk.read('/boto3/large.bin')).length, 3 * 1024 * 1024);
  });

  test('download_file in ranges, side by side', async () => {
    await python(`
config = TransferConfig(multipart_threshold=1024, multipart_chunksize=256 * 1024, max_concurrency=10)
s3.download_file(bucket, 'boto3/large.bin', 'boto3.bin', Config=config)
assert open(source, 'rb').read() == open('boto3.bin', 'rb').read()
`);
  });

  test('paginators of both versions', async () => {
    await python(`
for i in range(7): s3.put_object(Bucket=bucket, Key=f'boto3/many/{i}.txt', Body=b'x')
def keys(name, **more):
    pages = s3.get_paginator(name).paginate(Bucket=bucket, Prefix='boto3/', PaginationConfig={'PageSize': 3}, **more)
    pages = list(pages)
    contents = [o['Key'] for page in pages for o in page.get('Contents', []) if not o['Key'].endswith('/')]
    return contents, [p['Prefix'] for page in pages for p in page.get('CommonPrefixes', [])]
expected = ['boto3/large.bin'] + [f'boto3/many/{i}.txt' for i in range(7)]
for name in ['list_objects', 'list_objects_v2']:
    assert keys(name) == (expected, []), keys(name)
    assert keys(name, Delimiter='/') == (['boto3/large.bin'], ['boto3/many/']), keys(name, Delimiter='/')
`);
  });

  test('a stream, a condition, errors by their names', async () => {
    await python(`
s3.upload_fileobj(io.BytesIO(b'from a stream'), bucket, 'boto3/stream.txt')
answer = s3.get_object(Bucket=bucket, Key='boto3/stream.txt')
assert answer['Body'].read() == b'from a stream'
assert answer['ETag'].endswith('-1"'), answer['ETag']
try:
    s3.get_object(Bucket=bucket, Key='boto3/none')
    assert False
except s3.exceptions.NoSuchKey: pass
try:
    s3.head_bucket(Bucket='another')
    assert False
except s3.exceptions.ClientError as error: assert error.response['ResponseMetadata']['HTTPStatusCode'] == 404
`);
  });

  test('a presigned upload', async () => {
    const link = await python(`
print(s3.generate_presigned_url('put_object', Params={'Bucket': bucket, 'Key': 'boto3/presigned.txt'}, ExpiresIn=60))
`);
    const { status } = await fetch(link.trim(), { method: 'PUT', body: 'without a key' });
    assert.equal(status, 200);
    assert.equal((await place().server.disk.read('/boto3/presigned.txt')).toString(), 'without a key');
  });

  test('delete_objects', async () => {
    await python(`
objects = boto3.resource('s3', endpoint_url=sys.argv[1]).Bucket(bucket).objects.filter(Prefix='boto3/')
failed = [one for answer in objects.delete() for one in answer.get('Errors', [])]
assert failed == [], failed
`);
    assert.deepEqual(await place().server.disk.files('/boto3'), []);
  });
}
