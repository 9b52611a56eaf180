import type { Stage } from '../remotes/remote.js';

/** A period of time on the clock of performance.now(). */
interface Stretch {
  readonly stage: Stage;
  readonly from: number;
  readonly to: number;
}

export interface StageTimes {
  /** Calls `report` with the milliseconds of each stage that has ended, in the order in which they first began. */
  forEach(report: (ms: number, stage: Stage) => void): void;
}

/** Shorter ones are noise of the marks. */
const SHOWN_FROM_MS = 0.005;

/** How the time of one operation is spent: one stage after the other, some of them more than once. */
export class Stages implements StageTimes {
  readonly #keepsStretches: boolean;
  /** In the order in which they first began, and the milliseconds of each up to the last mark. */
  readonly #names: Stage[] = [];
  readonly #times: number[] = [];
  readonly #passed: Stretch[] = [];
  #stage: Stage | undefined;
  #since = 0;
  #isOver = false;

  /** `keepsStretches`: `stretches` will be read. */
  constructor(keepsStretches: boolean) {
    this.#keepsStretches = keepsStretches;
  }

  /** This stage runs from now on, or from `at`. */
  mark(stage: Stage, at = performance.now()): void {
    if (this.#isOver) return;
    this.#pass(at);
    this.#stage = stage;
    this.#since = at;
  }

  end(): void {
    if (this.#isOver) return;
    this.#pass(performance.now());
    this.#isOver = true;
  }

  get current(): Stage | undefined {
    return this.#stage;
  }

  /** Those that have ended. */
  get stretches(): readonly Stretch[] {
    return this.#passed;
  }

  forEach(report: (ms: number, stage: Stage) => void): void {
    for (let index = 0; index < this.#names.length; index++)
      report(this.#times[index] as number, this.#names[index] as Stage);
  }

  /** The value of a Server-Timing field (W3C Server Timing) for the stages that have ended. */
  get serverTiming(): string {
    let text = '';
    this.forEach((ms, stage) => {
      if (ms >= SHOWN_FROM_MS) text += `${text === '' ? '' : ', '}${stage};dur=${Number(ms.toFixed(2))}`;
    });
    return text;
  }

  /** The same, in the form that is stored. */
  get byName(): Readonly<Partial<Record<Stage, number>>> {
    const times: Partial<Record<Stage, number>> = {};
    this.forEach((ms, stage) => {
      if (ms >= SHOWN_FROM_MS) times[stage] = Number(ms.toFixed(2));
    });
    return times;
  }

  #pass(at: number): void {
    if (this.#stage === undefined) return;
    const index = this.#names.indexOf(this.#stage);
    if (index < 0) {
      this.#names.push(this.#stage);
      this.#times.push(at - this.#since);
    } else this.#times[index] = (this.#times[index] as number) + at - this.#since;
    if (this.#keepsStretches) this.#passed.push({ stage: this.#stage, from: this.#since, to: at });
  }
}
