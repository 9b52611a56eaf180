/** Lines of an answer, as they come. */
import { SilenceError } from './causes.js';
import { networkError } from './errors.js';

/**
 * Without their ends. Fails with the reason of the signal, and with FtgError `network_error` when the answer is cut, when nothing comes for `silenceMs` (0 = any time), and when it
 * ends within a line. A reader that stops ends the answer.
 */
export async function* linesOf(
  response: Response,
  { signal, silenceMs }: { readonly signal?: AbortSignal | undefined; readonly silenceMs: number },
): AsyncGenerator<string, void> {
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  const requestId = response.headers.get('x-request-id') ?? undefined;
  let rest = '';
  try {
    for (;;) {
      const next = await within(silenceMs, reader.read()).catch((thrown: unknown) => {
        signal?.throwIfAborted();
        throw networkError(thrown, { requestId });
      });
      if (next.done) break;
      const lines = (rest + decoder.decode(next.value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    if (rest !== '') throw networkError(new Error('it ended within a line'), { requestId });
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Rejects where `promise` takes longer; 0 = as long as it likes. */
export async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  if (milliseconds === 0) return promise;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new SilenceError(milliseconds)), milliseconds);
  });
  return Promise.race([promise, silence]).finally(() => clearTimeout(timer));
}
