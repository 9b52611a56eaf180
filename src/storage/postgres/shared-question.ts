/**
 * Answers many callers with few questions. One question about a key is under way at a time; whoever asks meanwhile shares
 * the next one, which begins behind all of them: nobody is told what was true before he asked.
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

  /** The next question takes its place in the same turn. */
  #end(key: string, { next }: Running<T>): void {
    if (next === undefined) this.#running.delete(key);
  }
}

interface Running<T> {
  readonly isOver: Promise<void>;
  next: Promise<T> | undefined;
}
