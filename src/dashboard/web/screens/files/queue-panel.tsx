/** The queue, at the corner of every screen while there is one. */
import { useState, type ReactElement } from 'react';
import { ChevronDown, ChevronUp, CircleCheck, CircleX, RotateCw, X } from '../../ui/icons.tsx';
import { formatBytes, formatDuration, formatNumber, formatSpeed, secondsLeft } from '../../format.ts';
import { Button, Progress } from '../../ui/basics.tsx';
import { cancelTask, clearTasks, isActive, retryTask, type Task, useTasks } from './queue.ts';

export function UploadQueue(): ReactElement | null {
  const tasks = useTasks();
  const [isOpen, setOpen] = useState(true);
  if (tasks.length === 0) return null;
  const active = tasks.filter(isActive).length;
  const unhappy = tasks.filter(({ state }) => state === 'failed' || state === 'exists').length;
  const title =
    active > 0
      ? `${formatNumber(active)} of ${formatNumber(tasks.length)} to go`
      : unhappy > 0
        ? `${formatNumber(unhappy)} need a look`
        : 'All done';
  return (
    <section className="queue" aria-label="Uploads and copies">
      <header>
        <button type="button" className="queue-title" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? <ChevronDown aria-hidden size={16} /> : <ChevronUp aria-hidden size={16} />}
          <span role="status">{title}</span>
        </button>
        {active < tasks.length && (
          <Button look="quiet" onClick={clearTasks}>
            Clear
          </Button>
        )}
      </header>
      {isOpen && (
        <ul>
          {tasks.map((task) => (
            <QueueRow key={task.id} task={task} />
          ))}
        </ul>
      )}
    </section>
  );
}

function QueueRow({ task }: { readonly task: Task }): ReactElement {
  const { id, work, state } = task;
  return (
    <li className="queue-row">
      <div className="queue-name">
        {state === 'done' && <CircleCheck aria-hidden size={15} className="good-text" />}
        {state === 'failed' && <CircleX aria-hidden size={15} className="bad-text" />}
        <span>{work.name}</span>
      </div>
      {(state === 'waiting' || state === 'running' || state === 'failed') && (
        <div className="row queue-actions">
          {state === 'failed' && (
            <button
              type="button"
              className="icon-button"
              aria-label={`Try ${work.name} again`}
              onClick={() => retryTask(id, false)}
            >
              <RotateCw aria-hidden size={15} />
            </button>
          )}
          {state !== 'failed' && (
            <button
              type="button"
              className="icon-button"
              aria-label={`Cancel ${work.name}`}
              onClick={() => cancelTask(id)}
            >
              <X aria-hidden size={15} />
            </button>
          )}
        </div>
      )}
      {state === 'running' && (
        <Progress
          value={task.totalBytes === undefined ? undefined : task.sentBytes}
          max={task.totalBytes ?? 0}
          label={`Progress of ${work.name}`}
        />
      )}
      <div className="queue-state small">{stateText(task)}</div>
      {state === 'exists' && (
        <div className="row queue-decide">
          <Button onClick={() => retryTask(id, true)}>Replace</Button>
          <Button onClick={() => cancelTask(id)}>Keep the old one</Button>
        </div>
      )}
      {state === 'cancelled' && (
        <div className="row queue-decide">
          <Button onClick={() => retryTask(id, false)}>Start again</Button>
        </div>
      )}
    </li>
  );
}

function stateText(task: Task): ReactElement | string {
  const { state, work, sentBytes, totalBytes, bytesPerSecond, error } = task;
  const target = `to ${work.connectionId}:${work.folder}`;
  switch (state) {
    case 'waiting':
      return `Waiting, ${target}`;
    case 'running': {
      if (totalBytes === undefined) return `Copying ${target}`;
      // The last byte has left the browser; the server still has to take and check it.
      if (sentBytes >= totalBytes) return 'Finishing …';
      const left = secondsLeft(sentBytes, totalBytes, bytesPerSecond);
      return `${formatBytes(sentBytes)} of ${formatBytes(totalBytes)}, ${formatSpeed(bytesPerSecond)}${left === undefined ? '' : `, ${formatDuration(left * 1_000)} left`}`;
    }
    case 'done':
      return totalBytes === undefined ? `Copied ${target}` : `${formatBytes(totalBytes)} ${target}`;
    case 'failed':
      return <span className="bad-text">{error}</span>;
    case 'exists':
      return `A file of this name is there already, in ${work.folder}`;
    case 'cancelled':
      return 'Cancelled; nothing was left behind';
  }
}
