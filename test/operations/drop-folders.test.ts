/**
 * Servers that acknowledge a file and do not show it: drop folders that take it away, and logins that may only write.
 */
import assert from 'node:assert/strict';
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { filesOf, run } from '../jobs/support.js';
import { startDropFolder, type DropFolder } from '../servers/drop-folder.js';
import { startProftpd, startVsftpd, type FtpServer } from '../servers/ftp.js';
import { startOddServer, type OddServer } from '../servers/scripted-sftp.js';
import { SFTP_SERVER, startSshd, type TestSshd } from '../servers/sshd.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { type ApiAnswer } from '../support/gateway.js';
import { startTogether } from '../support/together.js';
import { reprDigest, Tus } from '../uploads/support.js';
import { REQUEST } from '../../src/remotes/sftp/wire/wire.js';

const UNSEEN = 'stat,lstat,fstat,read,readdir,opendir';
const CONTENT = 'delivered once';
const MTIME = '2024-02-29T12:34:56.000Z';

type Reason = 'taken_away' | 'may_not_look';

interface Case {
  readonly id: string;
  /** As the history shows it afterwards; undefined: it was looked up before it went. */
  readonly reason: Reason | undefined;
  readonly takesPieces?: boolean;
  /** Forms, whose fields may follow the file, need renames. */
  readonly refusesRenames?: boolean;
  /** A file that the login may not look up could be replaced unnoticed. */
  readonly refusesLinks?: boolean;
  /** The file that was delivered under the name. */
  delivered(name: string): string | undefined;
}

describe('files that are acknowledged and cannot be looked up', { concurrency: 1 }, () => {
  let gateway: TestAccount;
  let ftp: { drop: FtpServer; vsftpd: FtpServer; proftpd: FtpServer };
  let ssh: { unseen: TestSshd; plain: TestSshd };
  let odd: OddServer;
  let drop: DropFolder;
  let web: http.Server;
  const taken = mkdtempSync(join(tmpdir(), 'ftg-taken-'));
  const oddTaken = new Map<string, Buffer>();

  before(async () => {
    const [dropServer, vsftpd, proftpd, unseen, plain] = await startTogether([
      startVsftpd(),
      startVsftpd({ extra: ['cmds_denied=SIZE,MDTM,RETR,LIST,NLST,DELE', 'dirlist_enable=NO', 'download_enable=NO'] }),
      startProftpd({ extra: ['<Limit READ DIRS>', 'DenyAll', '</Limit>'] }),
      startSshd([], `${SFTP_SERVER} -P ${UNSEEN}`),
      startSshd(),
    ]);
    ftp = { drop: dropServer, vsftpd, proftpd };
    ssh = { unseen, plain };
    // An SFTP server other than OpenSSH, which has no FSTAT and takes each file away when it is closed.
    odd = await startOddServer({
      odd: ({ type, fields, status }) => {
        if (type === REQUEST.FSTAT) {
          status(8, 'Unsupported');
          return true;
        }
        if (type !== REQUEST.CLOSE && type !== REQUEST.RENAME) return false;
        const [from, to] = [
          fields.string().toString(),
          type === REQUEST.RENAME ? fields.string().toString() : undefined,
        ];
        const content = odd.files.get(from);
        // A hidden name is an upload under way.
        if (to !== undefined || !from.startsWith('/.')) odd.files.delete(from);
        if (content !== undefined && !(to ?? from).startsWith('/.')) oddTaken.set(to ?? from, content);
        status(content === undefined ? 2 : 0);
        return true;
      },
    });
    drop = await startDropFolder(dropServer, taken);
    web = http.createServer((_request, response) => response.end(CONTENT));
    await new Promise<void>((done) => web.listen(0, '127.0.0.1', done));
    const of = (id: string, server: FtpServer, changes: object = {}): object => ({
      id,
      name: id,
      type: 'ftp',
      host: '127.0.0.1',
      port: server.port,
      username: server.username,
      password: server.password,
      defaultPath: '/',
      ...changes,
    });
    const sftp = (id: string, server: TestSshd, changes: object = {}): object => ({
      id,
      name: id,
      type: 'sftp',
      host: '127.0.0.1',
      port: server.port,
      username: server.username,
      privateKeyFile: server.clientKeyFile,
      defaultPath: server.files,
      ...changes,
    });
    const inPlace = { atomicUploads: false };
    gateway = await openAccount({
      connections: [
        of('ftp-taken', dropServer, { port: drop.port, ...inPlace }),
        of('ftp-taken-renamed', dropServer, { port: drop.port }),
        of('vsftpd', vsftpd, inPlace),
        of('vsftpd-renamed', vsftpd),
        of('proftpd', proftpd, inPlace),
        sftp('sshd', unseen, inPlace),
        sftp('sshd-renamed', unseen),
        {
          id: 'odd',
          name: 'odd',
          type: 'sftp',
          host: '127.0.0.1',
          port: odd.port,
          username: 'odd',
          password: 'x',
          defaultPath: '/',
          ...inPlace,
        },
        sftp('source', plain),
      ],
    });
  });
  after(async () => {
    await gateway?.stop();
    web?.close();
    await Promise.all([
      drop?.stop(),
      odd?.stop(),
      ...Object.values(ftp ?? {}).map((server) => server.stop()),
      ...Object.values(ssh ?? {}).map((server) => server.stop()),
    ]);
    rmSync(taken, { recursive: true });
  });

  const inFolder =
    (folder: () => string) =>
    (name: string): string | undefined => {
      const file = join(folder(), name);
      return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    };
  const cases: readonly Case[] = [
    { id: 'ftp-taken', reason: 'taken_away', delivered: (name) => drop.take(name)?.toString() },
    { id: 'ftp-taken-renamed', reason: undefined, delivered: (name) => drop.take(name)?.toString() },
    { id: 'vsftpd', reason: 'may_not_look', refusesLinks: true, delivered: inFolder(() => ftp.vsftpd.folder) },
    { id: 'vsftpd-renamed', reason: 'may_not_look', refusesLinks: true, delivered: inFolder(() => ftp.vsftpd.folder) },
    { id: 'proftpd', reason: 'may_not_look', refusesRenames: true, delivered: inFolder(() => ftp.proftpd.folder) },
    { id: 'sshd', reason: 'may_not_look', delivered: inFolder(() => ssh.unseen.files) },
    {
      id: 'sshd-renamed',
      reason: 'may_not_look' as const,
      takesPieces: true,
      delivered: inFolder(() => ssh.unseen.files),
    },
    { id: 'odd', reason: 'taken_away', delivered: (name) => oddTaken.get(`/${name}`)?.toString() },
  ];

  const details = async (id: unknown): Promise<Record<string, unknown>> =>
    (await gateway.api.get(`/api/transfers/${String(id)}`)).json['transfer'] as Record<string, unknown>;
  const newest = async (): Promise<Record<string, unknown>> => {
    const { transfers } = (await gateway.api.get('/api/transfers', { query: { limit: '1' } })).json as {
      transfers: { id: string }[];
    };
    return details(transfers[0]?.id);
  };

  /** `isHidden`: it had a hidden name first, under which it was looked up if the login may do that. */
  const requireStored = async (one: Case, answer: ApiAnswer, name: string, isHidden = false): Promise<void> => {
    assert.ok([200, 201].includes(answer.status), `${name}: ${answer.status} ${answer.text}`);
    assert.equal(one.delivered(name), CONTENT, name);
    const { status, verified, verifiedReason, path } = await newest();
    const reason = isHidden && one.reason === 'taken_away' ? undefined : one.reason;
    assert.ok(String(path).endsWith(`/${name}`), String(path));
    assert.deepEqual([status, verified, verifiedReason], ['success', reason === undefined, reason ?? null], name);
  };

  for (const one of cases) {
    const { id } = one;
    const url = `/api/upload/${id}`;
    test(`${id}: every form of an upload, and a write, is stored, and its history says why it was not verified`, async () => {
      const { api } = gateway;
      const raw = (filename: string, query: object = {}, headers: object = {}): Promise<ApiAnswer> =>
        api.send(url, {
          method: 'POST',
          query: { filename, ...query },
          headers: { 'Content-Type': 'application/octet-stream', ...headers },
          body: CONTENT,
        });
      await requireStored(one, await raw('raw.txt'), 'raw.txt');
      await requireStored(one, await raw('dated.txt', { mtime: MTIME }), 'dated.txt');
      await requireStored(one, await raw('read-back.txt', { verify: 'readback' }), 'read-back.txt');
      const digested = await raw('digested.txt', {}, { 'Want-Repr-Digest': 'sha-256=10' });
      assert.equal(digested.headers['repr-digest'], reprDigest(Buffer.from(CONTENT)));
      await requireStored(one, digested, 'digested.txt');
      const transfer = (digested.json['transfer'] as { id: string }).id;
      const receipt = (await api.get(`/api/transfers/${transfer}/receipt`)).text.split('.')[1] ?? '';
      const { verified } = JSON.parse(Buffer.from(receipt, 'base64url').toString()) as { verified: string };
      assert.equal(verified, one.reason === undefined ? 'size' : 'acknowledged');
      const form =
        '--b\r\nContent-Disposition: form-data; name="file"; filename="form.txt"\r\n\r\n' + `${CONTENT}\r\n--b--\r\n`;
      const multipart = { 'Content-Type': 'multipart/form-data; boundary=b' };
      const sent = await api.send(url, { method: 'POST', headers: multipart, body: form });
      if (one.refusesRenames !== true) await requireStored(one, sent, 'form.txt', true);
      else assert.equal(sent.status, 502, sent.text);
      const content = Buffer.from(CONTENT).toString('base64');
      await requireStored(one, await api.post(url, { filename: 'json.txt', content }), 'json.txt');
      const from = `http://127.0.0.1:${(web.address() as AddressInfo).port}/f`;
      await requireStored(one, await api.post(url, { filename: 'url.txt', url: from }), 'url.txt');
      await requireStored(
        one,
        await api.post(`/api/write/${id}`, { path: 'write.txt', content: CONTENT }),
        'write.txt',
      );
    });

    test(`${id}: copies, links and jobs; a job removes no source only because a server acknowledged the copy`, async () => {
      const { api } = gateway;
      const source = (name: string): string => join(ssh.plain.files, name);
      const put = (name: string): void => {
        writeFileSync(source(name), CONTENT);
        chownSync(source(name), process.getuid?.() ?? 0, process.getgid?.() ?? 0);
      };
      put('copied.txt');
      const toFolder = id.startsWith('sshd') ? `${ssh.unseen.files}/` : '/';
      const copy = {
        source_connection_id: 'source',
        source_path: 'copied.txt',
        dest_connection_id: id,
        dest_path: `${toFolder}copied.txt`,
      };
      await requireStored(one, await api.post('/api/copy', copy), 'copied.txt');
      const link = { operation: 'upload', connectionId: id, path: toFolder, expiresAt: new Date(Date.now() + 600_000) };
      const made = (await api.post('/api/links', link)).json['link'] as { url: string };
      const linked = `link-${id}.txt`;
      const at = new URL(made.url, gateway.url).pathname;
      const used = await api.send(at, { method: 'PUT', query: { filename: linked }, key: '', body: CONTENT });
      if (one.refusesLinks !== true) await requireStored(one, used, linked);
      else assert.deepEqual([used.status, one.delivered(linked)], [403, undefined], used.text);
      for (const type of ['copy', 'move']) {
        const folder = join(ssh.plain.files, `${id}-${type}`);
        rmSync(folder, { recursive: true, force: true });
        put(`${type}.txt`);
        const order = {
          type,
          source: { connectionId: 'source', path: ssh.plain.files },
          destination: { connectionId: id, path: toFolder },
          include: [`${type}.txt`],
        };
        const job = await run(api, order);
        assert.equal(one.delivered(`${type}.txt`), CONTENT, `${type} ${JSON.stringify(job)}`);
        const isKept = type === 'move' && one.reason !== undefined;
        assert.equal(job.state, isKept ? 'failed' : 'succeeded', JSON.stringify(job));
        assert.equal(existsSync(source(`${type}.txt`)), type === 'copy' || isKept, `${type}: the source`);
        if (!isKept) continue;
        const [file] = await filesOf(api, job.id);
        assert.match(String(file?.error), /was delivered.*was kept/);
        assert.equal((await newest())['errorCode'], 'copy_unverified');
      }
    });
  }

  for (const one of cases.filter(({ takesPieces }) => takesPieces)) {
    test(`${one.id}: a resumable upload is published`, async () => {
      const tus = new Tus(gateway.api, one.id);
      const at = await tus.begin({ filename: 'pieces.txt', mtime: MTIME }, CONTENT.length);
      const first = await tus.patch(at, 0, Buffer.from(CONTENT.slice(0, 5)));
      assert.equal(first.status, 204, first.text);
      const last = await tus.patch(at, 5, Buffer.from(CONTENT.slice(5)));
      assert.equal(last.status, 204, last.text);
      assert.equal(one.delivered('pieces.txt'), CONTENT);
      const { verified, verifiedReason } = await newest();
      assert.deepEqual([verified, verifiedReason], [false, 'may_not_look']);
    });
  }

  test('an append to a file that is taken away meanwhile counts, and a file that may not be looked up is not appended to', async () => {
    writeFileSync(join(ftp.drop.folder, 'log.txt'), 'old ');
    chownSync(join(ftp.drop.folder, 'log.txt'), 1, 1);
    const answer = await gateway.api.post('/api/append/ftp-taken', { path: '/log.txt', content: 'new' });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(drop.take('log.txt')?.toString(), 'old new');
    const { verified, verifiedReason } = await newest();
    assert.deepEqual([verified, verifiedReason], [false, 'taken_away']);
    const refused = await gateway.api.post('/api/append/vsftpd', { path: '/raw.txt', content: 'new' });
    assert.equal(refused.status, 403, refused.text);
  });

  test('a folder is made, and a file moved, if they may not be looked up afterwards', async () => {
    const { api } = gateway;
    const made = await api.post('/api/mkdir/vsftpd', { path: '/made' });
    assert.deepEqual([made.status, existsSync(join(ftp.vsftpd.folder, 'made'))], [200, true], made.text);
    writeFileSync(join(ftp.drop.folder, '.from'), CONTENT);
    chownSync(join(ftp.drop.folder, '.from'), 1, 1);
    const moved = await api.post('/api/move/ftp-taken', { from: '/.from', to: '/to.txt' });
    assert.equal(moved.status, 200, moved.text);
    assert.equal(drop.take('to.txt')?.toString(), CONTENT);
  });
});
