/** Listings in every form that servers send: correct entries; unreadable ones are counted, never dropped. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { UTF_8 } from '../../../src/remotes/encoded-names.js';
import { parseListLine, parseMachineLine, type Entry } from '../../../src/remotes/ftp/names/entries.js';
import { isHeading } from '../../../src/remotes/ftp/names/list-lines.js';
import type { ListFormat } from '../../../src/remotes/ftp/names/list-formats.js';
import { ListReader } from '../../../src/remotes/ftp/names/list-reader.js';
import { monthOf } from '../../../src/remotes/ftp/names/months.js';

const NOW = new Date('2026-11-22T12:00:00Z');
const shown = (entry: Entry | undefined): unknown =>
  entry && [entry.name, entry.kind, entry.size, entry.time?.time.toISOString().slice(0, 16)];
const list = (line: string): unknown => shown(parseListLine(Buffer.from(line), NOW, 'auto', UTF_8));
const machine = (line: string): unknown => shown(parseMachineLine(Buffer.from(line), UTF_8));

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
    ['-rw-r--r-- 1 u g 3 2024-11-20 10:15:30.000000000 +0100 keep.csv', ['keep.csv', 'file', 3, '2024-11-20T09:15']],
    ['-rw-r--r-- 1 u g 3 2024-02-30 10:15:30.000000000 +0100 keep.csv', ['keep.csv', 'file', 3, undefined]],
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

test('forms of NetWare, IBM i and EPLF', () => {
  const cases: readonly [string, unknown][] = [
    [
      'd [R----F--] supervisor            512       Jan 16 18:53    login',
      ['login', 'folder', 512, '2026-01-16T18:53'],
    ],
    [
      '- [RWCEAFMS] a.user             214059       Oct 20 15:27    cx.exe',
      ['cx.exe', 'file', 214_059, '2026-10-20T15:27'],
    ],
    ['-[RWCEAFMS] of two words 3 Oct 20  2024 a 5 Jan 3 2024 b', ['a 5 Jan 3 2024 b', 'file', 3, '2024-10-20T00:00']],
    ['QSYS          77824 11/23/24 15:09:55 *DIR       home/', ['home/', 'folder', undefined, '2024-11-23T15:09']],
    ['USR            1234 23.11.24 15:09:55 *STMF      a b.txt', ['a b.txt', 'file', 1234, undefined]],
    ['USR            1234 31.12.25 15:09:55 *STMF      a.txt', ['a.txt', 'file', 1234, '2025-12-31T15:09']],
    // 3 April 2024, 4 March 2024 or 24 March 2004: no date is better than a wrong one.
    ['USR            1234 04/03/24 15:09:55 *STMF      a.txt', ['a.txt', 'file', 1234, undefined]],
    ['USR                                   *MEM       ORDERS.MBR', ['ORDERS.MBR', 'file', undefined, undefined]],
    [
      'USR           36864 31/12/25 14:30:00 *FILE      BACKUP.SAVF',
      ['BACKUP.SAVF', 'file', 36_864, '2025-12-31T14:30'],
    ],
    [
      'USR           36864 31/12/25 14:30:00 *FILE      ORDERS.FILE',
      ['ORDERS.FILE', 'unknown', undefined, '2025-12-31T14:30'],
    ],
    ['USR            8192 31/12/25 14:30:00 *SYMLNK    latest', ['latest', 'link', undefined, '2025-12-31T14:30']],
    ['USR            8192 31/12/25 14:30:00 *PGM       RUN.PGM', ['RUN.PGM', 'unknown', undefined, '2025-12-31T14:30']],
    ['+i12.34,m1700000000,r,s1234,\ta file', ['a file', 'file', 1234, '2023-11-14T22:13']],
    ['+i12.35,m1700000000,/,\tsub', ['sub', 'folder', undefined, '2023-11-14T22:13']],
    ['+up644,s12x,r,\ta\tb', ['a\tb', 'file', undefined, undefined]],
    ['+\ta', ['a', 'unknown', undefined, undefined]],
  ];
  for (const [line, expected] of cases) assert.deepEqual(list(line), expected, line);
  for (const line of ['- [R] owner 3 Oct 20 15:27 ', 'USR 12 31/12-25 14:30:00 *STMF a', '+r,s3 name', '+r,s3\t'])
    assert.equal(list(line), undefined, line);
});

function read(lines: readonly string[], format: ListFormat = 'auto'): unknown[] {
  const reader = new ListReader(format, NOW, UTF_8);
  const entries: Entry[] = [];
  for (const line of lines) reader.read(Buffer.from(line), entries);
  reader.end(entries);
  return entries.map((entry) => shown(entry));
}

const unread = (line: string): unknown => [line, 'unreadable', undefined, undefined];

test('lists of OpenVMS: long names, versions, folders, and what is not shown', () => {
  const lines = [
    'Directory DKA0:[USER.IN]',
    'A.TXT;12            3/4         20-NOV-2024 10:15:30.12  [GROUP,USER]  (RWED,RWED,RE,)',
    'A.TXT;11            1/4         19-NOV-2024 09:00:00     [GROUP,USER]  (RWED,RWED,RE,)',
    'A_LONG_NAME_THAT_FILLS_ITS_LINE.DATA;1',
    '                    12          20-NOV-2024 10:15  [USER]  (RWED,RWED,RE,)',
    'SUB.DIR;1           1           20-NOV-2024 10:15  [USER]  (RWE,RWE,RE,)',
    'SECRET.TXT;1        %RMS-E-PRV, insufficient privilege or file protection violation',
    'ALONE.TXT;1',
    'B.TXT;1             3           20-NOV-2024 10:15  [USER]  (RWED)',
    '-rw-r--r-- 1 u g 3 Nov 20 10:15 keep.csv',
    'LAST.TXT;1',
    'Total of 9 files, 20/40 blocks.',
  ];
  const expected = [
    ['A.TXT', 'file', undefined, '2024-11-20T10:15'],
    ['A_LONG_NAME_THAT_FILLS_ITS_LINE.DATA', 'file', undefined, '2024-11-20T10:15'],
    ['SUB', 'folder', undefined, '2024-11-20T10:15'],
    ['SECRET.TXT', 'file', undefined, undefined],
    unread('ALONE.TXT;1'),
    ['B.TXT', 'file', undefined, '2024-11-20T10:15'],
    unread('-rw-r--r-- 1 u g 3 Nov 20 10:15 keep.csv'),
    unread('LAST.TXT;1'),
  ];
  assert.deepEqual(read(lines), expected);
  assert.deepEqual(read(lines, 'vms'), expected);
  assert.deepEqual(read(['DKA0:[USER]', 'Total of 0 files, 0 blocks.']), []);
  assert.deepEqual(read(['%DIRECT-W-NOFILES, no files found']), []);
  assert.deepEqual(read(['A.TXT;1']), [unread('A.TXT;1')], 'its last line is missing');
});

test('lists of z/OS: data sets, members and load modules', () => {
  const sets = [
    'Volume Unit    Referred Ext Used Recfm Lrecl BlkSz Dsorg Dsname',
    'WRK001 3390   2024/03/19  1   15  FB     132 27920  PO  MY.SOURCE',
    'WRK001 3390   2024/03/19  1   15  VB     256 27998  PO-E MY.LIBRARY',
    'WRK002 3390   **NONE**    1    1  FB      80  3120  PS  MY.DATA',
    'WRK002 3390   2024/03/19  1 ????  U        0 32760  PS  MY.LARGE',
    'WRK003 3390   2024/03/19  1   15  VSAM MY.INDEX',
    'Migrated                                                MY.OLD',
    'Pseudo Directory                                        MY.GROUP',
    'something else',
  ];
  const [, ...lines] = sets;
  const expected = [
    ['MY.SOURCE', 'folder', undefined, undefined],
    ['MY.LIBRARY', 'folder', undefined, undefined],
    ['MY.DATA', 'file', undefined, undefined],
    ['MY.LARGE', 'file', undefined, undefined],
    ['MY.INDEX', 'unknown', undefined, undefined],
    ['MY.OLD', 'unknown', undefined, undefined],
    ['MY.GROUP', 'folder', undefined, undefined],
    unread('something else'),
  ];
  assert.deepEqual(read(sets), expected);
  assert.deepEqual(read(lines, 'mvs'), expected);
  assert.deepEqual(read(lines), lines.map(unread), 'without its heading');
  assert.deepEqual(
    read([
      ' Name     VV.MM   Created       Changed      Size  Init   Mod   Id',
      'FIRST     01.03 2024/02/11 2024/02/12 10:15    25    20     3 USER1',
      'SECOND',
      'no member',
    ]),
    [['FIRST', 'file', undefined, '2024-02-12T10:15'], ['SECOND', 'file', undefined, undefined], unread('no member')],
  );
  assert.deepEqual(
    read([
      ' Name      Size     TTR   Alias-of AC --------- Attributes --------- Amode Rmode',
      'RUN       000A30   000108          00 FO             RN RU            31    ANY',
      'no module',
    ]),
    [['RUN', 'file', undefined, undefined], unread('no module')],
  );
});

test('a fixed format reads no other one', () => {
  const lines: Readonly<Partial<Record<ListFormat, string>>> = {
    unix: '-rw-r--r-- 1 u g 1234 Nov 20 10:15 name',
    dos: '11-20-24  10:15AM  1234 name',
    ibmi: 'USR 1234 31/12/25 14:30:00 *STMF name',
    netware: '- [RWCEAFMS] owner 1234 Nov 20 10:15 name',
    vms: 'name;1 3 20-NOV-2024 10:15 [USER] (RWED)',
    mvs: 'WRK001 3390   2024/03/19  1   15  FB     132 27920  PS  name',
    eplf: '+r,s1234,\tname',
  };
  for (const [of, line] of Object.entries(lines)) {
    for (const format of Object.keys(lines)) {
      const [entry] = read([line], format as ListFormat) as [unknown[]];
      assert.equal(entry[0] === 'name', of === format, `${line} as ${format}`);
      if (of !== format) assert.deepEqual(entry, unread(line));
    }
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
    '- [RWCEAFMS] supervisor            1234       Oct 20 15:27    ',
    'USR            1234 31/12/25 14:30:00 *STMF      ',
    '+i8388621.48594,m1700000000,r,s1234,\t',
  ].map((columns) => ({ form: 'LIST', columns, parse: (line: Buffer) => parseListLine(line, NOW, 'auto', UTF_8) })),
  {
    form: 'z/OS',
    columns: 'WRK001 3390   2024/03/19  1   15  FB     132 27920  PS  ',
    parse: (line) => parseListLine(line, NOW, 'mvs', UTF_8),
  },
  ...['type=file;size=1234;modify=20240102030405;UNIX.mode=0644; ', 'Type=dir;Modify=20240102030405;Perm=el; '].map(
    (columns) => ({ form: 'MLSD', columns, parse: (line: Buffer) => parseMachineLine(line, UTF_8) }),
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
