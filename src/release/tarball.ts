/** A package as npm packs it. */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Staged } from './stage.js';

const run = promisify(execFile);
const MAX_OUTPUT = 64 * 1024 * 1024;

export interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly entryCount: number;
  readonly files: readonly { readonly path: string }[];
}

export async function pack(staged: Staged, folder: string): Promise<Packed> {
  mkdirSync(folder, { recursive: true });
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [packed] = JSON.parse(await npm(words, staged)) as [Packed];
  return packed;
}

/** Resolves with the output of npm in the folder of the package. */
export async function npm(words: readonly string[], { folder }: Staged): Promise<string> {
  const { stdout } = await run('npm', words, { cwd: folder, maxBuffer: MAX_OUTPUT });
  return stdout;
}
