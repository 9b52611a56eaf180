/** What is measured: contenders that do the same work in turn, and the goals of the first of them. */
import type { Lab } from './lab/lab.js';
import type { ScenarioResult } from './measure.js';

/** One contender's work, done once. */
export interface Work {
  readonly bytes: number;
  readonly operations: number;
  /** For each operation, in any order; absent if only the whole was timed. */
  readonly latenciesMs?: readonly number[];
  /** Present if the work timed itself, without the start of its own process. */
  readonly seconds?: number;
  /** For the process that did the work, if there is none in the middle. */
  readonly cpuSeconds?: number;
  /** Further figures, by their names. */
  readonly figures?: Readonly<Record<string, number>>;
}

/**
 * The counted part of the work: all of it, unless the work starts it again when it is warm, or ends it before its
 * process.
 */
export interface Window {
  begin(): void;
  end(): void;
}

export interface Contender {
  readonly name: string;
  /** The process in the middle, whose processor time and memory are read; absent if there is only the client. */
  readonly pid?: number;
  /** Further processes of the same kind, such as other nodes: their processor time and memory count as well. */
  readonly others?: readonly number[];
  /** The first process of its database, whose processor time is read with that of all processes below it. */
  readonly databasePid?: number;
  /** Resident memory of all these processes before their first work; otherwise its memory before the scenario is used. */
  readonly restMiB?: number;
  run(round: number, window: Window): Promise<Work>;
  /** Called after the time was taken: throws if the result differs from what was sent; cleans up. */
  verify?(round: number): Promise<void>;
  /** 99th percentile of the event loop's delay since the last call, in ms. */
  readonly loopDelayMs?: () => Promise<number>;
  /** The longest delay of the event loop since the last call, in ms; read instead of the percentile. */
  readonly longestStallMs?: () => Promise<number>;
  /** Bytes allocated on that process's heap so far. */
  readonly allocatedBytes?: () => number;
}

export type Goal =
  /** The first contender's rate divided by the rival's: median over the rounds. */
  | { readonly kind: 'ratio'; readonly against: string; readonly atLeast: number }
  /** Processor time of each operation. */
  | { readonly kind: 'cpu'; readonly atMostMs: number }
  /** Another contender's processor time divided by the first's: median over the rounds. */
  | { readonly kind: 'cost'; readonly of: string; readonly atMost: number }
  /** Difference of the median latencies. */
  | { readonly kind: 'added'; readonly against: string; readonly atMostMs: number }
  /** Peak memory above the process's memory at rest. */
  | { readonly kind: 'memory'; readonly atMostMiB: number }
  /** Total peak memory. */
  | { readonly kind: 'peak'; readonly atMostMiB: number }
  /** Operations a second: median of the rounds. */
  | { readonly kind: 'rate'; readonly atLeast: number }
  /** 99 of 100 operations in every round. */
  | { readonly kind: 'p99'; readonly atMostMs: number }
  /** The longest delay of the event loop in any round. */
  | { readonly kind: 'stall'; readonly atMostMs: number };

export interface Scenario {
  readonly name: string;
  readonly unit: 'MB/s' | 'ops/s';
  /** The first one is judged. */
  readonly contenders: readonly Contender[];
  readonly goals: readonly Goal[];
}

/** The gateway of another version, from another checkout. */
export const BEFORE = 'gateway before';
export const NOT_SLOWER: Goal = { kind: 'ratio', against: BEFORE, atLeast: 0.97 };

export interface CaseOptions {
  /** Bytes of a large file. */
  readonly size: number;
  /** Shorter runs, for a first impression. */
  readonly quick: boolean;
  /** A built checkout of another version, which is compared instead of the rivals. */
  readonly before: string | undefined;
  /** Scenarios whose name does not contain this are left out: what they need should not be started. */
  readonly only: string;
}

export interface BenchCase {
  readonly name: string;
  readonly title: string;
  /** What was measured, in words, for the report. */
  readonly about: string;
  /** Made one after the other: what a scenario needs may start when the one before has ended. */
  readonly scenarios: (lab: Lab, options: CaseOptions) => AsyncGenerator<Scenario>;
  /** A few lines above all figures, in Markdown. */
  readonly summary?: (results: readonly ScenarioResult[]) => string[];
  /** The scenarios in its picture; absent = all. */
  readonly pictured?: (results: readonly ScenarioResult[]) => readonly ScenarioResult[];
}
