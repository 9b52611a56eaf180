import PQueue from 'p-queue';

/**
 * What one owner writes goes one after the other, whatever others do meanwhile. Much of it locks the same rows: done at
 * once, each would hold a connection while it waits for the one before, and others would find none.
 */
export class OwnerTurns {
  readonly #queues = new Map<string, PQueue>();

  /** Work of a higher priority overtakes what has not begun. */
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
