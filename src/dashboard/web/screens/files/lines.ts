/** The lines of an answer as they arrive. */
export async function* linesOf(response: Response): AsyncGenerator<readonly string[]> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (lines.length > 0) yield lines;
    }
    if (rest !== '') yield [rest];
  } finally {
    // A consumer that stops early also ends the answer.
    void reader.cancel().catch(() => undefined);
  }
}
