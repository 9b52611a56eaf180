/** Settles like `work`, or rejects with the signal's reason as soon as it aborts; `work` itself goes on. */
export function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((done, fail) => {
    const stop = (): void => fail(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(done, fail).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Whether `work` succeeded within `timeoutMs`. Never rejects. */
export function succeedsWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  return new Promise((done) => {
    const timer = setTimeout(() => done(false), timeoutMs);
    work
      .then(
        () => done(true),
        () => done(false),
      )
      .finally(() => clearTimeout(timer));
  });
}
