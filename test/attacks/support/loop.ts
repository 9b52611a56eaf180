/** How long one event loop was held, told apart from a machine that had no processor for it (Linux). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { TestGateway } from '../../support/gateway.js';

/** What one piece of work may hold the loop for. */
export const MAX_HOLD_MS = 50;

/** The longest single hold while `work` ran, in ms. What the thread waited for a processor meanwhile does not count. */
export async function longestHold(gateway: TestGateway, work: () => Promise<unknown>): Promise<number> {
  await lagMs(gateway);
  const before = waitedMs(gateway.pid);
  await work();
  const lag = await lagMs(gateway);
  return Math.max(0, lag - (waitedMs(gateway.pid) - before));
}

export async function assertServing(gateway: TestGateway, work: () => Promise<unknown>): Promise<void> {
  const hold = await longestHold(gateway, work);
  assert.ok(hold < MAX_HOLD_MS, `the event loop was held for ${Math.round(hold)} ms`);
}

/** The greatest since it was asked for before. */
async function lagMs(gateway: TestGateway): Promise<number> {
  const { text } = await gateway.api.get('/metrics');
  return Number(/^nodejs_eventloop_lag_max_seconds(?:\{.*\})? (\S+)$/m.exec(text)?.[1]) * 1000;
}

/** How long the main thread was ready and had no processor, so far. */
function waitedMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
}
