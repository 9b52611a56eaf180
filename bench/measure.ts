/** Runs the contenders of a scenario in turn, round after round, and computes the figures. */
import { ProcessMeter, residentMiB, treeCpuSeconds, type Cost } from './lab/process-meter.js';
import type { Contender, Goal, Scenario, Window } from './scenario.js';

const GIB = 1024 ** 3;
const MB = 1e6;

export interface Sample {
  readonly round: number;
  /** In the scenario's unit. */
  readonly rate: number;
  readonly seconds: number;
  readonly bytes: number;
  readonly operations: number;
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  readonly cpuSeconds: number | undefined;
  readonly kernelSeconds: number | undefined;
  /** Processor time of the database of that process. */
  readonly databaseSeconds: number | undefined;
  /** Part of the time in which the event loop was ready to run and had no core; for contenders with an event loop. */
  readonly waited: number | undefined;
  readonly peakMiB: number | undefined;
  /** Peak above the memory that the process had at rest before the first round. */
  readonly overIdleMiB: number | undefined;
  readonly loopDelayMs: number | undefined;
  readonly longestStallMs: number | undefined;
  readonly allocatedBytes: number | undefined;
  readonly figures: Readonly<Record<string, number>>;
}

export interface ContenderResult {
  readonly name: string;
  readonly samples: readonly Sample[];
  /** The first contender's rate divided by this one's: median of the rounds. */
  readonly ratio: number | undefined;
  readonly ratioSpread: readonly [number, number] | undefined;
  readonly failure: string | undefined;
}

export interface GoalResult {
  readonly text: string;
  readonly reached: string;
  readonly isMet: boolean;
}

export interface ScenarioResult {
  readonly name: string;
  readonly unit: Scenario['unit'];
  readonly contenders: readonly ContenderResult[];
  readonly goals: readonly GoalResult[];
}

const LOOP_DELAY_MS = 20;

interface Running {
  readonly contender: Contender;
  readonly idleMiB: number | undefined;
  readonly samples: Sample[];
  failure: string | undefined;
}

export async function measure(
  scenario: Scenario,
  rounds: number,
  say: (text: string) => void,
): Promise<ScenarioResult> {
  const all: Running[] = scenario.contenders.map((contender) => ({
    contender,
    idleMiB: contender.restMiB ?? restOf(contender),
    samples: [],
    failure: undefined,
  }));
  for (let round = 0; round < rounds; round += 1) {
    // What remains of one must not always slow down the same other one.
    for (const running of round % 2 === 0 ? all : [...all].reverse()) {
      if (running.failure !== undefined) continue;
      try {
        const sample = await once(scenario, running, round);
        running.samples.push(sample);
        say(`${scenario.name} · ${running.contender.name}: ${sample.rate.toFixed(1)} ${scenario.unit}`);
      } catch (error) {
        running.failure = error instanceof Error ? error.message : String(error);
        say(`${scenario.name} · ${running.contender.name} FAILED: ${running.failure}`);
      }
    }
  }
  const contenders = all.map((running) => result(running, all[0]));
  const loopDelays = all[0]?.samples.flatMap(({ loopDelayMs }) => loopDelayMs ?? []) ?? [];
  return {
    name: scenario.name,
    unit: scenario.unit,
    contenders,
    goals: [
      ...scenario.goals.map((goal) => judge(goal, contenders)),
      ...(loopDelays.length === 0 ? [] : [judgeLoop(median(loopDelays))]),
    ],
  };
}

function restOf({ pid, others = [] }: Contender): number | undefined {
  return pid === undefined ? undefined : [pid, ...others].reduce((sum, one) => sum + residentMiB(one), 0);
}

async function once(scenario: Scenario, running: Running, round: number): Promise<Sample> {
  const { contender, idleMiB } = running;
  await contender.loopDelayMs?.();
  await contender.longestStallMs?.();
  const stopwatch = new Stopwatch(contender);
  const work = await contender.run(round, stopwatch);
  const { wallSeconds, cost, databaseSeconds, allocatedBytes } = stopwatch.read();
  const seconds = work.seconds ?? wallSeconds;
  const loopDelayMs = await contender.loopDelayMs?.();
  const longestStallMs = await contender.longestStallMs?.();
  await contender.verify?.(round);
  const sorted = work.latenciesMs?.toSorted((a, b) => a - b);
  return {
    round,
    rate: scenario.unit === 'MB/s' ? work.bytes / MB / seconds : work.operations / seconds,
    seconds,
    bytes: work.bytes,
    operations: work.operations,
    p50Ms: sorted && quantile(sorted, 0.5),
    p99Ms: sorted && quantile(sorted, 0.99),
    cpuSeconds: cost?.cpuSeconds ?? work.cpuSeconds,
    kernelSeconds: cost?.kernelSeconds,
    databaseSeconds,
    waited: loopDelayMs === undefined || cost === undefined ? undefined : cost.waitedSeconds / wallSeconds,
    peakMiB: cost?.peakMiB,
    overIdleMiB: cost && idleMiB !== undefined ? cost.peakMiB - idleMiB : undefined,
    loopDelayMs,
    longestStallMs,
    allocatedBytes,
    figures: work.figures ?? {},
  };
}

interface Seen {
  readonly wallSeconds: number;
  readonly cost: Cost | undefined;
  readonly databaseSeconds: number | undefined;
  readonly allocatedBytes: number | undefined;
}

class Stopwatch implements Window {
  readonly #contender: Contender;
  #meters: readonly ProcessMeter[] = [];
  #databaseBefore = 0;
  #allocatedBefore = 0;
  #startedAt = 0;
  #seen: Seen | undefined;

  constructor(contender: Contender) {
    this.#contender = contender;

    this.begin();
  }

  begin(): void {
    const { pid, others = [], databasePid, allocatedBytes } = this.#contender;
    this.#meters = pid === undefined ? [] : [pid, ...others].map((one) => new ProcessMeter(one));
    this.#databaseBefore = databasePid === undefined ? 0 : treeCpuSeconds(databasePid);
    this.#allocatedBefore = allocatedBytes?.() ?? 0;
    this.#startedAt = performance.now();
  }

  end(): void {
    const { databasePid } = this.#contender;
    this.#seen ??= {
      wallSeconds: (performance.now() - this.#startedAt) / 1000,
      cost: this.#meters.length === 0 ? undefined : sumOf(this.#meters.map((meter) => meter.read())),
      databaseSeconds: databasePid === undefined ? undefined : treeCpuSeconds(databasePid) - this.#databaseBefore,
      allocatedBytes: this.#contender.allocatedBytes && this.#contender.allocatedBytes() - this.#allocatedBefore,
    };
  }

  read(): Seen {
    this.end();
    return this.#seen as Seen;
  }
}

function sumOf(costs: readonly Cost[]): Cost {
  const sum = (of: (cost: Cost) => number): number => costs.reduce((total, cost) => total + of(cost), 0);
  return {
    cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds),
    kernelSeconds: sum(({ kernelSeconds }) => kernelSeconds),
    waitedSeconds: sum(({ waitedSeconds }) => waitedSeconds) / costs.length,
    peakMiB: sum(({ peakMiB }) => peakMiB),
  };
}

function result({ contender, samples, failure }: Running, first: Running | undefined): ContenderResult {
  const ratios = samples.flatMap(({ round, rate }) => {
    const own = first?.samples.find((sample) => sample.round === round);
    return own === undefined || contender === first?.contender ? [] : [own.rate / rate];
  });
  return {
    name: contender.name,
    samples,
    ratio: ratios.length === 0 ? undefined : median(ratios),
    ratioSpread: ratios.length === 0 ? undefined : [Math.min(...ratios), Math.max(...ratios)],
    failure,
  };
}

function judge(goal: Goal, contenders: readonly ContenderResult[]): GoalResult {
  const [own] = contenders;
  switch (goal.kind) {
    case 'memory':
      return judgeWorst(own, 'overIdleMiB', goal.atMostMiB, `at most ${goal.atMostMiB} MiB above rest`, 'MiB');
    case 'peak':
      return judgeWorst(own, 'peakMiB', goal.atMostMiB, `at most ${goal.atMostMiB} MiB in all`, 'MiB');
    case 'p99':
      return judgeWorst(own, 'p99Ms', goal.atMostMs, `at most ${goal.atMostMs} ms (p99)`, 'ms');
    case 'stall':
      return judgeWorst(own, 'longestStallMs', goal.atMostMs, `event loop never ${goal.atMostMs} ms late`, 'ms');
    case 'rate': {
      const rate = medianOf(own, 'rate');
      const text = `at least ${goal.atLeast.toLocaleString('en')} a second`;
      return { text, reached: Math.round(rate).toLocaleString('en'), isMet: rate >= goal.atLeast };
    }
    case 'ratio': {
      const ratio = contenders.find(({ name }) => name === goal.against)?.ratio ?? NaN;
      const text = `at least ${goal.atLeast} × ${goal.against}`;
      return { text, reached: `${ratio.toFixed(2)} ×`, isMet: ratio >= goal.atLeast };
    }
    case 'cpu': {
      const cost = own === undefined ? NaN : medianCpu(own, 'ops/s');
      const text = `at most ${goal.atMostMs} ms of processor time`;
      return { text, reached: `${cost.toFixed(3)} ms`, isMet: cost <= goal.atMostMs };
    }
    case 'cost': {
      const ratio = costRatio(
        contenders.find(({ name }) => name === goal.of),
        own,
      );
      const text = `${goal.of}: at most ${goal.atMost} × the processor time`;
      return { text, reached: `${ratio.toFixed(2)} ×`, isMet: ratio <= goal.atMost };
    }
    case 'added': {
      const rival = contenders.find(({ name }) => name === goal.against);
      const added = medianOf(own, 'p50Ms') - medianOf(rival, 'p50Ms');
      const text = `at most ${goal.atMostMs} ms more than ${goal.against} (p50)`;
      return { text, reached: `${added.toFixed(2)} ms`, isMet: added <= goal.atMostMs };
    }
  }
}

/** Judges by the worst round. */
function judgeWorst(
  own: ContenderResult | undefined,
  figure: Figure,
  most: number,
  text: string,
  unit: string,
): GoalResult {
  const worst = Math.max(...(own?.samples.map((sample) => sample[figure] ?? NaN) ?? []));
  return { text, reached: `${worst.toFixed(0)} ${unit}`, isMet: own?.failure === undefined && worst <= most };
}

function judgeLoop(delayMs: number): GoalResult {
  const text = `event loop delayed less than ${LOOP_DELAY_MS} ms (p99)`;
  return { text, reached: `${delayMs.toFixed(1)} ms`, isMet: delayMs < LOOP_DELAY_MS };
}

export type Figure =
  'rate' | 'p50Ms' | 'p99Ms' | 'peakMiB' | 'overIdleMiB' | 'loopDelayMs' | 'longestStallMs' | 'waited';

/** NaN if nothing was measured. */
export function medianOf(contender: ContenderResult | undefined, figure: Figure): number {
  return median(contender?.samples.flatMap((sample) => sample[figure] ?? []) ?? []);
}

/** Processor time of the process in the middle, or of its database: seconds per GiB, or milliseconds per operation. */
export function medianCpu(
  contender: ContenderResult,
  unit: Scenario['unit'],
  of: 'cpuSeconds' | 'databaseSeconds' = 'cpuSeconds',
): number {
  return median(contender.samples.flatMap((sample) => cpuOf(sample, unit, of) ?? []));
}

function cpuOf(
  sample: Sample,
  unit: Scenario['unit'],
  of: 'cpuSeconds' | 'databaseSeconds' = 'cpuSeconds',
): number | undefined {
  const { [of]: seconds, bytes, operations } = sample;
  if (seconds === undefined) return undefined;
  return unit === 'MB/s' ? (seconds * GIB) / bytes : (seconds * 1000) / operations;
}

/** One of the further figures; NaN if it was not measured. */
export function medianFigure(contender: ContenderResult | undefined, name: string): number {
  return median(contender?.samples.flatMap(({ figures }) => figures[name] ?? []) ?? []);
}

/** The processor time of one contender's operation divided by another's: median of the rounds, NaN if there is none. */
export function costRatio(one: ContenderResult | undefined, other: ContenderResult | undefined): number {
  const ratios = (one?.samples ?? []).flatMap((sample) => {
    const beside = other?.samples.find(({ round }) => round === sample.round);
    const [cost, besides] = [cpuOf(sample, 'ops/s'), beside && cpuOf(beside, 'ops/s')];
    return cost === undefined || besides === undefined ? [] : [cost / besides];
  });
  return median(ratios);
}

/** What one operation allocates on the heap, in KiB; NaN if it was not counted. */
export function medianAllocatedKiB({ samples }: ContenderResult): number {
  return median(
    samples.flatMap(({ allocatedBytes, operations }) =>
      allocatedBytes === undefined ? [] : [allocatedBytes / 1024 / operations],
    ),
  );
}

/** The kernel's part of that time, 0 to 1. */
export function medianKernelShare(contender: ContenderResult): number {
  return median(
    contender.samples.flatMap(({ cpuSeconds, kernelSeconds }) =>
      cpuSeconds === undefined || kernelSeconds === undefined ? [] : [kernelSeconds / cpuSeconds],
    ),
  );
}

export function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

/** Nearest rank, for sorted values. */
export function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? NaN;
}
