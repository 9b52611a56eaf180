/** The cost of a running process, read from /proc (proc(5)). */
import { readFileSync, writeFileSync } from 'node:fs';

const MIB = 1024 * 1024;
/** USER_HZ; the same on every Linux that Node.js runs on. */
const TICKS_PER_SECOND = 100;
/** proc(5): writing this to clear_refs resets the peak to the current value. */
const RESET_PEAK = '5';

export interface Cost {
  readonly cpuSeconds: number;
  /** The part of it that the kernel used for the process. */
  readonly kernelSeconds: number;
  /** How long the main thread was ready to run while other threads used the cores. */
  readonly waitedSeconds: number;
  /** Peak of resident memory, in MiB. */
  readonly peakMiB: number;
}

export class ProcessMeter {
  readonly #pid: number;
  readonly #cpuBefore: CpuTime;
  readonly #waitedBefore: number;

  constructor(pid: number) {
    this.#pid = pid;

    writeFileSync(`/proc/${pid}/clear_refs`, RESET_PEAK);
    this.#cpuBefore = cpuTime(pid);
    this.#waitedBefore = waitedSeconds(pid);
  }

  read(): Cost {
    const { user, kernel } = cpuTime(this.#pid);
    const kernelSeconds = kernel - this.#cpuBefore.kernel;
    return {
      cpuSeconds: user - this.#cpuBefore.user + kernelSeconds,
      kernelSeconds,
      waitedSeconds: waitedSeconds(this.#pid) - this.#waitedBefore,
      peakMiB: statusMiB(this.#pid, 'VmHWM'),
    };
  }
}

interface CpuTime {
  readonly user: number;
  readonly kernel: number;
}

export const residentMiB = (pid: number): number => statusMiB(pid, 'VmRSS');

/** In seconds. */
function cpuTime(pid: number): CpuTime {
  const [user = NaN, kernel = NaN] = cpuTimes(pid);
  return { user, kernel };
}

/** Processor time so far of a process and of all below it, including those that have ended; in seconds. */
export function treeCpuSeconds(pid: number): number {
  let seconds = 0;
  const waiting = [pid];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    try {
      seconds += cpuTimes(next).reduce((sum, time) => sum + time, 0);
      const children = readFileSync(`/proc/${next}/task/${next}/children`, 'latin1');
      waiting.push(...children.split(' ').filter(Boolean).map(Number));
    } catch (error) {
      // It has ended: from the next reading on, its time is part of its parent's.
      if (next === pid) throw error;
    }
  }
  return seconds;
}

/** User and system time of a process, then those of its ended children; in seconds. */
function cpuTimes(pid: number): number[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The command's name, in brackets, may contain blanks; so the fields are counted after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).map((ticks) => Number(ticks) / TICKS_PER_SECOND);
}

/** The second figure of schedstat, in ns: time on a run queue. */
function waitedSeconds(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[1]) / 1e9;
}

function statusMiB(pid: number, field: string): number {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  if (found === null) throw new Error(`/proc/${pid}/status has no ${field}`);
  return (Number(found[1]) * 1024) / MIB;
}
