/** Fields of an answer that the query chooses: what leaves fits a field, and names the same file. */
import contentDisposition from 'content-disposition';
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { chosenFields } from '../../src/s3/response-fields.js';

const PARAMETER = 'response-content-disposition';
const dispositionOf = (value: string): string =>
  chosenFields(new URLSearchParams({ [PARAMETER]: value }))['Content-Disposition'] ?? '';
const nameIn = (field: string): string | undefined => contentDisposition.parse(field).parameters['filename'];
const quote = (name: string): string => `"${name.replace(/["\\]/g, '\\$&')}"`;

suite('a disposition', () => {
  test('within Latin-1 is kept as it is', () => {
    for (const value of [
      'inline',
      'attachment; filename="a b.txt"',
      'attachment; filename="é.txt"',
      "attachment; filename*=UTF-8''%E6%97%A5.txt",
      'no disposition at all =;"',
      '',
    ]) {
      assert.equal(dispositionOf(value), value);
    }
  });

  test('beyond Latin-1 has its name in the form of RFC 6266', () => {
    const same: readonly (readonly [value: string, field: string])[] = [
      ['attachment; filename="日本.txt"', `attachment; filename="??.txt"; filename*=UTF-8''%E6%97%A5%E6%9C%AC.txt`],
      ['attachment; filename=日本.txt', `attachment; filename="??.txt"; filename*=UTF-8''%E6%97%A5%E6%9C%AC.txt`],
      [
        'inline ; FileName = "é 👍" ; size=5',
        `inline; filename="? ?"; filename*=UTF-8''%C3%A9%20%F0%9F%91%8D ; size=5`,
      ],
      [`attachment; filename="日"; filename*=UTF-8''%E6%97%A5`, `attachment; filename*=UTF-8''%E6%97%A5`],
      ['attachment; filename="日\\"本"', `attachment; filename="?\\"?"; filename*=UTF-8''%E6%97%A5%22%E6%9C%AC`],
    ];
    for (const [value, field] of same) assert.equal(dispositionOf(value), field);
  });

  test('any name arrives as it was written, in ASCII', () => {
    const names = fc.string({ unit: 'grapheme', minLength: 1 }).filter((name) => !/[\p{Cc}/]|^\.*$/u.test(name));
    fc.assert(
      fc.property(names, (name) => {
        const field = dispositionOf(`attachment; filename=${quote(`日${name}`)}; size=1`);
        assert.match(field, /^[ -~]*$/);
        assert.equal(nameIn(field), `日${name}`.toWellFormed());
      }),
    );
  });
});

suite('a value that no field can have is refused', () => {
  const isRefused = (error: unknown): boolean => (error as { s3Code?: string }).s3Code === 'InvalidArgument';

  test('with control characters, in every field', () => {
    const names = ['content-type', 'content-disposition', 'content-language', 'content-encoding', 'cache-control'];
    for (const name of [...names, 'expires'].map((one) => `response-${one}`)) {
      for (const value of ['a\r\nX-Other: b', 'a\nb', 'a\0', 'a\tb', 'a\u007f', 'a\u0085']) {
        assert.throws(() => chosenFields(new URLSearchParams({ [name]: value })), isRefused, name);
      }
    }
    assert.throws(() => dispositionOf('attachment; filename="日\n.txt"'), isRefused);
  });

  test('with characters beyond Latin-1, except in the name of a file', () => {
    for (const value of [
      '日本',
      '日本; filename=a',
      'attachment; title="日本"',
      'attachment; filename="a"; 日=b',
      'attachment; filename="日本',
      'attachment; filename=日 本',
      'attachment 日; filename="a"',
      "attachment; filename*=UTF-8''日",
      'attachment; filename="日"; a',
    ]) {
      assert.throws(() => dispositionOf(value), isRefused, value);
    }
    assert.throws(() => chosenFields(new URLSearchParams({ 'response-content-type': 'text/日' })), isRefused);
  });
});
