/** "Test connection" against real FTP servers with TLS and a real object store. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { TestReport } from '../../../src/api/connections/test-report.js';
import { startVsftpd, type FtpServer } from '../../servers/ftp.js';
import { shareSwift } from '../../servers/swift.js';
import type { Browser } from '../../support/gateway.js';
import { type ManagedGateway, startManaged } from './support.js';
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
