/**
 * What the processes of a run cost, each with those that it starts in turn, and what they do when they hang. Only Linux
 * reports it.
 */
import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessCost {
  /** The program and its arguments. */
  readonly args: readonly string[];
  readonly processorSeconds: number;
  readonly wallSeconds: number;
}

/** Where the fields of /proc/<pid>/stat are, counted from behind the program's name. */
const STATE = 0;
const PARENT = 1;
const TIMES_OF_CHILDREN = 13;

/** The list grows by each process that starts from now on, when it has ended. */
export function watchProcesses(): readonly ProcessCost[] {
  const costs: ProcessCost[] = [];
  let before = processorSeconds();
  subscribe('child_process', (message) => {
    const { process: child } = message as { readonly process: ChildProcess };
    const startedAt = performance.now();
    // By then its time has been added to that of all children which have ended.
    child.once('exit', () => {
      const now = processorSeconds();
      if (now === undefined || before === undefined) return;
      const wallSeconds = (performance.now() - startedAt) / 1_000;
      costs.push({ args: child.spawnargs, processorSeconds: now - before, wallSeconds });
      before = now;
    });
  });
  return costs;
}

/** User and system time of all children of this process that have ended. */
export function processorSeconds(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const [user = 0, system = 0] = statOf('self').slice(TIMES_OF_CHILDREN).map(Number);
  return (user + system) / 100;
}

/**
 * Prints the tree of each process that runs for this long, if `isMeant` accepts its last argument: the run ends it soon,
 * which leaves no trace. The result ends that.
 */
export function showWhatHangs(
  afterMs: number,
  isMeant: (program: string) => boolean,
  print: (text: string) => void,
): () => void {
  const onStart = (message: unknown): void => {
    const { process: child } = message as { readonly process: ChildProcess };
    const show = (): void => {
      const program = child.spawnargs.at(-1) ?? '';
      if (isMeant(program)) print([`still running: ${program}`, ...treeOf(child.pid ?? 0)].join('\n'));
    };
    const timer = setTimeout(show, afterMs).unref();
    child.once('exit', () => clearTimeout(timer));
  };
  subscribe('child_process', onStart);
  return () => unsubscribe('child_process', onStart);
}

/** A line for each process: its id, its state, the function of the kernel that it waits in, and its command line. */
export function treeOf(root: number): readonly string[] {
  if (process.platform !== 'linux') return [];
  const children = new Map<number, number[]>();
  const lineOf = new Map<number, string>();
  for (const pid of readdirSync('/proc').map(Number).filter(Boolean)) {
    try {
      const { [STATE]: state, [PARENT]: parent } = statOf(pid);
      const [waitsIn, command] = ['wchan', 'cmdline'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'latin1'));
      lineOf.set(pid, `${pid} ${state} ${waitsIn} ${command?.replaceAll('\0', ' ')}`);
      children.set(Number(parent), [...(children.get(Number(parent)) ?? []), pid]);
    } catch {
      // It has ended meanwhile.
    }
  }
  const below = (pid: number, indent: string): readonly string[] => [
    `${indent}${lineOf.get(pid) ?? `${pid} has ended`}`,
    ...(children.get(pid) ?? []).flatMap((child) => below(child, `${indent}  `)),
  ];
  return below(root, '  ');
}

function statOf(pid: number | 'self'): readonly string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}
