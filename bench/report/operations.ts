/** The summary of what an operation costs, for docs/performance.md. */
import type { Protocol } from '../lab/target.js';
import {
  costRatio,
  medianAllocatedKiB,
  medianCpu,
  medianOf,
  type ContenderResult,
  type ScenarioResult,
} from '../measure.js';
import { cells, number, whole } from './table.js';
import { WEBDAV } from '../rivals/http-gateways.js';

export const BARE: Readonly<Record<Protocol, string>> = { sftp: 'bare ssh2', ftp: 'bare basic-ftp', s3: 'bare SDK' };

export const VARIANTS = {
  nodeFrontEnd: 'gateway, node:http front end',
  noNativeCrypto: 'gateway, ssh2 without native crypto',
  fourLoops: 'gateway, 4 loops',
} as const;

const LOADED = ', 32 clients';

/** One row per operation, then the other ways to run the gateway beside the usual one. */
export function operationsSummary(results: readonly ScenarioResult[]): string[] {
  const rows = results.filter(({ name }) => name.endsWith(LOADED));
  const varied = rows.filter(({ contenders }) => Object.values(VARIANTS).some((name) => named(contenders, name)));
  return [
    '| one operation (files of 4 KiB) | processor time | of its database | on the heap | a second | of the bare library’s | of `rclone serve webdav`’s |',
    '|---|---|---|---|---|---|---|',
    ...rows.map(costRow),
    '',
    '![Operations a second](operations.svg)',
    '',
    ...(varied.length === 0 ? [] : [...variantHead(), ...varied.map(variantRow), '']),
    ...patience(results),
  ];
}

function costRow({ name, contenders }: ScenarioResult): string {
  const [own] = contenders;
  const bare = Object.values(BARE)
    .map((library) => named(contenders, library))
    .find(Boolean);
  const webdav = named(contenders, WEBDAV);
  return cells(
    operationOf(name),
    own === undefined ? '' : `**${number(medianCpu(own, 'ops/s'), 3)} ms**`,
    own === undefined ? '' : number(medianCpu(own, 'ops/s', 'databaseSeconds'), 3, ' ms'),
    own === undefined ? '' : number(medianAllocatedKiB(own), 1, ' KiB'),
    rate(own),
    partOf(bare),
    partOf(webdav),
  );
}

/** The gateway's rate as a part of a rival's. */
function partOf(rival: ContenderResult | undefined): string {
  return rival?.ratio === undefined ? '' : `${rival.ratio.toFixed(2)} × ${rate(rival)}`;
}

function variantHead(): string[] {
  return [
    '| processor time | as above | `node:http` front end | ssh2 without its native crypto | 4 loops | 4 loops, a second |',
    '|---|---|---|---|---|---|',
  ];
}

function variantRow({ name, contenders }: ScenarioResult): string {
  const [own] = contenders;
  const beside = (variant: string): string => {
    const other = named(contenders, variant);
    if (other === undefined || other.samples.length === 0) return '';
    return `${number(medianCpu(other, 'ops/s'), 3)} ms, ${number(costRatio(other, own), 2)} ×`;
  };
  return cells(
    operationOf(name),
    own === undefined ? '' : `${number(medianCpu(own, 'ops/s'), 3)} ms`,
    beside(VARIANTS.nodeFrontEnd),
    beside(VARIANTS.noNativeCrypto),
    beside(VARIANTS.fourLoops),
    rate(named(contenders, VARIANTS.fourLoops)),
  );
}

/** How long one or two clients wait. */
function patience(results: readonly ScenarioResult[]): string[] {
  const few = results.filter(({ name }) => /, (?:1 client$|2 clients for)/.test(name));
  if (few.length === 0) return [];
  return [
    '| what a client waits | p50 | p99 | bare library, p50 |',
    '|---|---|---|---|',
    ...few.map(({ name, contenders: [own, bare] }) =>
      cells(
        name,
        number(medianOf(own, 'p50Ms'), 2, ' ms'),
        number(medianOf(own, 'p99Ms'), 2, ' ms'),
        number(medianOf(bare, 'p50Ms'), 2, ' ms'),
      ),
    ),
    '',
  ];
}

/** Contenders with the same work: the gateway, the bare library, rclone. */
export function pictured(results: readonly ScenarioResult[]): ScenarioResult[] {
  const variants: readonly string[] = Object.values(VARIANTS);
  return results
    .filter(({ name, contenders }) => name.endsWith(LOADED) && contenders.length > 1 && /^(?:sftp|ftp|s3) /.test(name))
    .map((result) => ({ ...result, contenders: result.contenders.filter(({ name }) => !variants.includes(name)) }));
}

const named = (contenders: readonly ContenderResult[], name: string): ContenderResult | undefined =>
  contenders.find((contender) => contender.name === name);

const operationOf = (name: string): string => name.replace(LOADED, '');
const rate = (contender: ContenderResult | undefined): string => whole(medianOf(contender, 'rate'));
