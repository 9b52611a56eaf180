/** Waits between tries of what the network may have failed, in ms. */
const WAITS_MS = [300, 1_000, 3_000];

/** Tries a few times; the browser's word that it is online again ends a wait. */
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
