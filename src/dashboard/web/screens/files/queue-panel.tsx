/** The queue at the corner of every screen, while it is not empty. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState, type ReactElement } from 'react';
import { formatDuration, formatNumber, formatPercent, formatSpeed, secondsLeft } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Button, Progress } from '../../ui/basics.tsx';
import { ChevronDown, ChevronUp } from '../../ui/later-icons.ts';
import { findInterrupted, useInterrupted } from './interrupted.ts';
import { InterruptedRows } from './interrupted-rows.tsx';
import { cancelAll, clearDone, conflictsOf, decide, dismiss, enqueueKept, retryFailed, showTo } from './queue.ts';
import { QueueRow, verbOf } from './queue-row.tsx';
import { tasksIn, useQueue, type QueueView } from './queue-store.ts';
import type { Task } from './queue-types.ts';

/** As in the style sheet. All rows have this height, so none has to be measured. */
const ROW_PX = 64;

export default function UploadQueue({ account }: { readonly account: string }): ReactElement | null {
  const view = useQueue();
  const interrupted = useInterrupted();
  // On a phone, the queue is one line until it is opened.
  const [isOpen, setOpen] = useState(() => !matchMedia('(max-width: 44rem)').matches);
  useEffect(() => {
    showTo(account);
    void findInterrupted().then((readable) => readable.forEach(([kept, file]) => enqueueKept(kept, file)));
  }, [account]);
  const { rows, counts, isFinding } = view;
  if (rows.length === 0 && !isFinding && interrupted.length === 0) return null;
  const active = counts.running + counts.waiting;
  return (
    <section className="queue" aria-label={t.queue.label}>
      <header>
        <button type="button" className="queue-title" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? <ChevronDown aria-hidden size={16} /> : <ChevronUp aria-hidden size={16} />}
          <span>{titleOf(view)}</span>
        </button>
        <span className="muted small number">{active > 0 && progressOf(view)}</span>
      </header>
      {/* Announced on each change of the state, not ten times a second. */}
      <span className="visually-hidden" role="status">
        {saidOf(view)}
      </span>
      {active > 0 && rows.length > 1 && (
        <Progress value={rows.length - active} max={rows.length} label={t.queue.progress} />
      )}
      {isOpen && (
        <>
          <Acts view={view} />
          <Conflicts view={view} />
          <InterruptedRows />
          <Rows view={view} />
        </>
      )}
    </section>
  );
}

function titleOf({ rows, counts, conflicts, isFinding }: QueueView): string {
  const active = counts.running + counts.waiting;
  if (active > 0) return t.queue.toGo(active, rows.length);
  if (isFinding) return t.queue.finding;
  const unhappy = counts.failed + counts.exists;
  if (unhappy > 0) return conflicts > 0 ? t.queue.toDecide(counts.exists) : t.queue.failed(unhappy);
  if (rows.length === 0) return t.queue.interrupted;
  return outcomeOf(rows) ?? t.queue.allDone;
}

/** The results of the tasks; undefined if all succeeded. Jobs count by their files. */
function outcomeOf(tasks: readonly Task[]): string | undefined {
  const sums = { upload: 0, copy: 0, move: 0, delete: 0, skipped: 0, cancelled: 0 };
  for (const task of tasks) {
    const { state, job } = task;
    const verb = verbOf(task);
    if (job !== undefined) {
      sums[verb] += job.ended - job.skipped - job.failed;
      sums.skipped += job.skipped;
      if (state === 'cancelled') sums.cancelled += Math.max(1, job.found - job.ended);
    } else if (state === 'done') sums[verb] += 1;
    else if (state === 'skipped' || state === 'cancelled') sums[state] += 1;
  }
  if (sums.skipped + sums.cancelled === 0) return undefined;
  const said = (Object.keys(sums) as (keyof typeof sums)[]).filter((name) => sums[name] > 0);
  return said.map((name) => t.queue.outcome[name](formatNumber(sums[name]))).join(', ');
}

function saidOf({ rows, counts, conflicts, isFinding }: QueueView): string {
  if (conflicts > 0) return t.queue.said.conflicts;
  if (isFinding || counts.running + counts.waiting > 0) return t.queue.said.atWork;
  if (counts.failed > 0) return t.queue.said.failed;
  if (counts.cancelled > 0) return t.queue.said.cancelled;
  return rows.length === 0 ? t.queue.interrupted : t.queue.said.finished;
}

/** The share of the bytes, the time left and the speed, as far as they are known. */
function progressOf({ rows, counts }: QueueView): string {
  if (counts.running === 0) return '';
  const speed = tasksIn('running').reduce((sum, { bytesPerSecond }) => sum + bytesPerSecond, 0);
  const going = rows.filter(({ state }) => state === 'waiting' || state === 'running' || state === 'done');
  const total = going.reduce((sum, { totalBytes = 0 }) => sum + totalBytes, 0);
  const sent = going.reduce((sum, task) => sum + (task.state === 'done' ? (task.totalBytes ?? 0) : task.sentBytes), 0);
  const left = secondsLeft(sent, total, speed);
  const facts = [
    total > 0 && formatPercent(Math.floor((100 * sent) / total) / 100),
    left !== undefined && t.words.left(formatDuration(left * 1_000)),
    speed > 0 && formatSpeed(speed),
  ];
  return facts.filter((fact) => fact !== false).join(' · ');
}

function Acts({ view: { counts } }: { readonly view: QueueView }): ReactElement | null {
  const active = counts.running + counts.waiting;
  const ended = counts.done + counts.skipped + counts.cancelled;
  if (active + ended + counts.failed === 0) return null;
  return (
    <div className="row queue-acts">
      {counts.failed > 0 && <Button onClick={retryFailed}>{t.queue.retryFailed(counts.failed)}</Button>}
      {active > 0 && <Button onClick={cancelAll}>{t.queue.cancelAll}</Button>}
      {ended > 0 && <Button onClick={clearDone}>{t.queue.clearDone}</Button>}
      {ended === 0 && counts.failed > 0 && (
        <Button onClick={() => dismiss(tasksIn('failed'))}>{t.queue.clearFailed}</Button>
      )}
    </div>
  );
}

/** One answer for all conflicts of a batch, including later ones. */
function Conflicts({ view: { conflict, conflicts } }: { readonly view: QueueView }): ReactElement | null {
  if (conflict === undefined) return null;
  const isOne = conflicts === 1;
  const answer = (rule: 'replace' | 'skip' | 'rename') => () => decide(conflictsOf(conflict), rule, true);
  return (
    <div className="queue-conflicts" role="group" aria-label={t.queue.conflicts}>
      <p>{t.queue.taken(conflicts)}</p>
      <div className="row">
        <Button onClick={answer('replace')}>{isOne ? t.queue.replace : t.queue.replaceAll}</Button>
        <Button onClick={answer('skip')}>{isOne ? t.queue.skip : t.queue.skipAll}</Button>
        <Button onClick={answer('rename')}>{t.queue.keepBoth}</Button>
      </div>
    </div>
  );
}

/** Only visible rows are drawn. */
function Rows({ view: { rows, conflicts } }: { readonly view: QueueView }): ReactElement | null {
  const scroller = useRef<HTMLDivElement>(null);
  const drawn = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 4,
  });
  if (rows.length === 0) return null;
  return (
    <div ref={scroller} className="queue-scroll" tabIndex={0} role="group" aria-label={t.queue.list}>
      <ul style={{ blockSize: drawn.getTotalSize() }}>
        {drawn.getVirtualItems().map(({ index, start }) => {
          const task = rows[index];
          if (task === undefined) return null;
          return (
            <li
              key={task.id}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              className="queue-row"
              style={{ transform: `translateY(${start}px)` }}
            >
              <QueueRow task={task} hasOthers={conflicts > 1} />
            </li>
          );
        })}
      </ul>
    </div>
  );
}
