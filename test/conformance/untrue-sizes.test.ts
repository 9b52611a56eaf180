/** Files with another size than their server reports, over HTTP: real ones with 0 bytes, scripted ones with any. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { appendFile, chmod, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { history, run } from '../jobs/support.js';
import { OPENSSH, type TestServer } from '../servers/catalogue.js';
import { startVsftpd, type FtpServer } from '../servers/ftp.js';
import { startMisreportingFtp, startMisreportingSftp, type Misreporting } from '../servers/misreporting.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { KEY } from '../support/gateway.js';
import { held } from '../support/reliability.js';

const PROC = '/proc/version';
const MACHINES = ['sshd', 'vsftpd'] as const;
const SCRIPTED = ['sftp', 'ftp'] as const;
/** Reported and true: short, of unknown length from the first bytes on, and detected after the head of an answer. */
const [SHORT, LONG, LATE] = [
  [2_000, 2_340],
  [0, 300_000],
  [200_000, 234_000],
] as const;

describe('files that are longer than their server reports', () => {
  let sshd: TestServer;
  let vsftpd: FtpServer;
  let scripted: Readonly<Record<(typeof SCRIPTED)[number], Misreporting>>;
  let gateway: TestAccount;
  let version: Buffer;
  let root: string;
  let place: string;

  before(async () => {
    const openssh = OPENSSH.find(({ name }) => name.includes('whole machine')) ?? assert.fail();
    place = await mkdtemp(path.join(tmpdir(), 'ftg-untrue-'));
    await chmod(place, 0o755);
    [sshd, vsftpd, version] = await Promise.all([
      openssh.start(),
      // Without TLS it asks the kernel to send as many bytes as it reports, and of these files sends none.
      startVsftpd({ tls: 'explicit', extra: ['chroot_local_user=NO'] }),
      readFile(PROC),
    ]);
    scripted = { sftp: await startMisreportingSftp(), ftp: await startMisreportingFtp('SIZE') };
    root = sshd.base ?? assert.fail();
    const { port, username, password } = vsftpd;
    gateway = await openAccount({
      connections: [
        { id: 'sshd', name: 'sshd', ...sshd.connection },
        {
          id: 'vsftpd',
          name: 'vsftpd',
          type: 'ftp',
          host: '127.0.0.1',
          port,
          username,
          password,
          tls: 'explicit',
          tlsVerify: false,
        },
        { id: 'target', name: 'target', ...sshd.connection, rootPath: root },
        ...SCRIPTED.map((id) => ({ id, name: id, ...scripted[id].connection })),
      ],
    });
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all([sshd?.stop(), vsftpd?.stop(), ...Object.values(scripted ?? {}).map((one) => one.stop())]);
    await rm(place, { recursive: true, force: true });
  });

  const stored = (file: string): Promise<Buffer> => sshd.disk.read(`${root}${file}`);
  const get = (way: string, id: string, query: Record<string, string>, headers: Record<string, string> = {}) =>
    gateway.api.get(`/api/${way}/${id}`, { query, headers });
  async function unzipped(archive: Buffer, name: string): Promise<Buffer> {
    const file = path.join(place, 'archive.zip');
    await writeFile(file, archive);
    const { stdout } = await promisify(execFile)('unzip', ['-p', file, name], { encoding: 'buffer' });
    return stdout;
  }

  for (const id of MACHINES) {
    test(`${id}: ${PROC} reports 0 bytes, and is read completely in every way`, async () => {
      const exists = await get('exists', id, { path: PROC });
      assert.equal((exists.json['file'] as { size: number }).size, 0, 'the server reports it');
      const query = { path: PROC };
      const file = await get('download', id, query);
      assert.deepEqual([file.status, file.bytes], [200, version], file.text);
      assert.equal(file.headers['content-length'], String(version.length));
      const head = await gateway.api.send(`/api/download/${id}`, { method: 'HEAD', query });
      assert.deepEqual([head.status, head.headers['content-length']], [200, String(version.length)]);
      const range = await get('download', id, query, { range: 'bytes=0-9' });
      assert.deepEqual([range.status, range.bytes], [200, version], 'its length is not known: all of it');
      const json = await get('download', id, { ...query, format: 'json' });
      assert.equal(json.json['size'], version.length);
      assert.deepEqual(Buffer.from(String(json.json['content']), 'base64'), version);
      const read = await get('read', id, query);
      assert.deepEqual([read.json['content'], read.json['size']], [version.toString(), version.length]);
      const zip = await get('download', id, { ...query, format: 'zip' });
      assert.deepEqual(await unzipped(zip.bytes, 'version'), version);
      const [last] = (await history(gateway.api, { connection_id: id, type: 'download' })).filter(
        (item) => item.filename === 'version',
      );
      assert.deepEqual([last?.status, last?.fileSize], ['success', version.length]);
      held({
        area: 'Faults',
        what: `${id}: a file that reports 0 bytes and has some`,
        done: `${PROC} downloaded, as JSON, as an archive, by range; read; copied by a request and by a job`,
        held: 'all bytes come each way, and are what the history and the digest speak of',
        tries: 7,
      });
    });

    test(`${id}: ${PROC} is copied completely`, async () => {
      const copied = await gateway.api.post(
        '/api/copy',
        { source_connection_id: id, source_path: PROC, dest_connection_id: 'target', dest_path: `/copied-${id}` },
        { headers: { 'want-repr-digest': 'sha-256=10' } },
      );
      assert.deepEqual([copied.status, copied.json['fileSize']], [200, version.length], copied.text);
      assert.deepEqual(await stored(`/copied-${id}`), version);
      const digest = createHash('sha256').update(version).digest('base64');
      assert.equal(copied.headers['repr-digest'], `sha-256=:${digest}:`);
      const job = await run(gateway.api, {
        type: 'copy',
        source: { connectionId: id, path: PROC },
        destination: { connectionId: 'target', path: `/job-${id}` },
      });
      assert.equal(job.state, 'succeeded', JSON.stringify(job));
      assert.deepEqual(await stored(`/job-${id}/version`).catch(() => stored(`/job-${id}`)), version);
    });
  }

  for (const id of SCRIPTED) {
    const lay = (name: string, [reported, size]: readonly [number, number]): Buffer => {
      const content = randomBytes(size);
      scripted[id].put(`/in/${name}`, content, reported);
      return content;
    };

    test(`${id}: a file that is detected before the answer begins is sent completely`, async () => {
      for (const sizes of [SHORT, LONG]) {
        const content = lay('early', sizes);
        const query = { path: '/in/early' };
        const file = await get('download', id, query);
        assert.equal(file.status, 200);
        assert.ok(file.bytes.equals(content), `${file.bytes.length} bytes`);
        const announced = file.headers['content-length'];
        assert.ok(announced === undefined || announced === String(content.length), announced);
        const json = await get('download', id, { ...query, format: 'json' });
        assert.equal(json.json['size'], content.length);
        assert.ok(Buffer.from(String(json.json['content']), 'base64').equals(content));
        const read = await get('read', id, { ...query, encoding: 'base64' });
        assert.ok(Buffer.from(String(read.json['content']), 'base64').equals(content));
        const behind = await get('download', id, query, { range: `bytes=${sizes[0]}-` });
        assert.ok(behind.status === 200 && behind.bytes.equals(content), String(behind.status));
      }
    });

    test(`${id}: a file that is detected later cuts the connection, and is a failure in the history`, async () => {
      lay('late', LATE);
      const query = { path: '/in/late' };
      await assert.rejects(get('download', id, query));
      await assert.rejects(get('download', id, { ...query, format: 'json' }));
      const items = (await history(gateway.api, { connection_id: id })).filter(({ filename }) => filename === 'late');
      assert.equal(items.length, 2);
      for (const { id: item, status } of items) {
        assert.equal(status, 'failed');
        const { json } = await gateway.api.get(`/api/transfers/${item}`);
        assert.match(JSON.stringify(json), /size_mismatch|more bytes than/);
      }
      held({
        area: 'Faults',
        what: `${id === 'sftp' ? 'SFTP' : 'FTP'}: a file has more bytes than its server reports`,
        done: '2,340 bytes reported as 2,000, 300,000 as 0, and 234,000 as 200,000; downloaded, read, archived, copied and moved',
        held: 'all bytes come, or the connection is cut and the history says size_mismatch; no source is deleted without them',
        tries: 3,
      });
    });

    test(`${id}: archives, copies and moves have all of it`, async () => {
      const contents = new Map([SHORT, LONG, LATE].map((sizes, at) => [`whole-${at}`, lay(`whole-${at}`, sizes)]));
      for (const [name, content] of contents) {
        const zip = await get('download', id, { path: `/in/${name}`, format: 'zip' });
        assert.ok((await unzipped(zip.bytes, name)).equals(content), `${name} in an archive`);
        const copied = await gateway.api.post('/api/copy', {
          source_connection_id: id,
          source_path: `/in/${name}`,
          dest_connection_id: 'target',
          dest_path: `/${id}/${name}`,
        });
        assert.deepEqual([copied.status, copied.json['fileSize']], [200, content.length], copied.text);
        assert.ok((await stored(`/${id}/${name}`)).equals(content), `${name} copied`);
      }
      const job = await run(gateway.api, {
        type: 'move',
        source: { connectionId: id, path: '/in' },
        destination: { connectionId: 'target', path: `/moved-${id}` },
        include: ['whole-*'],
      });
      assert.equal(job.counts.done, contents.size, JSON.stringify(job));
      for (const [name, content] of contents) {
        assert.ok((await stored(`/moved-${id}/${name}`)).equals(content), `${name} moved`);
        assert.equal(scripted[id].files.has(`/in/${name}`), false, 'the source is gone after all of it was copied');
      }
    });
  }

  for (const id of MACHINES) {
    test(`${id}: a file that grows while it is downloaded is sent as it was when it was opened`, async () => {
      const content = randomBytes(24_000_000);
      const file = path.join(place, `grows-${id}`);
      await writeFile(file, content);
      const longAgo = new Date('2026-01-02T03:04:05Z');
      await utimes(file, longAgo, longAgo);
      const answer = await fetch(`${gateway.url}/api/download/${id}?path=${file}`, {
        headers: { authorization: `Bearer ${gateway.keyOf(KEY)}` },
      });
      assert.equal(answer.headers.get('content-length'), String(content.length));
      await appendFile(file, 'one more line');
      assert.ok(Buffer.from(await answer.arrayBuffer()).equals(content));
    });
  }
});
