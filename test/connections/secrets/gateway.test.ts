/** A gateway whose connections have their secrets by reference: what its users and its operator see. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { TestReport } from '../../../src/api/connections/test-report.js';
import { eventually } from '../../support/eventually.js';
import { type Browser, KEY, startGateway, type TestGateway } from '../../support/gateway.js';
import { rotatedKey, type RotatedLogin } from './support/rotated.js';

const MISSING = 'file:/run/secrets/never-laid-down';
const OWNER = { email: 'owner@example.com', password: 'owner-password-1' };

let login: RotatedLogin;
let gateway: TestGateway;
let owner: Browser;

before(async () => {
  login = await rotatedKey();
  const { port, username, folder } = login;
  const server = { type: 'sftp', host: '127.0.0.1', port, username, rootPath: folder };
  const connections = [
    { id: 'box', name: 'Box', ...server, privateKey: { from: `file:${login.file}` } },
    { id: 'gone', name: 'Gone', ...server, password: { from: MISSING } },
  ];
  const accounts = [{ ...OWNER, plan: 'pro', apiKeys: [{ name: 'test', key: KEY }], connections }];
  gateway = await startGateway({ config: { accounts, server: { threads: 2 } } });
  owner = await gateway.login(OWNER.email, OWNER.password);
});
after(async () => {
  await gateway.stop();
  await login.stop();
});

test('a missing secret is a warning in the log, and an error of its own connection alone', async () => {
  await eventually(() => gateway.output().includes(MISSING), 'the warning is in the log');
  assert.match(gateway.output(), /"level":"?(40|warn)"?.*cannot be read/);
  assert.equal((await gateway.api.get('/api/list/box')).status, 200);
  const refused = await gateway.api.get('/api/list/gone');
  assert.deepEqual([refused.status, refused.headers['x-error-code']], [502, 'login_refused']);
  assert.match(refused.text, /password is read from file:\/run\/secrets\/never-laid-down, which does not exist/);
});

test('the test of a connection names the reference of a missing secret, and works with a present one', async () => {
  const run = async (target: string, body: object): Promise<TestReport> => {
    const answer = await owner.post(target, body);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as unknown as TestReport;
  };
  const failed = (await run('/manage/connections/gone/test', {})).steps.find(({ status }) => status === 'failed');
  assert.match(failed?.error ?? '', /password is read from file:\/run\/secrets\/never-laid-down, which does not exist/);
  assert.ok((await run('/manage/connections/box/test', { probe: true })).isOk);
  const { port, username, folder } = login;
  const draft = { type: 'sftp', name: 'Box 2', host: '127.0.0.1', port, username, rootPath: folder };
  assert.ok((await run('/manage/test-connection', { connection: draft, basedOn: 'box', probe: false })).isOk);
});

test('neither the secret nor its reference is in an answer; only that there is one', async () => {
  for (const target of ['/manage/connections', '/manage/connections/box', '/api/connections']) {
    const browser = target.startsWith('/api') ? gateway.api : owner;
    const { text, status } = await browser.get(target);
    assert.equal(status, 200);
    assert.ok(!text.includes(login.file), text);
    assert.ok(!text.includes('PRIVATE KEY'), text);
  }
  const { json } = await owner.get('/manage/connections/box');
  assert.equal((json['secrets'] as Record<string, boolean>)['privateKey'], true);
  assert.ok(!gateway.output().includes(readFileSync(login.file, 'utf8').split('\n')[1] ?? ''));
});

test('no request names a secret of the operator: a mapping is refused, a text is the secret itself', async () => {
  const { port, username } = login;
  const draft = { type: 'sftp', name: 'Mine', host: '127.0.0.1', port, username };
  const from = `file:${login.file}`;
  for (const secret of [{ privateKey: { from } }, { proxy: { url: 'http://127.0.0.1:1', password: { from } } }]) {
    const made = await owner.post('/manage/connections', { ...draft, password: 'pw', ...secret });
    assert.equal(made.status, 400, made.text);
    const tested = await owner.post('/manage/test-connection', {
      connection: { ...draft, password: 'pw', ...secret },
      probe: false,
    });
    assert.equal(tested.status, 400, tested.text);
  }
  const changed = await owner.patch('/manage/connections/box', { privateKey: { from } });
  assert.equal(changed.status, 400, changed.text);
  const direct = await owner.post('/manage/connections', { ...draft, privateKey: null, password: from, id: 'mine' });
  assert.equal(direct.status, 201, direct.text);
  const refused = await gateway.api.get('/api/list/mine');
  assert.equal(refused.headers['x-error-code'], 'login_refused');
  assert.ok(!refused.text.includes('is read from'), refused.text);
});

test('a copy, and a connection that leads elsewhere, do not have the secret', async () => {
  const copy = await owner.post('/manage/connections/box/duplicate', { id: 'copy' });
  assert.equal(copy.status, 201, copy.text);
  const { json } = await owner.get('/manage/connections/copy');
  assert.equal((json['secrets'] as Record<string, boolean>)['privateKey'], false);
});
