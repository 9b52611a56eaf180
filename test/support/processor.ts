import { readFileSync } from 'node:fs';

const MS_PER_TICK = 10;

/** Processor time of all threads of a process so far, user and system, in ms (Linux). */
export function processorMsOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const [user = 0, system = 0] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) * MS_PER_TICK;
}
