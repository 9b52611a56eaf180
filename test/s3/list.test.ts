/** ListObjects of the S3 front: queries, and answers as clients of S3 read them. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { hasCode, type ErrorCode } from '../../src/base/errors.js';
import type { KeyEntry, KeysPage } from '../../src/operations/tree/list-keys.js';
import type { RemotePath } from '../../src/remotes/path.js';
import { listResult, readListQuery } from '../../src/s3/list.js';
import { xml } from '../../src/s3/xml.js';

/** No folder has content: the MD5 of nothing. */
const FOLDER = 'd41d8cd98f00b204e9800998ecf8427e';

const queryOf = (text: string): ReturnType<typeof readListQuery> => readListQuery(new URLSearchParams(text));

const fileAt = (key: string, size = 5): KeyEntry => {
  const path = `/${key.replace(/\/$/, '')}` as RemotePath;
  const modifiedAt = new Date('2026-01-30T08:15:00.000Z');
  const name = path.slice(path.lastIndexOf('/') + 1);
  return { key, info: { name, path, size, isDirectory: key.endsWith('/'), modifiedAt, etag: 'abc' } };
};

const answerTo = (query: string, page: Partial<KeysPage> = {}): string => {
  const listed = listResult('bucket', queryOf(query), { entries: [], next: undefined, ...page }, 'account');
  return xml('ListBucketResult', listed).replace(/^[^>]+>\s*<[^>]+>/, '');
};

suite('a query', () => {
  test('of version 1 begins after its marker, one of version 2 after its token or start-after', () => {
    assert.deepEqual(queryOf('').keys, { prefix: '', delimiter: '', after: '', limit: 1000 });
    assert.deepEqual(queryOf('prefix=a/b&delimiter=/&marker=a/c&max-keys=7&start-after=x').keys, {
      prefix: 'a/b',
      delimiter: '/',
      after: 'a/c',
      limit: 7,
    });
    const token = Buffer.from('é/x').toString('base64url');
    assert.equal(queryOf(`list-type=2&continuation-token=${token}&start-after=z&marker=m`).keys.after, 'é/x');
    assert.equal(queryOf('list-type=2&start-after=z').keys.after, 'z');
    assert.equal(queryOf('list-type=2&continuation-token=&start-after=z').keys.after, 'z');
    assert.equal(queryOf('list-type=2&marker=m').keys.after, '');
  });

  test('lists 1000 keys at most, and none if none are wanted', () => {
    const limits = ['0', '1', '1000', '1001', '2147483647', ''].map((limit) => queryOf(`max-keys=${limit}`).keys.limit);
    assert.deepEqual(limits, [0, 1, 1000, 1000, 1000, 1000]);
  });

  test('that is wrong is refused with the parameter', () => {
    const refused: readonly (readonly [query: string, code: ErrorCode])[] = [
      ['max-keys=-1', 'bad_request'],
      ['max-keys=1.5', 'bad_request'],
      ['max-keys=1e3', 'bad_request'],
      ['max-keys=2147483648', 'bad_request'],
      ['max-keys=99999999999999999999', 'bad_request'],
      ['max-keys=ten', 'bad_request'],
      ['max-keys=%2010', 'bad_request'],
      ['encoding-type=base64', 'bad_request'],
      ['list-type=3', 'bad_request'],
      [`prefix=${'é'.repeat(513)}`, 'bad_request'],
      [`marker=${'k'.repeat(4097)}`, 'bad_request'],
      [`start-after=${'k'.repeat(4097)}`, 'bad_request'],
      ['delimiter=-', 'unsupported_operation'],
      ['delimiter=//', 'unsupported_operation'],
      ['list-type=2&continuation-token=a', 'bad_request'],
      ['list-type=2&continuation-token=YQ==', 'bad_request'],
      ['list-type=2&continuation-token=a%20b', 'bad_request'],
      [`list-type=2&continuation-token=${Buffer.from([0xff, 0xfe]).toString('base64url')}`, 'bad_request'],
      [`list-type=2&continuation-token=${Buffer.alloc(4097, 'k').toString('base64url')}`, 'bad_request'],
    ];
    for (const [query, code] of refused) {
      const named = query.split('&').at(-1)?.split('=')[0] ?? '';
      const isRefused = (error: unknown): boolean => hasCode(error, code) && String(error).includes(`${named} must`);
      assert.throws(() => queryOf(query), isRefused, query.slice(0, 80));
    }
    assert.equal(queryOf(`prefix=${'é'.repeat(512)}`).keys.prefix.length, 512);
  });
});

suite('an answer', () => {
  test('of version 1 has the marker of the next page, and owners', () => {
    const entries = [fileAt('a'), { prefix: 'b/' }, fileAt('c/', 0)];
    assert.equal(
      answerTo('delimiter=/&max-keys=3&marker=A', { entries, next: 'c/' }),
      '<Name>bucket</Name><Prefix></Prefix><Marker>A</Marker><NextMarker>c/</NextMarker><MaxKeys>3</MaxKeys>' +
        '<Delimiter>/</Delimiter><IsTruncated>true</IsTruncated>' +
        ['a', 'c/']
          .map(
            (key) =>
              `<Contents><Key>${key}</Key><LastModified>2026-01-30T08:15:00.000Z</LastModified>` +
              `<ETag>&quot;${key === 'a' ? 'abc' : FOLDER}-1&quot;</ETag><Size>${key === 'a' ? 5 : 0}</Size>` +
              '<Owner><ID>account</ID><DisplayName>account</DisplayName></Owner>' +
              '<StorageClass>STANDARD</StorageClass></Contents>',
          )
          .join('') +
        '<CommonPrefixes><Prefix>b/</Prefix></CommonPrefixes></ListBucketResult>',
    );
    assert.doesNotMatch(answerTo('delimiter=/'), /NextMarker|Contents|CommonPrefixes|KeyCount|EncodingType/);
    assert.match(answerTo('max-keys=0'), /<MaxKeys>0<\/MaxKeys><IsTruncated>false</);
  });

  test('of version 2 has a token that begins the next page, and owners only if they are wanted', () => {
    const answer = answerTo('list-type=2&start-after=A&max-keys=1', { entries: [fileAt('é/x')], next: 'é/x' });
    assert.match(answer, /<StartAfter>A<\/StartAfter>.*<KeyCount>1<\/KeyCount><MaxKeys>1<.*<IsTruncated>true</);
    assert.doesNotMatch(answer, /Owner|Marker|Delimiter|<ContinuationToken/);
    const [, token = ''] = /<NextContinuationToken>([\w-]+)</.exec(answer) ?? [];
    const next = `list-type=2&fetch-owner=true&continuation-token=${token}`;
    assert.equal(queryOf(next).keys.after, 'é/x');
    const last = answerTo(next, { entries: [fileAt('z')] });
    assert.match(last, new RegExp(`<ContinuationToken>${token}</ContinuationToken><KeyCount>1<.*>false<.*<Owner>`));
    assert.doesNotMatch(last, /NextContinuationToken/);
  });

  test('with encoding-type=url has every name encoded, so that any key can be read', () => {
    const key = "a b+c/(1)'*!~é\u0001.x";
    const encoded = 'a%20b%2Bc/%281%29%27%2A%21~%C3%A9%01.x';
    const text = encodeURIComponent(key);
    const page = { entries: [fileAt(key), { prefix: `${key}/` }], next: key };
    const old = answerTo(`encoding-type=url&delimiter=/&prefix=${text}&marker=${text}`, page);
    for (const name of ['Prefix', 'Marker', 'NextMarker', 'Key'])
      assert.ok(old.includes(`<${name}>${encoded}</`), name);
    assert.ok(old.includes(`<CommonPrefixes><Prefix>${encoded}/</Prefix>`));
    assert.match(old, /<Delimiter>\/<\/Delimiter><EncodingType>url<\/EncodingType>/);
    const recent = answerTo(`list-type=2&encoding-type=url&start-after=${text}`, page);
    assert.ok(recent.includes(`<StartAfter>${encoded}</`));
    assert.match(recent, new RegExp(`<NextContinuationToken>${Buffer.from(key).toString('base64url')}<`));
  });

  test('without it has references for what XML cannot express, as Amazon S3 has', () => {
    assert.match(
      answerTo('prefix=%01<', { entries: [fileAt('a&\uffff')] }),
      /<Prefix>&#x1;&lt;<.*<Key>a&amp;&#xffff;</,
    );
  });
});
