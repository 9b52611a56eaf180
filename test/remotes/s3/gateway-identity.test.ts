/** Requests that are signed by the gateway's own identity: of its environment, its machine, its container or its pod. */
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, mock, test } from 'node:test';
import type { AwsEnvironment } from '../../../src/base/aws-environment.js';
import type { S3Connection } from '../../../src/connections/connection.js';
import type { Remote } from '../../../src/remotes/remote.js';
import { MetadataStub } from '../../servers/scripted-metadata.js';
import { S3Stub, type StubRequest } from '../../servers/scripted-s3.js';
import { stsError, StsStub } from '../../servers/scripted-sts.js';
import { shareSwift } from '../../servers/swift.js';
import { eventually } from '../../support/eventually.js';
import { connectionTo, failsWith, fetchAll, namesIn, PART, patterned, S3Rig, store } from '../support/s3-rig.js';

const MINUTE = 60_000;
const ARN = 'arn:aws:iam::111122223333:role/gateway';
const CHAINED = 'arn:aws:iam::444455556666:role/partner';
const ENVIRONMENT = { AWS_ACCESS_KEY_ID: 'AKIDENV', AWS_SECRET_ACCESS_KEY: 'env-secret' };
const SECRETS = /env-secret|metasecret|metatoken|secret\/\d|of-the-container|pod-token/;

const signerOf = ({ headers }: StubRequest): unknown => [
  /Credential=([^/]+)/.exec(headers.authorization ?? '')?.[1],
  headers['x-amz-security-token'],
];

describe('the identity of the gateway at an object store', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-identity-'));
  const tokenFile = path.join(folder, 'token');
  let stub: S3Stub;
  let sts: StsStub;
  let metadata: MetadataStub;
  let rig: S3Rig;
  let remote: Remote;
  let ec2: AwsEnvironment;
  let pod: AwsEnvironment;

  const open = async (
    credentials: S3Connection['credentials'],
    env: AwsEnvironment,
    settings: Partial<S3Connection> = {},
    connectTimeoutMs = 60_000,
  ): Promise<Remote> => {
    rig?.close();
    const connection = connectionTo({ endpoint: stub.endpoint, bucket: 'b', accessKeyId: '', secretAccessKey: '' });
    rig = new S3Rig(
      { ...connection, credentials, isConfigured: true, ...settings },
      { env, limits: { connectTimeoutMs } },
    );
    remote = await rig.open();
    return remote;
  };
  const refused = (code: string, text: RegExp): Promise<void> =>
    assert.rejects(namesIn(remote, '/'), (error: Error) => {
      assert.doesNotMatch(JSON.stringify([error.message, error]), SECRETS);
      assert.ok(!error.message.includes(folder), 'no path of the machine');
      return failsWith(code, text)(error);
    });

  before(async () => {
    stub = await S3Stub.start();
  });
  beforeEach(async () => {
    stub.reset();
    [sts, metadata] = await Promise.all([StsStub.start({ AKIDENV: 'env-secret' }), MetadataStub.start()]);
    writeFileSync(tokenFile, 'pod-token-1\n');
    sts.webTokens.add('pod-token-1');
    ec2 = { AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata.endpoint };
    pod = { AWS_ROLE_ARN: ARN, AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile, AWS_ENDPOINT_URL_STS: sts.endpoint };
  });
  afterEach(async () => {
    mock.timers.reset();
    rig.close();
    await Promise.all([sts.stop(), metadata.stop()]);
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await stub.stop();
  });

  const pass = (minutes: number): void => mock.timers.setTime(Date.now() + minutes * MINUTE);
  const stopClock = (): void => mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const signers = (): unknown[] => [...new Set(stub.requests.splice(0).map((one) => JSON.stringify(signerOf(one))))];
  const ofMachine = (index: number): string =>
    JSON.stringify([metadata.issued[index]?.AccessKeyId, metadata.issued[index]?.Token]);
  const ofService = (index: number): string =>
    JSON.stringify([sts.issued[index]?.accessKeyId, sts.issued[index]?.sessionToken]);
  const warned = (): Promise<unknown> =>
    eventually(() => rig.notes.log.some(({ message }) => message === 's3 credentials not renewed'), 'the warning');

  describe('environment', () => {
    test('the keys of the variables sign, with their session token', async () => {
      await open('environment', ENVIRONMENT);
      await store(remote, '/a', patterned(10));
      await namesIn(remote, '/');
      assert.deepEqual(signers(), ['["AKIDENV",null]']);
      assert.deepEqual(rig.notes.identities, ['access key AKIDENV of the environment']);
      assert.equal(remote.facts['credentials'], 'environment');
      await open('environment', { ...ENVIRONMENT, AWS_SESSION_TOKEN: 'session' });
      await namesIn(remote, '/');
      assert.deepEqual(signers(), ['["AKIDENV","session"]']);
    });

    test('a missing or empty variable is named', async () => {
      for (const name of Object.keys(ENVIRONMENT))
        await assert.rejects(
          open('environment', { ...ENVIRONMENT, [name]: '' }),
          failsWith('login_refused', new RegExp(`variable ${name} of the gateway is not set`)),
        );
    });

    test('they ask for a role, which then signs', async () => {
      await open('environment', ENVIRONMENT, { role: { arn: CHAINED, endpoint: sts.endpoint } });
      await namesIn(remote, '/');
      assert.deepEqual(signers(), [ofService(0)]);
      assert.deepEqual(rig.notes.identities, [
        `access key ASIA1 of the role ${CHAINED}, by access key AKIDENV of the environment`,
      ]);
    });
  });

  describe('who may use it', () => {
    for (const credentials of ['environment', 'instance', 'webIdentity'] as const)
      test(`${credentials}: no connection but those of the configuration, also if its row says otherwise`, async () => {
        const env = { ...ENVIRONMENT, ...ec2, ...pod };
        for (const isConfigured of [false, undefined]) {
          const settings = isConfigured === undefined ? {} : { isConfigured };
          const { isConfigured: _was, ...own } = {
            ...connectionTo({ endpoint: stub.endpoint, bucket: 'b' }),
            ...settings,
          };
          const other = new S3Rig({ ...own, ...settings, credentials }, { env });
          await assert.rejects(other.open(), failsWith('login_refused', /only for connections of the configuration/));
        }
        assert.deepEqual([metadata.requests, sts.requests, stub.requests], [[], [], []]);
        await open(credentials, env);
        await namesIn(remote, '/');
      });

    test('sessions are shared only with connections that have the same identity', async () => {
      const of = (changes: Partial<S3Connection>): string => {
        const connection = connectionTo({ endpoint: stub.endpoint, bucket: 'b', accessKeyId: '', secretAccessKey: '' });
        return JSON.stringify(rig.protocol.identity({ ...connection, isConfigured: true, ...changes }));
      };
      const all = [
        of({}),
        of({ credentials: 'environment' }),
        of({ credentials: 'instance' }),
        of({ credentials: 'instance', isConfigured: false }),
      ];
      assert.equal(new Set(all).size, all.length);
    });

    test('a copy without keys says that it has none', async () => {
      await assert.rejects(open('static', ENVIRONMENT), failsWith('login_refused', /has no access key/));
    });
  });

  describe('instance', () => {
    test('one set of keys signs all requests of all sessions', async () => {
      await open('instance', ec2);
      const second = await rig.open();
      const bytes = patterned(2 * PART + 5);
      await Promise.all([store(remote, '/a', patterned(10)), store(second, '/b', bytes, {}), namesIn(second, '/')]);
      assert.equal((await fetchAll(remote, '/a')).length, 10);
      assert.deepEqual(metadata.requests, [
        'PUT /latest/api/token',
        'GET /latest/meta-data/iam/security-credentials/',
        'GET /latest/meta-data/iam/security-credentials/gateway',
      ]);
      assert.deepEqual(signers(), [ofMachine(0)]);
      assert.deepEqual(rig.notes.identities, ['access key ASIAMETA1 of the role gateway of this machine']);
    });

    test('they are renewed before they expire, with a new token, and nothing waits for that', async () => {
      stopClock();
      await open('instance', ec2);
      await namesIn(remote, '/');
      pass(46);
      metadata.instead = () => 'never';
      await store(remote, '/a', patterned(10));
      assert.deepEqual(signers(), [ofMachine(0)]);
      await eventually(() => metadata.requests.length === 4, 'the renewal');
      metadata.instead = undefined;
      await open('instance', ec2);
      await namesIn(remote, '/');
      pass(46);
      await namesIn(remote, '/');
      await eventually(() => metadata.issued.length === 3, 'the next renewal');
      pass(14);
      signers();
      await namesIn(remote, '/');
      assert.deepEqual(signers(), [ofMachine(2)]);
    });

    test('while the service is away, the keys that are still valid sign on; then the error says so', async () => {
      stopClock();
      await open('instance', ec2);
      await namesIn(remote, '/');
      pass(46);
      metadata.instead = () => 'cut';
      await store(remote, '/a', patterned(10));
      await warned();
      pass(10);
      await namesIn(remote, '/');
      assert.deepEqual(signers(), [ofMachine(0)]);
      pass(5);
      await refused('unreachable', /metadata service at 127\.0\.0\.1:\d+ cannot be reached/);
      assert.deepEqual(stub.requests, []);
      metadata.instead = undefined;
      await namesIn(remote, '/');
      assert.deepEqual(signers(), [ofMachine(1)]);
      assert.doesNotMatch(JSON.stringify(rig.notes), SECRETS);
    });

    const ROLES = 'GET /latest/meta-data/iam/security-credentials/';
    const issues = (keys: object) => (asked: string) =>
      asked === `${ROLES}gateway` ? { status: 200, body: JSON.stringify(keys) } : undefined;
    const expired = { AccessKeyId: 'A', SecretAccessKey: 'metasecret', Token: 't', Expiration: '2020-01-01T00:00:00Z' };
    for (const [what, code, text, instead] of [
      ['closes the connection', 'unreachable', /cannot be reached/, () => 'cut' as const],
      ['knows no token', 'login_refused', /answered 404/, () => ({ status: 404, body: '' })],
      ['is switched off', 'login_refused', /answered 403/, () => ({ status: 403, body: '' })],
      ['fails', 'remote_failure', /answered 503/, () => ({ status: 503, body: '' })],
      ['has no role', 'login_refused', /has no role/, (asked: string) => (asked === ROLES ? NOTHING : undefined)],
      ['has no roles', 'login_refused', /has no role/, (asked: string) => (asked === ROLES ? EMPTY : undefined)],
      ['sends a page', 'protocol_error', /no keys/, () => ({ status: 200, body: '<html>\r\n<body>' })],
      ['sends a role of signs', 'protocol_error', /no keys/, (asked: string) => (asked === ROLES ? SIGNS : undefined)],
      ['sends 10 MiB', 'protocol_error', /no keys/, () => ({ status: 200, body: Buffer.alloc(10 << 20, 'x') })],
      [
        'sends no JSON',
        'protocol_error',
        /no keys/,
        (asked: string) => (asked === `${ROLES}gateway` ? SIGNS : undefined),
      ],
      ['sends no keys', 'protocol_error', /no keys/, issues({ ...expired, SecretAccessKey: 7 })],
      ['sends broken keys', 'protocol_error', /no keys/, issues({ ...expired, AccessKeyId: 'A\r\nx: y' })],
      ['sends no time', 'protocol_error', /no keys/, issues({ ...expired, Expiration: 'soon' })],
      ['sends expired keys', 'remote_failure', /have expired/, issues(expired)],
      [
        'may not assume the role',
        'login_refused',
        /has no keys of the role gateway of this machine/,
        issues({ Code: 'AssumeRoleUnauthorizedAccess', Message: 'EC2 cannot assume the role gateway.' }),
      ],
    ] as const)
      test(`a metadata service that ${what}: the error says so`, async () => {
        await open('instance', ec2);
        metadata.instead = instead;
        await refused(code, text);
        assert.deepEqual(stub.requests, []);
      });

    test('a metadata service that hangs is given up in time, with the usual reason', async () => {
      await open('instance', ec2, {}, 50);
      metadata.instead = () => 'never';
      await refused('connect_timeout', /within 50 ms; in a container on EC2, the instance must allow it two hops/);
    });

    test('a metadata service that is away, or has no URL', async () => {
      await open('instance', { AWS_EC2_METADATA_SERVICE_ENDPOINT: 'http://127.0.0.1:1' });
      await refused('unreachable', /127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)/);
      await open('instance', { AWS_EC2_METADATA_SERVICE_ENDPOINT: 'metadata' });
      await refused('login_refused', /AWS_EC2_METADATA_SERVICE_ENDPOINT is no http or https URL/);
    });

    test('the keys of the machine ask for a role, which then signs', async () => {
      await open('instance', ec2, { role: { arn: CHAINED, endpoint: sts.endpoint } });
      sts.secrets.set('ASIAMETA1', 'metasecret/1');
      await namesIn(remote, '/');
      assert.deepEqual(signers(), [ofService(0)]);
    });
  });

  describe('instance, in a container', () => {
    const container = (more: AwsEnvironment = {}): AwsEnvironment => ({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${metadata.endpoint}/v2/credentials/container`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: 'Bearer of-the-container',
      ...more,
    });

    test('its own service issues the keys, and not that of the machine', async () => {
      await open('instance', { ...ec2, ...container() });
      await namesIn(remote, '/');
      assert.deepEqual(metadata.requests, ['GET /v2/credentials/container']);
      assert.deepEqual(signers(), [ofMachine(0)]);
      assert.deepEqual(rig.notes.identities, ['access key ASIAMETA1 of the role of this container']);
    });

    test('a token in a file is read again for each renewal', async () => {
      stopClock();
      writeFileSync(tokenFile, 'Bearer of-the-container\n');
      const env = container({
        AWS_CONTAINER_AUTHORIZATION_TOKEN: 'another',
        AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile,
      });
      await open('instance', env);
      await namesIn(remote, '/');
      metadata.authorization = 'Bearer of-the-container-2';
      writeFileSync(tokenFile, 'Bearer of-the-container-2\n');
      pass(61);
      await namesIn(remote, '/');
      assert.equal(metadata.issued.length, 2);
    });

    for (const [what, text, changes] of [
      ['a wrong token', /answered 401/, { AWS_CONTAINER_AUTHORIZATION_TOKEN: 'Bearer other' }],
      ['a token of two lines', /no header can have/, { AWS_CONTAINER_AUTHORIZATION_TOKEN: 'a\r\nb: of-the-container' }],
      ['a file that is missing', /TOKEN_FILE names: does not exist/, { AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: '/no' }],
      ['a clear address elsewhere', /neither https/, { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://192.0.2.1/x' }],
      ['an address that is none', /FULL_URI is no http/, { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'file:///etc/passwd' }],
      ['a path that leads elsewhere', /begin with \//, { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '@192.0.2.1/' }],
    ] as const)
      test(`${what} is refused in words`, async () => {
        await open('instance', container(changes));
        await refused('login_refused', text);
      });
  });

  describe('webIdentity', () => {
    test('the token of the pod, read again at each renewal, gets the keys that sign', async () => {
      stopClock();
      await open('webIdentity', { ...pod, AWS_ROLE_SESSION_NAME: 'pod-7' });
      await store(remote, '/a', patterned(10));
      assert.deepEqual(Object.fromEntries(sts.requests[0] ?? []), {
        Action: 'AssumeRoleWithWebIdentity',
        Version: '2011-06-15',
        RoleArn: ARN,
        RoleSessionName: 'pod-7',
        WebIdentityToken: 'pod-token-1',
      });
      assert.deepEqual(signers(), [ofService(0)]);
      assert.deepEqual(rig.notes.identities, [`access key ASIA1 of the role ${ARN} by web identity`]);
      sts.webTokens.clear();
      sts.webTokens.add('pod-token-2');
      writeFileSync(tokenFile, 'pod-token-2');
      pass(61);
      await namesIn(remote, '/');
      assert.deepEqual(signers(), [ofService(1)]);
    });

    test('while STS is away for ten minutes, the keys that are still valid sign on', async () => {
      stopClock();
      await open('webIdentity', pod);
      await namesIn(remote, '/');
      sts.instead = () => stsError(503, 'ServiceUnavailable', 'away');
      pass(46);
      for (let minutes = 0; minutes < 10; minutes += 5) {
        pass(5);
        await store(remote, '/a', patterned(10));
        await namesIn(remote, '/');
      }
      assert.deepEqual(signers(), [ofService(0)]);
      await warned();
      sts.instead = undefined;
      pass(1);
      await namesIn(remote, '/');
      await eventually(() => sts.issued.length === 2, 'the renewal');
      assert.doesNotMatch(JSON.stringify(rig.notes), SECRETS);
    });

    for (const [what, text, changes] of [
      ['no role', /variable AWS_ROLE_ARN of the gateway is not set/, { AWS_ROLE_ARN: '' }],
      ['no file', /variable AWS_WEB_IDENTITY_TOKEN_FILE of the/, { AWS_WEB_IDENTITY_TOKEN_FILE: undefined }],
      ['a missing file', /AWS_WEB_IDENTITY_TOKEN_FILE names: does not exist/, { AWS_WEB_IDENTITY_TOKEN_FILE: '/no' }],
      ['an STS without URL', /AWS_ENDPOINT_URL_STS is no http or https URL/, { AWS_ENDPOINT_URL_STS: 'sts' }],
    ] as const)
      test(`${what} is refused in words`, async () => {
        await open('webIdentity', { ...pod, ...changes });
        await refused('login_refused', text);
        assert.deepEqual(sts.requests, []);
      });

    test('an empty file, and a token that STS does not know', async () => {
      await open('webIdentity', pod);
      writeFileSync(tokenFile, '\n');
      await refused('login_refused', /AWS_WEB_IDENTITY_TOKEN_FILE names is empty/);
      writeFileSync(tokenFile, 'pod-token-9');
      await refused('login_refused', /refused the role: look at its trust policy, and at the identity provider/);
    });

    test('the role of the pod asks for another one, which then signs', async () => {
      await open(
        'webIdentity',
        { ...pod, AWS_ENDPOINT_URL_STS: undefined },
        { role: { arn: CHAINED, endpoint: sts.endpoint } },
      );
      await namesIn(remote, '/');
      assert.deepEqual(
        sts.requests.map((asked) => [asked.get('Action'), asked.get('RoleArn')]),
        [
          ['AssumeRoleWithWebIdentity', ARN],
          ['AssumeRole', CHAINED],
        ],
      );
      assert.deepEqual(signers(), [ofService(1)]);
    });
  });

  test('a real store takes the keys of each', async () => {
    const swift = await shareSwift();
    try {
      const { accessKeyId, secretAccessKey, endpoint, region } = swift;
      const bucket = `identity-${randomUUID()}`;
      const client = new S3Client({
        endpoint,
        region,
        credentials: { accessKeyId, secretAccessKey },
        forcePathStyle: true,
      });
      await client.send(new CreateBucketCommand({ Bucket: bucket }));
      client.destroy();
      sts.keys = metadata.keys = { accessKeyId, secretAccessKey };
      const env = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, ...ec2, ...pod };
      for (const credentials of ['environment', 'instance', 'webIdentity'] as const) {
        await open(credentials, env, { endpoint, region, bucket });
        await store(remote, `/${credentials}`, patterned(1000));
        assert.deepEqual(await fetchAll(remote, `/${credentials}`), patterned(1000));
      }
      assert.deepEqual(await namesIn(remote, '/'), ['environment', 'instance', 'webIdentity']);
    } finally {
      await swift.stop();
    }
  });
});

const NOTHING = { status: 404, body: '' };
const EMPTY = { status: 200, body: '\n' };
const SIGNS = { status: 200, body: 'a/../b' };
