/** Streams of server-sent events for components: opened again by themselves, and with the session of this page. */
import { followEvents, type ServerEvent } from '../../../client/event-stream.ts';
import { ApiError, fetchAnswer } from './client.ts';

interface Reader {
  readonly take: (event: ServerEvent) => void;
  readonly onOpen?: (isOpen: boolean) => void;
  /** Called when the gateway no longer has the events that follow the last one. */
  readonly onGone?: () => void;
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
    if (!signal.aborted && error instanceof ApiError && error.status === 410) onGone?.();
  });
  return () => ending.abort();
}

/** What it is about, or what follows the last event, is gone. */
const FINAL: readonly number[] = [404, 410];
