/** Conditions, ranges, parameters of lists, deletions of many and copies, as Amazon S3 documents them. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type S3Answer, type Shot, Signer } from '../attacks/support/s3-signer.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { PAIR } from './suite.js';

const CONTENT = '0123456789';
const DATED = 'Fri, 02 Jan 2026 03:04:05 GMT';
const BEFORE = 'Fri, 02 Jan 2026 03:04:04 GMT';
const AFTER = 'Fri, 02 Jan 2026 03:04:06 GMT';
const factsOf = ({ status, code }: S3Answer): string => `${status} ${code}`.trim();
const all = (name: string, { text }: S3Answer): string[] =>
  [...text.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, value = '']) => value);

describe('as Amazon S3 documents it', { concurrency: 1 }, () => {
  let sshd: TestSshd;
  let gateway: TestGateway;
  let signer: Signer;
  let tag = '';

  before(async () => {
    sshd = await startSshd();
    const { port, username, clientKeyFile: privateKeyFile, files } = sshd;
    const server = { type: 'sftp' as const, host: '127.0.0.1', port, username, privateKeyFile, rootPath: files };
    gateway = await startGateway({
      connections: [{ id: 'c1', name: 'Server', ...server }],
      apiKeys: [{ name: 'test', key: KEY, s3: PAIR }],
      config: { s3: { enabled: true } },
    });
    signer = new Signer(gateway.port, PAIR);
    const mtime = String(Date.parse(DATED) / 1_000);
    const made = await send({ ...at('a.txt'), method: 'PUT', body: CONTENT, headers: { 'x-amz-meta-mtime': mtime } });
    tag = made.headers.get('etag') ?? '';
    for (const name of ['b/1.txt', 'b/2.txt', 'c d+e.txt']) await send({ ...at(name), method: 'PUT', body: 'x' });
  });
  after(async () => {
    await gateway?.stop();
    await sshd?.stop();
  });

  const at = (key: string): Shot => ({ path: `/s3/c1/${key.split('/').map(encodeURIComponent).join('/')}` });
  const send = (shot: Shot): Promise<S3Answer> => signer.send(shot);

  test('conditions of reads', async () => {
    const quoted = (text: string): string => text.replace('TAG', tag);
    const conditions: readonly (readonly [status: number, headers: Readonly<Record<string, string>>])[] = [
      [200, { 'if-match': 'TAG' }],
      [200, { 'if-match': '*' }],
      [200, { 'if-match': '"other", TAG' }],
      [412, { 'if-match': 'W/TAG' }],
      [412, { 'if-match': '"other"' }],
      [304, { 'if-none-match': 'TAG' }],
      [304, { 'if-none-match': '*' }],
      [200, { 'if-none-match': '"other"' }],
      [304, { 'if-modified-since': DATED }],
      [304, { 'if-modified-since': AFTER }],
      [200, { 'if-modified-since': BEFORE }],
      [200, { 'if-modified-since': 'yesterday' }],
      [200, { 'if-unmodified-since': DATED }],
      [412, { 'if-unmodified-since': BEFORE }],
      [200, { 'if-unmodified-since': 'yesterday' }],
      // A tag counts more than a time.
      [200, { 'if-match': 'TAG', 'if-unmodified-since': BEFORE }],
      [304, { 'if-none-match': 'TAG', 'if-modified-since': BEFORE }],
      [200, { 'if-none-match': '"other"', 'if-modified-since': AFTER }],
      [412, { 'if-match': '"other"', 'if-none-match': 'TAG' }],
      [304, { 'if-match': 'TAG', 'if-none-match': 'TAG' }],
    ];
    for (const [status, given] of conditions) {
      const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, quoted(value)]));
      for (const method of ['GET', 'HEAD']) {
        assert.equal(
          (await send({ ...at('a.txt'), method, headers })).status,
          status,
          `${method} ${JSON.stringify(given)}`,
        );
      }
    }
  });

  test('ranges', async () => {
    const whole = `200 ${CONTENT}`;
    const ranges: readonly (readonly [answer: string, range: string, ifRange?: string])[] = [
      [`206 ${CONTENT}`, 'bytes=0-'],
      [`206 ${CONTENT}`, 'bytes=-100'],
      ['206 56789', 'bytes=5-100'],
      ['206 9', 'bytes=9-9'],
      ['206 12', 'bytes=1-2', 'TAG'],
      [whole, 'bytes=1-2', '"other"'],
      [whole, 'bytes=1-2', BEFORE],
      [whole, 'bytes=50-', '"other"'],
      ['416 InvalidRange', 'bytes=-0'],
      ['416 InvalidRange', 'bytes=10-'],
      ['416 InvalidRange', 'bytes=99999999999999999999-'],
      ...[
        'bytes=5-4',
        'bytes=0-1,3-4',
        'bytes=',
        'bytes=-',
        'bytes=a-b',
        'lines=0-1',
        'bytes=0-1-2',
        'bytes=0x1-2',
      ].map((range) => [whole, range] as const),
    ];
    for (const [expected, range, ifRange] of ranges) {
      const headers = { range, ...(ifRange === undefined ? {} : { 'if-range': ifRange.replace('TAG', tag) }) };
      const { status, code, text } = await send({ ...at('a.txt'), headers });
      assert.equal(`${status} ${code === '' ? text : code}`, expected, range);
    }
  });

  test('parameters of lists', async () => {
    const list = (query: string): Promise<S3Answer> => send({ path: '/s3/c1', query });
    const keys = async (query: string): Promise<string[]> => all('Key', await list(query));
    assert.deepEqual(await keys('list-type=2'), ['a.txt', 'b/1.txt', 'b/2.txt', 'c d+e.txt']);
    const token = Buffer.from('b/1.txt').toString('base64url');
    const both = `continuation-token=${token}&list-type=2&start-after=c`;
    assert.deepEqual(await keys(both), ['b/2.txt', 'c d+e.txt']);
    for (const query of ['max-keys=0', 'list-type=2&max-keys=0', 'delimiter=%2F&list-type=2&max-keys=0']) {
      const none = await list(query);
      assert.deepEqual([all('Key', none), all('Prefix', none), all('IsTruncated', none)], [[], [''], ['false']], query);
    }
    for (const prefix of ['%00', '%01', '%2Fa', '..%2F', 'b%2F%2F1', '%F0%9F%91%8D', 'c%20d%20', '*', 'B%2F']) {
      assert.deepEqual(await keys(`prefix=${prefix}`), [], prefix);
    }
    assert.deepEqual(await keys('prefix=c%20d%2B'), ['c d+e.txt']);
    assert.deepEqual(await keys('encoding-type=url&prefix=c'), ['c%20d%2Be.txt']);
    assert.deepEqual(await keys('list-type=2&start-after=b%2F'), ['b/1.txt', 'b/2.txt', 'c d+e.txt']);
    assert.equal(factsOf(await list('delimiter=.txt')), '501 NotImplemented');
    for (const [query, owners] of [
      ['list-type=2&prefix=a', 0],
      ['fetch-owner=true&list-type=2&prefix=a', 1],
      ['fetch-owner=false&list-type=2&prefix=a', 0],
      ['prefix=a', 1],
    ] as const) {
      assert.equal(all('ID', await list(query)).length, owners, query);
    }
  });

  test('deletions of many: 1,000 keys, the same key again, quiet, and digests', async () => {
    const remove = (body: string, headers: Shot['headers'] = {}): Promise<S3Answer> =>
      send({ method: 'POST', path: '/s3/c1', query: 'delete=', body, headers });
    const listOf = (keys: readonly string[], more = ''): string =>
      `<Delete>${more}${keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('')}</Delete>`;
    const many = Array.from({ length: 1_000 }, (_, index) => `none/${index}`);
    assert.deepEqual(all('Key', await remove(listOf(many))), many);
    assert.equal(factsOf(await remove(listOf([...many, 'a.txt']))), '400 MalformedXML');
    writeFileSync(path.join(sshd.files, 'gone.txt'), 'x');
    const again = ['gone.txt', 'gone.txt', 'gone.txt'];
    const removed = await remove(listOf(again));
    assert.deepEqual([all('Key', removed), all('Code', removed)], [again, []]);
    const quiet = await remove(listOf(['none', '/lead'], '<Quiet>true</Quiet>'));
    assert.deepEqual([all('Key', quiet), all('Code', quiet)], [['/lead'], ['InvalidArgument']]);
    const body = listOf(['a.txt']);
    assert.equal(factsOf(await remove(body, { 'content-md5': hash('md5', 'other', 'base64') })), '400 BadDigest');
    assert.equal(factsOf(await remove(body, { 'x-amz-checksum-crc32': 'AAAAAA==' })), '400 BadDigest');
    assert.equal((await send(at('a.txt'))).text, CONTENT);
    const right = { 'content-md5': hash('md5', listOf(['none']), 'base64') };
    assert.equal(factsOf(await remove(listOf(['none']), right)), '200');
  });

  test('copies: conditions, versions, onto itself; forms are refused', async () => {
    const copy = async (to: string, source: string, more: Shot['headers'] = {}): Promise<string> =>
      factsOf(await send({ ...at(to), method: 'PUT', headers: { 'x-amz-copy-source': source, ...more } }));
    const self = 'c1/a.txt';
    const replaced = { 'x-amz-metadata-directive': 'REPLACE' };
    assert.equal(await copy('a.txt', self), '400 InvalidRequest');
    assert.equal(await copy('a.txt', self, { 'x-amz-metadata-directive': 'COPY' }), '400 InvalidRequest');
    assert.equal(await copy('a.txt', self, replaced), '200');
    assert.equal(await copy('d.txt', `/${self}`), '200');
    assert.equal(await copy('d.txt', 'c1%2Fa.txt'), '200');
    assert.equal(await copy('d.txt', `${self}?versionId=null`), '200');
    assert.equal(await copy('d.txt', `${self}?versionId=1`), '501 NotImplemented');
    assert.equal(await copy('d.txt', self, { 'if-none-match': '*' }), '412 PreconditionFailed');
    const source = 'x-amz-copy-source-if';
    for (const [expected, more] of [
      ['200', { [`${source}-match`]: tag }],
      ['412 PreconditionFailed', { [`${source}-match`]: '"other"' }],
      ['412 PreconditionFailed', { [`${source}-none-match`]: tag }],
      ['412 PreconditionFailed', { [`${source}-modified-since`]: AFTER }],
      ['412 PreconditionFailed', { [`${source}-unmodified-since`]: BEFORE }],
      ['200', { [`${source}-match`]: tag, [`${source}-unmodified-since`]: BEFORE }],
      ['412 PreconditionFailed', { [`${source}-none-match`]: tag, [`${source}-modified-since`]: BEFORE }],
    ] as const) {
      assert.equal(await copy('d.txt', self, more), expected, JSON.stringify(more));
    }
    const form = { 'content-type': 'multipart/form-data; boundary=b' };
    const body = '--b\r\nContent-Disposition: form-data; name="key"\r\n\r\na.txt\r\n--b--\r\n';
    assert.equal(factsOf(await send({ method: 'POST', path: '/s3/c1', headers: form, body })), '501 NotImplemented');
    assert.equal((await send(at('a.txt'))).text, CONTENT);
  });
});
