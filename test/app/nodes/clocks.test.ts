/**
 * Two nodes, one of whose clocks is wrong, watch one folder. What broke once: the moment since when a file rests was told
 * by the clock of whichever node had looked; the other one took it for long ago, and reported files that still grew.
 */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startSshd, type TestSshd } from '../../servers/sshd.js';
import { startPostgres, type PostgresServer } from '../../servers/postgres.js';
import { TEST_KEY, withSql } from '../../storage/databases.js';
import { KEY, startGateway, type TestGateway } from '../../support/gateway.js';
import { startReceiver, type Receiver } from '../../watch/support/receiver.js';
import { eventually } from '../../support/eventually.js';
import { startTogether } from '../../support/together.js';

const OFF_BY_MS = 10_000;
const SETTLE_MS = 3_000;
const GROWS_EVERY_MS = 1_000;
const FILES = 8;
const LOOKS = 40;

describe('nodes whose clocks are apart', { timeout: 240_000 }, () => {
  const clockFolder = mkdtempSync(path.join(tmpdir(), 'ftg-clock-'));
  const offsetFile = path.join(clockFolder, 'offset');
  let postgres: PostgresServer;
  let sshd: TestSshd;
  let receiver: Receiver;
  let right: TestGateway;
  let wrong: TestGateway;

  const startNode = (env: Readonly<Record<string, string>> = {}): Promise<TestGateway> =>
    startGateway({
      env: { GATEWAY_MASTER_KEY: TEST_KEY, ...env },
      config: {
        database: { url: postgres.url },
        network: { webhooks: { allow: ['127.0.0.0/8'] } },
        watcher: { settleMs: SETTLE_MS },
        accounts: [
          {
            email: 'test@example.com',
            plan: 'pro',
            apiKeys: [{ name: 'test', key: KEY, scopes: ['read', 'write', 'watch', 'admin'] }],
            connections: [
              {
                ...{ id: 'ssh', name: 'SSH', type: 'sftp', host: '127.0.0.1', port: sshd.port },
                ...{ username: sshd.username, privateKeyFile: sshd.clientKeyFile, rootPath: sshd.files },
              },
            ],
          },
        ],
      },
    });

  before(async () => {
    [postgres, sshd, receiver] = await startTogether([startPostgres(), startSshd(), startReceiver()]);
    const clock = new URL('../../faults/jumping-clock.js', import.meta.url).href;
    right = await startNode();
    wrong = await startNode({ NODE_OPTIONS: `--import=${clock}`, CLOCK_OFFSET_FILE: offsetFile });
  });
  after(async () => {
    await Promise.all([right?.stop(), wrong?.stop()]);
    await Promise.all([receiver.close(), sshd.stop()]);
    await postgres.stop();
    rmSync(clockFolder, { recursive: true });
  });

  for (const offMs of [OFF_BY_MS, -OFF_BY_MS]) {
    test(`by ${offMs / 1000} s: a file is reported when it rests, and its event is sent at once`, async () => {
      writeFileSync(offsetFile, String(offMs));
      wrong.process.kill('SIGUSR2');
      const name = `off${offMs}`;
      const place = path.join(sshd.files, name);
      mkdirSync(place);
      const made = await right.api.post('/api/watched-folders', {
        ...{ connectionId: 'ssh', path: `/${name}`, webhookUrl: receiver.url, scheduleMinutes: 1440 },
      });
      assert.equal(made.status, 201, made.text);
      const id = made.json['id'] as string;
      const nodesOf = (): Promise<number> =>
        withSql(postgres.url, async (sql) => {
          const [row] = await sql<{ nodes: number }[]>`
            select count(distinct node_id)::int as nodes from watch_checks where folder_id = ${id}`;
          return row?.nodes ?? 0;
        });
      await eventually(async () => (await nodesOf()) > 0, 'the baseline');

      const files = Array.from({ length: FILES }, (_, index) => path.join(place, `growing-${index}`));
      const check = async (): Promise<void> => {
        for (const node of [right, wrong]) {
          await node.api.post(`/manage/watched-folders/${id}/check`, {});
          await delay(GROWS_EVERY_MS / 10);
        }
      };
      receiver.received.length = 0;
      for (let look = 0; look < LOOKS; look++) {
        if (look % 5 === 0) for (const file of files) appendFileSync(file, 'more');
        await check();
      }
      assert.deepEqual(receiver.names(), [], 'files that still grow');
      assert.equal(await nodesOf(), 2, 'both nodes took part');

      const rest = Date.now();
      await eventually(() => receiver.names().length === FILES, 'the report');
      const tookMs = Date.now() - rest;
      assert.ok(tookMs < SETTLE_MS + 5_000, `reported ${tookMs} ms after the last change`);
      for (const { body } of receiver.received) {
        const aheadMs = Math.abs(Date.parse(body.timestamp) - Date.now());
        assert.ok(aheadMs < OFF_BY_MS / 2, `the event's time is off by ${aheadMs} ms`);
      }
    });
  }
});
