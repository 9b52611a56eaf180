/**
 * The tasks of this page in display order. The cost of a change does not depend on the number of tasks. The screen is
 * updated at
 * most ten times a second.
 */
import { store } from '../../store.ts';
import { type Batch, type ConflictRule, type Task, TASK_STATES, type TaskState, type Work } from './queue-types.ts';

const PUBLISH_EVERY_MS = 100;

export interface QueueView {
  readonly rows: readonly Task[];
  /** Dropped folders are still being scanned. */
  readonly isFinding: boolean;
  readonly counts: Readonly<Record<TaskState, number>>;
  /** The batch whose conflicts the user decides first. */
  readonly conflict: Batch | undefined;
  /** The number of its tasks that wait for the decision. */
  readonly conflicts: number;
}

const byState = Object.fromEntries(TASK_STATES.map((state) => [state, new Map<number, Task>()])) as Readonly<
  Record<TaskState, Map<number, Task>>
>;
const stateOf = new Map<number, TaskState>();
let lastId = 0;
let finding = 0;
const view = store(currentView());
let publishedAt = -Infinity;
let timer: ReturnType<typeof setTimeout> | undefined;

export const useQueue = view.use;

export function taskOf(id: number): Task | undefined {
  const state = stateOf.get(id);
  return state && byState[state].get(id);
}

export function tasksIn(...states: readonly TaskState[]): readonly Task[] {
  return states.flatMap((state) => [...byState[state].values()]);
}

export function putWorks(works: readonly Work[], batch: Batch, rule?: ConflictRule): readonly Task[] {
  const added = works.map((work): Task => {
    const totalBytes = work.kind === 'upload' ? work.file.size : undefined;
    const fresh = { sentBytes: 0, bytesPerSecond: 0, error: undefined, job: undefined, busyAnswers: 0 };
    return { ...fresh, id: ++lastId, batch, work, rule, totalBytes, state: 'waiting' };
  });
  for (const task of added) put(task);
  return added;
}

export function change(id: number, to: Partial<Omit<Task, 'id'>>): void {
  const task = taskOf(id);
  if (task === undefined) return;
  if (to.state !== undefined && to.state !== task.state) byState[task.state].delete(id);
  put({ ...task, ...to });
}

/** `work` finds the tasks. */
export async function whileFinding(work: () => Promise<void>): Promise<void> {
  finding += 1;
  publishSoon();
  try {
    await work();
  } finally {
    finding -= 1;
    publishSoon();
  }
}

export function drop(tasks: readonly Task[]): void {
  for (const { id, state } of tasks) {
    byState[state].delete(id);
    stateOf.delete(id);
  }
  publishSoon();
}

function put(task: Task): void {
  byState[task.state].set(task.id, task);
  stateOf.set(task.id, task.state);
  publishSoon();
}

function publishSoon(): void {
  if (timer !== undefined) return;
  timer = setTimeout(publish, Math.max(0, publishedAt + PUBLISH_EVERY_MS - performance.now()));
}

function publish(): void {
  timer = undefined;
  publishedAt = performance.now();
  warnBeforeLeaving();
  view.set(currentView());
}

function currentView(): QueueView {
  const [first] = byState.exists.values();
  let conflicts = 0;
  for (const { batch } of byState.exists.values()) if (batch === first?.batch) conflicts += 1;
  return {
    rows: tasksIn(...TASK_STATES),
    isFinding: finding > 0,
    counts: Object.fromEntries(TASK_STATES.map((state) => [state, byState[state].size])) as QueueView['counts'],
    conflict: first?.batch,
    conflicts,
  };
}

let isWarning = false;

/** Started jobs continue without the page, so they need no warning. */
function warnBeforeLeaving(): void {
  const isBusy = finding > 0 || holdsWork(byState.running) || holdsWork(byState.waiting);
  if (isBusy === isWarning) return;
  isWarning = isBusy;
  if (isBusy) addEventListener('beforeunload', askBeforeLeaving);
  else removeEventListener('beforeunload', askBeforeLeaving);
}

function holdsWork(tasks: ReadonlyMap<number, Task>): boolean {
  for (const { work, state } of tasks.values()) if (work.kind !== 'job' || state === 'waiting') return true;
  return false;
}

function askBeforeLeaving(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
