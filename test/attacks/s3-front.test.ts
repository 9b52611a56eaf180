/**
 * The S3 front: signatures and tenancy, on both front ends. A failure is another answer than the one named, a file that
 * has changed, a session that has not come back, or a secret in the log.
 */
import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { FrontEndName } from '../../src/http/choose-front-end.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { eventually } from '../support/eventually.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { startTogether } from '../support/together.js';
import { bytesOf, chunksOf, type Pair, type S3Answer, type Shot, type Signed, Signer } from './support/s3-signer.js';

const ADMIN = 'ftg_s3-attacks-admin-0123456789';
const CONTENT = 'kept as it was';
const MINUTE = 60_000;
const ROBOT = { method: 'PUT', body: 'planted' } as const;
const SIGNED_CHUNKS = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';

const pairOf = (name: string): Pair => ({
  accessKeyId: `ATTACK${name.toUpperCase().padEnd(14, 'X')}`,
  secretAccessKey: `secret-of-${name}`.padEnd(40, '-0123456789'),
});
const PAIR = pairOf('all');
/** Each kind of key that may do less than all, by the name of its pair. */
const RIGHTS = {
  all: {},
  reader: { scopes: ['read'] },
  writer: { scopes: ['write'] },
  limited: { connections: ['second'] },
  far: { allowedIps: ['192.0.2.0/24', '2001:db8::/32'] },
  expired: { expiresAt: '2026-01-01T00:00:00Z' },
  revoked: {},
  fresh: {},
} as const;

interface Attacked {
  readonly gateway: TestGateway;
  readonly signer: Signer;
}

/** An attack, and the status and code that it must get. */
type Attack = readonly [what: string, answer: string, run: (attacked: Attacked) => Promise<S3Answer>];

const shot = (what: string, answer: string, request: Shot): Attack => [
  what,
  answer,
  ({ signer }) => signer.send(request),
];
const KEPT = '/s3/first/kept.txt';
const get = { path: KEPT } as const;
const put = { ...ROBOT, path: KEPT } as const;
const copyTo = (path: string, source: string, more: Partial<Shot> = {}): Shot => ({
  method: 'PUT',
  path,
  headers: { 'x-amz-copy-source': source },
  ...more,
});

const WHO: readonly Attack[] = [
  ['not signed', '403 AccessDenied', ({ signer }) => signer.raw(plain('GET', KEPT))],
  [
    'a bearer key of the API',
    '400 AuthorizationHeaderMalformed',
    ({ signer }) => signer.raw(plain('GET', KEPT, [`authorization: Bearer ${KEY}`])),
  ],
  [
    'Signature Version 2',
    '400 InvalidRequest',
    ({ signer }) => signer.raw(plain('GET', KEPT, ['authorization: AWS ATTACKALLXXXXXXXXXXX:c2lnbmF0dXJl'])),
  ],
  [
    'Signature Version 2 in the query',
    '400 InvalidRequest',
    ({ signer }) => signer.raw(plain('GET', `${KEPT}?AWSAccessKeyId=A&Signature=b&Expires=9`)),
  ],
  shot('a wrong secret', '403 SignatureDoesNotMatch', {
    ...get,
    pair: { ...PAIR, secretAccessKey: 'another-secret-0123456789' },
  }),
  shot('an unknown access key', '403 InvalidAccessKeyId', { ...get, pair: pairOf('unknown') }),
  shot('an expired key', '403 InvalidAccessKeyId', { ...get, pair: pairOf('expired') }),
  shot('a revoked key', '403 InvalidAccessKeyId', { ...get, pair: pairOf('revoked') }),
  shot('an access key that is a path', '400 AuthorizationHeaderMalformed', {
    ...get,
    pair: { ...PAIR, accessKeyId: '../../etc/passwd' },
  }),
  shot('an access key of 1,000 characters', '400 AuthorizationHeaderMalformed', {
    ...get,
    pair: { ...PAIR, accessKeyId: 'A'.repeat(1_000) },
  }),
  shot('from an address that is not allowed', '403 AccessDenied', { ...get, pair: pairOf('far') }),
  shot('the buckets, from an address that is not allowed', '403 AccessDenied', { path: '/s3/', pair: pairOf('far') }),
  shot('another region', '400 AuthorizationHeaderMalformed', { ...get, region: 'eu-central-1' }),
  shot('another service', '400 AuthorizationHeaderMalformed', { ...get, service: 'sts' }),
];

const WHEN: readonly Attack[] = [
  [
    'replayed 16 minutes later',
    '403 RequestTimeTooSkewed',
    ({ signer }) => signer.send({ ...put, time: Date.now() - 16 * MINUTE }),
  ],
  [
    'signed 16 minutes ahead',
    '403 RequestTimeTooSkewed',
    ({ signer }) => signer.send({ ...put, time: Date.now() + 16 * MINUTE }),
  ],
  ['14 minutes late', '200 ', ({ signer }) => signer.send({ ...get, time: Date.now() - 14 * MINUTE })],
  [
    'with the date of another day',
    '400 AuthorizationHeaderMalformed',
    ({ signer }) => {
      const signed = signer.sign(get);
      return signer.send({ ...signed, headers: { ...signed.headers, 'x-amz-date': '20200101T000000Z' } });
    },
  ],
  [
    'without a date',
    '403 AccessDenied',
    ({ signer }) => {
      const { 'x-amz-date': _date, ...headers } = signer.sign(get).headers;
      return signer.send({ ...signer.sign(get), headers });
    },
  ],
];

const WHOSE: readonly Attack[] = [
  shot('a connection of another account', '404 NoSuchBucket', { path: '/s3/foreign/kept.txt' }),
  shot('an unknown connection', '404 NoSuchBucket', { path: '/s3/unknown/kept.txt' }),
  shot('an inactive connection', '404 NoSuchBucket', { path: '/s3/inactive/kept.txt' }),
  shot('a connection that is not of this key', '404 NoSuchBucket', { ...get, pair: pairOf('limited') }),
  shot('written to one that is not of this key', '404 NoSuchBucket', { ...put, pair: pairOf('limited') }),
  shot('the id in capitals', '404 NoSuchBucket', { path: '/s3/FIRST/kept.txt' }),
  shot('a key that reads may not write', '403 AccessDenied', { ...put, pair: pairOf('reader') }),
  shot('a key that reads may not delete', '403 AccessDenied', { method: 'DELETE', path: KEPT, pair: pairOf('reader') }),
  shot('a key that writes may not read', '403 AccessDenied', { ...get, pair: pairOf('writer') }),
  shot(
    'nor as the source of a copy',
    '403 AccessDenied',
    copyTo('/s3/first/copied', 'first/kept.txt', { pair: pairOf('writer') }),
  ),
  shot('a copy from another account', '404 NoSuchBucket', copyTo('/s3/first/copied', '/foreign/kept.txt')),
  shot(
    'a copy from one that is not of this key',
    '404 NoSuchBucket',
    copyTo('/s3/second/copied', 'first/kept.txt', { pair: pairOf('limited') }),
  ),
  shot('a copy of a way out', '400 InvalidArgument', copyTo('/s3/first/copied', 'first/../outside.txt')),
  shot('a copy of an encoded way out', '400 InvalidArgument', copyTo('/s3/first/copied', 'first%2F..%2Foutside.txt')),
  shot('a copy of a version', '501 NotImplemented', copyTo('/s3/first/copied', 'first/kept.txt?versionId=1')),
  shot('a copy of nothing', '400 InvalidArgument', copyTo('/s3/first/copied', 'first')),
  shot('a copy of bytes that are not UTF-8', '400 InvalidURI', copyTo('/s3/first/copied', 'first/%ff')),
  shot(
    'a copy of a part alone',
    '501 NotImplemented',
    copyTo('/s3/first/copied', 'first/kept.txt', {
      headers: { 'x-amz-copy-source': 'first/kept.txt', 'x-amz-copy-source-range': 'bytes=0-1' },
    }),
  ),
  shot('of an owner that is another one', '403 AccessDenied', {
    ...put,
    headers: { 'x-amz-expected-bucket-owner': '123456789012' },
  }),
];

const ALTERED: readonly Attack[] = [
  [
    'another method than signed',
    '403 SignatureDoesNotMatch',
    ({ signer }) => signer.send({ ...signer.sign({ ...get, payload: 'UNSIGNED-PAYLOAD' }), method: 'DELETE' }),
  ],
  [
    'another key than signed',
    '403 SignatureDoesNotMatch',
    ({ signer }) => signer.send({ ...signer.sign(get), path: '/s3/first/other.txt' }),
  ],
  [
    'another bucket than signed',
    '403 SignatureDoesNotMatch',
    ({ signer }) => signer.send({ ...signer.sign(get), path: '/s3/second/kept.txt' }),
  ],
  [
    'a query that is not signed',
    '403 SignatureDoesNotMatch',
    ({ signer }) => signer.send({ ...signer.sign(get), query: 'response-content-type=text/html' }),
  ],
  [
    'a parameter twice of which one is signed',
    '403 SignatureDoesNotMatch',
    ({ signer }) =>
      signer.send({ ...signer.sign({ ...get, query: 'partNumber=1' }), query: 'partNumber=1&partNumber=2' }),
  ],
  [
    'another Host than signed',
    '403 SignatureDoesNotMatch',
    ({ signer }) => signer.send(withHeaders(signer, get, { host: 'other.example' })),
  ],
  ['no signed Host', '400 AuthorizationHeaderMalformed', ({ signer }) => signer.send({ ...get, unsigned: ['host'] })],
  [
    'a copy source that is not signed',
    '403 AccessDenied',
    ({ signer }) => signer.send(put, ['x-amz-copy-source: second/kept.txt']),
  ],
  ['metadata that is not signed', '403 AccessDenied', ({ signer }) => signer.send(put, ['x-amz-meta-mtime: 1'])],
  [
    'a signed field that comes twice',
    '403 SignatureDoesNotMatch',
    ({ signer }) => signer.send({ ...put, headers: { 'x-amz-meta-a': '1' } }, ['x-amz-meta-a: 2']),
  ],
  [
    'the same in other letters',
    '403 SignatureDoesNotMatch',
    ({ signer }) => signer.send({ ...put, headers: { 'x-amz-meta-a': '1' } }, ['X-AMZ-Meta-A: 2']),
  ],
  [
    'a second digest of the body',
    '403 SignatureDoesNotMatch',
    ({ signer }) => signer.send(put, ['x-amz-content-sha256: UNSIGNED-PAYLOAD']),
  ],
  [
    'another body than signed',
    '400 XAmzContentSHA256Mismatch',
    ({ signer }) => signer.send({ ...signer.sign(put), body: Buffer.from('PLANTED') }),
  ],
  [
    'no digest of the body',
    '400 MissingSecurityHeader',
    ({ signer }) => {
      const { 'x-amz-content-sha256': _digest, ...headers } = signer.sign(put).headers;
      return signer.send({ ...signer.sign(put), headers });
    },
  ],
  ['a digest that is none', '400 InvalidArgument', ({ signer }) => signer.send({ ...put, payload: 'none' })],
  [
    'a payload of another algorithm',
    '501 NotImplemented',
    ({ signer }) => signer.send({ ...put, payload: 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD' }),
  ],
  [
    'a signature in capitals',
    '400 AuthorizationHeaderMalformed',
    ({ signer }) => {
      const { headers, ...signed } = signer.sign(get);
      const authorization = (headers['authorization'] ?? '').replace(
        /[^=]+$/,
        (digits) => `A${digits.slice(1).toUpperCase()}`,
      );
      return signer.send({ ...signed, headers: { ...headers, authorization } });
    },
  ],
  [
    'no signature',
    '400 AuthorizationHeaderMalformed',
    ({ signer }) => {
      const { headers, ...signed } = signer.sign(get);
      return signer.send({
        ...signed,
        headers: { ...headers, authorization: (headers['authorization'] ?? '').replace(/, Signature.*/, '') },
      });
    },
  ],
];

const PRESIGNED: readonly Attack[] = [
  ['used as it is', '200 ', ({ signer }) => signer.send(signer.presign(get))],
  [
    'with another method',
    '403 SignatureDoesNotMatch',
    ({ signer }) => signer.send({ ...signer.presign(get), method: 'PUT', body: Buffer.from('planted') }),
  ],
  [
    'with another key',
    '403 SignatureDoesNotMatch',
    ({ signer }) => signer.send({ ...signer.presign(get), path: '/s3/first/other.txt' }),
  ],
  [
    'with one more parameter',
    '403 SignatureDoesNotMatch',
    ({ signer }) => {
      const signed = signer.presign(get);
      return signer.send({ ...signed, query: `response-content-type=text/html&${signed.query}` });
    },
  ],
  [
    'with a longer life',
    '403 SignatureDoesNotMatch',
    ({ signer }) => {
      const signed = signer.presign(get);
      return signer.send({ ...signed, query: signed.query.replace('X-Amz-Expires=60', 'X-Amz-Expires=600') });
    },
  ],
  [
    'with two lives',
    '400 AuthorizationQueryParametersError',
    ({ signer }) => {
      const signed = signer.presign(get);
      return signer.send({ ...signed, query: `${signed.query}&X-Amz-Expires=604800` });
    },
  ],
  [
    'after its end',
    '403 AccessDenied',
    ({ signer }) => signer.send(signer.presign({ ...get, time: Date.now() - 2 * MINUTE })),
  ],
  [
    'before its beginning',
    '403 RequestTimeTooSkewed',
    ({ signer }) => signer.send(signer.presign({ ...get, time: Date.now() + 16 * MINUTE })),
  ],
  [
    'for longer than a week',
    '400 AuthorizationQueryParametersError',
    ({ signer }) => signer.send(signer.presign({ ...get, expires: '604801' })),
  ],
  [
    'for no time',
    '400 AuthorizationQueryParametersError',
    ({ signer }) => signer.send(signer.presign({ ...get, expires: '-1' })),
  ],
  [
    'with a signed header as well',
    '400 InvalidArgument',
    ({ signer }) => {
      const { authorization = '' } = signer.sign(get).headers;
      return signer.send(signer.presign(get), [`authorization: ${authorization}`]);
    },
  ],
  [
    'for a PUT, sent as a copy',
    '403 AccessDenied',
    ({ signer }) =>
      signer.send({ ...signer.presign({ ...get, method: 'PUT' }) }, ['x-amz-copy-source: second/kept.txt']),
  ],
  // SDKs write the fields of a request into its query.
  ...[
    ['x-amz-acl=public-read', '501 NotImplemented'],
    ['X-Amz-Server-Side-Encryption=aws%3Akms', '501 NotImplemented'],
    ['x-amz-object-lock-mode=COMPLIANCE', '501 NotImplemented'],
    ['x-amz-tagging=secret%3Dyes', '501 NotImplemented'],
    ['x-amz-expected-bucket-owner=123456789012', '403 AccessDenied'],
    ['x-amz-copy-source=second%2Fnone.txt', '404 NoSuchKey'],
    ['x-amz-copy-source=foreign%2Fkept.txt', '404 NoSuchBucket'],
    ['x-amz-meta-mtime=never', '400 InvalidArgument'],
  ].map(([query = '', answer = '']): Attack => [
    `a PUT with ${query}`,
    answer,
    ({ signer }) => signer.send(signer.presign({ ...put, query })),
  ]),
];

const NAMED: readonly Attack[] = [
  ...['../outside.txt', 'a/../../outside.txt', './kept.txt', 'a//b', '/kept.txt', 'a/./b'].map((key) =>
    shot(`the key ${key}`, '400 InvalidArgument', { ...ROBOT, path: `/s3/first/${key}` }),
  ),
  shot('an encoded way out', '400 InvalidArgument', { ...ROBOT, path: '/s3/first/..%2Foutside.txt' }),
  shot('encoded dots', '400 InvalidArgument', {
    ...ROBOT,
    path: '/s3/first/%2e%2e/outside.txt',
    signedPath: '/s3/first/../outside.txt',
  }),
  shot('NUL in the key', '400 InvalidArgument', { ...ROBOT, path: '/s3/first/kept.txt%00.jpg' }),
  shot('a line end in the key', '400 InvalidArgument', { ...ROBOT, path: '/s3/first/a%0D%0Ab' }),
  shot('a control character in the key', '400 InvalidArgument', { ...ROBOT, path: '/s3/first/a%01b' }),
  shot('a key of 1,025 bytes', '400 KeyTooLongError', { ...ROBOT, path: `/s3/first/${'x'.repeat(1_025)}` }),
  shot('1,025 bytes in letters of three', '400 KeyTooLongError', {
    ...ROBOT,
    path: `/s3/first/${'%E6%97%A5'.repeat(342)}`,
  }),
  shot('bytes that are not UTF-8', '400 InvalidURI', { ...ROBOT, path: '/s3/first/%ff' }),
  shot('overlong UTF-8', '400 InvalidURI', { ...ROBOT, path: '/s3/first/%c0%ae%c0%ae/x' }),
  shot('a letter cut by a slash', '400 InvalidURI', { ...ROBOT, path: '/s3/first/%E2%82/%AC' }),
  shot('half an escape', '400 InvalidURI', { ...ROBOT, path: '/s3/first/a%2' }),
  shot('bytes that are not UTF-8 in the query', '400 InvalidArgument', { ...get, query: 'response-content-type=%ff' }),
  shot('NUL in the bucket', '404 NoSuchBucket', { path: '/s3/first%00/kept.txt' }),
  shot('a slash in the bucket', '404 NoSuchBucket', { path: '/s3/first%2Fkept.txt/x' }),
  shot('dots as the bucket', '404 NoSuchBucket', { path: '/s3/../api/me' }),
  shot('a bucket that is no name of a host', '404 NoSuchBucket', { path: '/s3/_%20%22%3Cb%3E/x' }),
  shot('a bucket of 4,000 characters', '404 NoSuchBucket', { path: `/s3/${'b'.repeat(4_000)}/x` }),
  shot('no bucket', '400 InvalidURI', { path: '/s3//kept.txt' }),
];

const BUCKETS: readonly Attack[] = [
  ...['0', '-1', '10001', '99999999999', '1e3', '0x10', ' 5', 'all'].map((limit) => ['max-buckets', limit]),
  ...['a', 'Zmlyc3Q=', '____', '..', Buffer.alloc(4_097, 'k').toString('base64url')].map((token) => [
    'continuation-token',
    token,
  ]),
].map(([name = '', value = '']) =>
  shot(`buckets with the ${name} ${value.slice(0, 20)}`, '400 InvalidArgument', {
    path: '/s3/',
    query: `${name}=${encodeURIComponent(value)}`,
  }),
);

/** Parameters that make a PUT, POST or DELETE another operation of S3 or of its likes. */
const SUB_RESOURCES = [
  ...['acl', 'tagging', 'retention', 'legal-hold', 'restore', 'torrent', 'cors', 'policy', 'lifecycle', 'website'],
  ...['versioning', 'versionId', 'encryption', 'object-lock', 'replication', 'select', 'attributes', 'annotation'],
  ...['renameObject', 'append', 'ACL', 'acl=', 'metadataConfiguration', 'abac'],
];

const OPERATIONS: readonly Attack[] = [
  ...SUB_RESOURCES.flatMap((name) =>
    ['PUT', 'DELETE'].map((method) => {
      const query = name.includes('=') ? name : `${name}=`;
      return shot(`${method} with ?${name}`, '501 NotImplemented', {
        method,
        path: KEPT,
        query,
        body: method === 'PUT' ? 'planted' : '',
      });
    }),
  ),
  shot('a bucket is deleted', '501 NotImplemented', { method: 'DELETE', path: '/s3/first' }),
  shot('a bucket is made', '501 NotImplemented', { method: 'PUT', path: '/s3/fresh' }),
  shot('a form is posted', '501 NotImplemented', { method: 'POST', path: '/s3/first', body: 'planted' }),
  shot('bytes are appended', '501 NotImplemented', { ...put, headers: { 'x-amz-write-offset-bytes': '5' } }),
  shot('encrypted with a key of the client', '501 NotImplemented', {
    ...put,
    headers: { 'x-amz-server-side-encryption-customer-algorithm': 'AES256' },
  }),
  ...[
    ['x-amz-server-side-encryption', 'aws:kms'],
    ['x-amz-tagging', 'secret=yes'],
    ['x-amz-acl', 'public-read'],
    ['x-amz-grant-read', 'id=all'],
    ['x-amz-website-redirect-location', '/other'],
  ].map(([name = '', value = '']) =>
    shot(`a promise that is not kept: ${name}`, '501 NotImplemented', { ...put, headers: { [name]: value } }),
  ),
  shot('locked for ever', '501 NotImplemented', { ...put, headers: { 'x-amz-object-lock-mode': 'COMPLIANCE' } }),
  shot('deleted if it is another version', '501 NotImplemented', {
    method: 'DELETE',
    path: KEPT,
    headers: { 'if-match': '"other"' },
  }),
  shot('a copy onto itself if there is none', '412 PreconditionFailed', {
    ...copyTo(KEPT, 'first/kept.txt'),
    headers: {
      'x-amz-copy-source': 'first/kept.txt',
      'x-amz-metadata-directive': 'REPLACE',
      'x-amz-meta-mtime': '1000000000',
      'if-none-match': '*',
    },
  }),
  ...[
    ['FRESH', '', '400 InvalidArgument'],
    ['REPLACE', 'gzip', '501 NotImplemented'],
  ].map(([directive = '', coding = '', answer = '']) =>
    shot(`a copy whose metadata are ${directive} ${coding}`, answer, {
      ...copyTo('/s3/first/copied', 'first/kept.txt'),
      headers: {
        'content-encoding': coding,
        'x-amz-copy-source': 'first/kept.txt',
        'x-amz-metadata-directive': directive,
      },
    }),
  ),
  shot('an upload in parts with a coding', '501 NotImplemented', {
    method: 'POST',
    path: KEPT,
    query: 'uploads=',
    headers: { 'content-encoding': 'gzip' },
  }),
  shot('replaced if it is another version', '501 NotImplemented', { ...put, headers: { 'if-match': '"other"' } }),
  shot('OPTIONS', '405 MethodNotAllowed', { ...get, method: 'OPTIONS' }),
  shot('PATCH', '405 MethodNotAllowed', { ...put, method: 'PATCH' }),
];

const READS: readonly Attack[] = [
  ...BUCKETS,
  ...['accelerate', 'acl', 'logging', 'notification', 'requestPayment', 'versioning'].flatMap((name) => [
    shot(`?${name} of a bucket`, '200 ', { path: '/s3/first', query: `${name}=` }),
    shot(`?${name} of another account's bucket`, '404 NoSuchBucket', { path: '/s3/foreign', query: `${name}=` }),
    shot(`?${name} of an inactive bucket`, '404 NoSuchBucket', { path: '/s3/inactive', query: `${name}=` }),
  ]),
  ...[
    ['cors', 'NoSuchCORSConfiguration'],
    ['encryption', 'ServerSideEncryptionConfigurationNotFoundError'],
    ['lifecycle', 'NoSuchLifecycleConfiguration'],
    ['object-lock', 'ObjectLockConfigurationNotFoundError'],
    ['ownershipControls', 'OwnershipControlsNotFoundError'],
    ['policy', 'NoSuchBucketPolicy'],
    ['policyStatus', 'NoSuchBucketPolicy'],
    ['publicAccessBlock', 'NoSuchPublicAccessBlockConfiguration'],
    ['replication', 'ReplicationConfigurationNotFoundError'],
    ['tagging', 'NoSuchTagSet'],
    ['website', 'NoSuchWebsiteConfiguration'],
  ].flatMap(([name = '', code = '']) => [
    shot(`?${name} of a bucket`, `404 ${code}`, { path: '/s3/first', query: `${name}=` }),
    shot(`?${name} of another account's bucket`, '404 NoSuchBucket', { path: '/s3/foreign', query: `${name}=` }),
  ]),
  ...[
    ['', '400 InvalidRequest'],
    [' , ', '400 InvalidRequest'],
    ['etag', '400 InvalidArgument'],
    ['ETag,Owner', '400 InvalidArgument'],
    ['ETag, ObjectSize', '200 '],
  ].map(([names = '', answer = '']) =>
    shot(`the attributes "${names}"`, answer, {
      ...get,
      query: 'attributes=',
      headers: { 'x-amz-object-attributes': names },
    }),
  ),
  shot('attributes that are not named', '400 InvalidRequest', { ...get, query: 'attributes=' }),
  shot('attributes by a key that writes', '403 AccessDenied', {
    ...get,
    query: 'attributes=',
    headers: { 'x-amz-object-attributes': 'ETag' },
    pair: pairOf('writer'),
  }),
  ...['acl', 'tagging'].flatMap((name) => [
    shot(`?${name} of an object`, '200 ', { ...get, query: `${name}=` }),
    shot(`?${name} of none`, '404 NoSuchKey', { path: '/s3/first/none.txt', query: `${name}=` }),
    shot(`?${name} of a way out`, '400 InvalidArgument', { path: '/s3/first/..%2Foutside.txt', query: `${name}=` }),
    shot(`?${name} of an object by a key that writes`, '403 AccessDenied', {
      ...get,
      query: `${name}=`,
      pair: pairOf('writer'),
    }),
    shot(`?${name} of a version`, '501 NotImplemented', { ...get, query: `${name}=&versionId=1` }),
  ]),
  ...['analytics', 'intelligent-tiering', 'inventory', 'metrics', 'versions', 'session'].map((name) =>
    shot(`?${name} of a bucket`, '501 NotImplemented', { path: '/s3/first', query: `${name}=` }),
  ),
  ...['legal-hold', 'retention', 'torrent', 'versionId', 'versioning', 'policy'].map((name) =>
    shot(`?${name} of an object`, '501 NotImplemented', { ...get, query: `${name}=` }),
  ),
  ...[
    'content-type',
    'content-disposition',
    'content-language',
    'content-encoding',
    'cache-control',
    'expires',
  ].flatMap((field) =>
    ['a%0D%0AX-Other%3A%20b', 'a%00b', 'a%7Fb', '%E6%97%A5'].map((value) =>
      shot(`the field ${field} chosen as ${value}`, '400 InvalidArgument', {
        ...get,
        query: `response-${field}=${value}`,
      }),
    ),
  ),
  shot('a file name with a line end', '400 InvalidArgument', {
    ...get,
    query: 'response-content-disposition=attachment%3B%20filename%3D%22%E6%97%A5%0A%22',
  }),
  shot('a file name in any letters', '200 ', {
    ...get,
    query: 'response-content-disposition=attachment%3B%20filename%3D%22%E6%97%A5%22',
  }),
];

const BODIES: readonly Attack[] = [
  [
    'a wrong Content-MD5',
    '400 BadDigest',
    ({ signer }) => signer.send({ ...put, headers: { 'content-md5': md5('other') } }),
  ],
  [
    'a Content-MD5 that is none',
    '400 InvalidDigest',
    ({ signer }) => signer.send({ ...put, headers: { 'content-md5': 'bm9uZQ==' } }),
  ],
  [
    'a wrong checksum',
    '400 BadDigest',
    ({ signer }) => signer.send({ ...put, headers: { 'x-amz-checksum-crc32': 'AAAAAA==' } }),
  ],
  [
    'a checksum of an unknown kind',
    '400 InvalidRequest',
    ({ signer }) => signer.send({ ...put, headers: { 'x-amz-checksum-md4': 'AAAA' } }),
  ],
  [
    'a checksum of too many bytes',
    '400 InvalidRequest',
    ({ signer }) => signer.send({ ...put, headers: { 'x-amz-checksum-crc32': 'AAAAAAAA' } }),
  ],
  [
    'no length',
    '411 MissingContentLength',
    ({ signer }) =>
      signer.send({
        ...signer.sign({ ...put, headers: { 'transfer-encoding': 'chunked' }, unsigned: ['transfer-encoding'] }),
        body: Buffer.from('7\r\nplanted\r\n0\r\n\r\n'),
      }),
  ],
  ['a coding', '501 NotImplemented', ({ signer }) => signer.send({ ...put, headers: { 'content-encoding': 'gzip' } })],
  ['content of a folder', '400 InvalidRequest', ({ signer }) => signer.send({ ...put, path: '/s3/first/folder/' })],
  ['chunks as they are', '200 ', (attacked) => chunked(attacked, (chunks) => chunks)],
  [
    'chunks in another order',
    '403 SignatureDoesNotMatch',
    (attacked) => chunked(attacked, ([a = '', b = '', ...rest]) => [b, a, ...rest]),
  ],
  [
    'a chunk left out',
    '403 SignatureDoesNotMatch',
    (attacked) => chunked(attacked, ([a = '', , ...rest]) => [a, ...rest]),
  ],
  [
    'a chunk twice',
    '403 SignatureDoesNotMatch',
    (attacked) => chunked(attacked, ([a = '', ...rest]) => [a, a, ...rest]),
  ],
  [
    'a chunk with other bytes',
    '403 SignatureDoesNotMatch',
    (attacked) => chunked(attacked, ([a = '', ...rest]) => [a.replace('kept', 'Kept'), ...rest]),
  ],
  [
    'a chunk with another signature',
    '403 SignatureDoesNotMatch',
    (attacked) =>
      chunked(attacked, (chunks) =>
        chunks.map((chunk, at) => (at === 1 ? chunk.replace(/=.{8}/, '=00000000') : chunk)),
      ),
  ],
  [
    'a chunk without a signature',
    '400 IncompleteBody',
    (attacked) => chunked(attacked, ([a = '', ...rest]) => [a.replace(/;[^\r]*/, ''), ...rest]),
  ],
  [
    'the end with a wrong signature',
    '403 SignatureDoesNotMatch',
    (attacked) =>
      chunked(attacked, (chunks) => [...chunks.slice(0, -1), `0;chunk-signature=${'0'.repeat(64)}\r\n\r\n`]),
  ],
  ['without its end', '400 IncompleteBody', (attacked) => chunked(attacked, (chunks) => chunks.slice(0, -1))],
  [
    'cut within a chunk',
    '400 IncompleteBody',
    (attacked) => chunked(attacked, (chunks) => [chunks.join('').slice(0, 150)]),
  ],
  ['bytes behind the end', '400 IncompleteBody', (attacked) => chunked(attacked, (chunks) => [...chunks, 'more'])],
  [
    'a chunk that is longer than it says',
    '400 IncompleteBody',
    (attacked) => chunked(attacked, ([a = '', ...rest]) => [a.replace(/^\w+/, '1'), ...rest]),
  ],
  [
    'a chunk of 2^60 bytes',
    '400 IncompleteBody',
    (attacked) => chunked(attacked, ([a = '', ...rest]) => [a.replace(/^\w+/, 'fffffffffffffff'), ...rest]),
  ],
  [
    'a size that is no number',
    '400 IncompleteBody',
    (attacked) => chunked(attacked, ([a = '', ...rest]) => [a.replace(/^\w+/, '-3'), ...rest]),
  ],
  ['a line without an end', '400 IncompleteBody', (attacked) => chunked(attacked, () => ['1'.repeat(5_000)])],
  ['more than the announced bytes', '400 IncompleteBody', (attacked) => chunked(attacked, (chunks) => chunks, '5')],
  ['fewer than the announced bytes', '400 IncompleteBody', (attacked) => chunked(attacked, (chunks) => chunks, '7')],
  ['no announced bytes', '411 MissingContentLength', (attacked) => chunked(attacked, (chunks) => chunks, 'none')],
];

/** XML for the deletion of keys. */
const XML: readonly (readonly [what: string, body: string])[] = [
  ['a document type', '<!DOCTYPE a [<!ENTITY b "b">]><Delete><Object><Key>&b;</Key></Object></Delete>'],
  [
    'entities of entities',
    `<!DOCTYPE l [<!ENTITY a "aaaa">${'<!ENTITY b "&a;&a;">'.repeat(9)}]><Delete><Object><Key>&b;</Key></Object></Delete>`,
  ],
  [
    'a file of the gateway',
    '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><Delete><Object><Key>&b;</Key></Object></Delete>',
  ],
  [
    '10,000 elements in each other',
    `<Delete><Object><Key>${'<a>'.repeat(1_000)}kept.txt${'</a>'.repeat(1_000)}</Key></Object></Delete>`,
  ],
  ['no keys', '<Delete></Delete>'],
  ['an empty key', '<Delete><Object><Key></Key></Object></Delete>'],
  ['1,001 keys', `<Delete>${'<Object><Key>kept.txt</Key></Object>'.repeat(1_001)}</Delete>`],
  ['two keys in one', '<Delete><Object><Key>kept.txt</Key><Key>other.txt</Key></Object></Delete>'],
  ['another root', '<Remove><Object><Key>kept.txt</Key></Object></Remove>'],
  ['two roots', '<Delete><Object><Key>kept.txt</Key></Object></Delete><Delete></Delete>'],
  ['a section', '<Delete><Object><Key><![CDATA[kept.txt]]></Key></Object></Delete>'],
  ['a comment', '<Delete><!-- --><Object><Key>kept.txt</Key></Object></Delete>'],
  ['an end that is missing', '<Delete><Object><Key>kept.txt</Key></Object>'],
  ['text behind the end', '<Delete><Object><Key>kept.txt</Key></Object></Delete>more'],
  ['an item of 20 KB', `<Delete><Object><Key>${'x'.repeat(20_000)}</Key></Object></Delete>`],
  ['nothing', ''],
  ['no XML', 'kept.txt'],
];

function attack(frontEnd: FrontEndName): void {
  let sshd: TestSshd;
  let attacked: Attacked;

  before(async () => {
    sshd = await startSshd();
    for (const root of ['first', 'second']) {
      mkdirSync(join(sshd.files, root));
      writeFileSync(join(sshd.files, root, 'kept.txt'), CONTENT);
    }
    writeFileSync(join(sshd.files, 'outside.txt'), CONTENT);
    const [gateway] = await startTogether([startGateway({ config: { ...configFor(sshd), server: { frontEnd } } })]);
    const admin = gateway.client(ADMIN);
    const inactive = { id: 'inactive', name: 'inactive', ...connectionTo(sshd, 'first') };
    const { privateKeyFile: _file, ...settings } = inactive;
    const made = await admin.post('/manage/connections', { ...settings, password: 'unused', isActive: false });
    assert.equal(made.status, 201, made.text);
    const { json } = await admin.get('/manage/api-keys');
    const revoked = (json['apiKeys'] as { id: string; name: string }[]).find(({ name }) => name === 'revoked');
    assert.equal((await admin.send(`/manage/api-keys/${revoked?.id}`, { method: 'DELETE' })).status, 200);
    attacked = { gateway, signer: new Signer(gateway.port, PAIR) };
  });
  after(async () => {
    await attacked?.gateway.stop();
    await sshd?.stop();
  });

  const families: Record<keyof typeof FACTS, readonly Attack[]> = {
    'who asks': WHO,
    'when it was signed': WHEN,
    'whose it is': WHOSE,
    'what was signed': ALTERED,
    'a presigned URL': PRESIGNED,
    names: NAMED,
    operations: OPERATIONS,
    'reads beside objects': READS,
    bodies: BODIES,
    XML: XML.map(([what, body]): Attack =>
      shot(what, '400 MalformedXML', { method: 'POST', path: '/s3/first', query: 'delete=', body }),
    ),
  };
  for (const family of FAMILIES) {
    const attacks = families[family];
    test(family, async (context) => {
      for (const [what, expected, run] of attacks) {
        await context.test(what, async () => {
          const { status, code } = await run(attacked);
          assert.equal(`${status} ${code}`, expected);
          assert.deepEqual(filesOf(sshd), EXPECTED);
        });
      }
      held({
        area: 'Attacks',
        what: `The S3 front on ${PROGRAMS[frontEnd]}: ${family}`,
        ...FACTS[family],
        tries: attacks.length,
      });
    });
  }

  test('what is encoded is decoded once in the source of a copy', async () => {
    const names = ['a%41', 'per%cent', 'a+b c'];
    for (const name of names) {
      writeFileSync(join(sshd.files, 'first', name), name);
      for (const source of [encodeURIComponent(`first/${name}`), `first/${encodeURIComponent(name)}`]) {
        assert.equal((await attacked.signer.send(copyTo('/s3/first/copied', source))).status, 200, source);
        assert.equal(readFileSync(join(sshd.files, 'first', 'copied'), 'utf8'), name, source);
        rmSync(join(sshd.files, 'first', 'copied'));
      }
      rmSync(join(sshd.files, 'first', name));
    }
  });

  test('a presigned copy has its source in the query', async () => {
    const { signer } = attacked;
    const query = 'x-amz-copy-source=second%2Fkept.txt&x-amz-meta-mtime=1000000000&x-amz-metadata-directive=REPLACE';
    const answer = await signer.send(signer.presign({ method: 'PUT', path: '/s3/first/copied', query }));
    assert.equal(answer.status, 200, answer.text);
    assert.equal(readFileSync(join(sshd.files, 'first', 'copied'), 'utf8'), CONTENT);
    assert.equal(statSync(join(sshd.files, 'first', 'copied')).mtimeMs, 1_000_000_000_000);
    rmSync(join(sshd.files, 'first', 'copied'));
  });

  test('a client that leaves within its chunks: nothing is stored, and its session comes back', async () => {
    const { signer } = attacked;
    const piece = 'x'.repeat(MIB);
    for (let round = 0; round < ROUNDS; round++) {
      const headers = { 'x-amz-decoded-content-length': String(4 * MIB), 'content-length': String(5 * MIB) };
      const signed = signer.sign({ method: 'PUT', path: KEPT, headers, payload: SIGNED_CHUNKS });
      const begun = chunksOf(signed, [piece, piece]).slice(0, 2).join('');
      const isWriting = () => eventually(() => filesOf(sshd).length > EXPECTED.length, 'the upload begins');
      await signer.leave(bytesOf({ ...signed, body: Buffer.from(begun) }), isWriting);
      await eventually(() => filesOf(sshd).join() === EXPECTED.join(), 'what was written is removed');
    }
    // The pool has two sessions, each for one transfer.
    assert.equal((await signer.send(get)).text, CONTENT);
  });

  test('no secret and no signature is in the log, and its routes are few', async () => {
    const { signer, gateway } = attacked;
    const presigned = signer.presign(get);
    const wrong = { ...presigned, query: presigned.query.replace(/.{4}$/, '0000') };
    const sent: Signed[] = [signer.sign(get), signer.sign({ ...get, query: 'acl=' }), presigned, wrong];
    for (const one of sent) await signer.send(one);
    await signer.send({ path: '/s3/first', query: 'location=' });
    await eventually(() => gateway.output().includes('"route":"s3 GetBucketLocation"'), 'the log has them all');
    const output = gateway.output();
    for (const secret of sent.flatMap(({ signature }) => [signature, signature.slice(0, 60)]))
      assert.ok(!output.includes(secret));
    assert.doesNotMatch(output, /X-Amz-Signature|Signature=|secret-of-/);
    const routes = new Set(output.match(/"route":"s3 [^"]*"/g));
    assert.deepEqual(
      [...routes].filter((route) => !/"s3 (unknown|[A-Z][A-Za-z]+)"/.test(route)),
      [],
    );
    assert.ok(routes.size < 20);
  });

  test('wrong signatures: from the 61st in a minute on 503, and valid clients go on', async () => {
    const { signer } = attacked;
    const answers: S3Answer[] = [];
    for (let guess = 0; guess < GUESSES; guess++) {
      const pair = { ...PAIR, secretAccessKey: randomBytes(20).toString('hex') };
      answers.push(await signer.send({ ...get, pair }));
      // The owner of the same access key, from the same address.
      if (guess % 10 === 0) assert.equal((await signer.send(get)).status, 200);
    }
    const wrong = answers.filter(({ code }) => code === 'SignatureDoesNotMatch');
    const slowed = answers.filter(({ code }) => code === 'SlowDown');
    assert.ok(wrong.length <= 60, String(wrong.length));
    assert.equal(wrong.length + slowed.length, GUESSES);
    for (const { status, headers } of slowed) {
      assert.equal(status, 503);
      assert.match(headers.get('retry-after') ?? '', /^[1-9]\d?$/);
    }
    // Another key of the same address, which the gateway has not seen, and one that is not known at all.
    assert.equal((await signer.send({ path: '/s3/', pair: pairOf('fresh') })).status, 200);
    assert.equal((await signer.send({ ...get, pair: pairOf('other') })).code, 'SlowDown');
    assert.equal((await signer.send(get)).status, 200);
    held({
      area: 'Attacks',
      what: `The S3 front on ${PROGRAMS[frontEnd]}: guessing secrets`,
      done: '100 wrong signatures with an access key that exists, while its owner works from the same address',
      held: '403, and from the 61st in a minute on 503 SlowDown with Retry-After; the owner is served all the time',
      tries: GUESSES,
    });
  });
}

const MIB = 1024 * 1024;
const GUESSES = 100;
const ROUNDS = 3;

const PROGRAMS = { uws: 'uWebSockets.js', node: 'node:http' } as const;

/** What was done in each family of attacks, and what held. */
const FACTS = {
  'who asks': {
    done: 'no signature, former versions, bearer keys, wrong secrets, keys that are unknown, expired, revoked or of another address',
    held: '403 or 400 with the code of S3; an expired and a revoked key are as an unknown one',
  },
  'when it was signed': {
    done: 'replayed or ahead by 16 minutes, dated for another day, without a date',
    held: '403 RequestTimeTooSkewed, or 400',
  },
  'whose it is': {
    done: 'connections that are foreign, unknown, inactive or not of the key, as buckets and as sources of copies; scopes',
    held: 'one answer for all four, 404 NoSuchBucket; 403 for scopes',
  },
  'what was signed': {
    done: 'method, bucket, key, query, Host and body changed after the signature; fields that are not signed, or come twice',
    held: '403 or 400, before a byte is stored',
  },
  'a presigned URL': {
    done: 'another method, key or life, more parameters, too early, too late, together with a signed header, with fields in its query',
    held: '403 or 400; 404 or 501 for fields',
  },
  names: {
    done: 'ways out, "//", NUL, line ends, 1,025 bytes, bytes that are not UTF-8, in keys, buckets and queries',
    held: '400 or 404; nothing outside is read or changed',
  },
  operations: {
    done: 'PUT and DELETE with parameters and fields that make them another operation, odd methods',
    held: '501 NotImplemented, 405, 400 or 412; the object stays as it was',
  },
  'reads beside objects': {
    done: 'settings, attributes, pages of buckets and fields of the answer: wrong, foreign, without the scope, with line ends',
    held: '400, 403, 404 or 501 with the code of S3; no control character gets into a field',
  },
  bodies: {
    done: 'chunks that are reordered, repeated, left out, cut, changed or not signed; wrong lengths, digests and checksums',
    held: 'nothing is stored, and what was there stays',
  },
  XML: {
    done: 'document types, entities, deep and large elements, too many keys',
    held: '400 MalformedXML, and no key is deleted',
  },
} as const;
const FAMILIES = Object.keys(FACTS) as (keyof typeof FACTS)[];

const EXPECTED: readonly string[] = ['first/kept.txt', 'outside.txt', 'second/kept.txt'].map(
  (name) => `${name}: ${CONTENT}`,
);

function filesOf({ files }: TestSshd): string[] {
  const found = readdirSync(files, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const names = found.map(({ parentPath, name }) => join(parentPath, name));
  return names.map((name) => `${name.slice(files.length + 1)}: ${readFileSync(name, 'utf8')}`).sort();
}

function plain(method: string, target: string, headers: readonly string[] = []): Buffer {
  return Buffer.from([`${method} ${target} HTTP/1.1`, 'host: a', ...headers, '', ''].join('\r\n'), 'latin1');
}

function withHeaders(signer: Signer, request: Shot, headers: Readonly<Record<string, string>>) {
  const signed = signer.sign(request);
  return { ...signed, headers: { ...signed.headers, ...headers } };
}

/** A body in two chunks and an end, as an attacker changes them; those that are right store what is there already. */
function chunked({ signer }: Attacked, change: (chunks: string[]) => readonly string[], size = ''): Promise<S3Answer> {
  const pieces = [CONTENT.slice(0, 6), CONTENT.slice(6)];
  const announced: Record<string, string> =
    size === 'none'
      ? {}
      : {
          'x-amz-decoded-content-length':
            size === '' ? String(CONTENT.length) : String(CONTENT.length + Number(size) - 6),
        };
  const signed = signer.sign({ method: 'PUT', path: KEPT, headers: announced, payload: SIGNED_CHUNKS });
  return signer.send({ ...signed, body: Buffer.from(change(chunksOf(signed, pieces)).join('')) });
}

const md5 = (text: string): string => hash('md5', text, 'base64');

function connectionTo({ port, username, clientKeyFile, files }: TestSshd, root: string) {
  const place = { host: '127.0.0.1', port, username, privateKeyFile: clientKeyFile };
  return { type: 'sftp', ...place, rootPath: `${files}/${root}`, defaultPath: '/' };
}

function configFor(sshd: TestSshd) {
  const connections = ['first', 'second'].map((id) => ({ id, name: id, ...connectionTo(sshd, id) }));
  const apiKeys = Object.entries(RIGHTS).map(([name, rights]) => ({
    name,
    key: `ftg_s3-attacks-${name}-0123456789`,
    s3: pairOf(name),
    ...rights,
  }));
  const foreign = { id: 'foreign', name: 'foreign', ...connectionTo(sshd, 'second') };
  return {
    s3: { enabled: true },
    pools: { default: { maxSessions: 2, maxChannelsPerSession: 1 } },
    limits: { requestsPerSecond: 0 },
    accounts: [
      {
        email: 'a@example.com',
        plan: 'pro',
        apiKeys: [...apiKeys, { name: 'api', key: KEY }, { name: 'admin', key: ADMIN, scopes: ['admin'] }],
        connections,
      },
      {
        email: 'b@example.com',
        plan: 'pro',
        apiKeys: [{ name: 'b', key: 'ftg_s3-attacks-b-0123456789', s3: pairOf('b') }],
        connections: [foreign],
      },
    ],
  };
}

for (const frontEnd of ['uws', 'node'] as const) {
  describe(`attacks on the S3 front, on ${frontEnd}`, { concurrency: 1 }, () => attack(frontEnd));
}
