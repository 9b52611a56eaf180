import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { measure, type ScenarioResult } from '../../bench/measure.js';
import { operationsSummary, pictured, VARIANTS } from '../../bench/report/operations.js';
import { publish } from '../../bench/report/publish.js';
import type { Contender, Goal } from '../../bench/scenario.js';

const worked = (name: string, operations: number, cpuSeconds: number): Contender => ({
  name,
  run: async () => ({ bytes: 0, operations, seconds: 1, cpuSeconds, latenciesMs: [1, 2] }),
});

const scenario = (name: string, contenders: Contender[], goals: readonly Goal[] = []): Promise<ScenarioResult> =>
  measure({ name, unit: 'ops/s', contenders, goals }, 1, () => undefined);

const gateway: Contender = {
  ...worked('gateway', 1_000, 0.5),
  databasePid: process.pid,
  allocatedBytes: allocating(51_200_000),
};

function allocating(bytesOfRun: number): () => number {
  let total = 0;
  return () => (total += bytesOfRun);
}

suite('the cost of an operation', () => {
  test('is one row, beside the bare library, webdav and the other ways to run the gateway', async () => {
    const rivals = [worked('bare ssh2', 4_000, 0.4), worked('rclone serve webdav', 800, 1)];
    const result = await scenario('sftp upload, 32 clients', [
      gateway,
      worked(VARIANTS.fourLoops, 2_000, 1.2),
      ...rivals,
    ]);
    const lines = operationsSummary([result]);
    const row =
      /^\| sftp upload \| \*\*0\.500 ms\*\* \| 0\.\d{3} ms \| 50\.0 KiB \| 1,000 \| 0\.25 × 4,000 \| 1\.25 × 800 \|$/m;
    assert.match(lines.join('\n'), row);
    assert.ok(lines.includes('| sftp upload | 0.500 ms |  |  | 0.600 ms, 1.20 × | 2,000 |'), lines.join('\n'));
    const [picture] = pictured([result]);
    assert.deepEqual(
      picture?.contenders.map(({ name }) => name),
      ['gateway', 'bare ssh2', 'rclone serve webdav'],
    );
  });

  test('is compared with its goals', async () => {
    const goals = [
      { kind: 'cpu', atMostMs: 0.5 },
      { kind: 'cpu', atMostMs: 0.4 },
      { kind: 'cost', of: VARIANTS.fourLoops, atMost: 1.2 },
      { kind: 'cost', of: VARIANTS.fourLoops, atMost: 1.15 },
      { kind: 'cost', of: 'nobody', atMost: 9 },
    ] as const;
    const result = await scenario('sftp upload, 32 clients', [gateway, worked(VARIANTS.fourLoops, 2_000, 1.2)], goals);
    assert.deepEqual(
      result.goals.map(({ isMet }) => isMet),
      [true, false, true, false, false],
    );
  });

  test('is published between its marks, and the rest of the page is unchanged', async (t) => {
    const docs = mkdtempSync(join(tmpdir(), 'bench-docs-'));
    t.after(() => rmSync(docs, { recursive: true }));
    const page = join(docs, 'performance.md');
    writeFileSync(page, 'above\n<!-- bench: operations -->\nold\n<!-- end of bench: operations -->\nbelow\n');
    const scenarios = [await scenario('healthz, 32 clients', [gateway])];
    const summary = operationsSummary(scenarios);
    const one = { name: 'operations', title: 'a title', about: '', summary, scenarios, pictured: [], parts: [] };
    const run = { startedAt: '2026-01-02T03:04:05Z', machine: ['a machine'], options: ' -- operations', remarks: [] };
    publish({ ...run, cases: [one] }, docs);
    const text = readFileSync(page, 'utf8');
    assert.match(text, /^above\n<!-- bench: operations -->\n[^]*\n<!-- end of bench: operations -->\nbelow\n$/);
    assert.match(text, /\| healthz \| \*\*0\.500 ms\*\* \|/);
    assert.match(text, /!\[.*\]\(bench\/operations\.svg\)/);
    assert.match(text, /2026-01-02, `npm run bench -- operations`; a machine\./);
    assert.doesNotMatch(text, /old/);
    assert.match(readFileSync(join(docs, 'bench/operations.svg'), 'utf8'), /^<svg/);
  });
});
