/** Server-sent events (HTML Standard, 9.2): parses an answer, and follows a stream over interruptions. */
import { retryDelay } from '../base/retry-schedule.js';
import { linesOf } from './lines.js';
import { wait } from './wait.js';

export interface ServerEvent {
  readonly type: string;
  readonly data: string;
}

/** The last id of a stream: a reopened stream continues after it. */
interface Cursor {
  lastEventId?: string;
}

/** The gateway sends something every five seconds at least. */
const SILENCE_MS = 30_000;
/** The delay before a stream is reopened after its end, a break or a refusal. */
const REOPENING = { firstMs: 2_000, longestMs: 10_000, spread: [0.5, 1] } as const;

/** The events of one answer. Comments, and an id without data, are no events. Fails as `linesOf` does. */
export async function* eventsIn(
  answer: Response,
  signal: AbortSignal | undefined,
  cursor: Cursor = {},
): AsyncGenerator<ServerEvent, void> {
  let type = 'message';
  let data: string[] = [];
  for await (const line of linesOf(answer, { signal, silenceMs: SILENCE_MS })) {
    if (line === '') {
      if (data.length > 0) yield { type, data: data.join('\n') };
      type = 'message';
      data = [];
      continue;
    }
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'event') type = value;
    if (field === 'data') data.push(value);
    if (field === 'id') cursor.lastEventId = value;
  }
}

interface Following {
  /** Sends the request, and resolves with a good answer. */
  readonly open: (lastEventId: string | undefined) => Promise<Response>;
  /** Ends the stream, with the reason of the signal. */
  readonly signal: AbortSignal;
  /** Whether the stream may be opened again after this error. */
  readonly isPassing: (error: unknown) => boolean;
  /** The milliseconds of Retry-After. */
  readonly askedMs: (error: unknown) => number | undefined;
  /** Called when the stream opens, and when it closes. */
  readonly onOpen: (isOpen: boolean) => void;
}

/** The events of a stream, which is reopened whenever it has ended. */
export async function* followEvents(following: Following): AsyncGenerator<ServerEvent, void> {
  const { open, signal, isPassing, askedMs, onOpen } = following;
  const cursor: Cursor = {};
  for (let failures = 1; ; failures += 1) {
    let asked: number | undefined;
    try {
      const answer = await open(cursor.lastEventId);
      onOpen(true);
      for await (const event of eventsIn(answer, signal, cursor)) {
        failures = 0;
        yield event;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
      asked = askedMs(error);
    } finally {
      if (!signal.aborted) onOpen(false);
    }
    await wait(retryDelay(REOPENING, Math.max(1, failures), asked) ?? REOPENING.longestMs, signal);
  }
}
