import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rename, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { BUCKET, filesIn, filesOnServer, KEY_ID, type Place, SECRET } from './place.js';

const S3FS = '/usr/bin/s3fs';

export function s3fsTests(place: () => Place): void {
  let mount = '';

  before(async () => {
    const { folder, endpoint } = place();
    const passwords = path.join(folder, 'passwd-s3fs');
    await writeFile(passwords, `${KEY_ID}:${SECRET}\n`, { mode: 0o600 });
    mount = path.join(folder, 'mount');
    await mkdir(mount);
    // It returns once the folder is mounted.
    const options = `url=${endpoint},use_path_request_style,passwd_file=${passwords},endpoint=us-east-1`;
    await place().run(S3FS, [BUCKET, mount, '-o', options]);
  });
  after(() => {
    execFileSync('/usr/bin/fusermount', ['-u', '-z', mount]);
  });

  test('folders and files: made, listed, read', async () => {
    await mkdir(path.join(mount, 's3fs'));
    await cp(place().source, path.join(mount, 's3fs/tree'), { recursive: true });
    assert.deepEqual(await filesOnServer(place(), '/s3fs/tree'), await filesIn(place().source));
    assert.deepEqual(await filesIn(path.join(mount, 's3fs/tree')), await filesIn(place().source));
  });

  test('a large file, in parts', async () => {
    const { inParts, server } = place();
    await cp(inParts, path.join(mount, 's3fs/parts.bin'));
    assert.ok((await server.disk.read('/s3fs/parts.bin')).equals(await readFile(inParts)));
    await rm(path.join(mount, 's3fs/parts.bin'));
  });

  test('a file is appended to, changed inside and renamed', async () => {
    const file = path.join(mount, 's3fs/notes.txt');
    await writeFile(file, 'first');
    await writeFile(file, ' second', { flag: 'a' });
    await writeFile(file, 'F', { flag: 'r+' });
    assert.equal((await readFile(file)).toString(), 'First second');
    await rename(file, path.join(mount, 's3fs/renamed.txt'));
    assert.equal((await place().server.disk.read('/s3fs/renamed.txt')).toString(), 'First second');
  });

  test('the time of a file that is there is set by a copy onto itself', async () => {
    const file = path.join(mount, 's3fs/renamed.txt');
    await utimes(file, 1_000_000_000, 1_000_000_000);
    assert.equal((await place().server.disk.modifiedAt('/s3fs/renamed.txt')).getTime(), 1_000_000_000_000);
    assert.deepEqual([(await stat(file)).size, (await stat(file)).mtimeMs], [12, 1_000_000_000_000]);
  });

  test('files and folders are removed', async () => {
    await rm(path.join(mount, 's3fs/tree'), { recursive: true });
    await rm(path.join(mount, 's3fs/renamed.txt'));
    await rmdir(path.join(mount, 's3fs'));
    assert.ok(!(await readdir(mount)).includes('s3fs'));
    assert.deepEqual(await place().server.disk.files('/s3fs'), []);
  });
}
