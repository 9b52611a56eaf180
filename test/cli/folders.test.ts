/** Whole folders on the command line: through a real gateway, on real OpenSSH and FTP servers, with malicious names. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { safeNames } from '../../src/cli/local-path.js';
import { globOf, targetFolder } from '../../src/cli/location.js';
import { totalsText } from '../../src/cli/progress-text.js';
import type { Job, Schedule } from '../../src/client/index.js';
import { startVsftpd, type FtpServer } from '../servers/ftp.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { eventually } from '../support/eventually.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { KEY } from '../support/gateway.js';
import { ended, FTG, stillChanging, Terminal } from './support.js';
import { startTogether } from '../support/together.js';

// Not blocking: this process serves some of the remote servers.
const run = promisify(execFile);

const WRITTEN = new Date('2024-02-29T12:34:56.000Z');

let gateway: TestAccount;
let shell: TestSshd;
let ftp: FtpServer;
let terminal: Terminal;

before(async () => {
  [shell, ftp] = await startTogether([startSshd(), startVsftpd()]);
  const privateKey = readFileSync(shell.clientKeyFile, 'utf8');
  const { username, port, files } = shell;
  const { username: user, password } = ftp;
  const old = { host: '127.0.0.1', port: ftp.port, username: user, password, tls: 'none', defaultPath: '/' };
  gateway = await openAccount({
    connections: [
      { id: 'box', name: 'Box', type: 'sftp', host: '127.0.0.1', port, username, privateKey, defaultPath: files },
      { id: 'old', name: 'Old', type: 'ftp', ...old },
    ],
  });
  terminal = new Terminal({ FTG_URL: gateway.url, FTG_KEY: gateway.keyOf(KEY) });
});

after(async () => {
  terminal.close();
  await gateway.stop();
  await Promise.all([shell.stop(), ftp.stop()]);
});

const there = (path: string): string => join(shell.files, path);
const here = (path: string): string => join(terminal.home, path);

function make(root: string, files: readonly string[]): void {
  for (const file of files) {
    mkdirSync(join(root, file, '..'), { recursive: true });
    writeFileSync(join(root, file), file);
    utimesSync(join(root, file), WRITTEN, WRITTEN);
  }
  // The FTP server has another user.
  execFileSync('chmod', ['-R', 'a+rwX', root]);
}

/** Files below a folder, sorted. */
function filesIn(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}

test('cp -r, mv -r and rm -r are jobs, between connections too', async () => {
  make(there('reports'), ['a.csv', 'sub/b.csv', 'sub/c.tmp', "odd/it's [1] *.csv"]);
  await terminal.fails(5, /box:reports is a folder: use -r/, ['cp', 'box:reports', 'old:/']);
  await terminal.fails(2, /folders need -r/, ['cp', 'box:reports/', 'old:/']);
  await terminal.fails(2, /--dry-run needs -r/, ['cp', '--dry-run', 'box:reports/a.csv', 'old:/x/']);
  const said = await terminal.ok(['cp', '-r', '--exclude', '*.tmp', 'box:reports', 'old:/in/']);
  assert.match(said, /^copy succeeded: 3 files, \d+ B in 0:\d+ {2}job [0-9a-f-]{36}\n$/);
  assert.deepEqual(filesIn(join(ftp.folder, 'in/reports')), ['a.csv', "odd/it's [1] *.csv", 'sub/b.csv']);
  const { job } = await terminal.json<{ job: Job }>('cp', '-r', 'box:reports', 'old:/named');
  assert.deepEqual([job.state, job.destination?.path, job.counts.done], ['succeeded', '/named', 4]);
  await terminal.ok(['mv', '-r', 'old:/named', 'box:moved']);
  assert.ok(!existsSync(join(ftp.folder, 'named')));
  assert.deepEqual(filesIn(there('moved')), filesIn(there('reports')));
  const dry = await terminal.ok(['rm', '-r', '--dry-run', 'box:moved']);
  assert.match(dry, /^delete {2} +\d+ B {2}a\.csv$/m);
  assert.match(dry, /^dry run of delete succeeded/m);
  assert.equal(filesIn(there('moved')).length, 4);
  await terminal.ok(['rm', '-r', 'box:moved']);
  assert.ok(!existsSync(there('moved')));
  await terminal.fails(3, /./, ['rm', '-r', 'box:moved']);
  await terminal.ok(['rm', '-rf', 'box:moved']);
  await terminal.fails(2, /path|folder/, ['rm', '-r', 'old:/']);
});

test('mv -r replaces nothing without the option, and its exit code reports files that are left', async () => {
  make(there('from'), ['a', 'b']);
  make(join(ftp.folder, 'to'), ['b']);
  writeFileSync(join(ftp.folder, 'to/b'), 'theirs');
  const { stderr } = await terminal.fails(9, /b: .*exists/, ['mv', '-r', 'box:from', 'old:/to']);
  assert.match(stderr, /ftg jobs retry [0-9a-f-]{36}/);
  assert.equal(readFileSync(join(ftp.folder, 'to/b'), 'utf8'), 'theirs');
  assert.deepEqual(filesIn(there('from')), ['b']);
  const { jobs } = await terminal.json<{ jobs: Job[] }>('jobs', '--state', 'partly_failed', '--limit', '1');
  const id = jobs[0]?.id ?? '';
  assert.match(await terminal.ok(['jobs', 'files', '--state', 'failed', id]), /^failed +move +1 B +b +.*exists/);
  await terminal.fails(5, /b: .*exists/, ['jobs', 'retry', id]);
});

test('sync copies new files, and deletes extra ones only up to its limit', async () => {
  make(there('source'), ['a', 'b', 'sub/c']);
  make(join(ftp.folder, 'target'), ['x', 'y']);
  const words = ['sync', '--compare', 'size', 'box:source', 'old:/target'];
  const plan = await terminal.ok([...words, '--dry-run', '--delete-extra']);
  assert.match(plan, /^copy {4} +\d+ B {2}a$/m);
  assert.match(plan, /^delete .* x$/m);
  assert.deepEqual(filesIn(join(ftp.folder, 'target')), ['x', 'y']);
  await terminal.fails(9, /delete/, [...words, '--delete-extra', '--max-deletes', '1']);
  assert.ok(existsSync(join(ftp.folder, 'target/x')));
  await terminal.ok([...words, '--delete-extra', '--bwlimit', '10M']);
  assert.deepEqual(filesIn(join(ftp.folder, 'target')), ['a', 'b', 'sub/c']);
  const { job } = await terminal.json<{ job: Job }>(...words);
  assert.deepEqual([job.counts.done, job.counts.skipped], [0, 3]);
  await terminal.fails(2, /between connections: see put -r and get -r/, ['sync', './source', 'box:x']);
  await terminal.fails(2, /unknown option '--on-conflict'/, [...words, '--on-conflict', 'skip']);
  await terminal.fails(2, /512K or 10M/, [...words, '--bwlimit', 'much']);
});

test('files are selected by depth, size and age, and each command has the options of its job', async () => {
  make(there('chosen'), ['near', 'sub/far', 'sub/deep/below']);
  writeFileSync(there('chosen/large'), 'x'.repeat(3_000));
  const now = Date.now() / 1_000;
  for (const name of ['near', 'sub/deep/below']) utimesSync(there(`chosen/${name}`), now, now);
  utimesSync(there('chosen/sub/far'), now - 8 * 86_400, now - 8 * 86_400);
  const planned = async (...words: string[]): Promise<string[]> => {
    const plan = await terminal.ok(['cp', '-r', '--dry-run', ...words, 'box:chosen', 'old:/chosen']);
    return [...plan.matchAll(/^copy .* (\S+)$/gm)].map(([, path = '']) => path).sort();
  };
  assert.deepEqual(await planned('--max-depth', '1'), ['large', 'near']);
  assert.deepEqual(await planned('--max-depth', '2', '--max-size', '2K'), ['near', 'sub/far']);
  assert.deepEqual(await planned('--min-size', '2.5k'), ['large']);
  assert.deepEqual(await planned('--min-age', '7d'), ['sub/far']);
  assert.deepEqual(await planned('--max-age', '1w', '--exclude', 'large'), ['near', 'sub/deep/below']);
  await terminal.fails(2, /512K or 10M/, ['rm', '-r', '--min-size', '10 apples', 'box:chosen']);
  await terminal.fails(2, /90s, 12h or 7d/, ['rm', '-r', '--min-age', 'old', 'box:chosen']);
  await terminal.fails(2, /--min-age needs -r/, ['rm', '--min-age', '7d', 'box:chosen/near']);
  await terminal.fails(2, /unknown option '--bwlimit'/, ['rm', '-r', '--bwlimit', '1M', 'box:chosen']);
  await terminal.ok(['rm', '-r', '--min-age', '7d', 'box:chosen']);
  assert.deepEqual(filesIn(there('chosen')), ['large', 'near', 'sub/deep/below']);
  const add = ['schedules', 'add', 'delete', 'box:chosen', '--cron', '@monthly', '--min-age', '30d'];
  await terminal.fails(2, /--compare is of sync, and not of delete/, [...add, '--compare', 'size']);
  const { schedule } = await terminal.json<{ schedule: Schedule }>(...add, '--max-depth', '2');
  assert.deepEqual([schedule.job.minAgeSeconds, schedule.job.maxDepth], [30 * 86_400, 2]);
  await terminal.ok(['schedules', 'rm', schedule.id]);
});

test('a job can run in the background, and is listed, paused, resumed, cancelled and waited for', async () => {
  mkdirSync(there('slow'));
  for (let at = 0; at < 20; at++) writeFileSync(there(`slow/${at}`), 'x'.repeat(20_000));
  const words = ['cp', '-r', '--detach', '--bwlimit', '1K', 'box:slow', 'old:/slow'];
  const id = (await terminal.ok(words)).trim();
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.match(await terminal.ok(['jobs', 'pause', id]), /is paused/);
  assert.match(await terminal.ok(['jobs']), new RegExp(`^${id} .* copy +paused .*box:.*slow +old:/slow`, 'm'));
  assert.match(await terminal.ok(['jobs', 'show', id]), /^state +paused/m);
  assert.match(await terminal.ok(['jobs', 'resume', id]), /is (queued|running)/);
  await terminal.ok(['jobs', 'cancel', id]);
  await terminal.fails(1, /cancelled/, ['jobs', 'wait', id]);
  await terminal.fails(3, /no job/, ['jobs', 'show', 'nothing']);
});

test('schedules are created, changed, run and deleted', async () => {
  make(there('nightly'), ['a', 'b.tmp']);
  const words = ['schedules', 'add', 'sync', 'box:nightly', 'old:/nightly', '--cron', '30 2 * * *'];
  await terminal.fails(2, /required option '--cron/, words.slice(0, -2));
  await terminal.fails(2, /needs a place/, ['schedules', 'add', 'copy', 'box:nightly', '--cron', '@daily']);
  await terminal.fails(2, /cron|never/, [...words.slice(0, -1), '0 0 31 2 *']);
  const preview = ['schedules', 'preview', '--cron', '30 2 * * *', '--time-zone', 'Asia/Tokyo'];
  assert.match(await terminal.ok(preview), /^(\d{4}-\d\d-\d\dT17:30:00Z\n){5}$/);
  assert.equal((await terminal.json<{ nextRuns: string[] }>(...preview)).nextRuns.length, 5);
  await terminal.fails(2, /never comes/, ['schedules', 'preview', '--cron', '0 0 31 2 *']);
  const { schedule } = await terminal.json<{ schedule: Schedule }>(...words, '--exclude', '*.tmp', '--name', 'n');
  const { id } = schedule;
  assert.deepEqual([schedule.job.type, schedule.job.exclude, schedule.nextRuns.length], ['sync', ['*.tmp'], 5]);
  assert.match(await terminal.ok(['schedules', 'edit', id, '--time-zone', 'Asia/Tokyo']), /^timeZone +Asia\/Tokyo/m);
  assert.match(
    await terminal.ok(['schedules']),
    new RegExp(`^${id} +n +30 2 \\* \\* \\* +Asia/Tokyo +active +sync`, 'm'),
  );
  assert.match(await terminal.ok(['schedules', 'pause', id]), /n is paused/);
  assert.match(await terminal.ok(['schedules', 'run', id]), /^sync succeeded: 1 files/);
  assert.deepEqual(filesIn(join(ftp.folder, 'nightly')), ['a']);
  assert.match(await terminal.ok(['schedules', 'resume', id]), /n is active/);
  await terminal.ok(['schedules', 'rm', id]);
  assert.deepEqual((await terminal.json<{ schedules: [] }>('schedules')).schedules, []);
  await terminal.fails(3, /no schedule/, ['schedules', 'run', id]);
});

test('Ctrl-C leaves a job running, and shows how to end it', async () => {
  // A copier that has not read the answer with the id of its job cannot name it: then there is another one.
  await eventually(async () => {
    const copier = terminal.start(['cp', '-r', '--bwlimit', '1K', 'box:slow', 'old:/left']);
    const interrupted = ended(copier);
    let id = '';
    await eventually(async () => {
      const { jobs } = await terminal.json<{ jobs: Job[] }>('jobs', '--state', 'running');
      id = jobs[0]?.id ?? '';
      return id !== '';
    }, 'the job has begun');
    copier.kill('SIGINT');
    const { code, stderr } = await interrupted;
    assert.equal(code, 130);
    assert.equal((await terminal.json<{ job: Job }>('jobs', 'show', id)).job.state, 'running');
    await terminal.ok(['jobs', 'cancel', id]);
    return new RegExp(`the job continues: .*ftg jobs cancel ${id}`).test(stderr);
  }, 'it shows how to end the job');
});

test('put -r and get -r copy a folder there and back, with its times', async () => {
  const names = ['a.csv', '.hidden', 'sub/ü b.csv', 'sub/deep/c', 'star*?[x].csv'];
  make(here('out'), names);
  mkdirSync(here('out/empty'));
  symlinkSync('/etc/passwd', here('out/link'));
  const { stdout, stderr } = await terminal.run(['put', '-r', 'out', 'box:up/']);
  assert.match(stdout, /^uploaded: 5 files, \d+ B, 1 skipped in 0:\d+\n$/);
  assert.match(stderr, /^link: neither a file nor a folder/m);
  assert.deepEqual(filesIn(there('up/out')), [...names].sort());
  assert.ok(statSync(there('up/out/empty')).isDirectory());
  assert.equal(statSync(there('up/out/a.csv')).mtimeMs, WRITTEN.getTime());
  await terminal.ok(['get', '-r', 'box:up/out']);
  await terminal.ok(['get', '-r', 'box:up/out', 'back']);
  assert.deepEqual(filesIn(here('back')), [...names].sort());
  assert.ok(statSync(here('back/empty')).isDirectory());
  for (const name of names) {
    assert.equal(readFileSync(here(`back/${name}`), 'utf8'), name);
    assert.equal(statSync(here(`back/${name}`)).mtimeMs, WRITTEN.getTime());
  }
  await terminal.fails(2, /is a folder: use -r/, ['put', 'out', 'box:up/']);
  await terminal.fails(5, /is a folder: use -r/, ['get', 'box:up/out', 'x']);
  await terminal.fails(2, /takes one file/, ['get', '-r', 'box:up/out', '-']);
  await terminal.fails(3, /does not exist/, ['get', '-r', 'box:nothing', 'x']);
  await terminal.fails(3, /nothing/, ['put', '-r', 'nothing', 'box:up/']);
});

test('existing files are handled by rule, on either side', async () => {
  make(here('mine'), ['a', 'b']);
  await terminal.ok(['put', '-r', 'mine', 'box:rule']);
  writeFileSync(there('rule/a'), 'theirs');
  const put = async (...words: string[]): Promise<number[]> => {
    const { stdout, code } = await terminal.run(['--json', 'put', '-r', 'mine', 'box:rule', ...words]);
    const { files, skipped, failed } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, number>;
    return [code, files ?? -1, skipped ?? -1, failed ?? -1];
  };
  assert.deepEqual(await put('--on-conflict', 'skip'), [0, 0, 2, 0]);
  assert.deepEqual(await put('--on-conflict', 'newer'), [0, 0, 2, 0]);
  assert.deepEqual(await put('--no-overwrite'), [9, 0, 0, 2]);
  assert.deepEqual(await put('--dry-run'), [0, 2, 0, 0]);
  assert.deepEqual(await put('--dry-run', '--on-conflict', 'fail'), [9, 0, 0, 2]);
  assert.equal(readFileSync(there('rule/a'), 'utf8'), 'theirs');
  await terminal.ok(['get', '-r', '--on-conflict', 'skip', 'box:rule', 'mine']);
  assert.equal(readFileSync(here('mine/a'), 'utf8'), 'a');
  await terminal.fails(9, /a: .*exists/, ['get', '-r', '--on-conflict', 'fail', 'box:rule', 'mine']);
  await terminal.ok(['get', '-r', '--dry-run', 'box:rule', 'mine']);
  assert.equal(readFileSync(here('mine/a'), 'utf8'), 'a');
  await terminal.ok(['get', '-r', '--on-conflict', 'newer', 'box:rule', 'mine']);
  assert.deepEqual([readFileSync(here('mine/a'), 'utf8'), readFileSync(here('mine/b'), 'utf8')], ['theirs', 'b']);
  assert.deepEqual(await put('--on-conflict', 'replace'), [0, 2, 0, 0]);
});

test('get -r writes only below its folder', async () => {
  make(there('evil'), ['sub/passwd', 'plain', 'back\\slash']);
  execFileSync('bash', [
    '-c',
    String.raw`cd "$1" && printf x > $'bad\xff' && printf y > $'bad\xfe'`,
    '-',
    there('evil'),
  ]);
  symlinkSync('/etc', there('evil/etc'));
  mkdirSync(here('outside'));
  mkdirSync(here('safe'));
  symlinkSync(here('outside'), here('safe/sub'));
  symlinkSync(here('outside/target'), here('safe/plain'));
  const { stderr } = await terminal.fails(9, /not UTF-8/, ['get', '-r', 'box:evil', 'safe']);
  assert.match(stderr, /sub\/passwd: .* is no folder: nothing is written through it/);
  assert.deepEqual(readdirSync(here('outside')), []);
  assert.ok(lstatSync(here('safe/plain')).isFile(), 'a link was followed, or stayed');
  assert.ok(!existsSync(here('safe/etc/passwd')));
  assert.equal(readFileSync(here('safe/back\\slash'), 'utf8'), 'back\\slash');
});

test('names that lead elsewhere are refused, and on Windows those of devices', () => {
  for (const name of ['..', 'a/../../b', '/etc/passwd', 'a//b', '.', './a', 'a/\0', '']) {
    assert.throws(() => safeNames(name, 'linux'), /cannot be used here/, name);
  }
  const odd = [
    'aux',
    'CON.txt',
    'a/nul',
    'COM1',
    'lpt¹.log',
    'c:\\x',
    'a:stream',
    'a\\..\\b',
    'dot.',
    'blank ',
    'a?',
    'conin$',
  ];
  for (const name of odd) {
    assert.throws(() => safeNames(name, 'win32'), /cannot be used here/, name);
    assert.equal(safeNames(name, 'linux').join('/'), name);
  }
  assert.deepEqual(safeNames('a/console.log/auxiliary', 'win32'), ['a', 'console.log', 'auxiliary']);
});

test('globs list, fetch and delete their matches, and a name with a star is itself', async () => {
  make(there('glob'), ['1.csv', '2.csv', '3.txt', 'sub/4.csv', '[1].csv', 'star*']);
  mkdirSync(there('glob/folder.csv'));
  const text = await terminal.ok(['ls', 'box:glob/*.csv']);
  assert.deepEqual(
    text
      .trim()
      .split('\n')
      .map((line) => line.split(/ {2,}/).at(-1)),
    ['1.csv', '2.csv', '[1].csv', 'folder.csv/'].sort(
      (a, b) => Number(b.endsWith('/')) - Number(a.endsWith('/')) || (a < b ? -1 : 1),
    ),
  );
  assert.match(await terminal.ok(['ls', '-R', 'box:glob/*.csv']), /sub\/4\.csv/);
  await terminal.fails(3, /nothing matches box:glob\/\*\.none/, ['ls', 'box:glob/*.none']);
  const tree = await terminal.ok(['ls', '-R', 'box:glob']);
  assert.match(tree, /^ +- {2}\S+ +sub\/\n +9 B {2}\S+ +sub\/4\.csv$/m);
  await terminal.ok(['get', 'box:glob/*/*.csv', 'matched']);
  assert.deepEqual(filesIn(here('matched')), ['sub/4.csv']);
  await terminal.fails(3, /nothing matches/, ['get', 'box:glob/*.none', 'matched']);
  assert.equal((await terminal.ok(['rm', '--dry-run', 'box:glob/*.csv'])).split('\n').length, 4);
  await terminal.ok(['rm', 'box:glob/[1].csv', 'box:glob/star*']);
  assert.deepEqual(filesIn(there('glob')), ['1.csv', '2.csv', '3.txt', 'sub/4.csv']);
  await terminal.ok(['rm', 'box:glob/*.csv']);
  assert.deepEqual(filesIn(there('glob')), ['3.txt', 'sub/4.csv']);
  assert.ok(existsSync(there('glob/folder.csv')));
  await terminal.fails(3, /nothing matches/, ['rm', 'box:glob/*.csv']);
  await terminal.ok(['rm', '-f', 'box:glob/*.csv']);
});

test('globs copy, move, fetch and delete folders, and upload matches that the shell has left to them', async () => {
  make(there('globs'), ['a.csv', 'b.csv', 'c.txt', '2024-1/x', '2024-2/sub/y', '2025/z']);
  assert.match(await terminal.ok(['cp', 'box:globs/*.csv', 'old:/globs']), /^copy succeeded: 2 files/);
  assert.deepEqual(filesIn(join(ftp.folder, 'globs')), ['a.csv', 'b.csv']);
  await terminal.ok(['cp', '-r', 'box:globs/2024-*', 'old:/globs']);
  const years = ['2024-1/x', '2024-2/sub/y'];
  assert.deepEqual(filesIn(join(ftp.folder, 'globs')), [...years, 'a.csv', 'b.csv']);
  assert.match(await terminal.ok(['mv', '--overwrite', 'old:/globs/[ab].csv', 'box:globs/back/']), /2 files/);
  assert.deepEqual(filesIn(there('globs/back')), ['a.csv', 'b.csv']);
  await terminal.ok(['get', '-r', 'box:globs/2024-*', 'globs']);
  assert.deepEqual(filesIn(here('globs')), years);
  await terminal.ok(['rm', '-r', 'old:/globs/2024-*']);
  assert.deepEqual(filesIn(join(ftp.folder, 'globs')), []);
  await terminal.ok(['rm', '-rf', 'old:/globs/2024-*']);
  for (const words of [
    ['rm', '-r', 'box:globs/none*'],
    ['cp', 'box:globs/none*', 'old:/x'],
    ['cat', 'box:globs/none*'],
  ])
    await terminal.fails(3, /nothing matches box:globs\/none\*/, words);
  await terminal.fails(2, /leave -r away/, ['rm', '-r', 'box:globs/**/x']);
  await terminal.fails(2, /not with -r or a glob/, ['cp', '--template', '{name}', 'box:globs/*', 'old:/x/']);

  make(here('given'), ['a.log', 'b.log', '.hidden.log', 'sub/c.log', 'star*.txt', 'other/a.log']);
  await terminal.ok(['put', 'given/*.log', 'box:given/']);
  assert.deepEqual(filesIn(there('given')), ['a.log', 'b.log']);
  await terminal.ok(['put', 'given/sub/**/*.log', 'given/star*.txt', 'box:given/']);
  assert.deepEqual(filesIn(there('given')), ['a.log', 'b.log', 'c.log', 'star*.txt']);
  await terminal.fails(2, /two of them are called a\.log/, ['put', 'given/**/a.log', 'box:given/']);
  await terminal.fails(3, /nothing here matches/, ['put', 'given/*.none', 'box:given/']);
});

test('an interrupted folder continues with files that are missing or incomplete', async () => {
  make(here('again'), ['a', 'b', 'sub/c']);
  await terminal.ok(['put', '-r', 'again', 'box:again']);
  writeFileSync(there('again/b'), '');
  writeFileSync(here('again/a'), 'A');
  const later = new Date(WRITTEN.getTime() + 60_000);
  utimesSync(here('again/a'), later, later);
  const run = async (...words: string[]): Promise<object> =>
    JSON.parse(
      (await terminal.ok(['--json', ...words, '--on-conflict', 'changed'])).trim().split('\n').at(-1) ?? '',
    ) as object;
  const counts = async (...words: string[]): Promise<unknown[]> => {
    const { files, skipped } = (await run(...words)) as Record<string, number>;
    return [files, skipped];
  };
  assert.deepEqual(await counts('put', '-r', 'again', 'box:again'), [2, 1]);
  assert.equal(readFileSync(there('again/a'), 'utf8'), 'A');
  assert.deepEqual(await counts('put', '-r', 'again', 'box:again'), [0, 3]);
  await terminal.ok(['get', '-r', 'box:again', 'fetched']);
  writeFileSync(here('fetched/b'), '');
  assert.deepEqual(await counts('get', '-r', 'box:again', 'fetched'), [1, 2]);
  assert.equal(readFileSync(here('fetched/b'), 'utf8'), 'b');
});

test('Ctrl-C ends get -r with 130, and leaves no partial file', async () => {
  mkdirSync(there('huge'));
  for (const name of ['a', 'b', 'c']) {
    execFileSync('truncate', ['-s', '20G', there(`huge/${name}`)]);
    stillChanging(there(`huge/${name}`));
  }
  const getter = terminal.start(['get', '-r', 'box:huge', 'huge']);
  const gone = ended(getter);
  await eventually(() => existsSync(here('huge')) && readdirSync(here('huge')).length > 0, 'files are under way');
  getter.kill('SIGINT');
  const { code, stderr } = await gone;
  assert.deepEqual([code, /--on-conflict changed does the rest/.test(stderr)], [130, true]);
  assert.deepEqual(readdirSync(here('huge')), []);
});

test('on a terminal the progress of many files is a block; elsewhere a short run shows none', async () => {
  mkdirSync(there('shown'));
  for (let at = 0; at < 6; at++) writeFileSync(there(`shown/${at}\u202e`), 'x'.repeat(30_000));
  const env = { ...process.env, FTG_URL: gateway.url, FTG_KEY: gateway.keyOf(KEY), TERM: 'xterm' };
  const command = `stty cols 120; "${process.execPath}" "${FTG}" cp -r --bwlimit 60K box:shown old:/shown`;
  const { stdout: drawn } = await run('script', ['-qec', command, '/dev/null'], { cwd: terminal.home, env });
  assert.match(drawn, /copy succeeded: 6 files/);
  assert.match(drawn, /Transferred: {2}\d.* \/ .*, ETA /);
  assert.match(drawn, /Files: {8}\d+ \/ \d+/);
  // eslint-disable-next-line no-control-regex
  assert.match(drawn, /\u001b\[\d+A\r\u001b\[J/);
  assert.ok(!drawn.includes('\u202e'));
  assert.equal((await terminal.run(['cp', '-r', 'box:shown', 'old:/shown'])).stderr, '');
});

test('messages about many files, and targets of folders', () => {
  const totals = { bytes: 512 * 1024, bytesTotal: 2 * 1024 ** 2, files: 3, filesTotal: 9, skipped: 1, failed: 0 };
  assert.deepEqual(totalsText({ ...totals, running: ['a\u001b[2J'] }, 2_000), [
    'Transferred:  512 KiB / 2 MiB, 25 %, 256 KiB/s, ETA 0:06',
    'Files:        3 / 9, 1 skipped',
    'Elapsed:      0:02',
    ' * a\\u001b[2J',
  ]);
  assert.equal(targetFolder('/a/reports/', 'in/'), 'in/reports');
  assert.equal(targetFolder('/a/reports', 'in'), 'in');
  assert.equal(targetFolder('', 'in/'), 'in/');
  assert.equal(targetFolder('..', './'), './');
  assert.deepEqual(globOf('/in/*/x.csv'), { folder: '/in', pattern: '*/x.csv' });
  assert.deepEqual(globOf('/*.csv'), { folder: '/', pattern: '*.csv' });
  assert.deepEqual(globOf('*.csv'), { folder: '', pattern: '*.csv' });
  assert.equal(globOf('in/x!.csv'), undefined);
});
