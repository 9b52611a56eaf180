/** The time of a page's first drawing, noted by scripts in the page. */

/** For the start of a page: notes when it draws a text and nothing on it is still being read. */
export function noteWhenShown(text: string): string {
  return `globalThis.shown = new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      if (!document.body?.textContent.includes(${JSON.stringify(text)}) || document.querySelector('.skeleton')) return;
      resolve(performance.now());
      observer.disconnect();
    }).observe(document, { childList: true, subtree: true });
  })`;
}

/** The answers that the page had asked for until then, with their heads. */
export const LOADED = `(async () => {
  const shownAt = await shown;
  const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
  const before = all.filter(({ startTime }) => startTime <= shownAt);
  return { answers: before.length, bytes: before.reduce((sum, { transferSize }) => sum + transferSize, 0) };
})()`;

export interface Loaded {
  readonly answers: number;
  readonly bytes: number;
}

/** The largest contentful paint by then, in ms, with the frame after it drawn. */
export const LARGEST_PAINT = `(async () => {
  await shown;
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return new Promise((resolve) => {
    new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
      .observe({ type: 'largest-contentful-paint', buffered: true });
  });
})()`;
