import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hasCode } from '../../src/base/errors.js';
import { OWN_TEMPORARY } from '../../src/base/file-name.js';
import {
  applyTemplate,
  checkTemplate,
  isTemporaryName,
  nameFromDisposition,
  nameFromUrl,
  temporaryName,
} from '../../src/operations/names.js';

const facts = { now: new Date('2026-03-04T05:06:07.890Z'), uuid: '0190f5fe-7c00-7a00-8000-0123456789ab' };
const apply = (template: string, filename = 'report.csv'): string => applyTemplate(template, filename, facts);

test('every token, in UTC', () => {
  const expected: Readonly<Record<string, string>> = {
    filename: 'report.csv',
    name: 'report',
    ext: 'csv',
    date: '2026-03-04',
    time: '050607',
    datetime: '20260304T050607Z',
    timestamp: '1772600767',
    year: '2026',
    month: '03',
    day: '04',
    uuid: facts.uuid,
  };
  for (const [token, value] of Object.entries(expected)) assert.equal(apply(`x-{${token}}-{ext}`), `x-${value}-csv`);
});

test('unknown tokens are refused by name; braces without a token stay', () => {
  for (const template of ['{dat}', '{}', '{Date}', '{ date }', 'a{b}c']) {
    assert.throws(
      () => checkTemplate(template),
      (error) => hasCode(error, 'bad_request') && /unknown token/.test(error.message),
    );
  }
  assert.equal(apply('}{date}{'), '}2026-03-04{.csv');
});

test('the original extension is kept unless the template gives one', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['{date}', 'report.csv', '2026-03-04.csv'],
    ['{date}', 'report', '2026-03-04'],
    ['{date}', '.profile', '2026-03-04'],
    ['{name}_{date}', 'v1.2.csv', 'v1.2_2026-03-04.csv'],
    ['{name}', 'a.tar.gz', 'a.tar.gz'],
    ['{date}.bak', 'report.csv', '2026-03-04.bak'],
    ['{date}.{ext}', 'report.csv', '2026-03-04.csv'],
    ['{date}.{ext}', 'report', '2026-03-04'],
    ['{ext}-{name}', 'report.csv', 'csv-report'],
    ['{filename}.{date}', 'report.csv', 'report.csv.2026-03-04'],
    ['{filename}', '{uuid}.csv', '{uuid}.csv'],
  ];
  for (const [template, filename, expected] of cases) assert.equal(apply(template, filename), expected);
});

test('the result of a template is checked like any name', () => {
  for (const template of ['', 'a/{name}', '../{filename}', '\n{name}', 'x'.repeat(256)]) {
    assert.throws(
      () => apply(template),
      (error) => hasCode(error, 'bad_path') && error.message.startsWith('filename_template'),
    );
  }
  assert.throws(() => apply('.{ext}', 'report'), /filename_template/);
});

test('names from Content-Disposition', () => {
  const latin1 = (text: string): string => Buffer.from(text).toString('latin1');
  const cases: readonly (readonly [string | undefined, string | undefined])[] = [
    [undefined, undefined],
    ['', undefined],
    ['attachment', undefined],
    ['attachment; filename=plain.txt', 'plain.txt'],
    ['attachment; filename="with space; and \\"quotes\\".txt"', 'with space; and "quotes".txt'],
    ["attachment; filename*=UTF-8''%e2%82%ac%20rates.txt", '€ rates.txt'],
    ['attachment; filename="EURO.txt"; filename*=UTF-8\'\'%e2%82%ac.txt', '€.txt'],
    ["attachment; filename*=iso-8859-1'en'%A3%20rates", '£ rates'],
    // Not decodable: the plain one counts (RFC 6266, 4.3).
    ["attachment; filename=plain.txt; filename*=utf-7''x", 'plain.txt'],
    ['attachment; filename="plain.txt"; filename*=broken', 'plain.txt'],
    ['attachment; filename="plain.txt"; filename*=UTF-8\'\'%ff.txt', 'plain.txt'],
    ["attachment; filename*=UTF-8''%ff.txt", undefined],
    ["attachment; filename*=UTF-8''%ef%bf%bd.txt", '\ufffd.txt'],
    [`attachment; filename="${latin1('Übersicht 日本.txt')}"`, 'Übersicht 日本.txt'],
    ['attachment; filename="caf\xe9.txt"', 'café.txt'],
    ['attachment; filename="../../etc/passwd"', 'passwd'],
    ['attachment; filename="C:\\\\temp\\\\x.txt"', 'x.txt'],
    ["attachment; filename*=UTF-8''..%2f..%2fx.txt", 'x.txt'],
    ['attachment; filename="folder/"', undefined],
    ['attachment; filename=".."', undefined],
    ['attachment; filename=""', undefined],
    ['attachment; filename=not a token', undefined],
  ];
  for (const [field, expected] of cases) assert.equal(nameFromDisposition(field), expected, field);
});

test('names from URLs', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['/a/b.txt?q=1#f', 'b.txt'],
    ['/a%20b.txt', 'a b.txt'],
    ['/%E2%82%AC.txt', '€.txt'],
    ['/', undefined],
    ['/folder/', undefined],
    ['/a%2Fb.txt', 'b.txt'],
    ['/%2F', undefined],
    ['/bad%zz.txt', 'bad%zz.txt'],
    ['/x%5Cy.txt', 'y.txt'],
  ];
  for (const [path, expected] of cases) assert.equal(nameFromUrl(new URL(path, 'http://h')), expected, path);
});

test('temporary names fit 255 bytes, keep their end, and stay UTF-8', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 120 }), (name) => {
      fc.pre(name.isWellFormed());
      const made = temporaryName('0123abcd', name);
      assert.ok(Buffer.byteLength(made) <= 255);
      assert.ok(made.isWellFormed());
      const kept = made.replace(/^\.ftg-0123abcd-[0-9a-f]{12}\./, '');
      assert.ok(name.endsWith(kept));
      assert.ok(Buffer.byteLength(name) > 225 || kept === name);
      assert.equal(isTemporaryName(made, '0123abcd'), true);
    }),
  );
  assert.match(temporaryName('0123abcd', `${'🙂'.repeat(63)}.csv`), /🙂\.csv$/u);
  assert.notEqual(temporaryName('0123abcd', 'a'), temporaryName('0123abcd', 'a'));
  assert.equal(isTemporaryName('.ftg-0123abcd-x', 'ffffffff'), false);
});

test('lists, jobs and watched folders know all of them: of a process, of uploads in pieces, of tests', () => {
  for (const tag of ['0123abcd', 'up', 'test', 'later']) assert.match(temporaryName(tag, 'a.csv'), OWN_TEMPORARY);
  for (const name of ['.ftg-mine', '.ftg-up-to-date', '.ftg-test-left.x', 'a.ftg-up-0123456789ab.x'])
    assert.doesNotMatch(name, OWN_TEMPORARY);
});
