/**
 * Time limits, abort signals and stalls. Times are in milliseconds. Everything made here removes its timer and its
 * listener as soon as it has settled: signals live as long as a request, a session or the process.
 */
import type { Readable, Writable } from 'node:stream';
import { Ending, type EndSignal } from './ending.js';

/** Calls `act` with the signal's reason once it aborts, at once if it has. Returns a function that stops listening. */
export function onAbort(signal: EndSignal, act: (reason: Error) => void): () => void {
  if (signal.aborted) {
    act(signal.reason as Error);
    return () => undefined;
  }
  if (signal instanceof Ending) return signal.listen(act);
  const hear = (): void => act(signal.reason as Error);
  signal.addEventListener('abort', hear, { once: true });
  return () => signal.removeEventListener('abort', hear);
}

/** Destroys `stream` with the signal's reason once that aborts, unless the stream has already ended. */
export function destroyOnAbort(stream: Readable | Writable, signal: EndSignal): void {
  stream.once(
    'close',
    onAbort(signal, (reason) => stream.destroy(reason)),
  );
}

/** A timer that is later than this shows that the process did not run, as on a machine that is overloaded or paused. */
const LATE_MS = 100;

/**
 * A timer for the limit of a wait. Time by which it is late is given back, once: the process did not run then, and what
 * has arrived meanwhile is read after its timers.
 */
class LimitTimer {
  readonly #ms: number;
  readonly #act: () => void;
  readonly #isPatient: boolean;
  #dueAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #isExtended = true;

  /** If it is not patient, the wait does not keep the process alive. */
  constructor(ms: number, act: () => void, isPatient = true) {
    this.#ms = ms;
    this.#act = act;
    this.#isPatient = isPatient;
    this.restart();
  }

  restart(): void {
    this.#dueAt = performance.now() + this.#ms;
    if (!this.#isExtended) return void this.#timer?.refresh();
    this.stop();
    this.#isExtended = false;
    this.#set(this.#ms, () => this.#fire());
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #set(ms: number, act: () => void): void {
    this.#timer = setTimeout(act, ms);
    if (!this.#isPatient) this.#timer.unref();
  }

  #fire(): void {
    const lateMs = performance.now() - this.#dueAt;
    if (lateMs <= LATE_MS) return this.#act();
    this.#isExtended = true;
    this.#set(Math.min(lateMs, this.#ms), this.#act);
  }
}

interface Deadline {
  readonly ms: number;
  /** Returns the error for a timeout; called when the time is over. */
  readonly late: () => Error;
  /** Ends the work earlier, with its reason. */
  readonly signal?: EndSignal;
}

type Limits = Deadline | { readonly signal?: EndSignal };

/**
 * `new Promise` for work that may be given up: it rejects with the signal's reason, or with `late()` after `ms`, unless
 * `done` or `fail` comes first. `start` may return a clean-up function: it is called once, when the promise settles,
 * with the error if there is one. Nothing is started if the signal has aborted before.
 */
export function waitFor<T>(
  limits: Limits,
  start: (
    done: (value: T) => void,
    fail: (error: Error) => void,
  ) => ((error: Error | undefined) => unknown) | undefined | void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const { signal } = limits;
    if (signal?.aborted === true) return reject(signal.reason as Error);
    let isOver = false;
    let failure: Error | undefined;
    let cleanUp: ReturnType<typeof start>;
    let timer: LimitTimer | undefined;
    let stopListening: (() => void) | undefined;
    const end = (error: Error | undefined): boolean => {
      if (isOver) return false;
      isOver = true;
      failure = error;
      timer?.stop();
      stopListening?.();
      cleanUp?.(error);
      return true;
    };
    const fail = (error: Error): void => {
      if (end(error)) reject(error);
    };
    const done = (value: T): void => {
      if (end(undefined)) resolve(value);
    };
    if (signal !== undefined) stopListening = onAbort(signal, fail);
    if ('ms' in limits) timer = new LimitTimer(limits.ms, () => fail(limits.late()));
    try {
      cleanUp = start(done, fail);
      if (isOver) cleanUp?.(failure);
    } catch (error) {
      fail(error as Error);
    }
  });
}

/** Settles like `work`, or rejects with the signal's reason as soon as it aborts; `work` itself continues. */
export function orAbort<T>(work: PromiseLike<T>, signal: EndSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    // Written out for speed: every request to a remote server waits like this.
    const stopListening = onAbort(signal, reject);
    void work.then(
      (value) => {
        stopListening();
        resolve(value);
      },
      (error: Error) => {
        stopListening();
        reject(error);
      },
    );
  });
}

/**
 * Settles like `work`, or like `late()` after `ms`: with its result or its error. `work` itself continues. With
 * `isPatient` false the wait does not keep the process alive.
 */
export async function within<T, L>(
  work: PromiseLike<T>,
  ms: number,
  late: () => L,
  { isPatient = true } = {},
): Promise<T | L> {
  let timer: LimitTimer | undefined;
  const over = new Promise<void>((done) => {
    timer = new LimitTimer(ms, done, isPatient);
  });
  try {
    return await Promise.race([work, over.then(late)]);
  } finally {
    timer?.stop();
  }
}

/**
 * Runs `work` with an ending that aborts like the given signal, or with `late()` after `ms`, and waits until `work` has
 * ended. If the signal has aborted, its reason is thrown, regardless of the result of `work`. Unlike AbortSignal.any it
 * keeps nothing afterwards.
 */
export async function withDeadline<T>({ ms, late, signal }: Deadline, work: (limit: Ending) => Promise<T>): Promise<T> {
  const limit = new Ending();
  const stopListening = signal === undefined ? undefined : onAbort(signal, (reason) => limit.abort(reason));
  const timer = new LimitTimer(ms, () => limit.abort(late()));
  try {
    return await work(limit);
  } catch (error) {
    throw limit.reason ?? error;
  } finally {
    timer.stop();
    stopListening?.();
  }
}

/** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
export function pause(ms: number, signal?: EndSignal): Promise<void> {
  return waitFor(signal === undefined ? {} : { signal }, (done) => {
    const timer = setTimeout(done, ms);
    return () => clearTimeout(timer);
  });
}

/**
 * Runs only while it is the other side's turn: a slow reader is not a stall of the server. Called for every chunk of a
 * body: pausing and restarting use one timer and allocate nothing.
 */
export class StallTimer {
  readonly #ms: number;
  readonly #onStall: (ms: number) => void;
  #timer: LimitTimer | undefined;
  #timerMs = 0;
  #isRunning = false;

  /** `onStall` gets the time without progress. */
  constructor(ms: number, onStall: (ms: number) => void) {
    this.#ms = ms;
    this.#onStall = onStall;
  }

  /** It is the other side's turn, or it has just moved a byte; from now on it has `ms`. */
  restart(ms = this.#ms): void {
    this.#isRunning = true;
    if (this.#timer !== undefined && this.#timerMs === ms) {
      this.#timer.restart();
      return;
    }
    this.#timer?.stop();
    this.#timerMs = ms;
    this.#timer = new LimitTimer(ms, () => this.#fire());
  }

  /** It is our turn. */
  pause(): void {
    this.#isRunning = false;
  }

  stop(): void {
    this.#isRunning = false;
    this.#timer?.stop();
    this.#timer = undefined;
  }

  #fire(): void {
    this.#timer = undefined;
    if (this.#isRunning) this.#onStall(this.#timerMs);
  }
}
