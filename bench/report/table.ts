/** The results as a page of Markdown. */
import {
  medianAllocatedKiB,
  medianCpu,
  medianKernelShare,
  medianOf,
  type ContenderResult,
  type GoalResult,
  type ScenarioResult,
} from '../measure.js';
import type { Part } from './profile.js';

export interface CaseResult {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  /** Above the figures, in Markdown. */
  readonly summary: readonly string[];
  readonly scenarios: readonly ScenarioResult[];
  /** The scenarios in its picture. */
  readonly pictured: readonly ScenarioResult[];
  /** How the gateway's busy time was spent, if profiles were requested. */
  readonly parts: readonly Part[];
}

export interface Report {
  readonly startedAt: string;
  readonly machine: readonly string[];
  readonly options: string;
  readonly remarks: readonly string[];
  readonly cases: readonly CaseResult[];
}

export function markdown(report: Report): string {
  const head = [
    '# Benchmark report',
    '',
    `${report.startedAt}, \`npm run bench${report.options}\``,
    '',
    ...[...report.machine, ...report.remarks].map((line) => `- ${line}`),
    '',
  ];
  return [...head, ...report.cases.flatMap(caseLines)].join('\n');
}

function caseLines({ name, title, about, summary, scenarios, parts }: CaseResult): string[] {
  const figures = [...table(scenarios), ...goalLines(scenarios), ...partLines(parts)];
  return [`## ${name}: ${title}`, '', about, '', ...summary, ...figures, ''];
}

export function goalLines(scenarios: readonly ScenarioResult[]): string[] {
  const goals = scenarios.flatMap((scenario) => scenario.goals.map((goal) => goalRow(scenario.name, goal)));
  if (goals.length === 0) return [];
  return ['', '| expected of the gateway | | reached | |', '|---|---|---|---|', ...goals];
}

const LEAST_SHARE = 0.01;

function partLines(parts: readonly Part[]): string[] {
  if (parts.length === 0) return [];
  const shown = parts.filter(({ share }) => share >= LEAST_SHARE);
  const head = ['', "| part of the gateway's busy time | |", '|---|---|'];
  return [...head, ...shown.map(({ name, share }) => cells(name, percent(share)))];
}

function table(scenarios: readonly ScenarioResult[]): string[] {
  return [
    '| what | who | rate | ratio (spread) | CPU | in the kernel | CPU of the database | heap | p50 ms | p99 ms | peak MiB (over rest) | loop p99 ms | loop waited for a core |',
    '|---|---|---|---|---|---|---|---|---|---|---|---|---|',
    ...scenarios.flatMap((scenario) => scenario.contenders.map((contender) => row(scenario, contender))),
  ];
}

function row({ name, unit }: ScenarioResult, contender: ContenderResult): string {
  const { ratio, ratioSpread, failure, samples } = contender;
  if (samples.length === 0)
    return cells(name, contender.name, `failed: ${words(failure)}`, ...Array<string>(10).fill(''));
  const spread = ratioSpread?.map((value) => value.toFixed(2)).join('–') ?? '';
  const peak = number(medianOf(contender, 'peakMiB'), 0);
  return cells(
    name,
    contender.name,
    `${number(medianOf(contender, 'rate'), unit === 'MB/s' ? 1 : 0)} ${unit}`,
    ratio === undefined ? '' : `${ratio.toFixed(2)} × (${spread})`,
    cost(medianCpu(contender, unit), unit),
    percent(medianKernelShare(contender)),
    cost(medianCpu(contender, unit, 'databaseSeconds'), unit),
    number(medianAllocatedKiB(contender), 1, ' KiB'),
    number(medianOf(contender, 'p50Ms'), 2),
    number(medianOf(contender, 'p99Ms'), 2),
    peak === '' ? '' : `${peak} (+${number(medianOf(contender, 'overIdleMiB'), 0)})`,
    number(medianOf(contender, 'loopDelayMs'), 1),
    percent(medianOf(contender, 'waited')),
  );
}

function goalRow(scenario: string, { text, reached, isMet }: GoalResult): string {
  return cells(scenario, text, reached, isMet ? 'met' : '**missed**');
}

export const cells = (...texts: string[]): string => `| ${texts.join(' | ')} |`;
export const number = (value: number, digits: number, unit = ''): string =>
  Number.isNaN(value) ? '' : `${value.toFixed(digits)}${unit}`;
/** Without a fraction; thousands are separated. */
export const whole = (value: number): string => (Number.isNaN(value) ? '' : Math.round(value).toLocaleString('en'));
const cost = (value: number, unit: ScenarioResult['unit']): string =>
  unit === 'MB/s' ? number(value, 2, ' s/GiB') : number(value, 3, ' ms/op');
const percent = (part: number): string => number(part * 100, 0, ' %');
const words = (text = ''): string => text.replaceAll(/[|\n]+/g, ' ').slice(0, 120);
