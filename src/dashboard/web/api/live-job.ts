/**
 * Jobs by server-sent events, until they end. The page has one stream for each followed job, however many parts of it
 * follow the job: browsers open few connections to one server.
 */
import { useEffect } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import { queries, refresh, useRead } from './hooks.ts';
import { readStream } from './stream.ts';
import type { Job } from './types.ts';
import { hasEnded } from '../../../contract/job-states.ts';

/** Used while there is no stream. */
const POLL_MS = 5_000;

interface Follower {
  readonly take?: (job: Job) => void;
  /** The gateway no longer has the job. */
  readonly onGone?: (error: Error) => void;
}

interface Stream {
  readonly followers: Set<Follower>;
  readonly close: () => void;
}

const streams = new Map<string, Stream>();

/** Returns a function that stops following. */
export function followJob(id: string, follower: Follower): () => void {
  const stream = streams.get(id) ?? open(id);
  stream.followers.add(follower);
  return () => {
    stream.followers.delete(follower);
    if (stream.followers.size === 0) end(id, stream);
  };
}

function open(id: string): Stream {
  const followers = new Set<Follower>();
  const close = readStream(`/manage/jobs/${id}/events`, {
    take: ({ type, data }) => {
      if (type !== 'job') return;
      const job = JSON.parse(data) as Job;
      queries.setQueryData([`/manage/jobs/${id}`], job);
      if (hasEnded(job)) {
        end(id, stream);
        void refresh(`/api/jobs/${id}/files`, '/manage/jobs?', '/manage/transfers?');
      }
      for (const { take } of followers) take?.(job);
    },
    onGone: (error) => {
      end(id, stream);
      for (const { onGone } of followers) onGone?.(error);
    },
  });
  const stream = { followers, close };
  streams.set(id, stream);
  return stream;
}

function end(id: string, stream: Stream): void {
  stream.close();
  if (streams.get(id) === stream) streams.delete(id);
}

export function useJob(id: string): UseQueryResult<Job, Error> {
  const read = useRead(`/manage/jobs/${id}`, { everyMs: POLL_MS });
  const isOpen = read.data !== undefined && !hasEnded(read.data);
  useEffect(() => (isOpen ? followJob(id, {}) : undefined), [id, isOpen]);
  return read;
}
