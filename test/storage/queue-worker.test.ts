/** When a worker claims: as soon as it can take tasks that it had to leave, and not in vain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Busy, ClaimedTask, QueueClaims } from '../../src/storage/queue/queue.js';
import { QueueWorker } from '../../src/storage/queue/worker.js';
import { eventually } from '../support/eventually.js';

interface Fake {
  readonly claims: QueueClaims<'test'>;
  /** The number of tasks of each claim. */
  readonly claimed: number[];
  readonly finished: string[];
}

/** A queue in memory. */
function queueOf(tasks: ClaimedTask[]): Fake {
  const claimed: number[] = [];
  const finished: string[] = [];
  const isLeft = (task: ClaimedTask, { accounts, groups }: Busy): boolean =>
    accounts.includes(task.account) ||
    groups.some(({ account, group }) => account === task.account && group === task.group);
  return {
    claimed,
    finished,
    claims: {
      onDue: () => () => undefined,
      fetch: async (_, limit, except) => {
        const found = tasks.filter((task) => !isLeft(task, except)).slice(0, limit);
        for (const task of found) tasks.splice(tasks.indexOf(task), 1);
        claimed.push(found.length);
        return found;
      },
      renew: async () => undefined,
      finish: async (_, ended) => void finished.push(...ended.map(({ key }) => key)),
      postpone: async () => undefined,
      giveBack: async () => undefined,
    },
  };
}

const taskOf = (group: string, number: number): ClaimedTask => {
  const key = `${group} ${number}`;
  return { id: key, attempt: 0, key, account: group, group, data: {} };
};

test('the tasks of one receiver are claimed in batches: no end of a task asks in vain', async () => {
  const count = 400;
  const { claims, claimed, finished } = queueOf(Array.from({ length: count }, (_, number) => taskOf('one', number)));
  const worker = new QueueWorker({
    claims,
    queue: 'test',
    concurrency: 16,
    groupConcurrency: 4,
    run: async () => 'done',
    log: () => undefined,
  });
  worker.start();
  await eventually(() => finished.length === count, 'all tasks have ended');
  await worker.stop(0);
  // Each batch may be followed by one claim that finds the receiver busy.
  assert.ok(claimed.length <= count / 8, `${claimed.length} claims for ${count} tasks`);
});

test('a receiver that does not answer keeps its share alone: the others are claimed until none is left', async () => {
  const slow = Array.from({ length: 40 }, (_, number) => taskOf('slow', number));
  const quick = Array.from({ length: 100 }, (_, number) => taskOf('quick', number));
  const { claims, finished } = queueOf([...slow, ...quick]);
  const worker = new QueueWorker({
    claims,
    queue: 'test',
    concurrency: 16,
    groupConcurrency: 4,
    run: ({ group }, signal) =>
      group === 'quick'
        ? Promise.resolve('done' as const)
        : new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
    log: () => undefined,
  });
  worker.start();
  await eventually(() => finished.length === quick.length, 'all tasks of the quick receiver have ended');
  assert.deepEqual(worker.gauge.running, 4);
  await worker.stop(0);
});

/** A worker whose tasks have worked at once; their results are recorded when `record` is called. */
function recordingWorker(claims: Fake['claims'], step: (name: 'worked' | 'recorded') => void) {
  let record = (): void => undefined;
  const recorded = new Promise<void>((resolve) => (record = resolve));
  const worker = new QueueWorker({
    claims,
    queue: 'test',
    concurrency: 16,
    groupConcurrency: 4,
    run: async (_task, _signal, worked) => {
      worked();
      step('worked');
      await recorded;
      step('recorded');
      return 'done';
    },
    log: () => undefined,
  });
  return { worker, record };
}

test('a task frees its turn while its result is recorded, until as many are being recorded as may run', async () => {
  const { claims, finished } = queueOf(Array.from({ length: 40 }, (_, number) => taskOf('one', number)));
  let begun = 0;
  const { worker, record } = recordingWorker(claims, (step) => void (begun += step === 'worked' ? 1 : 0));
  worker.start();
  await eventually(() => begun >= 16 + 4, 'the turns that are free are taken');
  assert.equal(worker.gauge.running, 16 + 4);
  record();
  await eventually(() => finished.length === 40, 'all tasks have ended');
  await worker.stop(0);
  assert.equal(begun, 40);
});

test('a worker that stops waits for the results that are being recorded', async () => {
  const { claims } = queueOf([taskOf('one', 1)]);
  const order: string[] = [];
  const { worker, record } = recordingWorker(claims, (step) => void order.push(step));
  worker.start();
  await eventually(() => order.length === 1, 'it has worked');
  const stopping = worker.stop(0).then(() => order.push('stopped'));
  setImmediate(record);
  await stopping;
  assert.deepEqual(order, ['worked', 'recorded', 'stopped']);
});
