import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hasCode } from '../../src/base/errors.js';
import {
  baseName,
  joinPath,
  parentOf,
  parseFileName,
  parseRemotePath,
  pathBytes,
  rawNameOf,
  ROOT,
  underRoot,
  withRawName,
} from '../../src/remotes/path.js';

const parse = (text: string, base = ROOT) => parseRemotePath(text, base, 'path');
const isBadPath = (error: unknown): boolean => hasCode(error, 'bad_path');
/** Names on servers, odd ones first. */
const name = fc.oneof(
  fc.constantFrom(
    '-rf',
    '--',
    ' ',
    ' a b ',
    '\\',
    'a\\b',
    '...',
    '.hidden',
    '..a',
    '*',
    '[x]',
    '"',
    "'",
    'é',
    'ß',
    '日本',
    '🙂',
    '%2e%2e',
    '~',
  ),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
);
const segment = fc.oneof(name, fc.constantFrom('', '.', '..', '...'));
const anyPath = fc.array(segment, { maxLength: 12 }).map((parts) => parts.join('/'));

test('no path leaves its root', () => {
  fc.assert(
    fc.property(anyPath, fc.boolean(), fc.constantFrom('/', '/srv/data', '/srv/data/'), (text, isAbsolute, root) => {
      let path;
      try {
        path = parse(isAbsolute ? `/${text}` : text, parse('/home/user'));
      } catch (error) {
        assert.ok(isBadPath(error));
        return;
      }
      assert.ok(path.startsWith('/'));
      assert.ok(path === '/' || !path.endsWith('/'));
      assert.deepEqual(
        path.split('/').filter((part) => part === '..' || part === '.'),
        [],
      );
      assert.doesNotMatch(path, /\/\//);
      const placed = underRoot(root, path);
      const bare = root === '/' ? '' : '/srv/data';
      assert.equal(placed, path === '/' ? bare || '/' : bare + path);
      // Parsing a parsed path again changes nothing.
      assert.equal(parse(path), path);
      assert.equal(path === '/' ? path : joinPath(parentOf(path), baseName(path)), path);
    }),
    { numRuns: 3_000 },
  );
});

test('a path means what POSIX says, with names untouched', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['/a/b', '/a/b'],
    ['a/b', '/base/a/b'],
    ['./a//b/.', '/base/a/b'],
    ['/a/../b', '/b'],
    ['../x', '/x'],
    ['/..a/...', '/..a/...'],
    ['/ spaced / name ', '/ spaced / name '],
    ['/-rf', '/-rf'],
    ['/a\\..\\b', '/a\\..\\b'],
    ['/é', '/é'],
    ['/e\u0301', '/e\u0301'],
    ['/%2e%2e/x', '/%2e%2e/x'],
    ['/', '/'],
    ['.', '/base'],
  ];
  for (const [text, expected] of cases) assert.equal(parse(text, parse('/base')), expected);
  for (const text of ['..', '/..', '/a/../..', '../../x', 'a/../../../x']) {
    assert.throws(() => parse(text, parse('/base/..')), isBadPath, text);
  }
});

test('control characters and broken Unicode are refused at every position', () => {
  const controls = [...Array(0x20).keys(), 0x7f, 0x80, 0x85, 0x9f].map((code) => String.fromCharCode(code));
  for (const bad of [...controls, '\ud800', '\udc00x']) {
    for (const text of [`/a${bad}`, `${bad}/a`, `/a/${bad}/b`]) assert.throws(() => parse(text), isBadPath);
    assert.throws(() => parseFileName(`a${bad}b`, 'filename'), isBadPath);
  }
  assert.throws(() => parse(''), /path must not be empty/);
});

test('4,096 bytes are a path, one more is none, counted in UTF-8', () => {
  const long = `/${'é'.repeat(2_047)}a`;
  assert.equal(Buffer.byteLength(long), 4_096);
  assert.equal(parse(long), long);
  assert.throws(() => parse(`${long}a`), /4096 bytes/);
  assert.equal(parse(`//./${long}`), long);
  assert.throws(() => joinPath(parse(long), 'a'), isBadPath);
});

test('a file name is one name of at most 255 bytes', () => {
  fc.assert(
    fc.property(name, (text) => {
      // eslint-disable-next-line no-control-regex
      fc.pre(!/[/\u0000-\u001f\u007f-\u009f]/.test(text) && text !== '.' && text !== '..' && text.isWellFormed());
      assert.equal(parseFileName(text, 'filename'), text);
      assert.equal(baseName(joinPath(parse('/a'), text)), text);
      assert.equal(joinPath(ROOT, text), `/${text}`);
    }),
  );
  for (const bad of ['', '.', '..', 'a/b', '/', `${'é'.repeat(128)}`]) {
    assert.throws(() => parseFileName(bad, 'filename'), /^GatewayError: filename must/);
  }
  assert.equal(parentOf(ROOT), '/');
  assert.equal(parentOf(parse('/a')), '/');
});

test('a raw name keeps its bytes for the server, and is shown as text to people', () => {
  const bytes = fc
    .uint8Array({ minLength: 1, maxLength: 255 })
    .map((array) => Buffer.from(array))
    // eslint-disable-next-line no-control-regex
    .filter((name) => !/[/\u0000-\u001f\u007f-\u009f]|^\.\.?$/.test(name.toString('utf8')));
  fc.assert(
    fc.property(bytes, (name) => {
      const text = name.toString('utf8');
      const path = withRawName(joinPath(parse('/a'), text), name.toString('base64'), 'rawName');
      assert.deepEqual(pathBytes(path), Buffer.concat([Buffer.from('/a/'), name]));
      const isText = Buffer.from(text).equals(name);
      assert.equal(rawNameOf(baseName(path)), isText ? undefined : name.toString('base64'));
      if (isText) assert.equal(path, `/a/${text}`);
    }),
  );
  for (const bad of ['', '!', 'Yg', Buffer.from('b').toString('base64'), Buffer.from('../a').toString('base64')]) {
    assert.throws(() => withRawName(parse('/x/a'), bad, 'rawName'), /^GatewayError: rawName/);
  }
});
