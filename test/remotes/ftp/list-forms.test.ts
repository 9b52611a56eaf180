/** Listings in every form that servers send: correct entries; unreadable ones are counted, never dropped. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseListLine, parseMachineLine, type Entry } from '../../../src/remotes/ftp/names/entries.js';
import { isHeading } from '../../../src/remotes/ftp/names/list-lines.js';
import { monthOf } from '../../../src/remotes/ftp/names/months.js';

const NOW = new Date('2026-11-22T12:00:00Z');
const shown = (entry: Entry | undefined): unknown =>
  entry && [entry.name, entry.kind, entry.size, entry.time?.time.toISOString().slice(0, 16)];
const list = (line: string): unknown => shown(parseListLine(Buffer.from(line), NOW));
const machine = (line: string): unknown => shown(parseMachineLine(Buffer.from(line)));

test('forms of ls', () => {
  const cases: readonly [string, unknown][] = [
    ['-rw-r--r--. 1 u g 3 Nov 20 10:15 keep.csv', ['keep.csv', 'file', 3, '2026-11-20T10:15']],
    ['-rw-r--r--+ 1 u g 3 Nov 20 10:15 keep.csv', ['keep.csv', 'file', 3, '2026-11-20T10:15']],
    ['-rw-r--r--@ 1 u g 3 Nov 20 10:15 keep.csv', ['keep.csv', 'file', 3, '2026-11-20T10:15']],
    ['-????????? ? ? ? ? ? keep.csv', ['keep.csv', 'file', undefined, undefined]],
    ['-?????????  ? ?    ?       ?            ? a name', ['a name', 'file', undefined, undefined]],
    ['d????????? ? ? ? ? ? sub', ['sub', 'folder', undefined, undefined]],
    ['l????????? ? ? ? ? ? link', ['link', 'link', undefined, undefined]],
    ['?????????? ? ? ? ? ? keep.csv', ['keep.csv', 'unknown', undefined, undefined]],
    // For a file with 3,000,000,000 bytes, or with 4,294,967,296 more.
    ['-rw-r--r-- 1 u g -1294967296 Nov 20 10:15 keep.csv', ['keep.csv', 'file', undefined, '2026-11-20T10:15']],
    ['-rw-r--r-- 1 u g 1.5K Nov 20 10:15 keep.csv', ['keep.csv', 'file', undefined, '2026-11-20T10:15']],
    ['-rw-r--r-- 1 u g 1,048,576 Nov 20 10:15 keep.csv', ['keep.csv', 'file', 1_048_576, '2026-11-20T10:15']],
    ['crw-rw-rw- 1 root root 1, 3 Nov 20 10:15 null', ['null', 'file', 0, '2026-11-20T10:15']],
    ['-rw-r--r-- 1 u 12 2024 Nov 20 10:15 keep.csv', ['keep.csv', 'file', 2024, '2026-11-20T10:15']],
    ['-rw-r--r-- 1 mar 12 2024 Nov 20 10:15 keep.csv', ['keep.csv', 'file', 2024, '2026-11-20T10:15']],
    ['-rw-r--r-- 1 u g 3 20 Nov 10:15 keep.csv', ['keep.csv', 'file', 3, '2026-11-20T10:15']],
    ['-rw-r--r-- 1 u 3 Nov 20 2024 keep.csv', ['keep.csv', 'file', 3, '2024-11-20T00:00']],
    ['-rw-r--r-- 1 a b c d 3 Nov 20 10:15 keep.csv', ['keep.csv', 'file', 3, '2026-11-20T10:15']],
    ['  99 -rw-r--r-- 1 u g 3 Nov 20 10:15 keep.csv', ['keep.csv', 'file', 3, '2026-11-20T10:15']],
    ['-rw-r--r-- 1 u g 3 2024-11-20 10:15 keep.csv', ['keep.csv', 'file', 3, '2024-11-20T10:15']],
    ['-rw-r--r-- 1 u g 3 2024-11-20 10:15:30.000000000 +0100 keep.csv', ['keep.csv', 'file', 3, undefined]],
    ['-rw-r--r-- 1 u g 3 Nov 20 10:15:30 2024 keep.csv', ['keep.csv', 'file', 3, '2024-11-20T00:00']],
    ['-rw-r--r-- 1 u g 3 Nov 20 10:15  two blanks', [' two blanks', 'file', 3, '2026-11-20T10:15']],
    ['lrwxrwxrwx 1 u g 3 Nov 20 10:15 a -> b', ['a', 'link', 3, '2026-11-20T10:15']],
    ['drwxr-xr-x 2 u g 4096 Jan  1  2024 ..', ['.', 'self', undefined, undefined]],
    ['?rw-r--r-- 1 u g 3 Nov 20 10:15 odd', ['odd', 'unknown', 3, '2026-11-20T10:15']],
  ];
  for (const [line, expected] of cases) assert.deepEqual(list(line), expected, line);
  for (const line of ['total 12', 'garbage', '-rw-r--r-- 1 u g', '-rw-r--r-- 1 u g 3 Nov 20 10:15 ', 'x .']) {
    assert.equal(list(line), undefined, line);
  }
});

test('forms of dir', () => {
  const cases: readonly [string, unknown][] = [
    ['11-20-24  10:15AM       <DIR>          sub', ['sub', 'folder', undefined, '2024-11-20T10:15']],
    ['11-20-24 10:15AM <JUNCTION> keep [D:\\data]', ['keep', 'link', undefined, '2024-11-20T10:15']],
    [
      '11-20-24  10:15AM    <SYMLINKD>     keep [x] [\\\\host\\share]',
      ['keep [x]', 'link', undefined, '2024-11-20T10:15'],
    ],
    ['11-20-24  10:15AM    <SYMLINK>      a.txt [..\\b.txt]', ['a.txt', 'link', undefined, '2024-11-20T10:15']],
    ['11-20-24 10:15AM 1,048,576 big.bin', ['big.bin', 'file', 1_048_576, '2024-11-20T10:15']],
    ['20.11.2024  22:15    1.048.576 big.bin', ['big.bin', 'file', 1_048_576, '2024-11-20T22:15']],
    ['11-20-2024  12:05AM   3 a b', ['a b', 'file', 3, '2024-11-20T00:05']],
    // 5 June or 6 May: no date is better than a wrong one.
    ['05/06/2024  10:15    3 a', ['a', 'file', 3, undefined]],
    ['25/06/2024  10:15    3 a', ['a', 'file', 3, '2024-06-25T10:15']],
    ['2024-11-20  10:15    3 a', ['a', 'file', 3, '2024-11-20T10:15']],
  ];
  for (const [line, expected] of cases) assert.deepEqual(list(line), expected, line);
});

test('forms of MLSD', () => {
  const cases: readonly [string, unknown][] = [
    ['Type=file;Size=3;Modify=20240102030405 keep.csv', ['keep.csv', 'file', 3, '2024-01-02T03:04']],
    ['Type=file;Size=3;Modify=20240102030405; keep.csv', ['keep.csv', 'file', 3, '2024-01-02T03:04']],
    ['type=file;size=3; a; b=c; d', ['a; b=c; d', 'file', 3, undefined]],
    ['type=file;size=3 a; b=c; d', ['a; b=c; d', 'file', 3, undefined]],
    ['type=OS.unix=slink:/a b;size=4; l', ['l', 'link', 4, undefined]],
    ['size=3; no type', ['no type', 'unknown', 3, undefined]],
    ['type=fiel;size=3; a', ['a', 'unknown', 3, undefined]],
  ];
  for (const [line, expected] of cases) assert.deepEqual(machine(line), expected, line);
  for (const line of ['type=file;size=3;keep.csv', 'keep.csv', ' ', '; a', 'type=file; ']) {
    assert.equal(machine(line), undefined, line);
  }
});

test('months of other languages, if they are certain', () => {
  const cases: readonly [string, number | undefined][] = [
    ['Mär', 2],
    ['März', undefined],
    ['Dez', 11],
    ['déc.', 11],
    ['août', 7],
    ['ene', 0],
    ['gru', 11],
    ['дек', 11],
    ['11月', 10],
    ['13月', undefined],
    ['foo', undefined],
  ];
  for (const [name, month] of cases) assert.equal(monthOf(name), month, name);
  assert.deepEqual(list('-rw-r--r-- 1 u g 3 Okt 20 10:15 a'), ['a', 'file', 3, '2026-10-20T10:15']);
  assert.deepEqual(list('-rw-r--r-- 1 u g 3 20. Okt 10:15 a'), ['a', 'file', 3, '2026-10-20T10:15']);
  assert.deepEqual(list('-rw-r--r-- 1 u g 3 11月 20日 10:15 a'), ['a', 'file', 3, '2026-11-20T10:15']);
  assert.deepEqual(
    list('-rw-r--r-- 1 u g 3 Xyz 20 10:15 a'),
    ['a', 'file', 3, undefined],
    'unknown, and no wrong date',
  );
});

test('headings are counted as files in no language, and nothing else is a heading', () => {
  for (const line of ['total 12', 'insgesamt 12', 'total 12K', 'итого 4', '总用量 8']) assert.ok(isHeading(line), line);
  for (const line of ['total.csv', 'total', 'total 12 files.csv']) assert.ok(!isHeading(line), line);
});

const NAME = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_.-]{0,11}[a-z]$/);

/** Lines of one form; `columns`: up to the blank before the name. */
const FORMS: readonly {
  readonly form: string;
  readonly columns: string;
  readonly parse: (line: Buffer) => Entry | undefined;
}[] = [
  ...[
    '-rw-r--r--    1 1000     users         1234 Nov 20 10:15 ',
    'drwxr-xr-x    2 u        g             4096 Jan  3  2024 ',
    '-rw-r--r--. 1 u g 1234 2024-11-20 10:15 ',
    '11-20-24  10:15AM                 1234 ',
    '11-20-24  10:15AM       <DIR>          ',
    '20.11.2024  22:15             1.048.576 ',
  ].map((columns) => ({ form: 'LIST', columns, parse: (line: Buffer) => parseListLine(line, NOW) })),
  ...['type=file;size=1234;modify=20240102030405;UNIX.mode=0644; ', 'Type=dir;Modify=20240102030405;Perm=el; '].map(
    (columns) => ({ form: 'MLSD', columns, parse: parseMachineLine }),
  ),
];

test('a mutated line is read correctly, or not at all: no name and no size is invented', () => {
  const mutation = fc.record({
    at: fc.nat({ max: 80 }),
    kind: fc.constantFrom('replace', 'insert', 'remove', 'cut'),
    // No blank: an additional one would make another valid line.
    character: fc.constantFrom(...'-?x09:;=.,/dl+Z\u00e4'),
  });
  for (const { form, columns, parse } of FORMS) {
    const good = parse(Buffer.from(`${columns}name`));
    assert.equal(good?.name, 'name', columns);
    fc.assert(
      fc.property(NAME, mutation, (name, { at, kind, character }) => {
        const line = columns + name;
        // Only the last blank shows where the name begins.
        const place = at % (columns.length - 1);
        // Between columns a character is a column of its own.
        fc.pre(columns[place] !== ' ');
        const head = line.slice(0, place);
        const text =
          kind === 'cut'
            ? head
            : head + (kind === 'remove' ? '' : character) + line.slice(kind === 'insert' ? place : place + 1);
        const entry = parse(Buffer.from(text));
        if (entry === undefined) return;
        assert.equal(entry.name, name, `${form}: ${JSON.stringify(text)}`);
        const isInSize = /\d|[.,]/.test(columns[place] ?? '') || /[\d.,-]/.test(character);
        if (!isInSize && entry.kind === good?.kind && entry.size !== undefined)
          assert.equal(entry.size, good.size, text);
      }),
      { numRuns: 2_000 },
    );
  }
});
