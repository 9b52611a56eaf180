/** Which test files share a process, and why the others do not. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { measures } from '../tiers.js';
import { reachedBy } from './imports.js';

/** More would save little: each further file in a process saves the same, and one that is ended early loses more. */
const MOST_IN_ONE = 12;
/** The most files in one process that start a gateway or a database: each delays the files after it. */
const MOST_STARTING = 6;

/** A file whose text matches changes, or measures, what its whole process has. */
const OF_THE_PROCESS: readonly (readonly [reason: string, text: RegExp])[] = [
  ['changes the environment', /\bprocess\.env(\.\w+|\[[^\]]+\])\s*(\?\?|\|\|)?=(?!=)|\bdelete process\.env\b/],
  ['ends or signals its process', /\bprocess\.(exit|abort)\(|\bprocess\.exitCode\b|\bprocess\.kill\(process\.pid\b/],
  ['listens to its process', /\bprocess\.(on|once|prependListener|removeAllListeners)\(/],
  ['changes the folder or the user', /\bprocess\.(chdir|umask|setuid|setgid|seteuid|setegid)\(/],
  ['sets the clock', /\bmock\.timers\b|\b(globalThis\.)?Date\.now = /],
  ['replaces what others call', /\bmock\.method\(|\bglobalThis\.\w+ = |\bsetGlobalDispatcher\b|\bglobalAgent\b/],
  [
    'measures its process',
    /\bprocess\.(memoryUsage|cpuUsage|resourceUsage|getActiveResourcesInfo)\b|\bmonitorEventLoopDelay\b|\/support\/memory\.js['"]/,
  ],
  ['is known by its process', /\bprocess\.argv\b|\/support\/reliability\.js['"]/],
  ['sets how it collects', /\bsetFlagsFromString\b|\bglobal\.gc\b|\bglobalThis\.gc\b/],
];
const STARTS = /[\\/]test[\\/](support[\\/]gateway|servers[\\/]postgres)\.js$/;
/** Paths below test/: they install, build or compare for a minute and more. */
const TAKES_LONG = /^(bench|deploy|python|release)\b|^docs\/newcomer\.|^remotes\/\w+\/(seam|servers|together)/;

export interface Batches {
  /** Each in a process of its own. */
  readonly alone: readonly string[];
  readonly together: readonly (readonly string[])[];
}

/** Why the file has its process to itself; `name` is its path below `folder`, the compiled tests. */
export function aloneBecause(name: string, folder: string): string | undefined {
  if (measures(name)) return 'holds what it measures against a bound';
  if (TAKES_LONG.test(name)) return 'takes long';
  const text = readFileSync(path.join(folder, name), 'utf8');
  const [reason] = OF_THE_PROCESS.find(([, pattern]) => pattern.test(text)) ?? [];
  return reason;
}

/** In batches of one size, at least as many as run side by side; files that start something keep to themselves. */
export function batchesOf(names: readonly string[], folder: string, sideBySide: number): Batches {
  const sharing = names.filter((name) => aloneBecause(name, folder) === undefined);
  const isStarting = (name: string): boolean =>
    [...reachedBy(path.join(folder, name)).keys()].some((module) => STARTS.test(module));
  const starting = new Set(sharing.filter(isStarting));
  const batches = [
    ...divided([...starting], MOST_STARTING, sideBySide),
    ...divided(
      sharing.filter((name) => !starting.has(name)),
      MOST_IN_ONE,
      sideBySide,
    ),
  ];
  return {
    alone: [...names.filter((name) => !sharing.includes(name)), ...batches.filter(isSingle).flat()],
    together: batches.filter((batch) => !isSingle(batch)),
  };
}

/** Neighbours by name load much the same. */
function divided(names: readonly string[], most: number, sideBySide: number): readonly (readonly string[])[] {
  const count = Math.max(Math.min(sideBySide, names.length), Math.ceil(names.length / most));
  return Array.from({ length: count }, (_, batch) =>
    names.filter((_name, index) => Math.floor((index * count) / names.length) === batch),
  );
}

function isSingle(batch: readonly string[]): boolean {
  return batch.length === 1;
}
