/**
 * Every operation that the SDK of AWS knows, and every one of their parameters with every method: what the front has not
 * is 501, and is never taken for another operation.
 */
import * as sdk from '@aws-sdk/client-s3';
import { XMLValidator } from 'fast-xml-parser';
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type S3Answer, type Shot, Signer } from '../attacks/support/s3-signer.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { PAIR } from './suite.js';

const KEPT = 'kept.txt';
const PLACES = { service: '/s3/', bucket: '/s3/c1', key: `/s3/c1/${KEPT}` } as const;
const UPLOAD = '0197f0a4-0000-7000-8000-000000000000';

/** The answer of each operation that the front has: with the root of its XML, or the code of its error. */
const ANSWERS: Readonly<Record<string, string>> = {
  AbortMultipartUpload: '404 NoSuchUpload',
  CompleteMultipartUpload: '404 NoSuchUpload',
  CopyObject: '400 InvalidRequest',
  CreateMultipartUpload: '200 InitiateMultipartUploadResult',
  DeleteObject: '204 ',
  DeleteObjects: '400 MalformedXML',
  GetBucketAccelerateConfiguration: '200 AccelerateConfiguration',
  GetBucketAcl: '200 AccessControlPolicy',
  GetBucketCors: '404 NoSuchCORSConfiguration',
  GetBucketEncryption: '404 ServerSideEncryptionConfigurationNotFoundError',
  GetBucketLifecycleConfiguration: '404 NoSuchLifecycleConfiguration',
  GetBucketLocation: '200 LocationConstraint',
  GetBucketLogging: '200 BucketLoggingStatus',
  GetBucketNotificationConfiguration: '200 NotificationConfiguration',
  GetBucketOwnershipControls: '404 OwnershipControlsNotFoundError',
  GetBucketPolicy: '404 NoSuchBucketPolicy',
  GetBucketPolicyStatus: '404 NoSuchBucketPolicy',
  GetBucketReplication: '404 ReplicationConfigurationNotFoundError',
  GetBucketRequestPayment: '200 RequestPaymentConfiguration',
  GetBucketTagging: '404 NoSuchTagSet',
  GetBucketVersioning: '200 VersioningConfiguration',
  GetBucketWebsite: '404 NoSuchWebsiteConfiguration',
  GetObject: '200 ',
  GetObjectAcl: '200 AccessControlPolicy',
  GetObjectAttributes: '200 GetObjectAttributesResponse',
  GetObjectLockConfiguration: '404 ObjectLockConfigurationNotFoundError',
  GetObjectTagging: '200 Tagging',
  GetPublicAccessBlock: '404 NoSuchPublicAccessBlockConfiguration',
  HeadBucket: '200 ',
  HeadObject: '200 ',
  ListBuckets: '200 ListAllMyBucketsResult',
  ListMultipartUploads: '200 ListMultipartUploadsResult',
  ListObjects: '200 ListBucketResult',
  ListObjectsV2: '200 ListBucketResult',
  ListParts: '404 NoSuchUpload',
  PutObject: '200 ',
  UploadPart: '404 NoSuchUpload',
  UploadPartCopy: '404 NoSuchUpload',
};

/** Values that an operation needs to be one; the others are `x`. */
const VALUES: Readonly<Record<string, string>> = {
  partNumber: '1',
  uploadId: UPLOAD,
  'x-amz-copy-source': `c1/${KEPT}`,
  'x-amz-object-attributes': 'ETag',
};

interface Operation {
  readonly name: string;
  readonly method: string;
  readonly level: keyof typeof PLACES;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const traitOf = (traits: unknown, name: string): unknown =>
  typeof traits === 'object' && traits !== null
    ? new Map<string, unknown>(Object.entries(traits)).get(name)
    : undefined;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** From the schemas of the SDK: an operation is 9, its name, how it is sent, and what it takes. */
function operationsOfSdk(): readonly Operation[] {
  const found: Operation[] = [];
  for (const [, schema] of Object.entries<unknown>({ ...sdk })) {
    if (!isList(schema) || schema[0] !== 9) continue;
    const [, , name, traits, input] = schema;
    const http = traitOf(traits, 'http');
    const structure: unknown = typeof input === 'function' ? (input as () => unknown)() : input;
    assert.ok(isList(http) && isList(structure));
    const [uri = '', search = ''] = text(http[1]).split('?');
    const query = [...new URLSearchParams(search)];
    const headers: Record<string, string> = {};
    const [members, types, needed] = structure.slice(4);
    assert.ok(isList(members) && isList(types));
    for (const type of types.slice(0, Number(needed ?? 0))) {
      const parameter = isList(type) ? text(traitOf(type[1], 'httpQuery')) : '';
      const field = isList(type) ? text(traitOf(type[1], 'httpHeader')).toLowerCase() : '';
      if (parameter !== '') query.push([parameter, VALUES[parameter] ?? 'x']);
      if (field !== '') headers[field] = VALUES[field] ?? 'x';
    }
    const level = uri.includes('{Key+}') ? 'key' : members.includes('Bucket') ? 'bucket' : 'service';
    found.push({ name: text(name), method: text(http[0]), level, query, headers });
  }
  return found;
}

const OPERATIONS = operationsOfSdk();
/** What their queries hold, but for pages and fields of answers. */
const PARAMETERS = [...new Set(OPERATIONS.flatMap(({ query }) => query.map(([name]) => name)))]
  .filter((name) => name !== 'x-id' && name !== 'id')
  .concat('versionId', 'max-directory-buckets');
/** Parameters of other stores, or of a later S3. With a value, a read ignores them, as Amazon S3 does. */
const LATER = ['append', 'later-operation'];
const METHODS = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'] as const;

/** As the signature has it. */
const queryOf = (pairs: Operation['query']): string =>
  pairs
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');

describe('every operation of S3', { concurrency: 1 }, () => {
  let sshd: TestSshd;
  let gateway: TestGateway;
  let signer: Signer;
  const kept = (): string => path.join(sshd.files, KEPT);

  before(async () => {
    sshd = await startSshd();
    const { port, username, clientKeyFile: privateKeyFile, files } = sshd;
    const server = { type: 'sftp' as const, host: '127.0.0.1', port, username, privateKeyFile, rootPath: files };
    const accountOf = (name: string, id: string, keys: readonly object[]) => ({
      email: `${name}@example.com`,
      plan: 'pro',
      connections: [{ id, name: 'Server', ...server }],
      apiKeys: keys,
    });
    const own = accountOf('a', 'c1', [{ name: 'test', key: KEY, s3: PAIR }]);
    const accounts = [own, accountOf('b', 'foreign', [])];
    gateway = await startGateway({ config: { s3: { enabled: true }, limits: { requestsPerSecond: 0 }, accounts } });
    signer = new Signer(gateway.port, PAIR);
    mkdirSync(sshd.files, { recursive: true });
  });
  after(async () => {
    await gateway?.stop();
    await sshd?.stop();
  });

  const shotOf = ({ method, level, query, headers }: Operation): Shot => {
    const body = method === 'PUT' || method === 'POST' ? 'planted' : '';
    return { method, path: PLACES[level], query: queryOf(query), headers, body };
  };

  /** Status, and the root of its XML or the code of its error. */
  function factsOf({ status, code, text: body, headers }: S3Answer): string {
    if (headers.get('content-type') !== 'application/xml' || body === '') return `${status} ${code}`;
    const whole = body.replace(/^[\da-f]+\r\n/i, '').replace(/\r\n0\r\n\r\n$/, '');
    assert.equal(XMLValidator.validate(whole), true, whole);
    const root = /<([A-Za-z]+)[ >]/.exec(whole.replace(/^<\?[^>]*>\s*/, ''))?.[1] ?? '';
    assert.ok(code === '' ? root !== 'Error' : root === 'Error', whole);
    return `${status} ${code === '' ? root : code}`;
  }

  async function send(shot: Shot): Promise<string> {
    for (const name of readdirSync(sshd.files)) rmSync(path.join(sshd.files, name), { recursive: true });
    writeFileSync(kept(), 'kept');
    return factsOf(await signer.send(shot));
  }

  const isKept = (): boolean => readdirSync(sshd.files).join() === KEPT && readFileSync(kept(), 'utf8') === 'kept';

  test('the SDK knows those that the front has, and more', () => {
    const names = OPERATIONS.map(({ name }) => name);
    assert.deepEqual(
      Object.keys(ANSWERS).filter((name) => !names.includes(name)),
      [],
    );
    assert.ok(OPERATIONS.length > 100 && PARAMETERS.length > 40);
  });

  for (const operation of OPERATIONS) {
    const { name, query } = operation;
    const expected = ANSWERS[name] ?? (operation.method === 'HEAD' ? '501 ' : '501 NotImplemented');
    test(`${name}: ${expected}`, async () => {
      const shot = shotOf(operation);
      assert.equal(await send(shot), expected);
      if (ANSWERS[name] === undefined) assert.ok(isKept());
      if (query.length < 2) return;
      // The order of a query is no part of its meaning.
      const sent = signer.sign(shot);
      const reversed = { ...sent, query: sent.query.split('&').reverse().join('&') };
      assert.equal(factsOf(await signer.send(reversed)), expected);
    });
  }

  test('a bucket of another account is as one that is not there', async () => {
    for (const operation of OPERATIONS.filter(({ level }) => level !== 'service')) {
      const shot = shotOf(operation);
      const answers = [];
      for (const bucket of ['foreign', 'unknown']) {
        const { status, code, text: body } = await signer.send({ ...shot, path: shot.path.replace('c1', bucket) });
        answers.push({ status, code, body: body.replace(/<Resource>.*<\/RequestId>/, '') });
      }
      const [foreign, unknown] = answers;
      assert.deepEqual(foreign, unknown, operation.name);
      assert.equal(foreign?.status, operation.name in ANSWERS ? 404 : 501, operation.name);
    }
    assert.ok(isKept());
  });

  for (const level of ['service', 'bucket', 'key'] as const) {
    for (const method of METHODS) {
      test(`${method} of a ${level} with each parameter: another operation is never done in its place`, async () => {
        const isRead = method === 'GET' || method === 'HEAD';
        const own = OPERATIONS.filter((one) => one.method === method && one.level === level && one.name in ANSWERS)
          .map(({ query }) => query.filter(([name, value]) => name !== 'x-id' && value !== '2'))
          .flatMap(([first, ...others]) => (first === undefined || others.length > 0 ? [] : [first[0]]));
        // An option of a read, which the SDK does not require.
        if (isRead && level === 'key') own.push('partNumber');
        const inCapitals = PARAMETERS.map((name) => name.replace(/^./, (letter) => letter.toUpperCase()));
        const others = [...PARAMETERS.filter((name) => !own.includes(name)), ...inCapitals];
        const queries = [
          ...[...others, ...LATER].map((name) => [name, ''] as const),
          ...(isRead ? others : [...others, ...LATER]).map((name) => [name, 'x'] as const),
        ];
        const wrong: string[] = [];
        for (const pair of queries) {
          const answer = await send(shotOf({ name: '', method, level, query: [pair], headers: {} }));
          if (!answer.startsWith('501') || !isKept()) wrong.push(`${pair.join('=')}: ${answer}`);
        }
        assert.deepEqual(wrong, []);
      });
    }
  }
});
