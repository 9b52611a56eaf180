const TURN_MS = 10;

/** Work on many entries, in turns: for any patterns and names, other work runs in between. */
export class Turns {
  #began = performance.now();

  isOver(): boolean {
    return performance.now() - this.#began > TURN_MS;
  }

  async next(): Promise<void> {
    await new Promise<void>(inNewTask);
    this.#began = performance.now();
  }
}

/** Browsers lack setImmediate, and nested timers would wait 4 ms there. */
const { setImmediate } = globalThis as { readonly setImmediate?: (work: () => void) => unknown };
const inNewTask = setImmediate ?? inNewMessage;

function inNewMessage(work: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener('message', () => {
    port1.close();
    work();
  });
  port1.start();
  port2.postMessage(undefined);
}
