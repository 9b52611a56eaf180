/** A file or job in the queue: its progress and its buttons. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { formatBytes, formatDuration, formatSpeed, secondsLeft } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Button, Progress } from '../../ui/basics.tsx';
import { CircleCheck, RotateCw, X } from '../../ui/icons.tsx';
import { CircleMinus, CircleX } from '../../ui/later-icons.ts';
import { Reason } from '../../ui/reason.tsx';
import { cancelTask, decide, dismiss, retryTasks } from './queue.ts';
import type { Task } from './queue-types.ts';

const RULES = ['replace', 'skip', 'keepBoth'] as const;

export function QueueRow({ task, hasOthers }: { readonly task: Task; readonly hasOthers: boolean }): ReactElement {
  const { work, state, job, error } = task;
  const isActive = state === 'waiting' || state === 'running';
  const canTry = state === 'failed' || state === 'cancelled';
  const isAsked = state === 'exists' && hasOthers;
  return (
    <>
      <div className="queue-name">
        {state === 'done' && <CircleCheck aria-hidden size={15} className="good-text" />}
        {state === 'skipped' && <CircleMinus aria-hidden size={15} className="muted" />}
        {state === 'failed' && <CircleX aria-hidden size={15} className="bad-text" />}
        <span>{work.name}</span>
      </div>
      {(isActive || canTry) && (
        <div className="row queue-actions">
          {canTry && (
            <IconButton icon={RotateCw} label={t.queue.tryAgain(work.name)} onClick={() => retryTasks([task])} />
          )}
          <IconButton
            icon={X}
            label={isActive ? t.words.cancelThat(work.name) : t.queue.dismiss(work.name)}
            onClick={() => (isActive ? cancelTask(task.id) : dismiss([task]))}
          />
        </div>
      )}
      {state === 'running' && <Bar task={task} />}
      {isAsked ? (
        <div className="row queue-decide">
          {RULES.map((rule) => (
            <Button
              key={rule}
              aria-label={`${t.queue[rule]}: ${work.name}`}
              onClick={() => decide([task], rule === 'keepBoth' ? 'rename' : rule, false)}
            >
              {t.queue[rule]}
            </Button>
          ))}
        </div>
      ) : (
        <div
          className={error === undefined ? 'queue-state small' : 'queue-state small bad-text'}
          title={error?.text ?? undefined}
        >
          {job !== undefined && <Link href={`/jobs/${job.id}`}>{t.queue.showJob}</Link>}{' '}
          {error === undefined ? stateText(task) : <Reason {...error} isShort />}
        </div>
      )}
    </>
  );
}

function IconButton(props: {
  readonly icon: typeof X;
  readonly label: string;
  readonly onClick: () => void;
}): ReactElement {
  const { icon: Icon, label, onClick } = props;
  return (
    <button type="button" className="icon-button" aria-label={label} onClick={onClick}>
      <Icon aria-hidden size={15} />
    </button>
  );
}

function Bar({ task: { work, job, sentBytes, totalBytes } }: { readonly task: Task }): ReactElement {
  const label = t.words.progressOf(work.name);
  if (job !== undefined) return <Progress value={job.isListed ? job.ended : undefined} max={job.found} label={label} />;
  return <Progress value={totalBytes === undefined ? undefined : sentBytes} max={totalBytes ?? 0} label={label} />;
}

function stateText(task: Task): string {
  const { state, work } = task;
  const { connectionId, folder } = work;
  switch (state) {
    case 'waiting':
      return t.queue.waiting[verbOf(task)](connectionId, folder);
    case 'running':
      return runningText(task);
    case 'done': {
      if (task.job !== undefined)
        return t.queue.jobDone[verbOf(task)](task.job.ended - task.job.skipped, task.job.skipped);
      return work.kind === 'upload'
        ? t.queue.sent(formatBytes(work.file.size), connectionId, folder)
        : t.queue.done[verbOf(task)](connectionId, folder);
    }
    case 'exists':
      return t.queue.exists(folder);
    case 'skipped':
      return t.queue.skipped;
    case 'cancelled':
      if (task.job === undefined) return t.jobs.states.cancelled;
      return t.queue.jobCancelled(task.job.ended, task.job.found, task.job.isListed);
    case 'failed':
      return '';
  }
}

function runningText(task: Task): string {
  const { work, job, sentBytes, totalBytes, bytesPerSecond } = task;
  if (job !== undefined) return t.queue.jobRunning(job.ended, job.found, job.isListed);
  if (totalBytes === undefined) return t.queue.running[verbOf(task)](work.connectionId, work.folder);
  // The browser has sent the last byte, but the server still has to receive and verify the file.
  if (sentBytes >= totalBytes) return t.queue.finishing;
  const left = secondsLeft(sentBytes, totalBytes, bytesPerSecond);
  const parts = [t.words.of(formatBytes(sentBytes), formatBytes(totalBytes)), formatSpeed(bytesPerSecond)];
  return [...parts, ...(left === undefined ? [] : [t.words.left(formatDuration(left * 1_000))])].join(', ');
}

type Verb = 'upload' | 'copy' | 'move' | 'delete';

export function verbOf({ work }: Task): Verb {
  if (work.kind !== 'job') return work.kind;
  return work.order.type === 'delete' ? 'delete' : 'copy';
}
