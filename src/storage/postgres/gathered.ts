/**
 * Answers many callers with few statements: one runs at a time, and takes all that were asked while the one before ran.
 * So one caller waits for one statement, and many callers share few.
 */
export class Gathered<Q, A> {
  readonly #ask: (questions: readonly Q[]) => Promise<readonly A[]>;
  #waiting: Waiting<Q, A>[] = [];
  #isRunning = false;

  /** `ask` resolves with the answers in the order of the questions. */
  constructor(ask: (questions: readonly Q[]) => Promise<readonly A[]>) {
    this.#ask = ask;
  }

  /** Rejects as the statement does. */
  answer(question: Q): Promise<A> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      // The rest of this turn of the event loop may also ask.
      setImmediate(() => void this.#run());
    });
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      try {
        const answers = await this.#ask(batch.map(({ question }) => question));
        for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as A);
      } catch (error) {
        for (const { reject } of batch) reject(error as Error);
      }
    }
    this.#isRunning = false;
  }
}

interface Waiting<Q, A> {
  readonly question: Q;
  readonly resolve: (answer: A) => void;
  readonly reject: (error: Error) => void;
}
