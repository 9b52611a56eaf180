/** Which test files share a process, and why the others do not. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { measures } from '../tiers.js';
import { reachedBy } from './imports.js';

/** More would save little: each further file in a process saves the same, and one that is ended early loses more. */
const MOST_IN_ONE = 12;

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
    /\bprocess\.(memoryUsage|cpuUsage|resourceUsage|getActiveResourcesInfo)\b|\bmonitorEventLoopDelay\b/,
  ],
  ['is known by its process', /\bprocess\.argv\b|\/support\/reliability\.js['"]/],
  ['sets how it collects', /\bsetFlagsFromString\b|\bglobal\.gc\b|\bglobalThis\.gc\b/],
];
/** What takes longer than loading modules does, and would hold up the files after it. */
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
  const file = path.join(folder, name);
  const text = readFileSync(file, 'utf8');
  const [reason] = OF_THE_PROCESS.find(([, pattern]) => pattern.test(text)) ?? [];
  if (reason !== undefined) return reason;
  return [...reachedBy(file).keys()].some((module) => STARTS.test(module))
    ? 'starts a gateway or a database'
    : undefined;
}

/** In batches of one size, at least as many as run side by side. */
export function batchesOf(names: readonly string[], folder: string, sideBySide: number): Batches {
  const isSharing = (name: string): boolean => aloneBecause(name, folder) === undefined;
  const sharing = names.filter(isSharing);
  const count = Math.max(Math.min(sideBySide, sharing.length), Math.ceil(sharing.length / MOST_IN_ONE));
  // Neighbours by name load much the same.
  const batches = Array.from({ length: count }, (_, batch) =>
    sharing.filter((_name, index) => Math.floor((index * count) / sharing.length) === batch),
  );
  return {
    alone: [...names.filter((name) => !isSharing(name)), ...batches.filter(isSingle).flat()],
    together: batches.filter((batch) => !isSingle(batch)),
  };
}

function isSingle(batch: readonly string[]): boolean {
  return batch.length === 1;
}
