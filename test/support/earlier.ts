/**
 * Fails unless the promise settles before a timer of `ms` that starts now: for a deadline in this process. If the
 * process hangs, both are late, and keep their order.
 */
export async function earlierThan<T>(ms: number, promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const later = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not before a timer of ${ms} ms: ${what}`)), ms);
  });
  try {
    return await Promise.race([promise, later]);
  } finally {
    clearTimeout(timer);
  }
}
