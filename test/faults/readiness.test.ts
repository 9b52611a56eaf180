/** GET /readyz of a gateway whose database answers, but accepts no writes. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { uploadRaw } from '../api/support.js';
import { startScripted, type ScriptedFtp } from '../servers/scripted-ftp.js';
import { startPostgres } from '../servers/postgres.js';
import { makeTempFolder, withSql } from '../storage/databases.js';
import { fillDisk } from '../storage/full-disk.js';
import { startGateway, type ApiClient, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';

/** A probe per second, and the time until it is seen on a busy machine. */
const NOTICED_MS = 10_000;

/** Connections are distributed over the event loops in turn: each of the clients asks another one. */
function clients(gateway: TestGateway, count: number): readonly ApiClient[] {
  return Array.from({ length: count }, () => gateway.client());
}

async function refuseWrites(api: ApiClient): Promise<void> {
  await eventually(async () => {
    const uploads = Array.from({ length: 10 }, () => uploadRaw(api, 'c1', { filename: 'x'.repeat(200) }, 'x'));
    return (await Promise.all(uploads)).some(({ headers }) => headers['x-error-code'] === 'database_away');
  }, 'an upload ends with 503');
}

async function metricSays([probe]: readonly ApiClient[], line: string): Promise<void> {
  await eventually(async () => {
    const metrics = await probe?.get('/metrics', { key: '' });
    return metrics?.text.split('\n').includes(line) ?? false;
  }, line);
}

async function saysWhy(probes: readonly ApiClient[], reason: RegExp): Promise<void> {
  const since = performance.now();
  for (const probe of probes) {
    await eventually(async () => (await probe.get('/readyz')).status === 503, 'it is not ready');
  }
  const tookMs = performance.now() - since;
  assert.ok(tookMs < NOTICED_MS, `noticed after ${tookMs} ms`);
  // It remains so, in every event loop, as long as the trouble lasts.
  for (const until = performance.now() + 2_500; performance.now() < until;) {
    for (const probe of probes) {
      const { status, headers, json } = await probe.get('/readyz');
      assert.deepEqual([status, headers['x-error-code']], [503, 'database_away']);
      assert.match(String(json['error']), reason);
    }
  }
  await metricSays(probes, 'ftg_ready 0');
  for (const probe of probes) assert.equal((await probe.get('/healthz')).status, 200);
}

async function readyAgain(probes: readonly ApiClient[]): Promise<void> {
  for (const probe of probes) {
    await eventually(async () => (await probe.get('/readyz')).status === 200, 'it is ready again');
  }
  await metricSays(probes, 'ftg_ready 1');
}

let server: ScriptedFtp;
const connections = (): object[] => {
  const { port, username, password } = server;
  return [{ id: 'c1', name: 'c1', type: 'ftp', host: '127.0.0.1', port, username, password }];
};
before(async () => (server = await startScripted()));
after(() => server.stop());

// Each has its own gateway and database.
describe('a database that accepts no writes', { concurrency: 2 }, () => {
  for (const threads of [1, 2]) {
    // A file system of a chosen size needs root; without root, a read-only database shows the same.
    if (process.getuid?.() === 0) {
      test(`its disk is full, ${threads} event loops: not ready until there is room`, async () => {
        const disk = path.join(await makeTempFolder(), 'disk');
        mkdirSync(disk);
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160m,mode=0755', 'tmpfs', disk]);
        const filler = path.join(disk, 'filler');
        const config = { server: { threads } };
        const gateway = await startGateway({ connections: connections(), dataDir: path.join(disk, 'data'), config });
        const probes = clients(gateway, threads);
        try {
          await readyAgain(probes);
          await fillDisk(filler);
          await refuseWrites(gateway.api);
          await saysWhy(probes, /takes no writes: disk full/);
          rmSync(filler);
          await readyAgain(probes);
        } finally {
          rmSync(filler, { force: true });
          await gateway.stop();
          execFileSync('umount', [disk]);
          rmSync(path.dirname(disk), { recursive: true });
        }
      });
    }

    test(`it has become read-only, ${threads} event loops: not ready until it is writable`, async () => {
      const postgres = await startPostgres();
      const readOnly = (value: string): Promise<void> =>
        withSql(postgres.url, async (sql) => {
          await sql.unsafe(`alter system set default_transaction_read_only = ${value}`);
          await sql`select pg_reload_conf()`;
        });
      const config = { server: { threads }, database: { url: postgres.url } };
      const gateway = await startGateway({ connections: connections(), config });
      const probes = clients(gateway, threads);
      try {
        await readyAgain(probes);
        await readOnly('on');
        await refuseWrites(gateway.api);
        await saysWhy(probes, /takes no writes: it is read-only/);
        await readOnly('off');
        await readyAgain(probes);
      } finally {
        await gateway.stop();
        await postgres.stop();
      }
    });
  }
});
