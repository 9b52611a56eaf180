/** Watched folders over real servers: each new file is reported once and complete, with any times in the listing. */
import assert from 'node:assert/strict';
import { appendFileSync, chmodSync, existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { FTP_SERVERS, S3_SERVERS, SFTP_SERVERS, type ServerEntry, type TestServer } from '../servers/catalogue.js';
import { startProftpd, startVsftpd, type FtpServer } from '../servers/ftp.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { Bench } from './support/bench.js';
import { startReceiver, type Receiver } from './support/receiver.js';
import { startTogether } from '../support/together.js';
import type { WatchedFolder } from '../../src/contract/watched-folder.js';

const named = (entries: readonly ServerEntry[], name: string): ServerEntry => {
  const found = entries.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no server ${name}`);
  return found;
};

const SERVERS: readonly ServerEntry[] = [
  named(SFTP_SERVERS, 'OpenSSH, key'),
  named(FTP_SERVERS, 'vsftpd'),
  named(FTP_SERVERS, 'proftpd'),
  named(FTP_SERVERS, 'pure-ftpd'),
  named(S3_SERVERS, 'Swift'),
];

for (const entry of SERVERS) {
  suite(`watched folders over ${entry.name}`, () => {
    let postgres: PostgresServer;
    let server: TestServer;
    let receiver: Receiver;
    let bench: Bench;

    before(async () => {
      [postgres, server, receiver] = await startTogether([startPostgres(), entry.start(), startReceiver()]);
      bench = await Bench.open({
        databaseUrl: postgres.url,
        connections: [{ id: 'server', name: 'Server', ...server.connection }],
      });
    });
    after(async () => {
      await bench.close();
      await Promise.all([receiver.close(), server.stop()]);
      await postgres.stop();
    });

    test('the baseline is not reported, later files are, once; a file that is gone and comes back is new', async () => {
      const { disk } = server;
      await disk.write('/in/old.txt', 'before');
      const folder = await bench.watch('server', '/in', { webhookUrl: receiver.url, detectModified: true });
      await disk.write('/in/new ü.txt', 'after');
      await disk.write('/in/half.txt.part', 'half');
      await disk.write('/in/.ftg-0123abcd-00ff00ff.x', 'ours');
      const check = await bench.settle(folder);
      assert.deepEqual(await bench.reasonsOf(folder, check), {
        'old.txt': 'unchanged',
        'new ü.txt': 'new',
        'half.txt.part': 'temporary_name',
        ...(check.counts['temporary_name'] === 2 ? { '.ftg-0123abcd-00ff00ff.x': 'temporary_name' } : {}),
      });
      await bench.until(() => receiver.received.length === 1, 'the event');
      const [file] = receiver.received[0]?.body.data.files ?? [];
      assert.equal(file?.path, '/in/new ü.txt');
      assert.equal(file?.size, 5);
      assert.equal(file?.event, 'new');
      const quiet = await bench.settle(folder);
      assert.equal(quiet.counts['unchanged'], 2);

      await disk.write('/in/old.txt', 'before and after');
      await bench.settle(folder);
      await bench.until(() => receiver.received.length === 2, 'the event of the modified file');
      assert.deepEqual(
        receiver.received[1]?.body.data.files.map(({ name, event }) => [name, event]),
        [['old.txt', 'modified']],
      );

      await bench.remove('server', '/in/old.txt');
      assert.equal((await bench.check(folder)).counts['gone'], 1);
      await disk.write('/in/old.txt', 'before and after');
      await bench.settle(folder);
      await bench.until(() => receiver.received.length === 3, 'the event of the file that came back');
      assert.deepEqual(
        receiver.received[2]?.body.data.files.map(({ name, event }) => [name, event]),
        [['old.txt', 'new']],
      );
    });

    test('a pattern with ** includes sub-folders', async () => {
      const { disk } = server;
      await disk.write('/deep/a/b/old.csv', '1');
      const folder = await bench.watch('server', '/deep', { filePattern: '**/*.csv' });
      await disk.write('/deep/a/new.csv', '22');
      await disk.write('/deep/a/b/c/new.csv', '333');
      await disk.write('/deep/a/new.txt', '4');
      const check = await bench.settle(folder);
      assert.deepEqual(await bench.reasonsOf(folder, check), {
        'a/b/old.csv': 'unchanged',
        'a/new.csv': 'new',
        'a/b/c/new.csv': 'new',
        'a/new.txt': 'pattern',
      });
    });
  });
}

suite('watched folders and time', () => {
  let postgres: PostgresServer;
  let ssh: TestSshd;
  let minutes: FtpServer;
  let seconds: FtpServer;
  let untimed: FtpServer;
  let receiver: Receiver;
  let bench: Bench;

  before(async () => {
    postgres = await startPostgres();
    ssh = await startSshd();
    // A far zone whose offset has quarters of an hour; LIST shows its local times.
    const zone = { TZ: 'Asia/Kathmandu' };
    minutes = await startVsftpd({ extra: ['use_localtime=YES'], env: zone });
    seconds = await startProftpd({ extra: ['TimesGMT off'], env: zone });
    untimed = await startVsftpd({ extra: ['cmds_denied=MDTM'] });
    receiver = await startReceiver();
    const ftp = (id: string, { port, username, password }: FtpServer): object => ({
      id,
      name: id,
      type: 'ftp',
      host: '127.0.0.1',
      port,
      username,
      password,
      tls: 'none',
    });
    bench = await Bench.open({
      databaseUrl: postgres.url,
      connections: [
        {
          id: 'ssh',
          name: 'SSH',
          type: 'sftp',
          host: '127.0.0.1',
          port: ssh.port,
          username: ssh.username,
          privateKeyFile: ssh.clientKeyFile,
          rootPath: ssh.files,
        },
        ftp('minutes', minutes),
        ftp('seconds', seconds),
        ftp('untimed', untimed),
      ],
      watcher: { settleMs: 400 },
    });
  });
  after(async () => {
    await bench.close();
    await Promise.all([ssh.stop(), minutes.stop(), seconds.stop(), untimed.stop(), receiver.close()]);
    await postgres.stop();
  });

  test('a file that is written slowly is reported once it is complete, never before', async () => {
    mkdirSync(join(ssh.files, 'slow'));
    const folder = await bench.watch('ssh', '/slow', { minAgeSeconds: 6 });
    const file = join(ssh.files, 'slow', 'slow.bin');
    writeFileSync(file, 'x');
    let sizes = 1;
    for (let look = 0; look < 4; look++) {
      const check = await bench.check(folder);
      assert.equal((check.counts['growing'] ?? 0) + (check.counts['settling'] ?? 0), 1, JSON.stringify(check.counts));
      // It grows before a follow-up check can find it unchanged.
      appendFileSync(file, 'more');
      sizes += 4;
    }
    const growing = await bench.check(folder);
    const [entry] = await bench.service.reasons(bench.accountId, folder.id, growing.id);
    assert.equal(entry?.reason, 'growing');
    assert.equal(entry.size, sizes);
    assert.ok((entry.sizeBefore ?? sizes) < sizes);
    await bench.until(() => bench.checksOf(folder).some(({ outcome }) => outcome.detections === 1), 'the report');
    const { transfers } = await bench.storage.history.list(bench.accountId, { type: 'poll', limit: 10, offset: 0 });
    const reported = transfers.filter(({ path }) => path === '/slow/slow.bin');
    assert.deepEqual(
      reported.map(({ fileSize, status, direction }) => [fileSize, status, direction]),
      [[sizes, 'success', 'inbound']],
    );
  });

  test('an empty file waits for the next check', async () => {
    mkdirSync(join(ssh.files, 'empty'));
    const folder = await bench.watch('ssh', '/empty');
    writeFileSync(join(ssh.files, 'empty', 'nothing'), '');
    writeFileSync(join(ssh.files, 'empty', 'something'), 'x');
    const followUp = await bench.settle(folder);
    assert.deepEqual(await bench.reasonsOf(folder, followUp), { nothing: 'empty', something: 'new' });
    const next = await bench.check(folder);
    assert.deepEqual(await bench.reasonsOf(folder, next), { nothing: 'new', something: 'unchanged' });
  });

  test('dates far in the past or in the future are ordinary dates', async () => {
    mkdirSync(join(ssh.files, 'dates'));
    const folder = await bench.watch('ssh', '/dates');
    for (const [name, time] of [
      ['past', 86_400],
      ['future', 4_000_000_000],
    ] as const) {
      const file = join(ssh.files, 'dates', name);
      writeFileSync(file, 'x');
      utimesSync(file, time, time);
    }
    const check = await bench.settle(folder);
    assert.deepEqual(await bench.reasonsOf(folder, check), { past: 'new', future: 'new' });
  });

  for (const server of ['minutes', 'seconds'] as const) {
    test(`times in another zone, with ${server}: another scan modifies nothing`, async () => {
      const ftp = server === 'minutes' ? minutes : seconds;
      mkdirSync(join(ftp.folder, 'zone'));
      const ages = { fresh: 0, 'last week': 7, 'half a year ago': 170, 'long ago': 400 };
      for (const [name, days] of Object.entries(ages)) {
        const file = join(ftp.folder, 'zone', name);
        writeFileSync(file, name);
        const time = Date.now() / 1000 - days * 86_400 - 17;
        utimesSync(file, time, time);
      }
      const folder = await bench.watch(server, '/zone', { detectModified: true });
      for (let look = 0; look < 3; look++) {
        const check = await bench.check(folder);
        assert.deepEqual(check.counts, { unchanged: 4 });
      }
      const touched = join(ftp.folder, 'zone', 'last week');
      const time = Date.now() / 1000 - 3 * 86_400;
      utimesSync(touched, time, time);
      const check = await bench.settle(folder);
      assert.equal((await bench.reasonsOf(folder, check))['last week'], 'modified');
    });
  }

  // Former defect: the tolerance for summer time applied to every file at any time.
  test('a file that is rewritten exactly an hour later, with its old size, is modified', async () => {
    const place = join(minutes.folder, 'hourly');
    mkdirSync(place);
    const time = Math.floor(Date.now() / 1000) - 3 * 86_400;
    for (const name of ['hourly.csv', 'other.csv']) {
      writeFileSync(join(place, name), 'same size');
      utimesSync(join(place, name), time, time);
    }
    const folder = await bench.watch('minutes', '/hourly', { detectModified: true });
    utimesSync(join(place, 'hourly.csv'), time + 3600, time + 3600);
    const check = await bench.settle(folder);
    assert.deepEqual(await bench.reasonsOf(folder, check), { 'hourly.csv': 'modified', 'other.csv': 'unchanged' });
  });

  // The listing shows minutes, so both files looked the same; the unreported one was deleted.
  for (const afterDelivery of ['delete', 'move'] as const) {
    test(`a file that was replaced within the minute is not ${afterDelivery}d after the delivery`, async () => {
      const place = join(minutes.folder, afterDelivery);
      mkdirSync(place);
      chmodSync(place, 0o777);
      const folder = await bench.watch('minutes', `/${afterDelivery}`, { webhookUrl: receiver.url, afterDelivery });
      const minute = Math.floor(Date.now() / 60_000) * 60 - 3600;
      const put = (name: string, second: number): void => {
        writeFileSync(join(place, name), 'same size');
        utimesSync(join(place, name), minute + second, minute + second);
      };
      receiver.respond = (_, response) => {
        put('replaced.csv', 50);
        response.writeHead(200).end();
      };
      put('replaced.csv', 10);
      put('kept.csv', 10);
      await bench.settle(folder);
      await bench.until(() => !existsSync(join(place, 'kept.csv')), 'what follows the delivery');
      await afterActionOf(folder);
      assert.ok(existsSync(join(place, 'replaced.csv')));
    });
  }

  test('without exact times of the server nothing is deleted, and the history says why', async () => {
    const place = join(untimed.folder, 'untimed');
    mkdirSync(place);
    receiver.respond = (_, response) => response.writeHead(200).end();
    const watch = { webhookUrl: receiver.url, afterDelivery: 'delete' } as const;
    const folder = await bench.watch('untimed', '/untimed', watch);
    writeFileSync(join(place, 'a.csv'), 'a');
    await bench.settle(folder);
    await afterActionOf(folder);
    assert.ok(existsSync(join(place, 'a.csv')));
    const { transfers } = await bench.storage.history.list(bench.accountId, { type: 'delete', limit: 1, offset: 0 });
    assert.deepEqual([transfers[0]?.path, transfers[0]?.status], ['/untimed/a.csv', 'failed']);
    assert.match(transfers[0]?.errorMessage ?? '', /no exact time/);
  });

  const afterActionOf = (folder: WatchedFolder): Promise<void> =>
    bench.until(async () => {
      const [latest] = await bench.events.deliveries.list(
        bench.accountId,
        { watchedFolderId: folder.id },
        { limit: 1, offset: 0 },
      );
      return latest?.afterAction === 'done';
    }, 'the end of what follows the delivery');

  test('a name that is not UTF-8 is reported with its bytes', async () => {
    mkdirSync(join(ssh.files, 'raw'));
    const folder = await bench.watch('ssh', '/raw');
    const name = Buffer.from([0x61, 0xff, 0x62]);
    writeFileSync(Buffer.concat([Buffer.from(join(ssh.files, 'raw') + '/'), name]), 'x');
    const check = await bench.settle(folder);
    assert.equal(check.counts['new'], 1);
    const { files } = await bench.service.knownFiles(bench.accountId, folder.id, { limit: 10 });
    assert.deepEqual(
      files.map(({ rawName, state }) => [rawName, state]),
      [[name.toString('base64'), 'known']],
    );
  });
});
