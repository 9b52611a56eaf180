import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Window, Work } from '../scenario.js';
import type { LoadResult, LoadSpec, WorkerWord } from './spec.js';

const WORKER = fileURLToPath(new URL('worker.js', import.meta.url));

/** Runs a load in a separate process, whose start and warm-up are outside of the measured window. */
export async function applyLoad(spec: LoadSpec, bytesOfEach: number, window: Window): Promise<Work> {
  const worker = fork(WORKER, [JSON.stringify(spec)], { execArgv: ['--enable-source-maps'] });
  const ended = once(worker, 'exit');
  let result: LoadResult | undefined;
  let failure = '';
  worker.on('message', (word: WorkerWord) => {
    if (word === 'warm') return window.begin();
    window.end();
    if ('failure' in word) failure = word.failure;
    else result = word;
  });
  const stop = (): void => void worker.kill();
  process.once('exit', stop);
  const [code] = (await ended) as [number | null];
  process.off('exit', stop);
  if (result === undefined) throw new Error(failure || `the load ended with ${code}`);
  const { seconds, latenciesMs, cpuSeconds } = result;
  const isBare = spec.call.kind === 'bare';
  const operations = latenciesMs.length;
  return { operations, bytes: operations * bytesOfEach, seconds, latenciesMs, ...(isBare ? { cpuSeconds } : {}) };
}
