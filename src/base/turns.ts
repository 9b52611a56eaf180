import { setImmediate } from 'node:timers/promises';

const TURN_MS = 10;

/** Work on entry after entry, in turns: whatever the patterns and names, everybody else is served in between. */
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
