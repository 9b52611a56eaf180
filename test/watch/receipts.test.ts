/** With digests on, the copies of a watched folder, and its moves and deletes after a delivery, have receipts. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { keysOf, type Payload, verifyChain, verifyReceipt } from '../../src/cli/receipt-chain.js';
import { FTP_SERVERS, SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { startTogether } from '../support/together.js';
import { Bench } from './support/bench.js';
import { startReceiver, type Receiver } from './support/receiver.js';

type Reported = Payload & {
  readonly server: { readonly type: string; readonly hostKey?: string };
  readonly source?: { readonly connectionId: string; readonly path: string };
  readonly movedTo?: string;
};

suite('receipts of watched folders', () => {
  let postgres: PostgresServer;
  let [sftp, ftp]: TestServer[] = [];
  let receiver: Receiver;
  let bench: Bench;
  before(async () => {
    [postgres, sftp, ftp, receiver] = await startTogether([
      startPostgres(),
      SFTP_SERVERS[0]!.start(),
      FTP_SERVERS[0]!.start(),
      startReceiver(),
    ]);
    bench = await Bench.open({
      databaseUrl: postgres.url,
      connections: [
        { id: 'sftp', name: 'Watched', ...sftp.connection, digests: 'always' },
        { id: 'ftp', name: 'Target', ...ftp.connection },
      ],
      watcher: { settleMs: 0 },
    });
  });
  after(async () => {
    await bench?.close();
    await receiver?.close();
    for (const server of [sftp, ftp]) await server?.stop();
    await postgres?.stop();
  });

  for (const afterDelivery of ['delete', 'move'] as const) {
    test(`copied, reported, and then: ${afterDelivery}`, async () => {
      const { receipts } = bench.storage;
      const since = (await receipts.list(bench.accountId, 0, 1000)).length;
      const name = `then-${afterDelivery}`;
      await sftp!.disk.write(`/${name}/.keep`, '');
      const folder = await bench.watch('sftp', `/${name}`, {
        webhookUrl: `${receiver.url}/${name}`,
        afterDelivery,
        ...(afterDelivery === 'move' ? { moveTo: `/${name}-done` } : {}),
        copyTo: { connectionId: 'ftp', path: `/${name}`, onConflict: 'replace' },
      });
      await sftp!.disk.write(`/${name}/new.csv`, 'detected');
      await bench.settle(folder);
      const all = () => receipts.list(bench.accountId, since, 1000);
      await bench.until(async () => (await all()).length === 2, 'two receipts');
      const keys = keysOf({ keys: await receipts.keys() });
      const [copied, treated] = (await all()).map(({ receipt }) => verifyReceipt(receipt, keys) as Reported);
      const digest = `sha-256:${createHash('sha256').update('detected').digest('hex')}`;
      assert.deepEqual(
        [copied?.transfer['type'], copied?.transfer['path'], copied?.transfer.digest, copied?.server.type],
        ['copy', `/${name}/new.csv`, digest, 'ftp'],
      );
      assert.deepEqual([copied?.source?.connectionId, copied?.source?.path], ['sftp', `/${name}/new.csv`]);
      assert.deepEqual(
        [treated?.transfer['type'], treated?.transfer['path'], treated?.transfer['keyId']],
        [afterDelivery, `/${name}/new.csv`, null],
      );
      assert.match(treated?.server.hostKey ?? '', /^SHA256:/);
      const isMove = afterDelivery === 'move';
      assert.equal(treated?.movedTo, isMove ? `/${name}-done/new.csv` : undefined);
      assert.equal(treated?.source?.path, isMove ? `/${name}/new.csv` : undefined);
      const lines = (await receipts.list(bench.accountId, 0, 1000)).map((line) => JSON.stringify(line));
      const each = (async function* () {
        yield* lines;
      })();
      assert.equal((await verifyChain(each, keys)).receipts, lines.length);
    });
  }
});
