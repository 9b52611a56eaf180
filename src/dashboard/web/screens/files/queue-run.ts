/** Starts waiting tasks, a few at a time, and records their results. */
import { ApiError, causeOf, segment } from '../../api/client.ts';
import { refresher } from '../../api/hooks.ts';
import type { Cause } from '../../api/types.ts';
import { change, taskOf } from './queue-store.ts';
import type { Task, TaskState } from './queue-types.ts';
import { Ended, ruleOf, runWork } from './queue-work.ts';

/** Browsers open six connections to one server. */
const AT_ONCE = 6;
type Lane = 'small' | 'large' | 'job';
const OF_LANE: Readonly<Record<Lane, number>> = { small: 6, large: 3, job: 2 };
/** Large transfers, and streams of jobs, hold a connection each. The screens need the other ones. */
const LONG_AT_ONCE = 4;
const LARGE_BYTES = 8 * 1024 * 1024;
const MOST_BUSY_ANSWERS = 20;
const LONGEST_WAIT_S = 60;
/** Refreshes a listing once for many files that arrive together. */
const listSoon = refresher(2_000);

const running = new Map<number, AbortController>();
const waiting: Readonly<Record<Lane, number[]>> = { small: [], large: [], job: [] };
const inLane: Record<Lane, number> = { small: 0, large: 0, job: 0 };
/** The gateway asked for a pause until this time. */
let heldUntil = 0;

export function startNext(more: readonly Task[] = []): void {
  for (const task of more) waiting[laneOf(task)].push(task.id);
  if (performance.now() < heldUntil) return;
  for (const lane of ['small', 'large', 'job'] as const) {
    while (hasRoom(lane)) {
      const id = waiting[lane].shift();
      if (id === undefined) break;
      const task = taskOf(id);
      // The task may have been cancelled and restarted in the meantime.
      if (task?.state === 'waiting' && !running.has(id)) void run(task, lane);
    }
  }
}

function hasRoom(lane: Lane): boolean {
  const isFull = lane !== 'small' && inLane.large + inLane.job >= LONG_AT_ONCE;
  return !isFull && running.size < AT_ONCE && inLane[lane] < OF_LANE[lane];
}

/** Aborts the task if it can be aborted. */
export function abortTask(id: number): void {
  running.get(id)?.abort();
}

function laneOf({ work, totalBytes = 0 }: Task): Lane {
  if (work.kind === 'job') return 'job';
  return work.kind === 'copy' || (work.kind === 'upload' && totalBytes >= LARGE_BYTES) ? 'large' : 'small';
}

async function run(task: Task, lane: Lane): Promise<void> {
  const { id, work } = task;
  const abort = new AbortController();
  running.set(id, abort);
  inLane[lane] += 1;
  change(id, { state: 'running' });
  try {
    await runWork(task, abort.signal, (to) => change(id, to));
    change(id, { state: 'done' });
  } catch (error) {
    settle(id, error, abort.signal.aborted);
  } finally {
    running.delete(id);
    inLane[lane] -= 1;
    listSoon(`/api/list/${segment(work.connectionId)}`);
    startNext();
  }
}

function settle(id: number, error: unknown, isAborted: boolean): void {
  const task = taskOf(id);
  if (task === undefined) return;
  const end = (state: TaskState, why?: Cause): void => change(id, { state, bytesPerSecond: 0, error: why });
  if (error instanceof Ended) return end(error.state, error.why);
  if (isAborted && !(error instanceof ApiError)) return end('cancelled');
  if (error instanceof ApiError) {
    const isAsked = task.work.kind !== 'job' && ruleOf(task) === undefined;
    if (error.code === 'already_exists' && isAsked) return end('exists');
    const { retryAfterSeconds: wait } = error;
    if (wait !== undefined && wait <= LONGEST_WAIT_S && task.busyAnswers < MOST_BUSY_ANSWERS) return hold(task, wait);
  }
  end('failed', causeOf(error));
}

/** The gateway was too busy and did nothing, so all tasks wait. */
function hold(task: Task, seconds: number): void {
  change(task.id, { state: 'waiting', sentBytes: 0, bytesPerSecond: 0, busyAnswers: task.busyAnswers + 1 });
  waiting[laneOf(task)].unshift(task.id);
  heldUntil = performance.now() + seconds * 1_000;
  setTimeout(startNext, seconds * 1_000 + 1);
}
