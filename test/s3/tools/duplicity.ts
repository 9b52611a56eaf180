import assert from 'node:assert/strict';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { BUCKET, filesIn, type Place } from './place.js';

const DUPLICITY = '/usr/bin/duplicity';
const AT = `boto3+s3://${BUCKET}/duplicity`;

export function duplicityTests(place: () => Place): void {
  const duplicity = (...args: string[]): Promise<string> =>
    place().run(DUPLICITY, [...args, '--s3-endpoint-url', place().pathEndpoint, '--volsize', '1'], {
      PASSPHRASE: 'test',
    });

  test('a full backup in volumes, and its verification', async () => {
    await duplicity('full', place().source, AT);
    const volumes = (await place().server.disk.files('/duplicity')).filter((file) => file.includes('.difftar.'));
    assert.ok(volumes.length > 1, volumes.join());
    assert.match(await duplicity('verify', AT, place().source), /0 differences found/);
  });

  test('an incremental backup, restored with an empty cache', async () => {
    const { source, folder } = place();
    await appendFile(path.join(source, 'plain.txt'), 'more');
    await duplicity('incremental', source, AT);
    const target = path.join(folder, 'duplicity-restored');
    await duplicity('restore', '--archive-dir', path.join(folder, 'another-cache'), AT, target);
    assert.deepEqual(await filesIn(target), await filesIn(source));
  });
}
