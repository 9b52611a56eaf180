/**
 * The end of a piece of work, for code that waits for it. Like an AbortController and its signal, but cheaper: nearly
 * every request and operation is over before it could be aborted, and making two of those with their listeners takes a
 * twentieth of a small operation. A real AbortSignal is made on request.
 */
export class Ending {
  #cause: Error | undefined;
  #listeners: ((reason: Error) => void)[] = [];
  #controller: AbortController | undefined;

  get aborted(): boolean {
    return this.#cause !== undefined;
  }

  get reason(): Error | undefined {
    return this.#cause;
  }

  throwIfAborted(): void {
    if (this.#cause !== undefined) throw this.#cause;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#cause !== undefined) this.#controller.abort(this.#cause);
    }
    return this.#controller.signal;
  }

  /** The first reason counts. */
  abort(reason: Error): void {
    if (this.#cause !== undefined) return;
    this.#cause = reason;
    this.#controller?.abort(reason);
    for (let next = this.#listeners.shift(); next !== undefined; next = this.#listeners.shift()) next(reason);
  }

  /** Calls `act` once it aborts. Returns a function that stops listening. */
  listen(act: (reason: Error) => void): () => void {
    this.#listeners.push(act);
    return () => {
      const at = this.#listeners.indexOf(act);
      if (at >= 0) this.#listeners.splice(at, 1);
    };
  }
}

export type EndSignal = Ending | AbortSignal;

export function abortSignalOf(ending: EndSignal): AbortSignal {
  return ending instanceof Ending ? ending.signal : ending;
}
