/** The parts that the process is made of: started one after the other, and stopped in reverse. */
import type { Logger } from '../observe/log.js';

export interface Part {
  readonly name: string;
  /** The event loops on which it runs; absent = it is of the process, or runs as soon as it is made. */
  readonly threads?: 'all' | 'first' | undefined;
  start?(): void | Promise<void>;
  stop?(): void | Promise<void>;
}

/** The part of a list that an object with `start` and `stop` is. */
export function partOf(name: string, threads: Part['threads'], work: Required<Pick<Part, 'start' | 'stop'>>): Part {
  return { name, threads, start: () => work.start(), stop: () => work.stop() };
}

export class Parts {
  readonly #running: Part[] = [];

  /** A part that runs already. */
  add(part: Part): void {
    this.#running.push(part);
  }

  /**
   * Starts the parts of the list that run on these event loops. When one fails to start, it and all later ones stay
   * unstarted.
   */
  async start(parts: readonly Part[], threads: Part['threads']): Promise<void> {
    for (const part of parts.filter((one) => one.threads === threads)) {
      await part.start?.();
      this.add(part);
    }
  }

  /** Stops all in reverse; one that fails to stop does not keep the others. */
  async stop(logger: Logger): Promise<void> {
    for (const part of this.#running.splice(0).reverse()) {
      try {
        await part.stop?.();
      } catch (error) {
        logger.error({ err: error, part: part.name }, 'a part did not stop cleanly');
      }
    }
  }
}
