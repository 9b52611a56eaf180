/** Watched folders with incomplete listings: some lines cannot be read, or a listing ends early and seems complete. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, before, suite, test } from 'node:test';
import { behindProxy, type Remote } from '../faults/rig.js';
import { FTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startScripted, type ScriptedFtp } from '../servers/scripted-ftp.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { Bench } from './support/bench.js';
import { startReceiver, type Receiver } from './support/receiver.js';
import { startTogether } from '../support/together.js';
import type { WatchedFolder } from '../../src/contract/watched-folder.js';

const MOST_FILES = 30;

suite('watched folders over a server with unreadable lines in its listings', () => {
  let postgres: PostgresServer;
  let scripted: ScriptedFtp;
  let bench: Bench;
  let lines: readonly string[] = [];
  let beforeList = async (): Promise<void> => undefined;
  const file = (name: string): string => `-rw-r--r-- 1 a a 4 Feb 03 2026 ${name}`;

  before(async () => {
    [postgres, scripted] = await startTogether([
      startPostgres(),
      startScripted({
        LIST: async (_options, { say, data }) => {
          await beforeList();
          say('150 go');
          (await data()).end(lines.map((line) => `${line}\r\n`).join(''));
          say('226 done');
        },
      }),
    ]);
    scripted.folders.add('/in');
    const { port, username, password } = scripted;
    const login = { host: '127.0.0.1', port, username, password, tls: 'none', defaultPath: '/' };
    bench = await Bench.open({
      databaseUrl: postgres.url,
      connections: [{ id: 'server', name: 'Server', type: 'ftp', ...login }],
      watcher: { filesPerAccount: MOST_FILES },
    });
  });
  after(async () => {
    await bench.close();
    await scripted.stop();
    await postgres.stop();
  });

  test('the folders of one account have a limit of files, and a check that finds more fails', async () => {
    lines = Array.from({ length: 25 }, (_, number) => file(`${number}.txt`));
    const first = await bench.watch('server', '/in');
    lines = lines.slice(0, 8);
    const second = await bench.watch('server', '/in');
    const outcomes = (of: WatchedFolder): unknown[] =>
      bench.checksOf(of).map(({ outcome: { check } }) => [check.outcome, check.errorCode]);
    assert.deepEqual(outcomes(first), [['succeeded', null]]);
    assert.deepEqual(outcomes(second), [['failed', 'too_large']]);
    assert.match(bench.checksOf(second)[0]?.outcome.check.errorMessage ?? '', /30 files \(watcher\.filesPerAccount\)/);
    assert.equal(await bench.storage.watching.files.count(second.id), 0);
    // Files that are gone make room.
    assert.deepEqual((await bench.check(first)).counts, { unchanged: 8, gone: 17 });
    assert.deepEqual((await bench.check(second)).counts, { baseline: 8 });
    await bench.service.remove(bench.accountId, first.id);
  });

  test('other names, while the task of a check runs, are checked at once', async () => {
    lines = [file('a.txt'), file('b.csv')];
    const folder = await bench.watch('server', '/in', { filePattern: '*.txt' });
    const listing = new EventEmitter();
    const [begun, released] = [once(listing, 'begun'), once(listing, 'released')];
    beforeList = async () => {
      listing.emit('begun');
      await released;
    };
    await bench.until(async () => (await bench.service.checkNow(bench.accountId, folder.id)).queued, 'a manual check');
    await begun;
    const rights = { rights: 'copy_too', signal: new AbortController().signal } as const;
    const edited = await bench.service.edit(bench.accountId, folder.id, { filePattern: '*' }, rights);
    const isClaimed = async (): Promise<boolean> => {
      const { nextCheckAt } = await bench.service.get(bench.accountId, folder.id);
      return nextCheckAt.getTime() !== edited.nextCheckAt.getTime();
    };
    await bench.until(isClaimed, 'the claim of the due folder');
    beforeList = async () => undefined;
    listing.emit('released');
    await bench.until(() => bench.checksOf(folder).length > 1, 'the check with the other names');
    const [, { kind, outcome } = assert.fail('no check')] = bench.checksOf(folder);
    assert.deepEqual(
      [kind, outcome.check.outcome, outcome.check.counts['pattern']],
      ['regular', 'succeeded', undefined],
    );
    const checks = await bench.service.checks(bench.accountId, folder.id);
    assert.ok(checks.every((check) => check.outcome !== 'skipped'));
  });

  test('a line without a readable name: nothing is gone, and nothing is new again', async () => {
    lines = [file('a.txt'), file('keep.csv')];
    const folder = await bench.watch('server', '/in');
    lines = [file('a.txt'), '#@!keep.csv'];
    const check = await bench.check(folder);
    assert.deepEqual(await bench.reasonsOf(folder, check), {
      'a.txt': 'unchanged',
      '#@!keep.csv': 'unreadable',
      'keep.csv': 'unreadable',
    });
    lines = [file('a.txt'), file('keep.csv'), file('new.txt')];
    const later = await bench.settle(folder);
    assert.deepEqual(await bench.reasonsOf(folder, later), {
      'a.txt': 'unchanged',
      'keep.csv': 'unchanged',
      'new.txt': 'new',
    });
    lines = [file('a.txt'), file('new.txt')];
    assert.equal((await bench.check(folder)).counts['gone'], 1, 'what a listing that can be read lacks is gone');
  });

  test('an unreadable file at the first check is baseline: it is not new once it is readable', async () => {
    const broken = (name: string): string => `-????????? ? ? ? ? ? ${name}`;
    lines = [file('a.txt'), broken('old.csv'), broken('other.part'), broken('gone.csv')];
    const folder = await bench.watch('server', '/in', { detectModified: true });
    const again = await bench.check(folder);
    const unreadable = { 'old.csv': 'unreadable', 'other.part': 'unreadable', 'gone.csv': 'unreadable' };
    assert.deepEqual(await bench.reasonsOf(folder, again), { 'a.txt': 'unchanged', ...unreadable });
    assert.equal(again.counts['unreadable'], 3);
    lines = [file('a.txt'), file('old.csv'), file('other.part')];
    const readable = await bench.settle(folder);
    const shown = { 'a.txt': 'unchanged', 'old.csv': 'unchanged', 'other.part': 'temporary_name', 'gone.csv': 'gone' };
    assert.deepEqual(await bench.reasonsOf(folder, readable), shown);
    // From now on it is an ordinary file.
    lines = [file('a.txt'), file('old.csv').replace(' 4 ', ' 5 ')];
    assert.equal((await bench.reasonsOf(folder, await bench.settle(folder)))['old.csv'], 'modified');
  });
});

suite('watched folders over vsftpd whose listings can end early', () => {
  let postgres: PostgresServer;
  let remote: Remote;
  let receiver: Receiver;
  let bench: Bench;

  before(async () => {
    let server: TestServer;
    [postgres, server, receiver] = await startTogether([
      startPostgres(),
      (FTP_SERVERS.find(({ name }) => name === 'vsftpd') ?? assert.fail('no vsftpd')).start(),
      startReceiver(),
    ]);
    remote = await behindProxy(server, 'server');
    bench = await Bench.open({ databaseUrl: postgres.url, connections: [remote.connection] });
  });
  after(async () => {
    await bench.close();
    await remote.proxy.stop();
    await Promise.all([receiver.close(), remote.server.stop()]);
    await postgres.stop();
  });

  const FILES = 10;

  test('a first listing that ends cleanly too early: the missing files are baseline all the same', async () => {
    const { proxy, server } = remote;
    const root = `${server.base ?? ''}/first`;
    const folders = ['', 'below/', 'below/deeper/', 'other/'];
    for (let number = 0; number < FILES; number++) {
      for (const folder of folders) await server.disk.write(`${root}/${folder}${number}.txt`, `${number}`);
    }
    const all = FILES * folders.length;
    for (const [round, lines] of [0, 7].entries()) {
      const cut = proxy.cutDataLines(lines, round);
      const folder = await bench.watch('server', root, { recursive: true, filePattern: '**/[0-8].txt' });
      assert.equal(cut(), 1, 'one listing is cut');
      const taken = all - folders.length;
      assert.deepEqual(bench.checksOf(folder)[0]?.outcome.check.counts, { baseline: taken, pattern: folders.length });
      assert.deepEqual((await bench.settle(folder)).counts, { unchanged: taken, pattern: folders.length });
      // Files that another pattern lets in are also baseline.
      const checks = bench.checksOf(folder).length;
      const cutAgain = proxy.cutDataLines(lines, round);
      const rights = { rights: 'copy_too', signal: new AbortController().signal } as const;
      await bench.service.edit(bench.accountId, folder.id, { filePattern: '**/*.txt' }, rights);
      await bench.until(() => bench.checksOf(folder).length > checks, 'the check with the other pattern');
      assert.equal(cutAgain(), 1, 'one listing is cut');
      assert.deepEqual((await bench.settle(folder)).counts, { unchanged: all });
    }
  });
  for (const lines of [0, 7]) {
    test(`one listing that ends cleanly after ${lines} lines: nothing is gone, and nothing is new again`, async () => {
      const { proxy, server } = remote;
      const root = `${server.base ?? ''}/early-${lines}`;
      const folders = ['', 'below/', 'below/deeper/', 'other/'];
      for (let number = 0; number < FILES; number++) {
        for (const folder of folders) await server.disk.write(`${root}/${folder}${number}.txt`, `${number}`);
      }
      const folder = await bench.watch('server', root, { recursive: true, webhookUrl: receiver.url });
      const all = FILES * folders.length;
      const before = receiver.received.length;
      // Each folder's listing is cut in turn.
      for (let whole = 0; whole < folders.length; whole++) {
        await server.disk.write(`${root}/new-${whole}.txt`, 'new');
        const cut = proxy.cutDataLines(lines, whole);
        const check = await bench.check(folder);
        assert.equal(cut(), 1, 'one listing is cut');
        assert.equal(check.counts['gone'], undefined, JSON.stringify(check.counts));
        const decided = Object.values(check.counts).reduce((sum, count) => sum + count, 0);
        assert.ok(decided >= all + whole, JSON.stringify(check.counts));
        const later = await bench.settle(folder);
        assert.equal(later.counts['gone'], undefined, JSON.stringify(later.counts));
      }
      await bench.settle(folder);
      const names = (): string[] =>
        receiver.received.slice(before).flatMap(({ body }) => body.data.files.map(({ name }) => name));
      await bench.until(() => names().length >= folders.length, 'the events of the new files');
      assert.deepEqual(names().toSorted(), ['new-0.txt', 'new-1.txt', 'new-2.txt', 'new-3.txt']);

      await bench.remove('server', `${root}/below/3.txt`);
      const gone = await bench.check(folder);
      assert.equal(gone.counts['gone'], 1, JSON.stringify(gone.counts));
      assert.equal((await bench.reasonsOf(folder, gone))['below/3.txt'], 'gone');
    });
  }
});
