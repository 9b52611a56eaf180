import PQueue from 'p-queue';

/**
 * Runs the writes of each owner one after the other, independent of other owners. Many of them lock the same rows: at
 * once, each would hold a connection while it waits for the one before, and other owners would find none.
 */
export class OwnerTurns {
  readonly #queues = new Map<string, PQueue>();

  /** Work of a higher priority overtakes work that has not begun. */
  async run<T>(owner: string, work: () => Promise<T>, priority = 0): Promise<T> {
    const queue = this.#queues.get(owner) ?? new PQueue({ concurrency: 1 });
    this.#queues.set(owner, queue);
    try {
      return await queue.add(work, { priority });
    } finally {
      if (queue.size + queue.pending === 0 && this.#queues.get(owner) === queue) this.#queues.delete(owner);
    }
  }
}
