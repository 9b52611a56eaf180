import { BodyReader } from '../../src/http/body/body-reader.js';
import { UNCOUNTED } from '../../src/budgets/memory.js';

/** A request's body that arrives in chunks of these sizes, in rotation; the memory of each is used for the next. */
export function lentBody(bytes: Buffer, sizes: readonly number[]): BodyReader {
  const memory = Buffer.alloc(Math.max(...sizes));
  let at = 0;
  let chunks = 0;
  let isPaused = true;
  let isDue = false;
  const arrive = (): void => {
    isDue = false;
    if (isPaused || body.complete) return;
    const chunk = bytes.subarray(at, at + (sizes[chunks++ % sizes.length] as number));
    at += chunk.length;
    chunk.copy(memory);
    body.accept(memory.subarray(0, chunk.length), at === bytes.length, true);
    memory.fill(0xee);
    expect();
  };
  const expect = (): void => {
    if (isDue || isPaused) return;
    isDue = true;
    setImmediate(arrive);
  };
  const socket = {
    pause: () => void (isPaused = true),
    resume: () => {
      isPaused = false;
      expect();
    },
  };
  const refused = (error: Error): void => {
    throw error;
  };
  const body = new BodyReader(socket, bytes.length, UNCOUNTED, refused);
  return body;
}
