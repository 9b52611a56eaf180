/** Calls `work` at a fixed interval, until the returned function is called. It keeps no process alive. */
export function every(ms: number, work: () => void): () => void {
  // A browser's timer is a number.
  const timer: number | { unref(): void } = setInterval(work, ms);
  if (typeof timer === 'object') timer.unref();
  return () => clearInterval(timer as Parameters<typeof clearInterval>[0]);
}
