import { setImmediate } from 'node:timers/promises';

const TURN_MS = 10;

/** Work on many entries, in turns: for any patterns and names, other work runs in between. */
export class Turns {
  #began = performance.now();

  isOver(): boolean {
    return performance.now() - this.#began > TURN_MS;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#began = performance.now();
  }
}
