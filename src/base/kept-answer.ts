/** An answer that many ask for at once, and often, such as the gauges of the metrics: it is kept for a moment. */

const BACKLOG_KEPT_MS = 2_000;

/** The answer of a query for metrics; undefined while the database does not answer. */
export function keptBacklog<T>(ask: () => Promise<T>): () => Promise<T | undefined> {
  return keptAnswer(BACKLOG_KEPT_MS, () => ask().catch(() => undefined));
}

/** A function that asks again only when its last answer was asked for more than `ms` ago. */
export function keptAnswer<T>(ms: number, ask: () => Promise<T>): () => Promise<T> {
  let kept: { readonly askedAt: number; readonly answer: Promise<T> } | undefined;
  return () => {
    if (kept === undefined || performance.now() - kept.askedAt > ms)
      kept = { askedAt: performance.now(), answer: ask() };
    return kept.answer;
  };
}
