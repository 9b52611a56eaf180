/** Server-sent events for components. Streams use the page's session and reconnect automatically. */
import { followEvents, type ServerEvent } from '../../../client/event-stream.ts';
import { ApiError, fetchAnswer } from './client.ts';

interface Reader {
  readonly take: (event: ServerEvent) => void;
  readonly onOpen?: (isOpen: boolean) => void;
  /** Called if the gateway no longer has the subject of the stream, or the events after the last one. */
  readonly onGone?: (error: ApiError) => void;
}

/** Returns a function that ends the stream. */
export function readStream(path: string, { take, onOpen = () => undefined, onGone }: Reader): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  const events = followEvents({
    signal,
    onOpen,
    open: (id) =>
      fetchAnswer('GET', path, undefined, signal, {
        Accept: 'text/event-stream',
        ...(id === undefined ? {} : { 'Last-Event-ID': id }),
      }),
    isPassing: (error) => !(error instanceof ApiError) || !FINAL.includes(error.status),
    askedMs: (error) => (error instanceof ApiError ? 1_000 * (error.retryAfterSeconds ?? 0) : undefined),
  });
  const read = async (): Promise<void> => {
    for await (const event of events) take(event);
  };
  read().catch((error: unknown) => {
    if (!signal.aborted && error instanceof ApiError) onGone?.(error);
  });
  return () => ending.abort();
}

/** The subject of the stream no longer exists (404), or the next events are gone (410). */
const FINAL: readonly number[] = [404, 410];
