/** Processes of this machine: which ones run, and since when. */
import { systemCodeOf } from '../../base/errors.js';
import { readFile } from 'node:fs/promises';

export interface ProcessMark {
  readonly pid: number;
  /** Start time if the system reports it, so that a reused process id is not taken for the same process; else "0". */
  readonly started: string;
}

export async function isSameProcess({ pid, started }: ProcessMark): Promise<boolean> {
  return (await isAlive(pid)) && (await readProcess(pid)).started === started;
}

export async function startTimeOf(pid: number): Promise<string> {
  return (await readProcess(pid)).started;
}

/** From /proc; without it, every existing process counts as running and started at "0". */
async function readProcess(pid: number): Promise<{ readonly state: string; readonly started: string }> {
  // proc(5): the name may contain spaces and parentheses; state and start time are the 1st and the 20th field after it.
  const text = await readText(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', started: fields[19] ?? '0' };
}

/** Whether the process runs; a zombie does not. */
export async function isAlive(pid: number): Promise<boolean> {
  return hasProcess(pid) && (await readProcess(pid)).state !== 'Z';
}

export function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCodeOf(error) === 'EPERM';
  }
}

export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended, or belongs to another user: the caller checks again and reports it.
  }
}

export async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}
