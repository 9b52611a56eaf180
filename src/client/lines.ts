/** Lines of an answer, as they arrive. */
import { SilenceError } from './causes.js';
import { networkError } from './errors.js';

/**
 * Yields lines without their ends. Fails with the reason of the signal, and with FtgError `network_error` if the answer
 * is cut, if nothing arrives for `silenceMs` (0 = no limit), or if it ends within a line. A reader that stops ends the
 * answer.
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

/** Rejects if `promise` takes longer; 0 = no limit. */
export async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  if (milliseconds === 0) return promise;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new SilenceError(milliseconds)), milliseconds);
  });
  return Promise.race([promise, silence]).finally(() => clearTimeout(timer));
}
