/**
 * Links that lead back up, and out of the tree, on FTP servers that show them and on one that hides them: lists,
 * archives and copies end soon, and a deletion removes the links and nothing of their targets.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type FtpServer, startProftpd, startPureFtpd, startVsftpd } from '../servers/ftp.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { startTogether } from '../support/together.js';
import { filesOf, run } from './support.js';

/** For a tree of three files; each loop once and a second time, at most. */
const MOST_ENTRIES = 1_000;
const hiding = (...extra: string[]): Promise<FtpServer> => startProftpd({ extra: ['ShowSymlinks off', ...extra] });

const SERVERS: readonly (readonly [string, boolean, () => Promise<FtpServer>])[] = [
  ['vsftpd', true, () => startVsftpd()],
  ['Pure-FTPd', true, () => startPureFtpd()],
  ['ProFTPD', true, () => startProftpd()],
  ['ProFTPD that hides links, by MLSD', true, () => hiding()],
  ['ProFTPD that hides links, by LIST', false, () => hiding('FactsAdvertise off')],
];

for (const [name, tellsLinks, start] of SERVERS) {
  describe(`links on ${name}`, { timeout: 900_000 }, () => {
    let server: FtpServer;
    let target: TestSshd;
    let gateway: TestAccount;

    before(async () => {
      [server, target] = await startTogether([start(), startSshd()]);
      const { port, username, password } = server;
      const { clientKeyFile: privateKeyFile, files: rootPath } = target;
      gateway = await openAccount({
        connections: [
          { id: 'ftp', name: 'FTP', type: 'ftp', host: '127.0.0.1', port, username, password },
          {
            id: 'to',
            name: 'To',
            type: 'sftp',
            host: '127.0.0.1',
            port: target.port,
            username: target.username,
            privateKeyFile,
            rootPath,
          },
        ],
      });
      plant('tree');
    });
    after(async () => {
      await gateway?.stop();
      await Promise.all([server?.stop(), target?.stop()]);
    });

    function plant(root: string): void {
      const { folder } = server;
      mkdirSync(path.join(folder, root, 'sub/deep'), { recursive: true });
      mkdirSync(path.join(folder, 'outside/inner'), { recursive: true });
      for (const file of [`${root}/a.txt`, `${root}/sub/b.txt`, `${root}/sub/deep/c.txt`]) {
        writeFileSync(path.join(folder, file), file);
      }
      for (const file of ['outside/keep.txt', 'outside/inner/keep.txt']) writeFileSync(path.join(folder, file), 'kept');
      for (const [link, leadsTo] of [
        ['here', '.'],
        ['sub/up', '..'],
        ['sub/deep/top', `../../../${root}`],
        ['sub/deep/up', '..'],
        ['out', '../outside'],
      ] as const) {
        symlinkSync(leadsTo, path.join(folder, root, link));
      }
      execFileSync('chown', ['-R', '-h', '--reference', folder, path.join(folder, root), path.join(folder, 'outside')]);
    }

    const isOutsideWhole = (): void => {
      const found = readdirSync(path.join(server.folder, 'outside'), { recursive: true }).map(String);
      assert.deepEqual(found.toSorted(), ['inner', 'inner/keep.txt', 'keep.txt']);
    };

    test('lists and archives of the tree come to an end', async () => {
      const headers = { Accept: 'application/x-ndjson' };
      const query = { path: '/tree', recursive: 'true' };
      const listed = await gateway.api.get('/api/list/ftp', { query, headers });
      assert.equal(listed.status, 200, listed.text.slice(0, 500));
      const lines = listed.text.trim().split('\n');
      if (tellsLinks) assert.equal(lines.length, 10, listed.text);
      assert.ok(lines.length < MOST_ENTRIES, `${lines.length} lines`);
      const page = await gateway.api.get('/api/list/ftp', { query: { ...query, limit: '10000' } });
      assert.equal((page.json['files'] as object[]).length, lines.length);
      const archive = await gateway.api.get('/api/download/ftp', { query: { path: '/tree', format: 'zip' } });
      assert.equal(archive.status, 200);
      for (const file of ['tree/a.txt', 'tree/sub/b.txt', 'tree/sub/deep/c.txt'])
        assert.ok(archive.text.includes(file));
    });

    test('a copy has each file, and reports the links', async () => {
      const job = await run(gateway.api, {
        type: 'copy',
        source: { connectionId: 'ftp', path: '/tree' },
        destination: { connectionId: 'to', path: '/copied' },
      });
      for (const file of ['a.txt', 'sub/b.txt', 'sub/deep/c.txt']) {
        assert.ok(existsSync(path.join(target.files, 'copied', file)), file);
      }
      assert.ok(job.counts.found < MOST_ENTRIES, JSON.stringify(job));
      if (tellsLinks) {
        assert.deepEqual([job.state, job.counts.done, job.counts.skipped], ['succeeded', 3, 5], JSON.stringify(job));
      } else {
        const failed = await filesOf(gateway.api, job.id, 'failed');
        assert.equal(job.state, 'partly_failed');
        for (const { error } of failed) assert.match(error ?? '', /a link seems to lead back|does not exist/);
      }
    });

    test('a job that deletes the tree removes its links, and keeps their targets', async () => {
      const job = await run(gateway.api, { type: 'delete', source: { connectionId: 'ftp', path: '/tree' } });
      // ProFTPD's LIST leaves out some of the links that it hides: a hidden entry is kept, and its folder with it.
      if (tellsLinks) assert.deepEqual([job.state, job.counts.deleted], ['succeeded', 8], JSON.stringify(job));
      assert.equal(existsSync(path.join(server.folder, 'tree')), !tellsLinks);
      if (!tellsLinks)
        assert.ok(!readdirSync(path.join(server.folder, 'tree')).includes('out'), 'a link that is shown');
      isOutsideWhole();
    });

    test('so does a request that deletes it', async () => {
      plant('again');
      const { status, text } = await gateway.api.post('/api/delete/ftp', { path: '/again', recursive: true });
      if (tellsLinks) assert.equal(status, 200, text);
      assert.equal(existsSync(path.join(server.folder, 'again')), !tellsLinks);
      isOutsideWhole();
    });
  });
}
