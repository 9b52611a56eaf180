/** A target that fills up: each file is told, what stands there is whole, and with space again a retry brings the rest. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { contentOf, MIB } from '../faults/rig.js';
import { type FtpServer, startVsftpd } from '../servers/ftp.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { eventually } from '../support/eventually.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { startTogether } from '../support/together.js';
import { begin, ended, filesOf, history, run } from './support.js';

const FILES = 12;
const DISK_BYTES = 6 * MIB;

describe('a target that fills up', () => {
  let source: TestSshd | undefined;
  let ssh: TestSshd | undefined;
  let ftp: FtpServer | undefined;
  let gateway: TestGateway | undefined;
  const folders: string[] = [];

  before(async () => {
    [source, ssh, ftp] = await startTogether([startSshd(), startSshd(), startVsftpd()]);
    folders.push(ssh.files, ftp.folder);
    for (const folder of folders) {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES},mode=0777`, 'tmpfs', folder]);
    }
    const { files } = source;
    for (let number = 0; number < FILES; number++) {
      await writeFile(path.join(files, String(number)), contentOf(String(number), MIB));
    }
    const login = ({ port, username, clientKeyFile, files: rootPath }: TestSshd): object => ({
      ...{ type: 'sftp', host: '127.0.0.1', port, username, privateKeyFile: clientKeyFile, rootPath },
    });
    gateway = await startGateway({
      connections: [
        { id: 'source', name: 'Source', ...login(source) },
        { id: 'small-sftp', name: 'Small SFTP', ...login(ssh) },
        {
          ...{ id: 'small-ftp', name: 'Small FTP', type: 'ftp', host: '127.0.0.1', port: ftp.port },
          ...{ username: ftp.username, password: ftp.password },
        },
      ],
    });
  });

  after(async () => {
    await gateway?.stop();
    for (const folder of folders) execFileSync('umount', ['--lazy', folder]);
    for (const server of [source, ssh, ftp]) await server?.stop();
  });

  for (const [index, target] of ['small-sftp', 'small-ftp'].entries()) {
    test(target, async () => {
      const { api } = gateway ?? assert.fail();
      const folder = folders[index] ?? '';
      const order = {
        ...{ type: 'copy', source: { connectionId: 'source', path: '/' } },
        destination: { connectionId: target, path: '/' },
      };
      const { id } = await begin(api, order);
      const job = await ended(api, id, 60_000);
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
          [folder, source?.files ?? ''].map((at) => readFile(path.join(at, name))),
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
});
