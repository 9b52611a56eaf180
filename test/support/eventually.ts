import { setTimeout as sleep } from 'node:timers/promises';

const MOST_SLEEP_MS = 25;

/** Looks again until `look` says true: for what another process or another part does in its own time, and nothing announces. */
export async function eventually(
  look: () => boolean | Promise<boolean>,
  what: string,
  withinMs = 15_000,
): Promise<void> {
  let pause = 1;
  for (const until = Date.now() + withinMs; Date.now() < until;) {
    if (await look()) return;
    await sleep(pause);
    pause = Math.min(2 * pause, MOST_SLEEP_MS);
  }
  throw new Error(`not within ${withinMs} ms: ${what}`);
}
