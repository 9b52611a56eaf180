/** A live job: read once, then updated by server-sent events until it ends. */
import { useEffect } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import { queries, refresh, useRead } from '../../api/hooks.ts';
import { readStream } from '../../api/stream.ts';
import type { Job } from '../../api/types.ts';
import { hasEnded } from '../../../../contract/job-states.ts';

/** Used while there is no stream. */
const POLL_MS = 5_000;

export function useJob(id: string): UseQueryResult<Job, Error> {
  const path = `/manage/jobs/${id}`;
  const read = useRead<Job>(path, { everyMs: POLL_MS });
  const isOpen = read.data !== undefined && !hasEnded(read.data);
  useEffect(() => {
    if (!isOpen) return undefined;
    const close = readStream(`${path}/events`, {
      take: ({ type, data }) => {
        if (type !== 'job') return;
        const job = JSON.parse(data) as Job;
        queries.setQueryData([path], job);
        if (!hasEnded(job)) return;
        close();
        void refresh(`/api/jobs/${job.id}/files`, '/manage/jobs?', '/manage/transfers?');
      },
    });
    return close;
  }, [path, isOpen]);
  return read;
}
