/** Word of new events as they come, by server-sent events. */
import { useEffect, useState } from 'react';
import { readStream } from '../../api/stream.ts';
import type { FeedEvent } from '../../api/types.ts';

interface News {
  readonly isLive: boolean;
  /** Number of the newest event; 0 while nothing is known. */
  readonly newest: number;
}

/** A stream that cannot continue begins anew after this long, at the event that the list has last. */
const AGAIN_MS = 10_000;
/** Many that come at once are one piece of news. */
const GATHER_MS = 250;

/** `last`: number of the last event that is known; undefined while nothing is. */
export function useNews(last: number | undefined): News {
  // Where the stream begins: later numbers that the page learns of do not begin it anew.
  const [start, setStart] = useState<{ readonly after: number }>();
  const [news, setNews] = useState<News>({ isLive: false, newest: 0 });
  if (start === undefined && last !== undefined) setStart({ after: last });
  useEffect(() => {
    if (start === undefined) return undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    let telling: ReturnType<typeof setTimeout> | undefined;
    let newest = start.after;
    let isLive = false;
    const tell = (): void => {
      telling = undefined;
      setNews({ isLive, newest });
    };
    const close = readStream(`/api/events?after=${start.after}`, {
      onOpen: (isOpen) => {
        isLive = isOpen;
        tell();
      },
      take: ({ data }) => {
        newest = Math.max(newest, (JSON.parse(data) as FeedEvent).sequence);
        telling ??= setTimeout(tell, GATHER_MS);
      },
      onGone: () => {
        again = setTimeout(() => setStart(undefined), AGAIN_MS);
      },
    });
    return () => {
      clearTimeout(again);
      clearTimeout(telling);
      close();
    };
  }, [start]);
  return news;
}
