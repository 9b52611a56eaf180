/** A job finds out what very many files need: its memory does not follow. By hand with JOBS=all: 1,000,000 of them. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { memoryOf, resetPeakMemory, startGateway, type TestGateway } from '../support/gateway.js';
import { run } from './support.js';

const MIB = 1024 * 1024;
const ENTRIES = process.env['JOBS'] === 'all' ? 1_000_000 : 20_000;
const FOLDER_ENTRIES = 20_000;
const MAX_GROWTH = 80 * MIB;
const WITHIN_MS = 1_200_000;

describe('jobs on large trees', { timeout: 2 * WITHIN_MS }, () => {
  let sshd: TestSshd;
  let gateway: TestGateway;

  const fill = (name: string, entries: number): void => {
    for (let index = 0; index < entries; index++) {
      const folder = path.join(sshd.files, name, `d${Math.floor(index / FOLDER_ENTRIES)}`);
      if (index % FOLDER_ENTRIES === 0) mkdirSync(folder, { recursive: true });
      writeFileSync(path.join(folder, `file-${String(index).padStart(7, '0')}`), '');
    }
  };
  const order = (from: string): object => ({
    ...{ type: 'sync', dryRun: true },
    source: { connectionId: 'c1', path: path.join(sshd.files, from) },
    destination: { connectionId: 'c1', path: path.join(sshd.files, 'nowhere') },
  });

  before(async () => {
    sshd = await startSshd();
    fill('few', 2_000);
    fill('many', ENTRIES);
    const login = { host: '127.0.0.1', port: sshd.port, username: sshd.username, privateKeyFile: sshd.clientKeyFile };
    gateway = await startGateway({ connections: [{ id: 'c1', name: 'Server', type: 'sftp', ...login }] });
    // What the first job loads stays loaded.
    await run(gateway.api, order('few'));
  });
  after(async () => {
    await gateway?.stop();
    await sshd?.stop();
  });

  test(`${ENTRIES} files that a sync would copy`, async (t) => {
    const idle = memoryOf(gateway.pid).now;
    resetPeakMemory(gateway.pid);
    const began = performance.now();
    const job = await run(gateway.api, order('many'), WITHIN_MS);
    const grown = memoryOf(gateway.pid).peak - idle;
    const seconds = (performance.now() - began) / 1000;
    t.diagnostic(`${Math.round(grown / MIB)} MiB more memory, ${Math.round(ENTRIES / seconds)} files a second`);
    assert.equal(job.state, 'succeeded', JSON.stringify(job));
    assert.deepEqual([job.counts.found, job.counts.done], [ENTRIES, ENTRIES]);
    assert.ok(grown < MAX_GROWTH, `${grown} bytes`);
  });
});
