/** Watched folders whose listings end early, at the end of a line, while the server says that they are whole. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { behindProxy, type Remote } from '../faults/rig.js';
import { FTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { Bench } from './support/bench.js';
import { startReceiver, type Receiver } from './support/receiver.js';
import { startTogether } from '../support/together.js';

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
  for (const lines of [0, 7]) {
    test(`one listing that ends cleanly after ${lines} lines: nothing is gone, and nothing new again`, async () => {
      const { proxy, server } = remote;
      const root = `${server.base ?? ''}/early-${lines}`;
      const folders = ['', 'below/', 'below/deeper/', 'other/'];
      for (let number = 0; number < FILES; number++) {
        for (const folder of folders) await server.disk.write(`${root}/${folder}${number}.txt`, `${number}`);
      }
      const folder = await bench.watch('server', root, { recursive: true, webhookUrl: receiver.url });
      const all = FILES * folders.length;
      const before = receiver.received.length;
      // Each folder's listing in turn is the one that is cut.
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
