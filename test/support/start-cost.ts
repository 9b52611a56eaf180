/**
 * The cost of a run of Node.js, and of one that does nothing, here and now: bounds in this unit hold on any machine.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Rounds until the bound holds. Other tests may keep the machine busy; they affect the cheapest of several least. */
const ROUNDS = 5;

export interface Cost {
  /** Processor time, user and system. */
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** `run` is called with the environment that measures, and resolves when the program has ended. */
async function costOf(run: (env: Readonly<Record<string, string>>) => Promise<unknown>): Promise<Cost> {
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-cost-'));
  try {
    const [probe, result] = [path.join(folder, 'probe.cjs'), path.join(folder, 'cpu')];
    writeFileSync(
      probe,
      `process.on('exit', () => {
        const { user, system } = process.cpuUsage();
        require('node:fs').writeFileSync(${JSON.stringify(result)}, String((user + system) / 1000));
      });`,
    );
    const startedAt = performance.now();
    await run({ NODE_OPTIONS: `--require ${probe}` });
    return { wallMs: performance.now() - startedAt, cpuMs: Number(readFileSync(result, 'utf8')) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A start of Node.js that does nothing, here and now. */
export const bareStart = (): Promise<Cost> => costOf(runNothing);

async function runNothing(env: Readonly<Record<string, string>>): Promise<void> {
  await once(spawn(process.execPath, ['-e', '0'], { env: { ...process.env, ...env }, stdio: 'ignore' }), 'close');
}

/**
 * How many times as much as a start of Node.js the run costs: the cheapest of a few compared with the cheapest of as
 * many.
 */
export async function timesBareStart(
  measure: keyof Cost,
  limit: number,
  run: (env: Readonly<Record<string, string>>) => Promise<unknown>,
): Promise<number> {
  let [ours, theirs] = [Infinity, Infinity];
  for (let round = 0; round < ROUNDS && !(ours < limit * theirs); round++) {
    theirs = Math.min(theirs, (await bareStart())[measure]);
    ours = Math.min(ours, (await costOf(run))[measure]);
  }
  return ours / theirs;
}
