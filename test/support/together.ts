/** Starts the servers of a test at once: all of them, or none is left running. */

/**
 * Like Promise.all. If one fails the others are stopped: `after` hooks never learn of them, and they would keep the
 * process alive.
 */
export async function startTogether<T extends readonly unknown[] | []>(
  starting: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const outcomes = await Promise.allSettled<unknown>(starting);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed === undefined) return Promise.all(starting);
  for (const outcome of outcomes) if (outcome.status === 'fulfilled') await stop(outcome.value).catch(() => undefined);
  throw failed.reason;
}

async function stop(started: unknown): Promise<void> {
  const { stop: end, close } = started as { stop?: () => unknown; close?: () => unknown };
  await (end ?? close)?.call(started);
}
