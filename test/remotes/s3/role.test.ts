/** Requests that are signed by the keys of a role. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, mock, test } from 'node:test';
import type { S3Connection } from '../../../src/connections/connection.js';
import type { Remote } from '../../../src/remotes/remote.js';
import { S3Stub, s3Error, type StubRequest } from '../../servers/scripted-s3.js';
import { stsError, StsStub } from '../../servers/scripted-sts.js';
import { eventually } from '../../support/eventually.js';
import { redirectTo, selfSigned } from '../support/s3-over-tls.js';
import { at, connectionTo, failsWith, fetchAll, namesIn, PART, patterned, S3Rig, store } from '../support/s3-rig.js';

const MINUTE = 60_000;
const ROLE = { arn: 'arn:aws:iam::111122223333:role/transfer', externalId: 'partner-7', sessionName: 'gw' };

const signerOf = ({ headers }: StubRequest): unknown => [
  /Credential=([^/]+)/.exec(headers.authorization ?? '')?.[1],
  headers['x-amz-security-token'],
];

describe('the role of an S3 connection', () => {
  let stub: S3Stub;
  let sts: StsStub;
  let rig: S3Rig;
  let remote: Remote;
  const open = async (settings: Partial<S3Connection> = {}): Promise<void> => {
    rig?.close();
    const connection = connectionTo({ endpoint: stub.endpoint, bucket: 'b' });
    rig = new S3Rig({ ...connection, role: { ...ROLE, endpoint: sts.endpoint }, ...settings });
    remote = await rig.open();
  };

  before(async () => {
    stub = await S3Stub.start();
  });
  beforeEach(async () => {
    stub.reset();
    sts = await StsStub.start({ key: 'secret' });
    await open();
  });
  afterEach(async () => {
    mock.timers.reset();
    rig.close();
    await sts.stop();
  });
  after(() => stub.stop());

  const pass = (minutes: number): void => mock.timers.setTime(Date.now() + minutes * MINUTE);
  const stopClock = (): void => mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const signers = (): unknown[] => [...new Set(stub.requests.splice(0).map((one) => JSON.stringify(signerOf(one))))];
  const issued = (index: number): string =>
    JSON.stringify([sts.issued[index]?.accessKeyId, sts.issued[index]?.sessionToken]);

  test('signs all requests, of all sessions, by one set of keys', async () => {
    const bytes = patterned(2 * PART + 5);
    const second = await rig.open();
    await Promise.all([store(remote, '/a', patterned(10)), store(second, '/b', bytes, {}), namesIn(second, '/')]);
    assert.equal((await fetchAll(remote, '/a')).length, 10);
    await second.remove(at('/a'));
    assert.equal(sts.requests.length, 1);
    assert.deepEqual(Object.fromEntries(sts.requests[0] ?? []), {
      Action: 'AssumeRole',
      Version: '2011-06-15',
      RoleArn: ROLE.arn,
      RoleSessionName: 'gw',
      ExternalId: 'partner-7',
    });
    assert.deepEqual(signers(), [issued(0)]);
    assert.equal(remote.facts['role'], ROLE.arn);
  });

  test('its keys are renewed before they expire, and nothing waits for that', async () => {
    stopClock();
    await remote.stat(at('/'));
    pass(44);
    await remote.stat(at('/'));
    assert.equal(sts.requests.length, 1);
    pass(2);
    sts.instead = () => 'never';
    await store(remote, '/a', patterned(10));
    assert.deepEqual(signers(), [issued(0)]);
    await eventually(() => sts.requests.length === 2, 'the renewal');
    sts.instead = undefined;
  });

  test('new keys sign from then on, both with the SDK and without it', async () => {
    stopClock();
    await store(remote, '/a', patterned(10));
    pass(46);
    await remote.stat(at('/a'));
    await eventually(() => sts.issued.length === 2, 'the renewal');
    pass(14);
    signers();
    await store(remote, '/b', patterned(10));
    await namesIn(remote, '/');
    assert.deepEqual(signers(), [issued(1)]);
  });

  test('while the service is away for ten minutes, the keys that are still valid sign on', async () => {
    stopClock();
    await remote.stat(at('/'));
    sts.instead = () => stsError(503, 'ServiceUnavailable', 'away');
    for (let minutes = 46; minutes <= 58; minutes += 4) {
      pass(minutes === 46 ? 46 : 4);
      await store(remote, '/a', patterned(10));
      await namesIn(remote, '/');
    }
    assert.deepEqual(signers(), [issued(0)]);
    await eventually(
      () => rig.notes.log.some(({ message }) => message === 's3 credentials not renewed'),
      'the warning',
    );
    sts.instead = undefined;
    pass(1);
    await namesIn(remote, '/');
    await eventually(() => sts.issued.length === 2, 'the renewal');
    assert.ok(!JSON.stringify(rig.notes.log).includes('secret'));
  });

  test('keys outlive the sessions: the next one signs by them while the service is away', async () => {
    stopClock();
    await remote.stat(at('/'));
    sts.instead = () => stsError(503, 'ServiceUnavailable', 'away');
    for (let closed = 1; closed <= 2; closed++) {
      rig.close();
      pass(20);
      remote = await rig.open();
      await store(remote, '/a', patterned(10));
      await namesIn(remote, '/');
    }
    assert.deepEqual([signers(), sts.requests.length], [[issued(0)], 1]);
    pass(21);
    await assert.rejects(namesIn(remote, '/'), failsWith('remote_failure', /issued no keys/));
  });

  test('a renewal ends although the session that began it is closed at once', async () => {
    stopClock();
    await remote.stat(at('/'));
    pass(46);
    await remote.stat(at('/'));
    rig.close();
    await eventually(() => sts.issued.length === 2, 'the renewal');
    remote = await rig.open();
    await eventually(async () => {
      await namesIn(remote, '/');
      return signers().includes(issued(1));
    }, 'a request that is signed by the new keys');
    assert.deepEqual(
      rig.notes.log.filter(({ message }) => message === 's3 credentials not renewed'),
      [],
    );
  });

  test('keys that the store refuses are replaced by others, but not for each request', async () => {
    stopClock();
    await remote.stat(at('/'));
    stub.late = () => s3Error(400, 'ExpiredToken', 'gone');
    pass(1);
    for (const work of [
      () => store(remote, '/a', patterned(10)),
      () => fetchAll(remote, '/a'),
      () => namesIn(remote, '/'),
    ])
      await assert.rejects(work(), failsWith('login_refused', /expired/));
    assert.equal(sts.issued.length, 2);
    stub.late = () => undefined;
    signers();
    await store(remote, '/a', patterned(10));
    assert.deepEqual(signers(), [issued(1)]);
  });

  test('another way has keys of its own', async () => {
    await remote.stat(at('/'));
    const proxy = { url: `http://127.0.0.1:${new URL(sts.endpoint).port}`, username: undefined };
    await assert.rejects(namesIn(await rig.open(undefined, { ...rig.connection, proxy }), '/'));
    assert.deepEqual([sts.requests.length, signers()], [1, [issued(0)]]);
  });

  test('expired keys are not used: requests wait for new ones, or say why there are none', async () => {
    stopClock();
    await remote.stat(at('/'));
    signers();
    pass(61);
    sts.instead = () => stsError(503, 'ServiceUnavailable', 'away');
    for (const work of [
      () => namesIn(remote, '/'),
      () => store(remote, '/a', patterned(10)),
      () => remote.stat(at('/a')),
    ])
      await assert.rejects(work(), failsWith('remote_failure', /issued no keys/));
    assert.deepEqual(stub.requests, []);
    sts.instead = undefined;
    await store(remote, '/a', patterned(10));
    assert.deepEqual(signers(), [issued(1)]);
  });

  for (const [what, code, text, instead] of [
    ['refused', 'login_refused', /refused the role/, () => stsError(403, 'AccessDenied', 'not authorized')],
    ['throttled', 'remote_failure', /issued no keys/, () => stsError(400, 'Throttling', 'Rate exceeded')],
    ['answered by something else', 'protocol_error', /security token service/, () => ({ status: 200, body: '<html>' })],
    ['answered without end', 'protocol_error', /security token/, () => ({ status: 200, body: 'x'.repeat(70_000) })],
    ['cut', 'connection_lost', /closed the connection/, () => 'cut' as const],
  ] as const)
    test(`${what}: the error says so, and names no key`, async () => {
      sts.instead = instead;
      for (const work of [() => namesIn(remote, '/'), () => store(remote, '/a', patterned(10))])
        await assert.rejects(work(), (error: Error) => {
          assert.ok(!JSON.stringify([error.message, error]).includes('Signature='));
          return failsWith(code, text)(error);
        });
      assert.deepEqual(stub.requests, []);
    });

  test('the words of the service are shown', async () => {
    sts.instead = () => stsError(403, 'AccessDenied', 'User &quot;x&quot; may not');
    await assert.rejects(namesIn(remote, '/'), (error: { remote?: unknown }) => {
      assert.deepEqual(error.remote, { code: 'AccessDenied', text: 'User "x" may not' });
      return true;
    });
  });

  test('but no secret that it quotes', async () => {
    const [secretAccessKey, sessionToken] = ['wJalr+secret/KEY', 'FwoGZX&token=='];
    await open({ secretAccessKey, sessionToken });
    const signature = 'a'.repeat(64);
    const quoted = `x-amz-security-token:${sessionToken.replace('&', '&amp;')} Signature=${signature}, ${secretAccessKey} of ${signature}`;
    sts.instead = () => stsError(403, 'SignatureDoesNotMatch', quoted);
    await assert.rejects(namesIn(remote, '/'), (error: { remote?: unknown }) => {
      assert.deepEqual(error.remote, {
        code: 'SignatureDoesNotMatch',
        text: 'x-amz-security-token:… Signature=…, … of …',
      });
      return true;
    });
  });

  test('a wrong secret is refused by the signature, a silent service by the time limit', async () => {
    await open({ secretAccessKey: 'wrong' });
    await assert.rejects(namesIn(remote, '/'), failsWith('login_refused'));
    rig.close();
    sts.instead = () => 'never';
    rig = new S3Rig(rig.connection, { limits: { connectTimeoutMs: 50 } });
    await assert.rejects(namesIn(await rig.open(), '/'), failsWith('connect_timeout', /issue keys for the role/));
  });

  test('without an address: a store that is not AWS issues the keys itself', async () => {
    await open({ role: { arn: ROLE.arn } });
    stub.early = ({ method }) =>
      method === 'POST' ? { status: 403, body: '<Error><Code>No</Code></Error>' } : undefined;
    await assert.rejects(namesIn(remote, '/'), failsWith('login_refused'));
    assert.deepEqual(
      stub.requests.map(({ method, headers }) => [method, /\/(sts)\//.exec(headers.authorization ?? '')?.[1]]),
      [['POST', 'sts']],
    );
  });

  test('without an address: the service of the region issues the keys for AWS', async (t) => {
    const aws = await S3Stub.start(selfSigned('localhost'));
    t.after(() => aws.stop());
    aws.early = () => ({ status: 403, body: '<Error><Code>No</Code></Error>' });
    const own = new S3Rig({ ...rig.connection, endpoint: undefined, region: 'eu-west-1', role: { arn: ROLE.arn } });
    t.after(() => own.close());
    const hosts = redirectTo(aws, own);
    await assert.rejects(namesIn(await own.open(), '/'), failsWith('login_refused'));
    assert.deepEqual([...hosts], ['sts.eu-west-1.amazonaws.com']);
  });

  test('the store copies only between connections with the same role', async () => {
    await store(remote, '/f', patterned(10));
    const other = await rig.open(undefined, { ...rig.connection, role: undefined });
    assert.equal(await other.copyFrom?.(remote, at('/f'), at('/g'), { exclusive: false }), undefined);
    const same = await rig.open();
    assert.ok(await same.copyFrom?.(remote, at('/f'), at('/g'), { exclusive: false }));
  });
});
