import type { Stage } from '../remotes/remote.js';

/** A stretch of time on the clock of performance.now(). */
export interface Stretch {
  readonly stage: Stage;
  readonly from: number;
  readonly to: number;
}

/** Shorter ones are the marks' own noise. */
const SHOWN_FROM_MS = 0.005;

/** What the time of one operation goes to: one stage after the other, some of them more than once. */
export class Stages {
  private readonly marks: { readonly stage: Stage; readonly at: number }[] = [];
  private endedAt: number | undefined;
  private finalTotals: ReadonlyMap<Stage, number> | undefined;

  /** From now on, or from `at`, this stage runs. */
  mark(stage: Stage, at = performance.now()): void {
    if (this.endedAt === undefined) this.marks.push({ stage, at });
  }

  end(): void {
    this.endedAt ??= performance.now();
  }

  get current(): Stage | undefined {
    return this.marks.at(-1)?.stage;
  }

  /** The last one goes on until `end`, and is not among them before. */
  get stretches(): readonly Stretch[] {
    return this.marks.flatMap(({ stage, at: from }, index) => {
      const to = this.marks[index + 1]?.at ?? this.endedAt;
      return to === undefined ? [] : [{ stage, from, to }];
    });
  }

  /** Milliseconds of each stage, in the order in which they came first. */
  get totals(): ReadonlyMap<Stage, number> {
    // The answer, the metrics and the log of an operation want the same.
    return this.endedAt === undefined ? this.sum() : (this.finalTotals ??= this.sum());
  }

  private sum(): ReadonlyMap<Stage, number> {
    const totals = new Map<Stage, number>();
    for (const { stage, from, to } of this.stretches) totals.set(stage, (totals.get(stage) ?? 0) + to - from);
    return totals;
  }

  /** The value of a Server-Timing field (W3C Server Timing), of the stages that have ended. */
  get serverTiming(): string {
    const shown = [...this.totals].filter(([, ms]) => ms >= SHOWN_FROM_MS);
    return shown.map(([stage, ms]) => `${stage};dur=${Number(ms.toFixed(2))}`).join(', ');
  }
}
