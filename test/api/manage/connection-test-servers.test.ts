/** "Test connection" against real FTP servers with TLS and a real object store. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { TestReport } from '../../../src/api/connections/test-report.js';
import { startVsftpd, type FtpServer } from '../../servers/ftp.js';
import { startRclone } from '../../servers/rclone.js';
import { SFTP_SERVER, startSshd } from '../../servers/sshd.js';
import { shareSwift } from '../../servers/swift.js';
import type { Browser } from '../../support/gateway.js';
import { expectError, type ManagedGateway, startManaged } from './support.js';
import { startTogether } from '../../support/together.js';

let gateway: ManagedGateway;
let ops: Browser;
let ftps: FtpServer;

before(async () => {
  [gateway, ftps] = await startTogether([startManaged(), startVsftpd({ tls: 'explicit' })]);
  ops = await gateway.browser();
});
after(() => Promise.all([gateway.stop(), ftps.stop()]));

async function tried(connection: object, probe = true): Promise<TestReport> {
  const answer = await ops.post('/manage/test-connection', { connection, probe });
  assert.equal(answer.status, 200, answer.text);
  return answer.json as unknown as TestReport;
}

const failed = (report: TestReport) => report.steps.find(({ status }) => status === 'failed');
const ftp = (changes: object = {}): object => {
  const { port, username, password, ca } = ftps;
  return {
    name: 'F',
    type: 'ftp',
    host: 'localhost',
    port,
    username,
    password,
    tls: 'explicit',
    tlsCa: ca,
    ...changes,
  };
};

test('FTP over TLS: the certificate is shown, the card lists the abilities of the server, nothing is left', async () => {
  const report = await tried(ftp());
  assert.ok(report.isOk, JSON.stringify(report.steps));
  assert.deepEqual(
    report.steps.map(({ name }) => name),
    ['resolve', 'connect', 'certificate', 'login', 'list', 'write', 'rename', 'delete'],
  );
  assert.match(report.certificate?.protocol ?? '', /^TLSv1\.[23]$/);
  assert.ok(Date.parse(String(report.certificate?.validTo)) > Date.now());
  assert.match(String(report.card?.['software']), /vsFTPd/);
  assert.equal(report.card?.['protocol'], 'FTP over TLS');
  assert.deepEqual(
    readdirSync(ftps.folder, { recursive: true }).filter((name) => String(name).includes('ftg-')),
    [],
  );
});

test('FTP over TLS: an unknown authority and a wrong user fail at their own steps', async () => {
  const untrusted = await tried(ftp({ tlsCa: null }));
  assert.deepEqual([failed(untrusted)?.name, failed(untrusted)?.code], ['certificate', 'certificate_rejected']);
  assert.match(failed(untrusted)?.advice ?? '', /tlsCa/);
  const stranger = await tried(ftp({ username: 'nobody-here' }));
  assert.deepEqual([failed(stranger)?.name, failed(stranger)?.code], ['login', 'login_refused']);
  const lost = await tried(ftp({ defaultPath: '/not-there' }));
  assert.deepEqual([failed(lost)?.name, failed(lost)?.code], ['list', 'not_found']);
});

test('an object store: the first answer is the login, and a wrong secret fails there', async () => {
  const swift = await shareSwift();
  const bucket = `tried-${randomUUID()}`;
  try {
    const { endpoint, region, accessKeyId, secretAccessKey } = swift;
    const credentials = { accessKeyId, secretAccessKey };
    const client = new S3Client({ endpoint, region, credentials: { ...credentials }, forcePathStyle: true });
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    client.destroy();
    const s3 = { name: 'S', type: 's3', endpoint, region, bucket, ...credentials };
    const report = await tried(s3);
    assert.ok(report.isOk, JSON.stringify(report.steps));
    assert.deepEqual(
      report.steps.map(({ name }) => name),
      ['resolve', 'connect', 'login', 'list', 'write', 'rename', 'delete'],
    );
    assert.equal(report.card?.['canAppend'], false);
    const wrong = await tried({ ...s3, secretAccessKey: 'not-the-secret' });
    assert.equal(failed(wrong)?.name, 'login', JSON.stringify(wrong.steps));
    const absent = await tried({ ...s3, bucket: 'absent' });
    assert.equal(failed(absent)?.name, 'list', JSON.stringify(absent.steps));
  } finally {
    await swift.stop();
  }
});

test('a jump host is a step of the test, is checked where it is entered, and is used by operations', async (t) => {
  const bastion = await startSshd();
  t.after(() => bastion.stop());
  const privateKey = readFileSync(bastion.clientKeyFile, 'utf8');
  const login = { type: 'sftp', host: '127.0.0.1', port: bastion.port, username: bastion.username, privateKey };
  const made = async (connection: object): Promise<void> => {
    const answer = await ops.post('/manage/connections', connection);
    assert.equal(answer.status, 201, answer.text);
  };
  await made({ ...login, id: 'bastion', name: 'Bastion' });
  const behind = ftp({ id: 'behind', via: 'bastion' });
  const report = await tried(behind);
  assert.ok(report.isOk, JSON.stringify(report.steps));
  assert.deepEqual(
    report.steps.map(({ name }) => name),
    ['resolve', 'connect', 'jump_host', 'certificate', 'login', 'list', 'write', 'rename', 'delete'],
  );
  const [, , hop] = report.steps;
  assert.match(
    hop?.detail ?? '',
    new RegExp(`^localhost:${ftps.port} through the jump host bastion \\(127.0.0.1:${bastion.port}\\)$`),
  );
  const unreachable = await tried({ ...behind, port: 9 });
  assert.deepEqual([failed(unreachable)?.name, failed(unreachable)?.code], ['jump_host', 'unreachable']);

  await made(behind);
  const list = await ops.get('/api/list/behind');
  assert.equal(list.status, 200, list.text);
  assert.match(await bastion.log(), /Accepted publickey/);
  // A change of the way needs the password again: it would be sent by another way.
  expectError(await ops.patch('/manage/connections/behind', { via: null }), 400, 'bad_request');

  const refusedVia = async (id: string, via: string, words: RegExp): Promise<void> => {
    const { privateKey: _key, ...rest } = login;
    const answer =
      id === 'bastion'
        ? await ops.patch('/manage/connections/bastion', { via })
        : await ops.post('/manage/connections', { ...rest, id, name: id, password: 'x', via });
    expectError(answer, 400, 'bad_request');
    assert.match(answer.text, words);
  };
  await refusedVia('new', 'not-there', /via must be the id of an SFTP connection, or null; not-there is none/);
  await refusedVia('new', 'behind', /behind is none/);
  await refusedVia('bastion', 'bastion', /must not lead in a circle/);
  for (const [id, via] of [
    ['second', 'bastion'],
    ['third', 'second'],
    ['fourth', 'third'],
  ]) {
    await made({ ...login, id, name: id, via });
  }
  await refusedVia('fifth', 'fourth', /at most two jump hosts on the way/);
  await refusedVia('bastion', 'third', /must not lead in a circle: third leads through bastion/);
  const far = await tried({ ...login, name: 'far', via: 'third' }, false);
  assert.ok(far.isOk, JSON.stringify(far.steps));
  const hopsIn = ({ steps }: typeof far): unknown[] =>
    steps.filter(({ name }) => name === 'jump_host').map(({ status, detail }) => [status, detail?.split(' (')[0]]);
  const toSelf = `127.0.0.1:${bastion.port} through the jump host`;
  assert.deepEqual(hopsIn(far), [
    ['ok', `${toSelf} bastion`],
    ['ok', `${toSelf} second`],
    ['ok', `${toSelf} third`],
  ]);
  // Only the proxy of the jump host that is reached first would be used.
  const proxied = await tried(
    { ...login, name: 'proxied', via: 'bastion', proxy: { url: 'socks5://127.0.0.1:9' } },
    false,
  );
  assert.ok(proxied.isOk, JSON.stringify(proxied.steps));
  const { privateKey: _own, ...keyless } = login;
  await made({ ...keyless, id: 'refused', name: 'refused', password: 'wrong', via: 'bastion' });
  const halfway = await tried({ ...login, name: 'halfway', via: 'refused' }, false);
  assert.equal(failed(halfway)?.code, 'login_refused');
  assert.deepEqual(
    hopsIn(halfway).map((hop) => (hop as unknown[])[0]),
    ['ok', 'failed'],
  );

  const inUse = await ops.delete('/manage/connections/bastion');
  expectError(inUse, 409, 'in_use');
  assert.match(inUse.text, /connection behind, which leads through it/);
  assert.equal((await ops.delete('/manage/connections/bastion?confirm=true')).status, 200);
  const lost = await ops.get('/api/list/behind');
  expectError(lost, 502, 'unreachable');
  assert.match(lost.text, /no way through the connection bastion/);
});

test('rights are read back: a server that keeps others fails at that step, and nothing is left', async (t) => {
  const [ssh, rclone] = await startTogether([startSshd([], `${SFTP_SERVER} -u 077`), startRclone()]);
  t.after(() => Promise.all([ssh.stop(), rclone.stop()]));
  const rights = { fileMode: '640', folderMode: '2751' };
  const privateKey = readFileSync(ssh.clientKeyFile, 'utf8');
  const login = { name: 'R', type: 'sftp', host: '127.0.0.1', ...rights };
  const { port, username, files: defaultPath } = ssh;
  const kept = await tried({ ...login, port, username, privateKey, defaultPath });
  assert.ok(kept.isOk, JSON.stringify(kept.steps));
  const step = kept.steps.find(({ name }) => name === 'rights');
  assert.equal(step?.detail, 'files 0640, folders 2751');
  const silent = await tried({ ...login, port: rclone.port, username: rclone.username, password: rclone.password });
  assert.deepEqual([failed(silent)?.name, failed(silent)?.code], ['rights', 'remote_failure']);
  assert.match(failed(silent)?.error ?? '', /a new file has the rights 0\d{3} on the server, not 0640 \(fileMode\)/);
  assert.deepEqual([readdirSync(ssh.files), readdirSync(rclone.folder)], [[], []]);
  const unset = await tried({ ...login, fileMode: null, folderMode: null, port, username, privateKey, defaultPath });
  assert.ok(!unset.steps.some(({ name }) => name === 'rights'));
});
