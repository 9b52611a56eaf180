import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { BUCKET, filesIn, type Place } from './place.js';

const RESTIC = '/usr/bin/restic';

export function resticTests(place: () => Place): void {
  const restic = (...args: string[]): Promise<string> =>
    place().run(
      RESTIC,
      ['--no-cache', '-o', 's3.bucket-lookup=path', '-r', `s3:${place().endpoint}/${BUCKET}/restic`, ...args],
      {
        RESTIC_PASSWORD: 'test',
      },
    );

  test('init, backup, check', async () => {
    await restic('init');
    await restic('backup', place().source);
    assert.match(await restic('check', '--read-data'), /no errors were found/);
    assert.ok((await place().server.disk.files('/restic')).includes('/restic/config'));
  });

  test('restore', async () => {
    const { source, folder } = place();
    const target = path.join(folder, 'restored');
    await restic('restore', 'latest', '--target', target);
    assert.deepEqual(await filesIn(path.join(target, source)), await filesIn(source));
    await rm(target, { recursive: true });
  });

  test('forget --prune removes what only the older snapshot had', async () => {
    const { source, server } = place();
    await restic('backup', path.join(source, 'folder'));
    const before = (await server.disk.files('/restic/data')).length;
    await restic('forget', '--group-by', '', '--keep-last', '1', '--prune');
    assert.equal((await restic('snapshots')).match(/ \/.*source\/folder/g)?.length, 1);
    assert.ok((await server.disk.files('/restic/data')).length <= before);
    assert.match(await restic('check'), /no errors were found/);
    assert.deepEqual(await server.disk.files('/restic/locks'), []);
  });
}
