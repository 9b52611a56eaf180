/** Waits before retries of a load that the network may have broken, in ms. */
const WAITS_MS = [300, 1_000, 3_000];

/** Retries a load a few times. The browser's `online` event ends a wait. */
export async function patiently<T>(load: () => Promise<T>): Promise<T> {
  for (const ms of WAITS_MS) {
    try {
      return await load();
    } catch {
      await calm(ms);
    }
  }
  return load();
}

function calm(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      removeEventListener('online', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    addEventListener('online', end);
  });
}
