/** Announces new events from the server-sent event stream. */
import { useEffect, useState } from 'react';
import { readStream } from '../../api/stream.ts';
import type { FeedEvent } from '../../api/types.ts';

interface News {
  readonly isLive: boolean;
  /** Number of the newest event; 0 if it is unknown. */
  readonly newest: number;
}

/** After this delay a stream that cannot continue starts again at the last event of the list. */
const AGAIN_MS = 10_000;
/** Events that arrive within this time are announced together. */
const GATHER_MS = 250;

/** `last` is the number of the last known event; undefined before the first answer. */
export function useNews(last: number | undefined): News {
  // Where the stream starts. Later numbers do not restart it.
  const [start, setStart] = useState<{ readonly after: number }>();
  const [news, setNews] = useState<News>({ isLive: false, newest: 0 });
  if (start === undefined && last !== undefined) setStart({ after: last });
  useEffect(() => {
    if (start === undefined) return undefined;
    let restart: ReturnType<typeof setTimeout> | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let newest = start.after;
    let isLive = false;
    const publish = (): void => {
      timer = undefined;
      setNews({ isLive, newest });
    };
    const close = readStream(`/api/events?after=${start.after}`, {
      onOpen: (isOpen) => {
        isLive = isOpen;
        publish();
      },
      take: ({ data }) => {
        newest = Math.max(newest, (JSON.parse(data) as FeedEvent).sequence);
        timer ??= setTimeout(publish, GATHER_MS);
      },
      onGone: () => {
        restart = setTimeout(() => setStart(undefined), AGAIN_MS);
      },
    });
    return () => {
      clearTimeout(restart);
      clearTimeout(timer);
      close();
    };
  }, [start]);
  return news;
}
