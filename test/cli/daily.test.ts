/** Daily commands: read, edit, follow, and mistypes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { inFlags } from '../../src/cli/flag-words.js';
import { isPlace } from '../../src/cli/location.js';
import { cp } from '../../src/cli/commands/files.js';
import type { Session } from '../../src/cli/command.js';
import { type FeedEvent, FtgError, type TransferItem } from '../../src/client/index.js';
import { error, ok, startFaultServer } from '../client/fault-server.js';
import { Option } from 'commander';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { eventually } from '../support/eventually.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { KEY } from '../support/gateway.js';
import { ended, Terminal } from './support.js';

const READER = `${KEY}-reader`;

let gateway: TestAccount;
let shell: TestSshd;
let terminal: Terminal;

before(async () => {
  shell = await startSshd();
  const { username, port, files } = shell;
  const privateKey = readFileSync(shell.clientKeyFile, 'utf8');
  const box = { type: 'sftp', host: '127.0.0.1', port, username, privateKey, defaultPath: files };
  gateway = await openAccount({
    connections: [
      { id: 'box', name: 'Box', ...box },
      { id: 'warehouse', name: 'Warehouse', ...box },
    ],
    apiKeys: [
      { name: 'all', key: KEY },
      { name: 'reader', key: READER, scopes: ['read'] },
    ],
  });
  terminal = new Terminal({ FTG_URL: gateway.url, FTG_KEY: gateway.keyOf(KEY) });
  writeFileSync(here('report.csv'), 'one\n');
  mkdirSync(there('reports'));
});

after(async () => {
  terminal.close();
  await gateway.stop();
  await shell.stop();
});

const here = (name: string): string => join(terminal.home, name);
const there = (name: string): string => join(shell.files, name);

/** A program that gets the file to edit. */
function editor(name: string, script: string): string {
  writeFileSync(here(name), `#!/bin/sh\n${script}\n`);
  chmodSync(here(name), 0o755);
  return here(name);
}

test('cat prints files one after another, including those that globs match', async () => {
  mkdirSync(there('cat'));
  for (const name of ['a.txt', 'b.txt', 'c.csv']) writeFileSync(there(`cat/${name}`), `${name}\n`);
  assert.equal(await terminal.ok(['cat', 'box:cat/c.csv', 'box:cat/*.txt']), 'c.csv\na.txt\nb.txt\n');
  await terminal.fails(3, /does not exist/, ['cat', 'box:cat/none']);
  await terminal.fails(2, /names a folder/, ['cat', 'box:cat/']);
});

test('edit stores changes, and nothing else', async () => {
  writeFileSync(there('note.txt'), 'one\n');
  const edit = (name: string, script: string): string[] => [
    'edit',
    '--editor',
    `env ${editor(name, script)}`,
    'box:note.txt',
  ];
  assert.match(
    await terminal.ok(edit('add', 'case "$1" in */note.txt) echo two >> "$1";; esac')),
    /note\.txt {2}8 B stored/,
  );
  assert.equal(readFileSync(there('note.txt'), 'utf8'), 'one\ntwo\n');
  assert.match(await terminal.ok(edit('look', 'cat "$1" > seen; touch "$1"')), /is not changed/);
  assert.equal(readFileSync(here('seen'), 'utf8'), 'one\ntwo\n');
  await terminal.fails(1, /ended with 3: nothing is stored/, edit('leave', 'exit 3'));
  const env = { EDITOR: editor('new', 'echo new > "$1"'), VISUAL: '' };
  const made = await terminal.run(['--json', 'edit', 'box:new/file.txt'], { env });
  assert.deepEqual(JSON.parse(made.stdout), { connectionId: 'box', path: 'new/file.txt', isChanged: true, size: 4 });
  assert.equal(readFileSync(there('new/file.txt'), 'utf8'), 'new\n');
  assert.deepEqual(leftovers(), []);
});

test('edit keeps the typed text if the editor fails, or is ended with it', async () => {
  writeFileSync(there('kept.txt'), 'one\n');
  const words = (script: string): string[] => ['edit', '--editor', editor('ends', script), 'box:kept.txt'];
  const keptIn = (stderr: string): string => readFileSync(/is kept in (\S+)/.exec(stderr)?.[1] ?? stderr, 'utf8');
  const failed = await terminal.fails(1, /ended with 3: nothing is stored/, words('echo two >> "$1"; exit 3'));
  assert.equal(keptIn(failed.stderr), 'one\ntwo\n');
  const child = terminal.start(words('echo two >> "$1"; echo begun; read line'));
  const gone = ended(child);
  await once(child.stdout!, 'data');
  child.kill('SIGTERM');
  // The editor is a child of the shell that started it, and continues to read.
  await once(child, 'exit');
  child.stdin?.end();
  const { code, stderr } = await gone;
  assert.equal(code, 143);
  assert.equal(keptIn(stderr), 'one\ntwo\n');
  assert.equal(readFileSync(there('kept.txt'), 'utf8'), 'one\n');
});

test('Ctrl-C is a key of the editor: edit continues', async () => {
  writeFileSync(there('keys.txt'), 'one\n');
  // A terminal sends it to both; an editor such as vi treats it as a key.
  const script = `trap '' INT; echo two >> "$1"; echo begun; read line; echo "$line" >> "$1"`;
  const child = terminal.start(['edit', '--editor', editor('keys', script), 'box:keys.txt']);
  const gone = ended(child);
  await once(child.stdout!, 'data');
  child.kill('SIGINT');
  child.kill('SIGINT');
  child.stdin?.end('three\n');
  const { code, stderr } = await gone;
  assert.equal(code, 0, stderr);
  assert.equal(readFileSync(there('keys.txt'), 'utf8'), 'one\ntwo\nthree\n');
});

test('edit does not overwrite a concurrent change, and keeps the typed text', async () => {
  for (const [name, others] of [
    ['raced.txt', 'echo theirs >'],
    // With the same size, and within the same second.
    ['same-size.txt', 'printf "ten\\n" >'],
    ['gone.txt', 'rm'],
  ] as const) {
    writeFileSync(there(name), 'one\n');
    const script = `echo mine >> "$1"; ${others} "${there(name)}"`;
    const { stderr } = await terminal.fails(5, /has changed on the server/, [
      ...['edit', '--editor', editor('race', script), `box:${name}`],
    ]);
    const [, kept = ''] = /is kept in (\S+)/.exec(stderr) ?? [];
    assert.equal(readFileSync(kept, 'utf8'), 'one\nmine\n');
    const now = existsSync(there(name)) ? readFileSync(there(name), 'utf8') : undefined;
    assert.equal(now, { 'raced.txt': 'theirs\n', 'same-size.txt': 'ten\n', 'gone.txt': undefined }[name]);
  }
  const script = `echo mine > "$1"; echo theirs > "${there('came.txt')}"`;
  await terminal.fails(5, /exists/, ['edit', '--editor', editor('race', script), 'box:came.txt']);
  assert.equal(readFileSync(there('came.txt'), 'utf8'), 'theirs\n');
  const { stderr } = await terminal.fails(
    4,
    /scope "write"[^]*/,
    ['edit', '--editor', editor('add', 'echo x >> "$1"'), 'box:note.txt'],
    {
      FTG_KEY: gateway.keyOf(READER),
    },
  );
  assert.match(stderr, /is kept in/);
});

const leftovers = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('ftg-edit-'));

test('tail shows the last transfers by filters, and each further one when it has ended', async () => {
  await terminal.ok(['put', 'report.csv', 'box:tail/']);
  await terminal.ok(['put', 'report.csv', 'warehouse:tail/']);
  await terminal.run(['get', 'box:tail/none']);
  const last = async (...words: string[]): Promise<TransferItem[]> =>
    lines<TransferItem>(await terminal.ok(['--json', 'tail', 'transfers', ...words]));
  const [one, two] = await last('-n', '2', '--type', 'upload');
  assert.deepEqual([one?.connectionId, two?.connectionId], ['box', 'warehouse']);
  const [failed] = await last('-n', '1', '--status', 'failed', '--connection', 'box');
  assert.deepEqual([failed?.type, failed?.filename], ['download', 'none']);
  assert.deepEqual(await last('-n', '0'), []);
  assert.match(
    await terminal.ok(['tail', 'transfers', '-n', '1', '--type', 'upload']),
    /success +upload +warehouse:.*4 B in/,
  );

  const words = ['--json', 'tail', 'transfers', '-n', '1', '--follow', '--type', 'upload', '--connection', 'box'];
  const tail = terminal.start(words);
  const gone = ended(tail);
  const shown = new Lines(tail);
  assert.equal(((await shown.next()) as TransferItem).id, one?.id);
  // This transfer has begun before the others, and ends after them.
  const slow = terminal.start(['put', '-', 'box:tail/slow.txt']);
  const slowEnded = ended(slow);
  slow.stdin?.write('a');
  const { id } = await terminal.json<{ id: string }>('put', 'report.csv', 'box:tail/quick.csv');
  assert.equal(((await shown.next()) as TransferItem).id, id);
  await terminal.ok(['put', 'report.csv', 'warehouse:tail/']);
  slow.stdin?.end();
  await slowEnded;
  const { filename, status } = (await shown.next()) as TransferItem;
  assert.deepEqual([filename, status], ['slow.txt', 'success']);
  tail.kill('SIGINT');
  assert.equal((await gone).code, 130);
});

test('tail loses nothing when the gateway fails meanwhile, and repeats nothing', { timeout: 900_000 }, async (t) => {
  const createdAt = new Date().toISOString();
  const item = (id: string, status: string): object => ({
    id,
    status,
    createdAt,
    type: 'upload',
    connectionId: 'c',
    path: `/${id}`,
    fileSize: 1,
    durationMs: 1,
    errorMessage: null,
  });
  let latest = 0;
  const gone = error(500, 'internal_error');
  const { url } = await startFaultServer(t, [
    (response, request) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://gateway');
      // The slow one cannot be inspected.
      if (pathname !== '/api/transfers') return gone(response, request);
      const isFirst = searchParams.has('since') && ++latest === 1;
      const isEarly = latest < 1 || isFirst;
      const old = item('old', isEarly ? 'pending' : 'success');
      // It ends after the feed was opened, and before the last ones were listed.
      const all = latest > 1 ? [item('new', 'success'), item('slow', 'pending'), old] : [item('slow', 'pending'), old];
      const transfers = searchParams.has('limit', '1') ? all.slice(0, 1) : all;
      ok({ transfers, total: transfers.length, limit: 100, offset: 0 })(response, request);
    },
  ]);
  const env = { FTG_URL: url };
  const tail = terminal.start(['--json', 'tail', 'transfers', '-n', '1', '--follow'], env);
  const ending = ended(tail);
  const shown = new Lines(tail);
  const ids = [await shown.next(), await shown.next()].map((one) => (one as TransferItem).id);
  tail.kill('SIGTERM');
  await ending;
  assert.deepEqual(ids, ['old', 'new']);
});

test('a copy that takes longer than the client waits is requested again', async (t) => {
  const over = new AbortController();
  let at = 0;
  t.mock.method(performance, 'now', () => at);
  const copy = async (): Promise<never> => {
    at += 300_000;
    // A retry that is being waited for ends with the signal.
    over.abort();
    throw new FtgError('it runs', { status: 409, code: 'idempotency_in_progress' });
  };
  const session = { gateway: { files: { copy } }, signal: over.signal } as unknown as Session;
  await assert.rejects(cp(session, ['box:a', 'box:b'], { overwrite: true }), { name: 'AbortError' });
});

test('a link is made, shown and revoked, and the history has its transfers', async () => {
  await terminal.ok(['put', 'report.csv', 'box:by-link/']);
  const place = ['link', 'create', 'upload', 'box:by-link'];
  const { link } = await terminal.json<{ link: { id: string; url: string } }>(...place);
  assert.equal((await fetch(`${link.url}?filename=a.txt`, { method: 'PUT', body: 'one' })).status, 201);
  const { transfers } = await terminal.json<{ transfers: TransferItem[] }>('transfers', '--link', link.id);
  assert.deepEqual(
    transfers.map(({ filename }) => filename),
    ['a.txt'],
  );
  await terminal.fails(2, /--link must be the id of a link/, ['transfers', '--link', 'odd']);
  assert.match(await terminal.ok(['link', 'revoke', link.id]), /is revoked/);
});

test('tail shows the last events by filters, and the next ones', async () => {
  const fail = (connection: string): Promise<unknown> =>
    terminal.fails(255, /./, ['exec', '--timeout', '0.01', connection, 'sleep 60']);
  await fail('box');
  await fail('warehouse');
  await terminal.ok(['cp', '-r', 'box:reports', 'warehouse:events/copy']);
  const last = async (...words: string[]): Promise<FeedEvent[]> =>
    lines<FeedEvent>(await terminal.ok(['--json', 'tail', 'events', ...words]));
  const types = (events: readonly FeedEvent[]): string[] => events.map(({ type }) => type);
  let newest: readonly string[] = [];
  await eventually(
    async () => (newest = types(await last('-n', '3'))).at(-1) === 'job.finished',
    'the event of the job',
  );
  assert.deepEqual(newest, ['transfer.failed', 'transfer.failed', 'job.finished']);
  // Older than this number of lines.
  const [event] = await last('-n', '1', '--type', 'transfer.failed', '--connection', 'box');
  assert.equal(connectionOf(event), 'box');
  assert.deepEqual(types(await last('-n', '1', '--connection', 'warehouse')), ['job.finished']);
  await terminal.fails(2, /Allowed choices are watched_folder/, ['tail', 'events', '--type', 'odd']);
  const tail = terminal.start(['--json', 'tail', 'events', '-n', '1', '--follow', '--type', 'transfer.failed']);
  const gone = ended(tail);
  const shown = new Lines(tail);
  assert.equal(connectionOf(await shown.next()), 'warehouse');
  await terminal.ok(['cp', '-r', 'box:reports', 'warehouse:events/copy']);
  await fail('box');
  assert.equal(connectionOf(await shown.next()), 'box');
  tail.kill('SIGTERM');
  assert.equal((await gone).code, 143);
});

function connectionOf(event: object | undefined): string | undefined {
  return (event as { readonly data?: { readonly transfer?: TransferItem } }).data?.transfer?.connectionId;
}

function lines<T>(text: string): T[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** The printed objects, one by one. */
class Lines {
  readonly #lines: AsyncIterator<string>;

  constructor({ stdout }: ReturnType<Terminal['start']>) {
    assert.ok(stdout !== null);
    this.#lines = createInterface(stdout)[Symbol.asyncIterator]();
  }

  async next(): Promise<object> {
    const { value } = (await this.#lines.next()) as { readonly value: string };
    return JSON.parse(value) as object;
  }
}

test('the commonest mistakes get a suggestion', async () => {
  const slips: readonly (readonly [code: number, hint: string, words: readonly string[]])[] = [
    [5, 'did you mean box:reports/ ?', ['put', 'report.csv', 'box:reports']],
    [5, 'did you mean warehouse:reports/ ?', ['cp', 'box:note.txt', 'warehouse:reports']],
    [5, 'box:reports is a folder: use -r', ['cp', 'box:reports', 'warehouse:x']],
    [2, 'did you mean box: ?', ['put', 'report.csv', 'box']],
    [2, 'did you mean warehouse: ?', ['put', 'report.csv', 'warehose']],
    [3, 'did you mean warehouse ?', ['put', 'report.csv', 'warehose:']],
    [3, 'did you mean warehouse ?', ['ls', 'ware-house']],
    [3, 'there are: box, warehouse', ['ls', 'nobody:']],
    [2, 'put uploads; to download: ftg get box:note.txt .', ['put', 'box:note.txt', '.']],
    [2, 'get downloads; to upload: ftg put report.csv box:x', ['get', 'report.csv', 'box:x']],
    [2, "to upload: ftg put 'my report.csv' box:x", ['cp', 'my report.csv', 'box:x']],
    [2, 'to download: ftg get box:note.txt ./x', ['mv', 'box:note.txt', './x']],
    [2, 'it is a file of this machine', ['rm', 'report.csv']],
    [2, 'ftg exec box -- ls -la', ['exec', 'box', 'ls', '-la']],
    [2, 'did you mean -r ?', ['put', '-R', 'report.csv', 'box:']],
    [2, '(Did you mean ls?)', ['lst']],
    [2, 'ftg watch add --help shows the options', ['watch', 'add']],
    [5, '--overwrite replaces it', ['mv', 'box:cat/a.txt', 'box:cat/b.txt']],
    [2, '--webhook must be an http', ['watch', 'add', 'box:reports', '--webhook', 'nowhere']],
    [2, '--since must be', ['transfers', '--since', 'yesterday']],
    [2, '--cron must be', ['schedules', 'add', 'copy', 'box:a', 'box:b', '--cron', 'x']],
    [255, 'did you mean box ?', ['exec', 'boxx', 'true']],
  ];
  for (const [code, hint, words] of slips) {
    const { stderr } = await terminal.fails(code, /^ftg: /, words);
    assert.ok(stderr.includes(hint), `ftg ${words.join(' ')}: ${stderr}`);
  }
  const { stderr } = await terminal.fails(3, /./, ['--json', 'ls', 'warehose:']);
  const { error, code, hint } = JSON.parse(stderr) as Record<string, string>;
  assert.deepEqual(
    [error, code, hint],
    ['there is no connection warehose', 'unknown_connection', 'did you mean warehouse ?'],
  );
  const usage = await terminal.fails(2, /./, ['--json', 'ls', '--odd', 'box:']);
  assert.deepEqual(JSON.parse(usage.stderr), {
    error: "unknown option '--odd'",
    hint: 'ftg ls --help shows the options',
  });
});

test('fields become the options that they were typed as, and nothing else does', () => {
  const options = ['--ip <a>', '--host <host>', '--pool-max-sessions <n>', '--password-file <f>'].map(
    (one) => new Option(one),
  );
  const said = (text: string): string => inFlags(text, options);
  assert.equal(said('allowedIps.0 must be an address'), '--ip must be an address');
  assert.equal(said('pool.maxSessions must be >= 1'), '--pool-max-sessions must be >= 1');
  assert.equal(said('password is missing'), '--password-file is missing');
  for (const text of ['the host is away', 'hostKeys is odd', 'host', '/host is a folder'])
    assert.equal(said(text), text);
});

test('a place is distinguished from a local path, even on Windows', () => {
  for (const text of ['box:', 'box:a', 'c:/x', 'box:a:b']) assert.ok(isPlace(text, 'linux'), text);
  for (const text of ['box', './a:b', '/a:b', ':a', '']) assert.ok(!isPlace(text, 'linux'), text);
  for (const text of [String.raw`C:\x`, 'c:/x', String.raw`.\a:b`]) assert.ok(!isPlace(text, 'win32'), text);
  assert.ok(isPlace('box:/x', 'win32'));
});

test('without a terminal there is only text, and no colours anywhere', async () => {
  mkdirSync(here('quiet'));
  for (const name of ['a', 'b']) writeFileSync(here(`quiet/${name}`), name);
  for (const words of [
    ['put', '-r', 'quiet', 'box:'],
    ['get', '-r', 'box:quiet', 'back'],
    ['cp', '-r', 'box:quiet', 'box:q2'],
  ]) {
    const { code, stdout, stderr } = await terminal.run(words, { env: { FORCE_COLOR: '1' } });
    assert.deepEqual([code, stderr], [0, '']);
    assert.ok(!stdout.includes('\u001b'));
  }
  await terminal.ok(['get', 'box:quiet/a', 'made/by-slash/']);
  assert.equal(readFileSync(here('made/by-slash/a'), 'utf8'), 'a');
});
