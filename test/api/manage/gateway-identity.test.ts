/** S3 connections that use the gateway's own identity: only the configuration file can have them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import type { TestReport } from '../../../src/api/connections/test-report.js';
import { MetadataStub } from '../../servers/scripted-metadata.js';
import { S3Stub } from '../../servers/scripted-s3.js';
import { stsError, StsStub } from '../../servers/scripted-sts.js';
import { startSshd } from '../../servers/sshd.js';
import type { Browser } from '../../support/gateway.js';
import { selfSigned } from '../../remotes/support/s3-over-tls.js';
import { ACCOUNTS, expectError, field, type ManagedGateway, startManaged, withSql } from './support.js';

const ARN = 'arn:aws:iam::111122223333:role/transfer';
let stub: S3Stub;
let sts: StsStub;
let metadata: MetadataStub;
let gateway: ManagedGateway;
let ops: Browser;

before(async () => {
  [stub, sts, metadata] = await Promise.all([
    S3Stub.start(),
    StsStub.start({ AKIDENV: 'env-secret' }),
    MetadataStub.start(),
  ]);
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: 'AKIDENV',
    AWS_SECRET_ACCESS_KEY: 'env-secret',
    AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata.endpoint,
  });
  const s3 = { type: 's3', endpoint: stub.endpoint, bucket: 'b', defaultPath: '/' };
  const connections = [
    { ...s3, id: 'lake', name: 'Lake', credentials: 'environment' },
    { ...s3, id: 'machine', name: 'Machine', credentials: 'instance' },
    { ...s3, id: 'partner', name: 'Partner', credentials: 'environment', role: { arn: ARN, endpoint: sts.endpoint } },
  ];
  gateway = await startManaged({
    accounts: ACCOUNTS.map((account, index) => ({ ...account, connections: index === 0 ? connections : [] })),
  });
  ops = await gateway.browser();
});
beforeEach(() => {
  stub.reset();
  sts.instead = undefined;
  metadata.instead = undefined;
});
after(() => Promise.all([gateway.stop(), stub.stop(), sts.stop(), metadata.stop()]));

const signers = (): unknown[] =>
  stub.requests.map(({ headers }) => /Credential=([^/]+)/.exec(headers.authorization ?? '')?.[1]);

async function tested(id: string): Promise<TestReport> {
  const answer = await ops.post(`/manage/connections/${id}/test`, {});
  assert.equal(answer.status, 200, answer.text);
  assert.doesNotMatch(answer.text, /env-secret|metasecret|metatoken|secret\/\d/);
  return answer.json as unknown as TestReport;
}

test('a test says whose keys sign, and operations use them', async () => {
  const of = {
    lake: 'access key AKIDENV of the environment',
    machine: 'access key ASIAMETA1 of the role gateway of this machine',
    partner: `access key ASIA1 of the role ${ARN}, by access key AKIDENV of the environment`,
  };
  for (const [id, detail] of Object.entries(of)) {
    const report = await tested(id);
    assert.ok(report.isOk, JSON.stringify(report.steps));
    assert.deepEqual(
      report.steps.map(({ name }) => name),
      ['identity', 'resolve', 'connect', 'login', 'list'],
    );
    assert.equal(report.steps[0]?.detail, detail);
    // The sockets of the step before led to the token service.
    assert.match(String(report.steps[2]?.detail), new RegExp(`port ${stub.port}$`));
  }
  stub.reset();
  assert.equal((await ops.get('/api/list/lake')).status, 200);
  assert.deepEqual([...new Set(signers())], ['AKIDENV']);
  const shown = (await ops.get('/manage/connections/lake')).json;
  assert.deepEqual([shown['credentials'], shown['accessKeyId']], ['environment', '']);
});

test('keys of an unknown issuer are a failed step, with what to do', async () => {
  metadata.instead = () => 'cut';
  sts.instead = () => stsError(503, 'ServiceUnavailable', 'away');
  for (const [id, code] of [
    ['machine', 'unreachable'],
    ['partner', 'remote_failure'],
  ] as const) {
    const { isOk, steps } = await tested(id);
    const [first, ...rest] = steps;
    assert.deepEqual([isOk, first?.name, first?.status, first?.code], [false, 'identity', 'failed', code]);
    assert.match(first?.advice ?? '', /no keys that sign/);
    assert.ok(rest.every(({ status }) => status === 'skipped'));
  }
  assert.deepEqual(stub.requests, []);
});

const own = (): object => ({
  name: 'Own',
  type: 's3',
  endpoint: stub.endpoint,
  bucket: 'b',
  accessKeyId: 'AKIDOWN',
  secretAccessKey: 'own-secret',
});

test('a store behind jump hosts whose keys are issued through them: each step is done', async (t) => {
  const bastion = await startSshd();
  t.after(() => bastion.stop());
  const { port, username, clientKeyFile } = bastion;
  const login = { type: 'sftp', host: '127.0.0.1', port, username, privateKey: readFileSync(clientKeyFile, 'utf8') };
  for (const [id, via] of [['first'], ['second', 'first']]) {
    const made = await ops.post('/manage/connections', { ...login, id, name: id, ...(via && { via }) });
    assert.equal(made.status, 201, made.text);
  }
  for (const [via, hops] of [
    ['first', 1],
    ['second', 2],
  ] as const) {
    const keys = { accessKeyId: 'AKIDENV', secretAccessKey: 'env-secret' };
    const connection = { ...own(), ...keys, role: { arn: ARN, endpoint: sts.endpoint }, via };
    const { isOk, steps } = (await ops.post('/manage/test-connection', { connection })).json as unknown as TestReport;
    assert.ok(isOk, JSON.stringify(steps));
    const ways = steps.filter(({ name }) => name === 'jump_host');
    assert.equal(ways.length, hops);
    assert.ok(ways.at(-1)?.detail?.startsWith(new URL(stub.endpoint).host), JSON.stringify(ways));
  }
});

test('the certificate that a test shows is that of the store, not of the token service', async (t) => {
  const [store, issuer] = await Promise.all(['store.test', 'sts.test'].map((name) => S3Stub.start(selfSigned(name))));
  assert.ok(store !== undefined && issuer !== undefined);
  t.after(() => Promise.all([store.stop(), issuer.stop()]));
  const keys = { AccessKeyId: 'ASIA', SecretAccessKey: 's', SessionToken: 't', Expiration: '2999-01-01T00:00:00Z' };
  const elements = Object.entries(keys).map(([name, value]) => `<${name}>${value}</${name}>`);
  issuer.early = () => ({ status: 200, body: `<Credentials>${elements.join('')}</Credentials>` });
  const role = { arn: ARN, endpoint: issuer.endpoint };
  const connection = { ...own(), endpoint: store.endpoint, tlsVerify: false, role };
  const { json } = await ops.post('/manage/test-connection', { connection });
  const { isOk, steps, certificate } = json as unknown as TestReport;
  assert.ok(isOk, JSON.stringify(steps));
  assert.deepEqual(
    steps.map(({ name }) => name),
    ['identity', 'resolve', 'connect', 'certificate', 'login', 'list'],
  );
  assert.equal(certificate?.subject, 'store.test');
});

test('no request makes a connection that uses the identity of the gateway', async () => {
  for (const credentials of ['environment', 'instance', 'webIdentity', 'other', null]) {
    const input = { ...own(), credentials };
    for (const answer of [
      await ops.post('/manage/connections', input),
      await ops.post('/manage/test-connection', { connection: input }),
      await ops.post('/manage/test-connection', { connection: input, basedOn: 'lake' }),
    ]) {
      expectError(answer, 400, 'bad_request');
      assert.match(answer.text, /credentials/);
    }
  }
  const { secretAccessKey: _secret, ...keyless } = { ...own(), secretAccessKey: '' };
  await ops.post('/manage/test-connection', { connection: keyless, basedOn: 'lake' });
  assert.ok(!signers().includes('AKIDENV'));
  const id = field<string>(await ops.post('/manage/connections', { ...own(), credentials: 'static' }), 'id', 201);
  expectError(await ops.patch(`/manage/connections/${id}`, { credentials: 'instance' }), 400, 'bad_request');
  assert.equal((await ops.patch(`/manage/connections/${id}`, { credentials: 'static' })).status, 200);
  const { text } = await ops.get('/manage/connection-types');
  assert.ok(!text.includes('webIdentity'), 'the form does not offer it');
});

test('a copy has an access key of its own, and a changed row gets no other', async () => {
  const at = '/manage/connections/copy';
  const copy = await ops.post('/manage/connections/lake/duplicate', { id: 'copy' });
  assert.equal(field(copy, 'credentials', 201), 'static');
  const refused = await ops.get('/api/list/copy');
  expectError(refused, 502, 'login_refused');
  assert.match(refused.text, /has no access key/);
  assert.equal((await ops.patch(at, { accessKeyId: 'AKIDOWN', secretAccessKey: 'own-secret' })).status, 200);
  assert.equal((await ops.get('/api/list/copy')).status, 200);
  assert.deepEqual([...new Set(signers())], ['AKIDOWN']);
  const other = field<string>(await ops.post('/manage/connections', own()), 'id', 201);
  for (const kind of ['environment', 'instance', 'webIdentity'])
    await withSql(gateway.databaseUrl, async (sql) => {
      stub.reset();
      await sql`update connections set settings = settings || ${sql.json({ credentials: kind })} where id = 'copy'`;
      // A change of any connection has the next look-up read the rows.
      assert.equal((await ops.patch(`/manage/connections/${other}`, { name: kind })).status, 200);
      const { isOk, steps } = await tested('copy');
      assert.deepEqual([isOk, steps[0]?.code], [false, 'login_refused']);
      assert.match(steps[0]?.error ?? '', /only for connections of the configuration file/);
      assert.deepEqual(stub.requests, []);
    });
  assert.equal(field(await ops.patch(at, { name: 'Mine' }), 'credentials'), 'static');
});

test('a connection that is gone from the file loses the identity', async () => {
  await withSql(gateway.databaseUrl, (sql) => sql`update connections set configured = false where id = 'lake'`);
  await ops.post('/manage/connections', own());
  const { steps } = await tested('lake');
  assert.match(steps[0]?.error ?? '', /only for connections of the configuration file/);
  const at = '/manage/connections/lake';
  const changed = await ops.patch(at, { accessKeyId: 'AKIDOWN', secretAccessKey: 'own-secret' });
  assert.equal(field(changed, 'credentials'), 'static');
  assert.equal((await tested('lake')).isOk, true);
  assert.deepEqual([...new Set(signers())], ['AKIDOWN']);
});
