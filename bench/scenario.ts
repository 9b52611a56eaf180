/** What is measured: contenders that do the same work in turn, and what the first of them is expected to reach. */
import type { Lab } from './lab/lab.js';
import type { ScenarioResult } from './measure.js';

/** One contender's work, done once. */
export interface Work {
  readonly bytes: number;
  readonly operations: number;
  /** Of each operation, in any order; absent where only the whole was timed. */
  readonly latenciesMs?: readonly number[];
  /** Where the work timed itself, without the start of its own process. */
  readonly seconds?: number;
  /** Of the process that worked, where there is none in the middle. */
  readonly cpuSeconds?: number;
}

/** What counts of the work: all of it, unless it begins anew when it is warm, or ends before its process does. */
export interface Window {
  begin(): void;
  end(): void;
}

export interface Contender {
  readonly name: string;
  /** The process in the middle, whose processor time and memory are read; absent where the client works alone. */
  readonly pid?: number;
  /** What that process had resident before its first work; otherwise what it has before the scenario. */
  readonly restMiB?: number;
  run(round: number, window: Window): Promise<Work>;
  /** After the clock has stopped: throws when what arrived is not what was sent; tidies up. */
  verify?(round: number): Promise<void>;
  /** 99th percentile of the event loop's delay since the last call, in ms. */
  readonly loopDelayMs?: () => Promise<number>;
  /** The longest delay of the event loop since the last call, in ms; read instead of the percentile. */
  readonly longestStallMs?: () => Promise<number>;
  /** What that process has made on its heap so far. */
  readonly allocatedBytes?: () => number;
}

export type Goal =
  /** The first contender's rate over the rival's: median over the rounds. */
  | { readonly kind: 'ratio'; readonly against: string; readonly atLeast: number }
  /** Processor time of each operation. */
  | { readonly kind: 'cpu'; readonly atMostMs: number }
  /** Another contender's processor time over the first's: median over the rounds. */
  | { readonly kind: 'cost'; readonly of: string; readonly atMost: number }
  /** Difference of the median latencies. */
  | { readonly kind: 'added'; readonly against: string; readonly atMostMs: number }
  /** Peak memory above what the process had at rest. */
  | { readonly kind: 'memory'; readonly atMostMiB: number }
  /** Peak memory in all. */
  | { readonly kind: 'peak'; readonly atMostMiB: number }
  /** 99 of 100 operations of any round. */
  | { readonly kind: 'p99'; readonly atMostMs: number }
  /** The longest delay of the event loop in any round. */
  | { readonly kind: 'stall'; readonly atMostMs: number };

export interface Scenario {
  readonly name: string;
  readonly unit: 'MB/s' | 'ops/s';
  /** The first is the one that is judged. */
  readonly contenders: readonly Contender[];
  readonly goals: readonly Goal[];
}

/** The gateway of another version, from a checkout of its own. */
export const BEFORE = 'gateway before';
export const NOT_SLOWER: Goal = { kind: 'ratio', against: BEFORE, atLeast: 0.97 };

export interface CaseOptions {
  /** Bytes of a large file. */
  readonly size: number;
  /** Shorter runs, for a look. */
  readonly quick: boolean;
  /** A built checkout of another version, to be compared with in place of the rivals. */
  readonly before: string | undefined;
  /** Scenarios whose name does not hold this are left out: what they need should not be started. */
  readonly only: string;
}

export interface BenchCase {
  readonly name: string;
  readonly title: string;
  /** What was measured, in words, for the report. */
  readonly about: string;
  /** Made one after the other: what a scenario needs may start when the one before has ended. */
  readonly scenarios: (lab: Lab, options: CaseOptions) => AsyncGenerator<Scenario>;
  /** Where a few lines tell more than all figures: in Markdown, above them. */
  readonly summary?: (results: readonly ScenarioResult[]) => string[];
  /** What its picture shows; absent = all. */
  readonly pictured?: (results: readonly ScenarioResult[]) => readonly ScenarioResult[];
}
