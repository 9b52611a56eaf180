/**
 * Answers many callers with few questions. One question about a key runs at a time. Callers that ask meanwhile share
 * the next question, which begins after all of them: no answer is older than its question.
 */
export class SharedQuestion<T> {
  readonly #ask: (key: string) => Promise<T>;
  readonly #running = new Map<string, Running<T>>();

  constructor(ask: (key: string) => Promise<T>) {
    this.#ask = ask;
  }

  answer(key: string): Promise<T> {
    const running = this.#running.get(key);
    if (running === undefined) return this.#begin(key);
    return (running.next ??= running.isOver.then(() => this.#begin(key)));
  }

  #begin(key: string): Promise<T> {
    const answer = this.#ask(key);
    const running: Running<T> = {
      isOver: answer.then(
        () => this.#end(key, running),
        () => this.#end(key, running),
      ),
      next: undefined,
    };
    this.#running.set(key, running);
    return answer;
  }

  /** The next question replaces this one in the same turn of the event loop. */
  #end(key: string, { next }: Running<T>): void {
    if (next === undefined) this.#running.delete(key);
  }
}

interface Running<T> {
  readonly isOver: Promise<void>;
  next: Promise<T> | undefined;
}
