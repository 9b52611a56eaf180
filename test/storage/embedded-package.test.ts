import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { copyNative } from '../../src/storage/embedded/embedded-copy.js';
import { locatePrograms } from '../../src/storage/embedded/embedded-package.js';

const AS_I_AM = { owner: undefined } as Parameters<typeof locatePrograms>[1];

test('where the C library is not that of GNU, one line names the variable for a database', async (t) => {
  t.mock.method(process.report, 'getReport', () => ({ header: { nodejsVersion: process.version } }));
  await assert.rejects(locatePrograms('/nowhere', AS_I_AM), (error: Error) => {
    assert.equal(error.name, 'StartupError');
    assert.match(error.message, /GNU C library.*DATABASE_URL/);
    return !error.message.includes('\n');
  });
});

test('a copy of the programs that was killed half-way is removed by the next one', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-programs-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [native, dataDir] = [path.join(folder, 'native'), path.join(folder, 'data')];
  mkdirSync(path.join(native, 'bin'), { recursive: true });
  writeFileSync(path.join(native, 'bin', 'postgres'), 'whole');
  const killed = spawnSync('true').pid;
  for (const pid of [killed, process.ppid])
    mkdirSync(path.join(dataDir, `postgres-programs-17.new-${pid}`, 'bin'), { recursive: true });
  const target = await copyNative({ native, version: '17' }, dataDir);
  assert.equal(readFileSync(path.join(target, 'bin', 'postgres'), 'utf8'), 'whole');
  const drafts = [`postgres-programs-17.new-${process.ppid}`];
  assert.deepEqual(
    readdirSync(dataDir).toSorted(),
    ['postgres-programs-17', ...drafts],
    'one that is being made stays',
  );
});
