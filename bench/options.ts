import { parseArgs } from 'node:util';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

export interface BenchOptions {
  /** Names of cases; none = all. */
  readonly cases: readonly string[];
  /** Only scenarios whose name contains this. */
  readonly only: string;
  readonly repeat: number;
  readonly size: number;
  readonly quick: boolean;
  /** Write a CPU profile of each gateway process here. */
  readonly profileFolder: string | undefined;
  readonly results: string;
  /** Put the summary of each case into docs/performance.md, with its picture. */
  readonly publish: boolean;
  /** A built checkout of another version, which is compared instead of the rivals. */
  readonly before: string | undefined;
}

export const USAGE = `npm run bench -- [CASE …] [options]
  --repeat N       rounds of each scenario (3)
  --size SIZE      of a large file, such as 256M or 1G (1G)
  --only TEXT      only scenarios whose name holds it, from the start of a word
  --quick          one short round, for a look: 64 MiB files
  --before DIR     beside the gateway of another checkout, built, and no others
  --profile DIR    CPU profiles of the gateway
  --results DIR    where the report goes (bench/results)
  --publish        the summary and its picture into docs/performance.md, too`;

/** @throws Error with the text to show */
export function readOptions(args: readonly string[], known: readonly string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      repeat: { type: 'string' },
      size: { type: 'string' },
      only: { type: 'string', default: '' },
      quick: { type: 'boolean', default: false },
      publish: { type: 'boolean', default: false },
      profile: { type: 'string' },
      before: { type: 'string' },
      results: { type: 'string', default: 'bench/results' },
    },
  });
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`no case is called ${unknown}; there are: ${known.join(', ')}`);
  const { quick, only, results, publish } = values;
  const repeat = Number(values.repeat ?? (quick ? 1 : 3));
  if (!Number.isInteger(repeat) || repeat < 1 || repeat > 20) throw new Error('--repeat takes 1 to 20');
  return {
    cases: positionals.length === 0 ? known : positionals,
    only,
    repeat,
    size: values.size === undefined ? (quick ? 64 * MIB : GIB) : readSize(values.size),
    quick,
    profileFolder: values.profile,
    results,
    publish,
    before: values.before,
  };
}

function readSize(text: string): number {
  const [, digits, unit] = /^(\d{1,4})(M|G)$/.exec(text) ?? [];
  const bytes = Number(digits) * (unit === 'G' ? GIB : MIB);
  if (!(bytes >= MIB && bytes <= 8 * GIB)) throw new Error(`--size ${text}: from 1M to 8G`);
  return bytes;
}
