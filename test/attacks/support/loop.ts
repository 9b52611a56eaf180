/** A gateway that reports how long its event loop was blocked (Linux). */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startGateway, type GatewayOptions, type TestGateway } from '../../support/gateway.js';

/** How long one piece of work may block the loop. */
export const MAX_HOLD_MS = 50;

const files = new WeakMap<TestGateway, string>();

export async function startWatchedGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'ftg-loop-'));
  const file = join(folder, 'holds');
  writeFileSync(file, '');
  const monitor = new URL('./loop-monitor.js', import.meta.url).href;
  const env = { ...options.env, LOOP_HOLDS: file, NODE_OPTIONS: `--import=${monitor}` };
  const started = await startGateway({ ...options, env });
  const stop = async (): Promise<number | null> => {
    const code = await started.stop();
    rmSync(folder, { recursive: true, force: true });
    return code;
  };
  const gateway = { ...started, stop };
  files.set(gateway, file);
  return gateway;
}

/**
 * A block that the machine itself has caused (a processor taken away, a slow disk) does not repeat with the same work.
 */
const TRIES = 3;

/**
 * The longest block while `work` ran, in ms; 0 = none worth reporting. Work that blocks the loop for too long runs
 * again, and the shortest of its longest blocks counts: the cost of the work itself is there each time.
 */
export async function longestHold(gateway: TestGateway, work: () => Promise<unknown>): Promise<number> {
  let least = Infinity;
  for (let tries = 0; tries < TRIES && least >= MAX_HOLD_MS; tries++)
    least = Math.min(least, await holdOf(gateway, work));
  return least;
}

async function holdOf(gateway: TestGateway, work: () => Promise<unknown>): Promise<number> {
  const from = Date.now();
  await work();
  // The turn that ends the last block.
  await delay(20);
  return Math.max(0, ...holdsSince(gateway, from));
}

export async function assertServing(gateway: TestGateway, work: () => Promise<unknown>): Promise<void> {
  const hold = await longestHold(gateway, work);
  assert.ok(hold < MAX_HOLD_MS, `the event loop was held for ${Math.round(hold)} ms`);
}

function holdsSince(gateway: TestGateway, from: number): number[] {
  const file = files.get(gateway);
  assert.ok(file !== undefined, 'a gateway of startWatchedGateway');
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => line.split(' ').map(Number)).flatMap(([at = 0, ms = 0]) => (at >= from ? [ms] : []));
}
