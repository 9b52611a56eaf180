/**
 * One short round of a case, with every server and every rival, so that the bench still runs on the day it is needed.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Report } from '../../bench/report/table.js';

const BENCH = fileURLToPath(new URL('../../bench/run.js', import.meta.url));
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

test('a short run moves files by every contender and writes its report', async (t) => {
  const results = mkdtempSync(join(tmpdir(), 'bench-smoke-'));
  t.after(() => rmSync(results, { recursive: true }));
  const profiles = mkdtempSync(join(tmpdir(), 'bench-profiles-'));
  t.after(() => rmSync(profiles, { recursive: true }));
  const args = ['large', '--quick', '--size', '1M', '--results', results, '--profile', profiles];
  await run(process.execPath, [BENCH, ...args], { timeout: 900_000 });

  const place = join(results, readdirSync(results)[0] ?? '');
  assert.deepEqual(readdirSync(place).sort(), ['large.svg', 'report.json', 'report.md']);
  const report = JSON.parse(readFileSync(join(place, 'report.json'), 'utf8')) as Report;
  const { scenarios = [] } = report.cases[0] ?? {};
  assert.deepEqual(
    scenarios.map(({ name }) => name),
    ['sftp', 'ftp', 's3'].flatMap((protocol) => [`${protocol} up 1 MiB`, `${protocol} down 1 MiB`]),
  );
  assert.ok((report.cases[0]?.parts ?? []).some(({ name, share }) => name === 'garbage collection' && share > 0));
  for (const { name, contenders } of scenarios) {
    assert.ok(contenders.length >= 4, name);
    for (const contender of contenders) {
      assert.equal(contender.failure, undefined, `${name}: ${contender.name}`);
      assert.ok((contender.samples[0]?.rate ?? 0) > 0, `${name}: ${contender.name}`);
    }
    assert.ok((contenders[0]?.samples[0]?.peakMiB ?? 0) > 10, name);
    assert.ok((contenders[0]?.samples[0]?.loopDelayMs ?? 0) > 0, name);
  }
});

test('with --before the gateway of another checkout replaces the rivals', async (t) => {
  const results = mkdtempSync(join(tmpdir(), 'bench-before-'));
  t.after(() => rmSync(results, { recursive: true }));
  const args = ['large', '--quick', '--size', '1M', '--only', 'ftp up', '--before', ROOT, '--results', results];
  await run(process.execPath, [BENCH, ...args], { timeout: 900_000 });
  const place = join(results, readdirSync(results)[0] ?? '');
  const report = JSON.parse(readFileSync(join(place, 'report.json'), 'utf8')) as Report;
  const [scenario] = report.cases[0]?.scenarios ?? [];
  assert.deepEqual(
    scenario?.contenders.map(({ name, failure }) => [name, failure]),
    [
      ['gateway', undefined],
      ['gateway before', undefined],
    ],
  );
  assert.equal(scenario?.goals[0]?.text, 'at least 0.97 × gateway before');
});

test('cases without a rival measure the gateway itself', async (t) => {
  const results = mkdtempSync(join(tmpdir(), 'bench-itself-'));
  t.after(() => rmSync(results, { recursive: true }));
  const args = ['events', 'followers', '--quick', '--only', '100', '--results', results];
  await run(process.execPath, [BENCH, ...args], { timeout: 900_000 });
  const place = join(results, readdirSync(results)[0] ?? '');
  const { cases } = JSON.parse(readFileSync(join(place, 'report.json'), 'utf8')) as Report;
  const found = cases.flatMap(({ scenarios }) => scenarios);
  assert.deepEqual(
    found.map(({ name, contenders }) => [name, contenders[0]?.failure]),
    [
      ['backlog of 100 events, 20 webhooks', undefined],
      ['100 followers, 1 loop', undefined],
    ],
  );
  const [backlog, followers] = found.map(({ contenders }) => contenders[0]?.samples[0]);
  assert.equal(backlog?.operations, 2_000);
  assert.ok((backlog?.databaseSeconds ?? 0) > 0);
  assert.ok((followers?.p99Ms ?? NaN) > 0);
});

test('an unknown case is refused with the names of the known ones', async () => {
  await assert.rejects(run(process.execPath, [BENCH, 'larg']), {
    code: 64,
    stderr: /no case is called larg; there are: operations, large, /,
  });
});
