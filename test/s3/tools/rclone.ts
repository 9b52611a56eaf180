import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { BUCKET, filesIn, filesOnServer, KEY_ID, type Place, SECRET } from './place.js';

const AT = `gateway:${BUCKET}/rclone`;

export function rcloneTests(place: () => Place): void {
  const rclone = (args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> =>
    place().run('rclone', ['--retries', '1', '-v', ...args], {
      RCLONE_CONFIG_GATEWAY_TYPE: 's3',
      RCLONE_CONFIG_GATEWAY_PROVIDER: 'Other',
      RCLONE_CONFIG_GATEWAY_ENDPOINT: place().pathEndpoint,
      RCLONE_CONFIG_GATEWAY_ACCESS_KEY_ID: KEY_ID,
      RCLONE_CONFIG_GATEWAY_SECRET_ACCESS_KEY: SECRET,
      RCLONE_CONFIG_GATEWAY_NO_CHECK_BUCKET: 'true',
      ...more,
    });

  test('copy, lsf, check', async () => {
    const { source } = place();
    await rclone(['copy', source, `${AT}/copy`]);
    assert.deepEqual(await filesOnServer(place(), '/rclone/copy'), await filesIn(source));
    const listed = (await place().run('rclone', ['lsf', source, '-R', '--files-only']))
      .split('\n')
      .filter((line) => !line.includes(' NOTICE: '));
    const remote = (await rclone(['lsf', '-R', '--files-only', `${AT}/copy`]))
      .split('\n')
      .filter((line) => !line.includes(' NOTICE: '));
    assert.deepEqual(remote.sort(), listed.sort());
    const checked = await rclone(['check', source, `${AT}/copy`]);
    assert.match(checked, /0 differences found/);
    // An entity tag is no MD5, so sizes are compared.
    assert.match(checked, /6 hashes could not be checked/);
    assert.match(await rclone(['check', '--download', source, `${AT}/copy`]), /6 matching files/);
  });

  test('sync sends each file once if times count in seconds, and deletes what the source has not', async () => {
    const { source, server } = place();
    const sync = ['sync', '--modify-window', '1s', source, `${AT}/sync`];
    await rclone(sync);
    await rclone(['copyto', path.join(source, 'plain.txt'), `${AT}/sync/extra.txt`]);
    const again = await rclone(sync);
    assert.match(again, /extra\.txt: Deleted/);
    if (server.deviations.keepsTimes !== 'no') assert.doesNotMatch(again, /: Copied/);
    assert.deepEqual(await filesOnServer(place(), '/rclone/sync'), await filesIn(source));
  });

  test('from the server to a folder, and between keys', async () => {
    const { source, folder } = place();
    const back = path.join(folder, 'rclone-back');
    await mkdir(back);
    await rclone(['copy', `${AT}/copy`, back]);
    assert.deepEqual(await filesIn(back), await filesIn(source));
    await rclone(['moveto', `${AT}/sync/plain.txt`, `${AT}/sync/moved.txt`]);
    assert.deepEqual(
      (await filesOnServer(place(), '/rclone/sync')).get('moved.txt'),
      (await filesIn(source)).get('plain.txt'),
    );
  });

  test('a large file, in parts', async () => {
    const { inParts, server } = place();
    await rclone(['copyto', '--s3-upload-cutoff', '5M', '--s3-chunk-size', '5M', inParts, `${AT}/parts.bin`]);
    assert.ok((await server.disk.read('/rclone/parts.bin')).equals(await readFile(inParts)));
  });

  test('mkdir makes nothing: rclone knows no folders on S3', async () => {
    assert.match(await rclone(['mkdir', `${AT}/made`]), /does nothing/);
    assert.doesNotMatch(await rclone(['lsf', AT]), /^made\/$/m);
  });

  test('purge deletes all files', async () => {
    await rclone(['purge', AT]);
    assert.deepEqual(await place().server.disk.files('/rclone'), []);
  });

  test('without no_check_bucket it makes the bucket first, which is refused', async () => {
    const copy = ['copyto', path.join(place().source, 'plain.txt'), `${AT}/plain.txt`];
    await assert.rejects(rclone(copy, { RCLONE_CONFIG_GATEWAY_NO_CHECK_BUCKET: 'false' }), /NotImplemented/);
  });
}
