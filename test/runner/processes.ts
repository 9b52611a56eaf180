/**
 * What the processes of a run cost, each with those that it starts in turn, what they do when they hang, and their end
 * with the run. Only Linux reports it.
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

/** Where the fields of /proc/<pid>/stat are, counted after the program's name. */
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
  const children = childrenOfAll();
  const line = (pid: number): string => {
    try {
      const [waitsIn, command] = ['wchan', 'cmdline'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'latin1'));
      return `${pid} ${statOf(pid)[STATE]} ${waitsIn} ${command?.replaceAll('\0', ' ')}`;
    } catch {
      return `${pid} has ended`;
    }
  };
  const below = (pid: number, indent: string): readonly string[] => [
    `${indent}${line(pid)}`,
    ...(children.get(pid) ?? []).flatMap((child) => below(child, `${indent}  `)),
  ];
  return below(root, '  ');
}

/**
 * Kills what the process has started, and each process with this setting in its environment, which may be an orphan; with
 * each, all below it. They are stopped first: one that has ended would leave its children to another parent.
 */
export function endTrees(root: number, setting: string): void {
  if (process.platform !== 'linux') return;
  const stopped = new Set<number>();
  for (let found = [root]; found.length > 0;) {
    const children = childrenOfAll();
    const below = (pid: number): readonly number[] => [pid, ...(children.get(pid) ?? []).flatMap(below)];
    const marked = [...children.values()].flat().filter((pid) => pid !== root && hasSetting(pid, setting));
    found = [root, ...marked].flatMap(below).filter((pid) => pid !== root && !stopped.has(pid));
    for (const pid of found) {
      stopped.add(pid);
      signal(pid, 'SIGSTOP');
    }
  }
  for (const pid of stopped) signal(pid, 'SIGKILL');
}

function hasSetting(pid: number, setting: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(setting);
  } catch {
    // It has ended meanwhile, or belongs to another user.
    return false;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}

/** The children of each process that has any. */
function childrenOfAll(): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>();
  for (const pid of readdirSync('/proc').map(Number).filter(Boolean)) {
    try {
      const parent = Number(statOf(pid)[PARENT]);
      children.set(parent, [...(children.get(parent) ?? []), pid]);
    } catch {
      // It has ended meanwhile.
    }
  }
  return children;
}

function statOf(pid: number | 'self'): readonly string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}
