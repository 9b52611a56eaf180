/** The XML and the entity tags of the S3 front. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { etagOf } from '../../src/s3/etag.js';
import { xml } from '../../src/s3/xml.js';

test('a document has its declaration, the namespace of S3 and its elements in order', () => {
  const content = [
    ['Name', 'b'],
    ['Prefix', ''],
    ['Marker', undefined],
    ['IsTruncated', false],
    [
      'Contents',
      [
        ['Key', 'a/b'],
        ['Size', 5],
      ],
    ],
  ] as const;
  const expected =
    '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' +
    '<Name>b</Name><Prefix></Prefix><IsTruncated>false</IsTruncated>' +
    '<Contents><Key>a/b</Key><Size>5</Size></Contents></ListBucketResult>';
  assert.equal(xml('ListBucketResult', content), expected);
  assert.match(xml('LocationConstraint', 'x'), /2006-03-01\/">x<\/LocationConstraint>$/);
});

test('text cannot end its element, and a parser changes no character of it', () => {
  const text = (content: string): string => xml('K', content).replace(/^[^]*?2006-03-01\/">|<\/K>$/g, '');
  assert.equal(text('<a href="x">&amp;</K>'), '&lt;a href=&quot;x&quot;&gt;&amp;amp;&lt;/K&gt;');
  assert.equal(text(']]>'), ']]&gt;');
  assert.equal(text('a\r\n\tb'), 'a&#xd;&#xa;&#x9;b');
  assert.equal(text('\u0000\u001b\u0085\uffff'), '&#x0;&#x1b;&#x85;&#xffff;');
  assert.equal(text('é 😀 \ud800'), 'é 😀 \ufffd');
});

test('an entity tag is no MD5', () => {
  const modifiedAt = new Date('2026-01-30T08:15:00.000Z');
  const file = { size: 5, modifiedAt };
  assert.match(etagOf(file), /^[0-9a-f]{32}-1$/);
  const md5 = '5d41402abc4b2a76b9719d911017c592';
  assert.equal(etagOf({ ...file, etag: md5 }), `${md5}-1`);
  assert.equal(etagOf({ ...file, etag: `${md5}-12` }), `${md5}-12`);
});

test('an entity tag changes with the size and the second of the time', () => {
  const at = (size: number, time: string): string => etagOf({ size, modifiedAt: new Date(time) });
  const first = at(5, '2026-01-30T08:15:00.000Z');
  assert.equal(at(5, '2026-01-30T08:15:00.900Z'), first);
  assert.notEqual(at(6, '2026-01-30T08:15:00.000Z'), first);
  assert.notEqual(at(5, '2026-01-30T08:15:01.000Z'), first);
});
