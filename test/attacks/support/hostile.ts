/** Values that have broken servers before, and pools of plausible ones. */
import fc from 'fast-check';
import { anyCharacter } from '../../support/any-character.js';

const controls = ['a\0b', 'a\r\nSet-Cookie: x=1', 'a\nb', '\u0085', '\u001b[2J', '\u007f'];
const traversals = [
  '..',
  '../canary.txt',
  '/../canary.txt',
  '/a/../../canary.txt',
  'a/./../../canary.txt',
  '/..//..///canary.txt',
  '..\\..\\canary.txt',
  '%2e%2e%2fcanary.txt',
  '%252e%252e/canary.txt',
  '..%00/canary.txt',
  '..;/canary.txt',
  '\u2025/canary.txt',
  '\uff0e\uff0e/canary.txt',
  '/etc/passwd',
  '//canary.txt',
  'C:\\windows\\win.ini',
  '~root/.ssh/id_rsa',
  '/proc/self/environ',
  'file:///etc/passwd',
];
const injections = [
  "' OR 1=1 --",
  "'; DROP TABLE transfers; --",
  '$(touch /tmp/pwned)',
  '`id`',
  '| id',
  '{{7*7}}',
  '${jndi:ldap://127.0.0.1/a}',
  '<script>alert(1)</script>',
  '%s%s%n%d',
  '-rf',
  '--',
  '*',
  '=cmd|"/c calc"!A1',
];
const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'undefined', 'null', 'NaN', 'true'];
const unicode = [
  '\ud800',
  'a\udfff',
  '\ufeff',
  '\u202egpj.exe',
  'é'.normalize('NFD'),
  '👩‍👩‍👧‍👦',
  '\u0000\u0001',
  'ı',
  '𝕏'.repeat(64),
];
const globs = [
  '*'.repeat(200),
  '**/'.repeat(100) + 'x',
  '{a,b}'.repeat(30),
  '[',
  '[!-]',
  '+('.repeat(40),
  '@(a|b|!(c|*))*'.repeat(15),
  '*a'.repeat(60) + 'b',
  '{1..1000000}',
  '\\',
  '!',
];
const templates = ['{', '}', '{{', '{uuid}'.repeat(100), '{date', '{nothing}', '{__proto__}', '{filename}/../{name}'];
const long = [255, 256, 1024, 4096, 4097, 9000].map((length) => 'x'.repeat(length));
const deepPath = '/d'.repeat(2049);

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('', ' ', '.', '/', deepPath, ...long),
  fc.constantFrom(...controls, ...unicode),
  fc.constantFrom(...traversals),
  fc.constantFrom(...injections, ...names, ...globs, ...templates),
  fc.string({ unit: anyCharacter, maxLength: 64 }),
  fc.string({ unit: 'grapheme', maxLength: 64 }),
);

/** Values of every JSON type. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: hostileText },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -1,
      1.5,
      60_001,
      2 ** 31,
      2 ** 53,
      -(2 ** 63),
      1e308,
      -0,
      [],
      {},
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.integer({ min: 10, max: 400 }).map(nested) },
);

function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Few folders and names, so that requests use each other's files. */
const folders = ['', '/a', '/a/b', '/ü', '/with space', '/%2e%2e', '/back\\slash'];
const files = ['f', 'g.txt', 'h.tar.gz', '.hidden', 'ü.csv', 'semi;colon', 'quo"te', "apo'strophe", '-la', '日本'];

export const plausiblePath: fc.Arbitrary<string> = fc.oneof(
  // One request reads what another writes.
  fc.constantFrom('/f', '/a/g.txt'),
  fc.tuple(fc.constantFrom(...folders), fc.constantFrom(...files)).map(([folder, file]) => `${folder}/${file}`),
  fc.constantFrom(...folders).map((folder) => folder || '/'),
  fc.constantFrom(...files),
);
export const plausibleName = fc.constantFrom(...files);
/** Paths of the same names, and of bytes that are not text. */
export const plausibleRawName = fc
  .constantFrom(...files, 'caf\xe9', '\xff', '\x80/..')
  .map((name) => Buffer.from(name, files.includes(name) ? 'utf8' : 'latin1').toString('base64'));
export const plausibleTemplate = fc.constantFrom('{date}-{filename}', '{uuid}.{ext}', '{name}_{timestamp}', 'fixed');

/** Header values that Node's client accepts: no line ends; those are for the raw sockets. */
export const hostileHeader: fc.Arbitrary<string> = fc
  .oneof(
    hostileText,
    fc.constantFrom(
      'bytes=0-',
      'bytes=-1',
      'bytes=5-1',
      'bytes=0-0,2-2,4-4',
      'bytes=99999999999999999999-',
      'bytes=' + '0-1,'.repeat(500),
      '*',
      '"etag"',
      'W/"weak", "other"',
      'sha-256=:AAAA:',
      `sha-256=:${'A'.repeat(43)}=:`,
      'sha-512=::',
      'md5=:x:',
      '"key"',
      'application/json; charset=utf-16',
      'multipart/form-data',
      'multipart/form-data; boundary=',
      `multipart/form-data; boundary=${'b'.repeat(300)}`,
      'attachment; filename="../../x"',
      "attachment; filename*=UTF-8''%00%0d%0a",
      'attachment; filename*=iso-8859-1\'\'%ff; filename="a/b"',
      'Thu, 01 Jan 1970 00:00:00 GMT',
      'not a date',
    ),
  )

  .map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/gu, '?').slice(0, 3000));
