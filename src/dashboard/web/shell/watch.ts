/** Watches for new problems and finished jobs while the page is open. The shell calls it once. */
import { useEffect, useRef } from 'react';
import { hasEnded } from '../../../contract/job-states.ts';
import { useRead } from '../api/hooks.ts';
import { useOverview } from '../api/overview.ts';
import type { Job, Trouble } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { useQueue } from '../screens/files/queue-store.ts';
import { titleOf } from '../screens/overview/trouble.ts';
import { addNews, notify } from './news.ts';

const JOBS_MS = 30_000;

export function useWatch(): void {
  useQueueWatch();
  const overview = useOverview();
  const jobs = useRead('/manage/jobs?limit=20', { everyMs: JOBS_MS });
  const needs = useRef<ReadonlySet<string>>(undefined);
  const ended = useRef<ReadonlySet<string>>(undefined);

  useEffect(() => {
    if (overview.data === undefined) return;
    // The key of a problem does not contain its figures, so new figures are no new problem.
    const keyOf = ({ kind, name }: Trouble): string => `${kind} ${name ?? ''}`;
    const former = needs.current;
    for (const item of overview.data.attention) if (former?.has(keyOf(item)) === false) notify(titleOf(item));
    needs.current = new Set(overview.data.attention.map(keyOf));
  }, [overview.data]);

  useEffect(() => {
    if (jobs.data === undefined) return;
    const over = jobs.data.jobs.filter(hasEnded);
    const former = ended.current;
    for (const job of former === undefined ? [] : over) if (former?.has(job.id) === false) addNews(newsOf(job));
    ended.current = new Set([...(former ?? []), ...over.map(({ id }) => id)]);
  }, [jobs.data]);
}

/** Announces the result of the queue once, when all its work is done. */
function useQueueWatch(): void {
  const { counts } = useQueue();
  const open = counts.waiting + counts.running;
  const wasOpen = useRef(false);
  useEffect(() => {
    if (wasOpen.current && open === 0 && counts.done + counts.failed > 0) {
      const bad = counts.failed + counts.exists;
      addNews({
        id: 'queue',
        text: t.shell.bell.queue(counts.done, counts.cancelled, bad),
        tone: bad === 0 ? 'good' : 'bad',
        href: '/files',
      });
    }
    wasOpen.current = open > 0;
  }, [open, counts]);
}

function newsOf({ id, name, type, state }: Job): Parameters<typeof addNews>[0] {
  const { bell } = t.shell;
  return {
    id: `job ${id}`,
    text: bell.job(name ?? bell.types[type], bell.states[state]),
    tone: state === 'succeeded' ? 'good' : 'bad',
    href: `/jobs/${id}`,
  };
}
