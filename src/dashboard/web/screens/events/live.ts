/** Word of new events as they come, by server-sent events. */
import { useEffect, useState } from 'react';
import { FEED_TYPES } from '../../../../contract/derived/event-texts.ts';

interface News {
  readonly isLive: boolean;
  /** Number of the newest event; 0 while nothing is known. */
  readonly newest: number;
}

/** A stream that was refused is asked for again after this long. */
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
    const stream = new EventSource(`/api/events?after=${start.after}`);
    const tell = (): void => {
      telling = undefined;
      setNews({ isLive: stream.readyState === EventSource.OPEN, newest });
    };
    const hear = (event: MessageEvent): void => {
      newest = Math.max(newest, Number(event.lastEventId));
      telling ??= setTimeout(tell, GATHER_MS);
    };
    // Each type is a name of its own; the page asks for those that it has never heard of now and then.
    for (const type of FEED_TYPES) stream.addEventListener(type, hear);
    stream.addEventListener('open', tell);
    stream.addEventListener('error', () => {
      tell();
      // Else the browser opens it again by itself, behind the last event that it has seen.
      if (stream.readyState === EventSource.CLOSED) again = setTimeout(() => setStart(undefined), AGAIN_MS);
    });
    return () => {
      clearTimeout(again);
      clearTimeout(telling);
      stream.close();
    };
  }, [start]);
  return news;
}
