import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for a fact that nothing announces; fails with `what` when it does not come. */
export async function until(what: string, holds: () => boolean, limitMs = 10_000): Promise<void> {
  for (const deadline = Date.now() + limitMs; !holds();) {
    if (Date.now() > deadline) throw new Error(`${what}: not within ${limitMs} ms`);
    await sleep(5);
  }
}
