import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { BUCKET, filesIn, filesOnServer, KEY_ID, type Place, SECRET } from './place.js';

const S3CMD = '/usr/bin/s3cmd';
const AT = `s3://${BUCKET}/s3cmd`;

export function s3cmdTests(place: () => Place): void {
  const runAt = (endpoint: string, args: readonly string[]): Promise<string> => {
    const host = endpoint.slice('http://'.length);
    const access = ['--access_key', KEY_ID, '--secret_key', SECRET, '--region', 'us-east-1'];
    return place().run(S3CMD, ['--no-ssl', '--host', host, '--host-bucket', host, ...access, '--no-progress', ...args]);
  };
  const s3cmd = (...args: string[]): Promise<string> => runAt(place().endpoint, args);

  test('put, get, ls, info', async () => {
    const { source, folder } = place();
    await s3cmd('put', path.join(source, 'large.bin'), `${AT}/put/large.bin`);
    const back = path.join(folder, 's3cmd-back');
    await mkdir(back);
    await s3cmd('get', `${AT}/put/large.bin`, path.join(back, 'large.bin'));
    assert.deepEqual((await filesIn(back)).get('large.bin'), (await filesIn(source)).get('large.bin'));
    assert.match(await s3cmd('ls', `${AT}/put/`), /3145728 .*large\.bin/);
    assert.match(await s3cmd('info', `${AT}/put/large.bin`), /File size: 3145728/);
  });

  test('cp and mv', async () => {
    await s3cmd('cp', `${AT}/put/large.bin`, `${AT}/put/copy.bin`);
    await s3cmd('mv', `${AT}/put/copy.bin`, `${AT}/put/moved.bin`);
    const files = await filesOnServer(place(), '/s3cmd/put');
    assert.deepEqual([...files.keys()], ['large.bin', 'moved.bin']);
    assert.deepEqual(files.get('moved.bin'), files.get('large.bin'));
  });

  test('sync sends each file once', async () => {
    const { source } = place();
    await s3cmd('sync', `${source}/`, `${AT}/sync/`);
    assert.deepEqual(await filesOnServer(place(), '/s3cmd/sync'), await filesIn(source));
    assert.doesNotMatch(await s3cmd('sync', `${source}/`, `${AT}/sync/`), /upload: /);
  });

  test('put of a large file, in parts', async () => {
    const { inParts, server } = place();
    await s3cmd('put', inParts, `${AT}/parts.bin`);
    assert.ok((await server.disk.read('/s3cmd/parts.bin')).equals(await readFile(inParts)));
  });

  test('del --recursive', async () => {
    await s3cmd('del', '--recursive', `${AT}/`);
    assert.deepEqual(await place().server.disk.files('/s3cmd'), []);
  });

  test('an endpoint with a path is none for s3cmd: it signs the address without it', async () => {
    await assert.rejects(runAt(place().pathEndpoint, ['ls', `s3://${BUCKET}`]), /SignatureDoesNotMatch/);
  });

  test('setacl is refused: the rights are those of the API key', async () => {
    const { source } = place();
    await s3cmd('put', path.join(source, 'plain.txt'), `${AT}/acl.txt`);
    await assert.rejects(s3cmd('setacl', '--acl-public', `${AT}/acl.txt`), /NotImplemented/);
    await s3cmd('del', `${AT}/acl.txt`);
  });
}
