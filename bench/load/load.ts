import { fileURLToPath } from 'node:url';
import { runCommand } from '../lab/process.js';
import type { Work } from '../scenario.js';
import type { LoadResult, LoadSpec } from './spec.js';

const WORKER = fileURLToPath(new URL('worker.js', import.meta.url));

/** Puts a load on in a process of its own; the time of its start and warm-up does not count. */
export async function applyLoad(spec: LoadSpec, bytesOfEach: number): Promise<Work> {
  const printed = await runCommand(process.execPath, [WORKER, JSON.stringify(spec)]);
  const { seconds, latenciesMs, calls } = JSON.parse(printed) as LoadResult;
  return { operations: latenciesMs.length, bytes: latenciesMs.length * bytesOfEach, seconds, latenciesMs, calls };
}
