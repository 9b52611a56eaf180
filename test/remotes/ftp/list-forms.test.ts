/** Listings in every format that servers send: each line is read correctly, or is counted as missing; none is dropped. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { UTF_8 } from '../../../src/remotes/encoded-names.js';
import { parseListLine, parseMachineLine, type FtpEntry } from '../../../src/remotes/ftp/names/entries.js';
import { isHeading } from '../../../src/remotes/ftp/names/list-lines.js';
import type { ListFormat } from '../../../src/remotes/ftp/names/list-formats.js';
import { ListReader } from '../../../src/remotes/ftp/names/list-reader.js';
import { monthNumberOf } from '../../../src/remotes/ftp/names/months.js';

const NOW = new Date('2026-11-22T12:00:00Z');
const shown = (entry: FtpEntry | undefined): unknown =>
  entry && [entry.name, entry.kind, entry.size, entry.time && new Date(entry.time.ms).toISOString().slice(0, 16)];
const machine = (line: string): unknown => shown(parseMachineLine(Buffer.from(line), UTF_8));

function read(lines: readonly string[], format: ListFormat = 'auto'): unknown[] {
  const reader = new ListReader(format, NOW, UTF_8);
  const entries: FtpEntry[] = [];
  for (const line of lines) reader.read(Buffer.from(line), entries);
  reader.end(entries);
  return entries.map((entry) => shown(entry));
}

const unread = (line: string): unknown => [line, 'unreadable', undefined, undefined];
const shownAs = ([name, kind, size, time]: Shown): unknown => [name, kind, size, time];

type Shown = readonly [name: string, kind?: FtpEntry['kind'], size?: number, time?: string];

interface Format {
  readonly name: string;
  /** Its lines, each with its entry; 'refused': it is counted as missing; 'nothing': it is no entry. */
  readonly lines: readonly (readonly [line: string, expected: Shown | 'refused' | 'nothing'])[];
  /** The setting `listing` under which it is also read, besides `auto`. */
  readonly as?: ListFormat;
  readonly isMachine?: boolean;
}

const file = (size: number | undefined, time?: string, name = 'keep.csv'): Shown => [name, 'file', size, time];
const RECENT = '2026-11-20T10:15';

/** Every format of a listing that is known, numbered. Of each line it is said what becomes of it. */
const FORMATS: readonly Format[] = [
  {
    name: 'ls -l, of this year: time without a year',
    lines: [
      ['-rw-r--r--    1 1000     users            3 Nov 20 10:15 keep.csv', file(3, RECENT)],
      [
        'drwxr-xr-x    2 user     group        4096 Dec 24 23:59 a folder',
        ['a folder', 'folder', 4096, '2025-12-24T23:59'],
      ],
    ],
    as: 'unix',
  },
  {
    name: 'ls -l, older: year without a time',
    lines: [['-rw-r--r-- 1 u g 3 Jan  1  2024 keep.csv', file(3, '2024-01-01T00:00')]],
    as: 'unix',
  },
  {
    name: 'a heading with a total',
    lines: [
      ['total 12', 'nothing'],
      ['-rw-r--r-- 1 u g 3 Nov 20 10:15 keep.csv', file(3, RECENT)],
    ],
    as: 'unix',
  },
  {
    name: 'the folder itself and the one above',
    lines: [
      ['drwxr-xr-x 2 u g 4096 Jan  1  2024 .', ['.', 'self']],
      ['drwxr-xr-x 2 u g 4096 Jan  1  2024 ..', ['.', 'self']],
    ],
    as: 'unix',
  },
  {
    name: 'numbers for owner and group',
    lines: [['-rw-r--r-- 1 1000 1000 3 Nov 20 10:15 keep.csv', file(3, RECENT)]],
    as: 'unix',
  },
  {
    name: 'SELinux: a dot behind the mode',
    lines: [['-rw-r--r--. 1 u g 3 Nov 20 10:15 keep.csv', file(3, RECENT)]],
    as: 'unix',
  },
  {
    name: 'access lists: + or @ behind the mode',
    lines: [
      ['-rw-r--r--+ 1 u g 3 Nov 20 10:15 keep.csv', file(3, RECENT)],
      ['-rw-r--r--@ 1 u g 3 Nov 20 10:15 keep.csv', file(3, RECENT)],
    ],
    as: 'unix',
  },
  {
    name: 'setuid, setgid and sticky bits',
    lines: [
      ['-rwsr-sr-T 1 u g 3 Nov 20 10:15 keep.csv', file(3, RECENT)],
      ['drwxrwxrwt 2 u g 4096 Nov 20 10:15 tmp', ['tmp', 'folder', 4096, RECENT]],
    ],
    as: 'unix',
  },
  {
    name: 'ls -i and ls -s: inode and blocks before the mode',
    lines: [
      ['  99 -rw-r--r-- 1 u g 3 Nov 20 10:15 keep.csv', file(3, RECENT)],
      ['1234 8 -rw-r--r-- 1 u g 3 Nov 20 10:15 keep.csv', file(3, RECENT)],
    ],
    as: 'unix',
  },
  {
    name: 'without a group, also with one that looks like a month',
    lines: [
      ['-rw-r--r-- 1 u 3 Nov 20 2024 keep.csv', file(3, '2024-11-20T00:00')],
      ['-rw-r--r-- 1 u 12 2024 Nov 20 10:15 keep.csv', file(2024, RECENT)],
      ['-rw-r--r-- 1 mar 12 2024 Nov 20 10:15 keep.csv', file(2024, RECENT)],
    ],
    as: 'unix',
  },
  {
    name: 'without a number of links',
    lines: [['-rw-r--r-- u g 3 Nov 20 10:15 keep.csv', file(3, RECENT)]],
    as: 'unix',
  },
  {
    name: 'owners and groups with blanks',
    lines: [
      ['-rw-r--r-- 1 a b c d 3 Nov 20 10:15 keep.csv', file(3, RECENT)],
      ['-rw-r--r-- 1 ACME\\Domain Users 3 Nov 20 10:15 keep.csv', file(3, RECENT)],
    ],
    as: 'unix',
  },
  {
    name: 'the day before the month',
    lines: [
      ['-rw-r--r-- 1 u g 3 20 Nov 10:15 keep.csv', file(3, RECENT)],
      ['-rw-r--r-- 1 u g 3 20. Okt 10:15 keep.csv', file(3, '2026-10-20T10:15')],
    ],
    as: 'unix',
  },
  {
    name: 'months of other languages; an unknown one gives no wrong date',
    lines: [
      ['-rw-r--r-- 1 u g 3 Okt 20 10:15 keep.csv', file(3, '2026-10-20T10:15')],
      ['-rw-r--r-- 1 u g 3 déc. 20 2024 keep.csv', file(3, '2024-12-20T00:00')],
      ['-rw-r--r-- 1 u g 3 дек 20 2024 keep.csv', file(3, '2024-12-20T00:00')],
      ['-rw-r--r-- 1 u g 3 Xyz 20 10:15 keep.csv', file(3)],
    ],
    as: 'unix',
  },
  {
    name: 'numbered months: Chinese, Japanese, Korean',
    lines: [
      ['-rw-r--r-- 1 u g 3 11月 20日 10:15 keep.csv', file(3, RECENT)],
      ['-rw-r--r-- 1 u g 3 11월 20 2024년 keep.csv', file(3, '2024-11-20T00:00')],
    ],
    as: 'unix',
  },
  {
    name: 'ls --time-style=long-iso',
    lines: [['-rw-r--r-- 1 u g 3 2024-11-20 10:15 keep.csv', file(3, '2024-11-20T10:15')]],
    as: 'unix',
  },
  {
    name: 'ls --full-time: the time is exact',
    lines: [
      ['-rw-r--r-- 1 u g 3 2024-11-20 10:15:30.000000000 +0100 keep.csv', file(3, '2024-11-20T09:15')],
      ['-rw-r--r-- 1 u g 3 2024-02-30 10:15:30.000000000 +0100 keep.csv', file(3)],
    ],
    as: 'unix',
  },
  {
    name: 'BSD ls -lT: time and year',
    lines: [['-rw-r--r-- 1 u g 3 Nov 20 10:15:30 2024 keep.csv', file(3, '2024-11-20T00:00')]],
    as: 'unix',
  },
  {
    name: 'ls -h: a rounded size is asked for',
    lines: [['-rw-r--r-- 1 u g 1.5K Nov 20 10:15 keep.csv', file(undefined, RECENT)]],
    as: 'unix',
  },
  {
    name: 'separators in sizes',
    lines: [['-rw-r--r-- 1 u g 1,048,576 Nov 20 10:15 keep.csv', file(1_048_576, RECENT)]],
    as: 'unix',
  },
  {
    name: 'a negative size of 2 GiB and more is asked for',
    lines: [['-rw-r--r-- 1 u g -1294967296 Nov 20 10:15 keep.csv', file(undefined, RECENT)]],
    as: 'unix',
  },
  {
    name: 'devices, pipes and sockets',
    lines: [
      ['crw-rw-rw- 1 root root 1, 3 Nov 20 10:15 null', file(0, RECENT, 'null')],
      ['prw-r--r-- 1 u g 0 Nov 20 10:15 pipe', file(0, RECENT, 'pipe')],
      ['srwxr-xr-x 1 u g 0 Nov 20 10:15 socket', file(0, RECENT, 'socket')],
    ],
    as: 'unix',
  },
  {
    name: 'links with their target',
    lines: [
      ['lrwxrwxrwx 1 u g 3 Nov 20 10:15 a -> b', ['a', 'link', 3, RECENT]],
      ['lrwxrwxrwx 1 u g 3 Nov 20 10:15 a -> b -> c', ['a', 'link', 3, RECENT]],
      ['lrwxrwxrwx 1 u g 3 Nov 20 10:15 no target', ['no target', 'link', 3, RECENT]],
    ],
    as: 'unix',
  },
  {
    name: 'names with blanks, also as their first characters',
    lines: [['-rw-r--r-- 1 u g 3 Nov 20 10:15   two blanks  and more ', file(3, RECENT, '  two blanks  and more ')]],
    as: 'unix',
  },
  {
    name: 'names with an arrow, a date, or a backslash',
    lines: [
      ['-rw-r--r-- 1 u g 3 Nov 20 10:15 a -> b', file(3, RECENT, 'a -> b')],
      ['-rw-r--r-- 1 u g 3 Nov 20 10:15 5 Jan 3 2024 b', file(3, RECENT, '5 Jan 3 2024 b')],
      ['-rw-r--r-- 1 u g 3 Nov 20 10:15 a\\b', file(3, RECENT, 'a\\b')],
    ],
    as: 'unix',
  },
  {
    name: 'question marks: ls could not read the file',
    lines: [
      ['-????????? ? ? ? ? ? keep.csv', file(undefined)],
      ['-?????????  ? ?    ?       ?            ? a name', file(undefined, undefined, 'a name')],
      ['d????????? ? ? ? ? ? sub', ['sub', 'folder']],
      ['l????????? ? ? ? ? ? link', ['link', 'link']],
      ['?????????? ? ? ? ? ? keep.csv', ['keep.csv', 'unknown']],
    ],
    as: 'unix',
  },
  {
    name: 'an unknown type: it is asked for',
    lines: [['?rw-r--r-- 1 u g 3 Nov 20 10:15 odd', ['odd', 'unknown', 3, RECENT]]],
    as: 'unix',
  },
  {
    name: 'lines that are cut, or no lines of ls',
    lines: [
      ['-rw-r--r-- 1 u g 3 Nov 20 10:15 keep.csv', file(3, RECENT)],
      ['garbage', 'refused'],
      ['-rw-r--r-- 1 u g', 'refused'],
      ['-rw-r--r-- 1 u g 3 Nov 20 10:15 ', 'refused'],
      ['x .', 'refused'],
      [' just a name', 'refused'],
    ],
    as: 'unix',
  },
  {
    name: 'dir of Windows, years of two digits',
    lines: [
      ['11-20-24  10:15AM       <DIR>          sub', ['sub', 'folder', undefined, '2024-11-20T10:15']],
      ['12-31-25  11:59PM                   17 file.txt', file(17, '2025-12-31T23:59', 'file.txt')],
      ['11-20-69  10:15AM                   17 file.txt', file(17, '2069-11-20T10:15', 'file.txt')],
    ],
    as: 'dos',
  },
  {
    name: 'dir of Windows, years of four digits',
    lines: [['11-20-2024  12:05AM   3 a b', file(3, '2024-11-20T00:05', 'a b')]],
    as: 'dos',
  },
  {
    name: 'dir of Windows, names that begin with a blank of another kind',
    lines: [
      ['11-20-24  10:15AM                    3 \u3000a', file(3, '2024-11-20T10:15', '\u3000a')],
      ['11-20-24  10:15AM       <DIR>          \u00a0b', ['\u00a0b', 'folder', undefined, '2024-11-20T10:15']],
    ],
    as: 'dos',
  },
  {
    name: 'dir with separators in sizes',
    lines: [
      ['11-20-24 10:15AM 1,048,576 big.bin', file(1_048_576, '2024-11-20T10:15', 'big.bin')],
      ['20.11.2024  22:15    1.048.576 big.bin', file(1_048_576, '2024-11-20T22:15', 'big.bin')],
    ],
    as: 'dos',
  },
  {
    name: 'dir with other orders of the date; an ambiguous one is none',
    lines: [
      ['05/06/2024  10:15    3 a', file(3, undefined, 'a')],
      ['25/06/2024  10:15    3 a', file(3, '2024-06-25T10:15', 'a')],
      ['2024-11-20  10:15    3 a', file(3, '2024-11-20T10:15', 'a')],
    ],
    as: 'dos',
  },
  {
    name: 'dir with junctions and links',
    lines: [
      ['11-20-24 10:15AM <JUNCTION> keep [D:\\data]', ['keep', 'link', undefined, '2024-11-20T10:15']],
      [
        '11-20-24  10:15AM    <SYMLINKD>     keep [x] [\\\\host\\share]',
        ['keep [x]', 'link', undefined, '2024-11-20T10:15'],
      ],
      ['11-20-24  10:15AM    <SYMLINK>      a.txt [..\\b.txt]', ['a.txt', 'link', undefined, '2024-11-20T10:15']],
    ],
    as: 'dos',
  },
  {
    name: 'NetWare: rights of trustees',
    lines: [
      [
        'd [R----F--] supervisor            512       Jan 16 18:53    login',
        ['login', 'folder', 512, '2026-01-16T18:53'],
      ],
      [
        '- [RWCEAFMS] a.user             214059       Oct 20 15:27    cx.exe',
        file(214_059, '2026-10-20T15:27', 'cx.exe'),
      ],
      ['-[RWCEAFMS] of two words 3 Oct 20  2024 a 5 Jan 3 2024 b', file(3, '2024-10-20T00:00', 'a 5 Jan 3 2024 b')],
      ['- [R] owner 3 Oct 20 15:27 ', 'refused'],
    ],
    as: 'netware',
  },
  {
    name: 'IBM i: files and folders of the integrated file system',
    lines: [
      ['QSYS          77824 11/23/24 15:09:55 *DIR       home/', ['home/', 'folder', undefined, '2024-11-23T15:09']],
      ['USR            1234 31.12.25 15:09:55 *STMF      a.txt', file(1234, '2025-12-31T15:09', 'a.txt')],
      ['USR            8192 31/12/25 14:30:00 *SYMLNK    latest', ['latest', 'link', undefined, '2025-12-31T14:30']],
      ['USR 12 31/12-25 14:30:00 *STMF a', 'refused'],
    ],
    as: 'ibmi',
  },
  {
    name: 'IBM i: database files, members, save files and programs',
    lines: [
      ['USR                                   *MEM       ORDERS.MBR', file(undefined, undefined, 'ORDERS.MBR')],
      ['USR           36864 31/12/25 14:30:00 *FILE      BACKUP.SAVF', file(36_864, '2025-12-31T14:30', 'BACKUP.SAVF')],
      [
        'USR           36864 31/12/25 14:30:00 *FILE      ORDERS.FILE',
        ['ORDERS.FILE', 'unknown', undefined, '2025-12-31T14:30'],
      ],
      [
        'USR            8192 31/12/25 14:30:00 *PGM       RUN.PGM',
        ['RUN.PGM', 'unknown', undefined, '2025-12-31T14:30'],
      ],
    ],
    as: 'ibmi',
  },
  {
    name: 'IBM i: an ambiguous date is none',
    lines: [
      ['USR            1234 23.11.24 15:09:55 *STMF      a b.txt', file(1234, undefined, 'a b.txt')],
      ['USR            1234 04/03/24 15:09:55 *STMF      a.txt', file(1234, undefined, 'a.txt')],
    ],
    as: 'ibmi',
  },
  {
    name: 'OpenVMS: versions, long names, folders, and what may not be seen',
    lines: [
      ['Directory DKA0:[USER.IN]', 'nothing'],
      [
        'A.TXT;12            3/4         20-NOV-2024 10:15:30.12  [GROUP,USER]  (RWED,RWED,RE,)',
        ['A.TXT', 'file', undefined, '2024-11-20T10:15'],
      ],
      ['A.TXT;11            1/4         19-NOV-2024 09:00:00     [GROUP,USER]  (RWED,RWED,RE,)', 'nothing'],
      ['A_LONG_NAME_THAT_FILLS_ITS_LINE.DATA;1', 'nothing'],
      [
        '                    12          20-NOV-2024 10:15  [USER]  (RWED,RWED,RE,)',
        ['A_LONG_NAME_THAT_FILLS_ITS_LINE.DATA', 'file', undefined, '2024-11-20T10:15'],
      ],
      [
        'SUB.DIR;1           1           20-NOV-2024 10:15  [USER]  (RWE,RWE,RE,)',
        ['SUB', 'folder', undefined, '2024-11-20T10:15'],
      ],
      [
        'SECRET.TXT;1        %RMS-E-PRV, insufficient privilege or file protection violation',
        file(undefined, undefined, 'SECRET.TXT'),
      ],
      ['ALONE.TXT;1', 'refused'],
      [
        'B.TXT;1             3           20-NOV-2024 10:15  [USER]  (RWED)',
        file(undefined, '2024-11-20T10:15', 'B.TXT'),
      ],
      ['-rw-r--r-- 1 u g 3 Nov 20 10:15 keep.csv', 'refused'],
      ['LAST.TXT;1', 'refused'],
      ['Total of 9 files, 20/40 blocks.', 'nothing'],
    ],
    as: 'vms',
  },
  {
    name: 'OpenVMS: empty folders',
    lines: [
      ['DKA0:[USER]', 'nothing'],
      ['Total of 0 files, 0 blocks.', 'nothing'],
    ],
    as: 'vms',
  },
  {
    name: 'OpenVMS: the last line is missing',
    lines: [['A.TXT;1', 'refused']],
    as: 'vms',
  },
  {
    name: 'z/OS: data sets, also migrated, and pseudo directories',
    lines: [
      ['Volume Unit    Referred Ext Used Recfm Lrecl BlkSz Dsorg Dsname', 'nothing'],
      ['WRK001 3390   2024/03/19  1   15  FB     132 27920  PO  MY.SOURCE', ['MY.SOURCE', 'folder']],
      ['WRK001 3390   2024/03/19  1   15  VB     256 27998  PO-E MY.LIBRARY', ['MY.LIBRARY', 'folder']],
      ['WRK002 3390   **NONE**    1    1  FB      80  3120  PS  MY.DATA', ['MY.DATA', 'file']],
      ['WRK002 3390   2024/03/19  1 ????  U        0 32760  PS  MY.LARGE', ['MY.LARGE', 'file']],
      ['WRK003 3390   2024/03/19  1   15  VSAM MY.INDEX', ['MY.INDEX', 'unknown']],
      ['Migrated                                                MY.OLD', ['MY.OLD', 'unknown']],
      ['Pseudo Directory                                        MY.GROUP', ['MY.GROUP', 'folder']],
      ['something else', 'refused'],
    ],
    as: 'mvs',
  },
  {
    name: 'z/OS: members of a data set, with statistics and without',
    lines: [
      [' Name     VV.MM   Created       Changed      Size  Init   Mod   Id', 'nothing'],
      [
        'FIRST     01.03 2024/02/11 2024/02/12 10:15    25    20     3 USER1',
        file(undefined, '2024-02-12T10:15', 'FIRST'),
      ],
      ['SECOND', ['SECOND', 'file']],
      ['no member', 'refused'],
    ],
    as: 'mvs',
  },
  {
    name: 'z/OS: load modules',
    lines: [
      [' Name      Size     TTR   Alias-of AC --------- Attributes --------- Amode Rmode', 'nothing'],
      ['RUN       000A30   000108          00 FO             RN RU            31    ANY', ['RUN', 'file']],
      ['no module', 'refused'],
    ],
    as: 'mvs',
  },
  {
    name: 'z/OS: jobs of JES are refused',
    lines: [
      ['JOBNAME  JOBID    OWNER    STATUS CLASS', 'refused'],
      ['USER1A   JOB00123 USER1    OUTPUT A        RC=0000 3 spool files', 'refused'],
    ],
  },
  {
    name: 'z/OS: data sets without their heading are refused',
    lines: [['WRK001 3390   2024/03/19  1   15  FB     132 27920  PO  MY.SOURCE', 'refused']],
  },
  {
    name: 'EPLF',
    lines: [
      ['+i12.34,m1700000000,r,s1234,\ta file', file(1234, '2023-11-14T22:13', 'a file')],
      ['+i12.35,m1700000000,/,\tsub', ['sub', 'folder', undefined, '2023-11-14T22:13']],
      ['+up644,s12x,r,\ta\tb', file(undefined, undefined, 'a\tb')],
      ['+\ta', ['a', 'unknown']],
      ['+r,s3 name', 'refused'],
      ['+r,s3\t', 'refused'],
    ],
    as: 'eplf',
  },
  {
    name: 'MLSD (RFC 3659): facts in any case and order',
    lines: [
      ['Type=file;Size=3;Modify=20240102030405; keep.csv', file(3, '2024-01-02T03:04')],
      ['Modify=20260203040506.789;TYPE=Dir;  lead', [' lead', 'folder', undefined, '2026-02-03T04:05']],
      ['type=cdir; /here', ['/here', 'self']],
    ],
    isMachine: true,
  },
  {
    name: 'MLSD without the last semicolon, and names with facts in them',
    lines: [
      ['Type=file;Size=3;Modify=20240102030405 keep.csv', file(3, '2024-01-02T03:04')],
      ['type=file;size=3; a; b=c; d', file(3, undefined, 'a; b=c; d')],
      ['type=file;size=3;modify=20240102030405; name ', file(3, '2024-01-02T03:04', 'name ')],
      ['type=file;size=3 a; b=c; d', file(3, undefined, 'a; b=c; d')],
    ],
    isMachine: true,
  },
  {
    name: 'MLSD with links: slink, symlink, and those of ProFTPD',
    lines: [
      ['type=OS.unix=slink:/a b;size=4; l', ['l', 'link', 4]],
      ['type=OS.unix=symlink; l', ['l', 'link']],
      ['type=file;size=4;UNIX.mode=0777; l', ['l', 'link', 4]],
      ['type=dir;UNIX.mode=0777; d', ['d', 'folder']],
      ['type=dir;perm=flcdmpe;UNIX.mode=0777; d', ['d', 'folder']],
      ['perm=adfrw;type=dir;unique=FE00U238009;UNIX.mode=0777; l', ['l', 'link']],
    ],
    isMachine: true,
  },
  {
    name: 'MLSD without a kind, or with an unknown one: it is asked for',
    lines: [
      ['size=3; no type', ['no type', 'unknown', 3]],
      ['type=fiel;size=3; a', ['a', 'unknown', 3]],
    ],
    isMachine: true,
  },
  {
    name: 'lines that are no facts',
    lines: [
      ['type=file;size=3;keep.csv', 'refused'],
      ['keep.csv', 'refused'],
      [' ', 'refused'],
      ['; a', 'refused'],
      ['type=file; ', 'refused'],
      ['-rw-r--r-- 1 a a 3 Feb 03 2026 f', 'refused'],
    ],
    isMachine: true,
  },
  {
    name: 'names alone (NLST in place of LIST) are refused',
    lines: [
      ['keep.csv', 'refused'],
      ['other file.txt', 'refused'],
    ],
  },
];

for (const [index, { name, lines, as, isMachine = false }] of FORMATS.entries()) {
  test(`format ${index + 1}: ${name}`, () => {
    const expected = lines.flatMap(([line, entry]) =>
      entry === 'nothing' ? [] : [entry === 'refused' ? unread(line) : shownAs(entry)],
    );
    const texts = lines.map(([line]) => line);
    if (isMachine) {
      assert.deepEqual(
        texts.map((line) => machine(line) ?? unread(line)),
        expected,
      );
    } else {
      assert.deepEqual(read(texts), expected);
      if (as !== undefined) assert.deepEqual(read(texts, as), expected, `listing: ${as}`);
    }
  });
}

test('the known formats are 42 or more', () => assert.ok(FORMATS.length >= 42, String(FORMATS.length)));

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
  for (const [name, month] of cases) assert.equal(monthNumberOf(name), month, name);
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
  readonly parse: (line: Buffer) => FtpEntry | undefined;
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

test('rights, owner and group are read where a line shows them', () => {
  const list = (line: string) => parseListLine(Buffer.from(line), NOW, 'auto', UTF_8)?.rights;
  const facts = (line: string) => parseMachineLine(Buffer.from(line), UTF_8)?.rights;
  const [mode, owner, group] = [undefined, undefined, undefined];
  const end = '3 Nov 20 10:15 keep.csv';
  assert.deepEqual(list(`-rw-r--r-- 1 alice users ${end}`), { mode: 0o644, owner: 'alice', group: 'users' });
  assert.deepEqual(list(`drwsr-sr-t 2 1000 100 ${end}`), { mode: 0o7755, owner: '1000', group: '100' });
  assert.deepEqual(list(`drwSr-lr-T 2 alice ${end}`), { mode: 0o7644, owner: 'alice', group });
  assert.deepEqual(list(`-rw------- alice users ${end}`), { mode: 0o600, owner: 'alice', group: 'users' });
  assert.deepEqual(list(`-rw------- 1 alice domain users ${end}`), { mode: 0o600, owner, group }, 'a blank in a name');
  assert.deepEqual(list('-????????? ? ? ? ? ? keep.csv'), { mode, owner, group });
  assert.equal(list('11-20-24 10:15AM 1048576 keep.csv'), undefined, 'DOS has none');
  const machine = 'type=file;size=3;modify=20240102030405;';
  assert.deepEqual(facts(`${machine}UNIX.mode=0640;UNIX.owner=7;UNIX.group=8; keep.csv`), {
    mode: 0o640,
    owner: '7',
    group: '8',
  });
  assert.deepEqual(facts(`${machine}UNIX.ownername=ann;UNIX.owner=7;UNIX.group=8;UNIX.groupname=ops; keep.csv`), {
    mode,
    owner: 'ann',
    group: 'ops',
  });
  assert.deepEqual(facts(`${machine} keep.csv`), { mode, owner, group });
});
