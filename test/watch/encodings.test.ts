/** A watched folder on a connection with an encoding. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { startVsftpd, type FtpServer } from '../servers/ftp.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { startTogether } from '../support/together.js';
import { Bench } from './support/bench.js';
import { startReceiver, type Receiver } from './support/receiver.js';

suite('watched folders of a connection with an encoding', () => {
  let postgres: PostgresServer;
  let ftp: FtpServer;
  let receiver: Receiver;
  let bench: Bench;

  before(async () => {
    [postgres, ftp, receiver] = await startTogether([startPostgres(), startVsftpd(), startReceiver()]);
    const { port, username, password } = ftp;
    const login = { host: '127.0.0.1', port, username, password, tls: 'none', defaultPath: '/' } as const;
    bench = await Bench.open({
      databaseUrl: postgres.url,
      connections: [{ ...login, id: 'ftp', name: 'FTP', type: 'ftp', encoding: 'shift_jis' }],
    });
  });
  after(async () => {
    await bench.close();
    await Promise.all([receiver.close(), ftp.stop()]);
    await postgres.stop();
  });

  test('events have names as text, and the bytes of those that are no text', async () => {
    const folder = await bench.watch('ftp', '/', { webhookUrl: receiver.url });
    // The same text in Shift_JIS, and in UTF-8, which is none there.
    const raw = Buffer.from('あ.txt');
    for (const name of [Buffer.from('82a02e747874', 'hex'), raw]) {
      writeFileSync(Buffer.concat([Buffer.from(`${ftp.folder}/`), name]), 'x');
    }
    await bench.settle(folder);
    await bench.until(() => receiver.received.length > 0, 'the event');
    const files = receiver.received.flatMap(({ body }) => body.data.files);
    assert.deepEqual(
      files.map(({ path, rawName }) => [path, rawName]).sort(),
      [
        ['/あ.txt', undefined],
        ['/\ufffd\ufffd\ufffd.txt', raw.toString('base64')],
      ].sort(),
    );
    const quiet = await bench.settle(folder);
    assert.equal(quiet.counts['unchanged'], 2);
  });
});
