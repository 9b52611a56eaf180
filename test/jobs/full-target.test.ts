/**
 * A target that fills up: each file is reported, stored files are complete, and with free space a retry does the rest.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { CreateBucketCommand, ListMultipartUploadsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { contentOf, MIB } from '../faults/rig.js';
import { type FtpServer, startVsftpd } from '../servers/ftp.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { startSwift, type SwiftServer } from '../servers/swift.js';
import { eventually } from '../support/eventually.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { startTogether } from '../support/together.js';
import { begin, ended, filesOf, history, run } from './support.js';

const FILES = 12;
const BUCKET = 'files';
const DISK_BYTES = 6 * MIB;
/** A store also keeps its databases there. */
const STORE_BYTES = 24 * MIB;
const STORE_FILE_BYTES = 3 * MIB;

describe('a target that fills up', () => {
  let source: TestSshd | undefined;
  let ssh: TestSshd | undefined;
  let ftp: FtpServer | undefined;
  let store: SwiftServer | undefined;
  let client: S3Client | undefined;
  let gateway: TestAccount | undefined;
  const folders: string[] = [];

  before(async () => {
    [source, ssh, ftp, store] = await startTogether([startSshd(), startSshd(), startVsftpd(), startSwift(STORE_BYTES)]);
    const { endpoint, region, accessKeyId, secretAccessKey } = store;
    const credentials = { accessKeyId, secretAccessKey };
    client = new S3Client({ endpoint, region, forcePathStyle: true, credentials: { ...credentials } });
    await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
    folders.push(ssh.files, ftp.folder);
    for (const folder of folders) {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES},mode=0777`, 'tmpfs', folder]);
    }
    const { files } = source;
    mkdirSync(path.join(files, 'small'));
    mkdirSync(path.join(files, 'large'));
    for (let number = 0; number < FILES; number++) {
      await writeFile(path.join(files, 'small', String(number)), contentOf(String(number), MIB));
      await writeFile(path.join(files, 'large', String(number)), contentOf(String(number), STORE_FILE_BYTES));
    }
    const login = ({ port, username, clientKeyFile, files: rootPath }: TestSshd): object => ({
      type: 'sftp',
      host: '127.0.0.1',
      port,
      username,
      privateKeyFile: clientKeyFile,
      rootPath,
    });
    gateway = await openAccount({
      connections: [
        { id: 'source', name: 'Source', ...login(source) },
        { id: 'small-sftp', name: 'Small SFTP', ...login(ssh) },
        {
          id: 'small-ftp',
          name: 'Small FTP',
          type: 'ftp',
          host: '127.0.0.1',
          port: ftp.port,
          username: ftp.username,
          password: ftp.password,
        },
        { id: 'small-s3', name: 'Small S3', type: 's3', endpoint, region, bucket: BUCKET, ...credentials },
      ],
    });
  });

  after(async () => {
    await gateway?.stop();
    for (const folder of folders) execFileSync('umount', ['--lazy', folder]);
    client?.destroy();
    for (const server of [source, ssh, ftp, store]) await server?.stop();
  });

  for (const [index, target] of ['small-sftp', 'small-ftp'].entries()) {
    test(target, async () => {
      const { api } = gateway ?? assert.fail();
      const folder = folders[index] ?? '';
      const order = {
        type: 'copy',
        source: { connectionId: 'source', path: '/small' },
        destination: { connectionId: target, path: '/' },
      };
      const { id } = await begin(api, order);
      const job = await ended(api, id);
      const failed = await filesOf(api, id, 'failed');
      assert.equal(job.state, 'partly_failed', JSON.stringify(job));
      assert.deepEqual(
        [job.counts.found, job.counts.done + job.counts.failed, failed.length],
        [FILES, FILES, job.counts.failed],
      );
      for (const { error } of failed) assert.match(error ?? '', /space|Failure|failure|write/, 'why');
      await eventually(() => readdirSync(folder).length === job.counts.done, 'no hidden file stays');
      for (const name of readdirSync(folder)) {
        const [copy, original] = await Promise.all(
          [folder, path.join(source?.files ?? '', 'small')].map((at) => readFile(path.join(at, name))),
        );
        assert.ok(copy !== undefined && original !== undefined && copy.equals(original), name);
      }
      const items = await history(api, { connection_id: target });
      assert.equal(items.length, FILES, 'one item a file');

      for (const name of readdirSync(folder)) rmSync(path.join(folder, name));
      execFileSync('mount', ['-o', `remount,size=${3 * DISK_BYTES}`, folder]);
      const { json, text } = await api.post(`/api/jobs/${id}/retry`, {});
      const again = await ended(api, (json['job'] as { id: string } | undefined)?.id ?? assert.fail(text));
      assert.deepEqual([again.state, again.counts.done], ['succeeded', failed.length], JSON.stringify(again));
      assert.equal((await run(api, { ...order, type: 'sync' })).state, 'succeeded');
      assert.equal(readdirSync(folder).length, FILES);
    });
  }

  test('small-s3', async () => {
    const { api } = gateway ?? assert.fail();
    assert.ok(store !== undefined && client !== undefined);
    const order = {
      type: 'copy',
      source: { connectionId: 'source', path: '/large' },
      destination: { connectionId: 'small-s3', path: '/' },
    };
    const keys = async (): Promise<string[]> => {
      const { Contents = [] } = (await client?.send(new ListObjectsV2Command({ Bucket: BUCKET }))) ?? {};
      for (const { Size } of Contents) assert.equal(Size, STORE_FILE_BYTES, 'no object is a part of a file');
      return Contents.map(({ Key = '' }) => Key);
    };
    const { id } = await begin(api, order);
    const job = await ended(api, id);
    const failed = await filesOf(api, id, 'failed');
    assert.equal(job.state, 'partly_failed', JSON.stringify(job));
    assert.ok(job.counts.done > 0 && failed.length > 0, JSON.stringify(job));
    assert.deepEqual([job.counts.found, job.counts.done + failed.length], [FILES, FILES]);
    for (const { path: name, error } of failed) {
      assert.match(error ?? '', /the store (?:has no space left|refused).*(?:503|507|Unavailable|Storage)/, name);
    }
    // Without space its listing may show an object later.
    store.resize(3 * STORE_BYTES);
    await eventually(async () => (await keys()).length === job.counts.done, 'what is counted is there');
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }));
    assert.deepEqual(Uploads, []);
    assert.equal((await history(api, { connection_id: 'small-s3' })).length, FILES, 'one item a file');

    const { json, text } = await api.post(`/api/jobs/${id}/retry`, {});
    const again = await ended(api, (json['job'] as { id: string } | undefined)?.id ?? assert.fail(text));
    assert.deepEqual([again.state, again.counts.done], ['succeeded', failed.length], JSON.stringify(again));
    const compared = await run(api, { ...order, type: 'sync', compare: 'digest' });
    assert.deepEqual([compared.state, compared.counts.skipped], ['succeeded', FILES], 'all are whole');
  });
});
