/** Calls between two threads: each side serves functions by name, and calls those of the other side. */

/** A MessagePort or a Worker. Messages are cloned. */
interface Port {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

type Served = { readonly [name: string]: (...parts: never[]) => unknown };

type Message =
  | { readonly kind: 'call'; readonly id: number | undefined; readonly name: string; readonly parts: never[] }
  | { readonly kind: 'result'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly error: CarriedError };

/** An error in a form that can be cloned: it loses its class, but keeps its name and code. */
interface CarriedError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: unknown;
}

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

export class ThreadLine<Far extends Served> {
  readonly #port: Port;
  readonly #near: Served;
  readonly #pending = new Map<number, Pending>();
  #calls = 0;
  #ended: Error | undefined;

  constructor(port: Port, near: Served) {
    this.#port = port;
    this.#near = near;

    port.on('message', (message) => void this.#receive(message as Message));
  }

  /** Rejects with the error of the other side, or with the reason of `end`. */
  call<K extends keyof Far & string>(name: K, ...parts: Parameters<Far[K]>): Promise<Awaited<ReturnType<Far[K]>>> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended);
      const id = ++this.#calls;
      this.#pending.set(id, { resolve, reject });
      this.#port.postMessage({ kind: 'call', id, name, parts });
    });
  }

  /** A call without a result. Calls arrive in the order in which they are made. */
  notify<K extends keyof Far & string>(name: K, ...parts: Parameters<Far[K]>): void {
    this.#port.postMessage({ kind: 'call', id: undefined, name, parts });
  }

  /** The other side is gone: all waiting calls reject. */
  end(reason: Error): void {
    this.#ended = reason;
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
  }

  async #receive(message: Message): Promise<void> {
    if (message.kind === 'call') return this.#serve(message.id, message.name, message.parts);
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (message.kind === 'result') pending?.resolve(message.value as never);
    else pending?.reject(restored(message.error));
  }

  async #serve(id: number | undefined, name: string, parts: never[]): Promise<void> {
    try {
      const value = await this.#near[name]?.(...parts);
      if (id !== undefined) this.#port.postMessage({ kind: 'result', id, value });
    } catch (error) {
      // No caller waits for it: it escapes like any other unexpected error.
      if (id === undefined) throw error;
      this.#port.postMessage({ kind: 'failure', id, error: carried(error) });
    }
  }
}

export function carried(thrown: unknown): CarriedError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  return {
    name: error.name,
    message: error.message,
    stack: error.stack,
    code: (error as { readonly code?: unknown }).code,
  };
}

export function restored({ name, message, stack, code }: CarriedError): Error {
  return Object.assign(new Error(message), { name, stack }, code === undefined ? {} : { code });
}
