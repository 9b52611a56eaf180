/** Finds what needs a person, for the overview and for the alarms. */
import type { Figures } from '../storage/storage.js';
import { ATTENTION_KINDS, type AttentionItem } from '../contract/attention.js';
import { type Month, monthOf, type MonthStorage } from './month.js';
import { DAY_MS, MINUTE_MS } from '../contract/units.js';

const KEY_WARNING_DAYS = 7;
/** The same number as in the metric and on the page of a connection's health. */
const CERTIFICATE_WARNING_DAYS = 14;
const QUOTA_WARNING = 0.8;
/** Schedules are checked twice a second: one that waits for this long is not being checked. */
const LATE_MS = 5 * MINUTE_MS;

export interface AttentionStorage extends MonthStorage {
  readonly management: { readonly figures: Figures };
}

interface AttentionSubject {
  readonly accountId: string;
  /** Actions of its plan per month; 0 = unlimited. */
  readonly monthlyActions: number;
}

/** The worst first. */
export async function findAttention(
  storage: AttentionStorage,
  { accountId, monthlyActions }: AttentionSubject,
  now: Date,
): Promise<readonly AttentionItem[]> {
  const { figures } = storage.management;
  const inDays = (days: number): Date => new Date(now.getTime() + days * DAY_MS);
  const [failing, watch, stopped, late, certificates, hostKeys, keys, waitingJobs, waitingFolders, month] =
    await Promise.all([
      figures.failingConnections(accountId, now),
      figures.watchTrouble(accountId, now),
      figures.stoppedSchedules(accountId),
      figures.lateSchedules(accountId, new Date(now.getTime() - LATE_MS)),
      figures.expiringCertificates(accountId, inDays(CERTIFICATE_WARNING_DAYS)),
      figures.waitingHostKeys(accountId),
      figures.expiringKeys(accountId, inDays(KEY_WARNING_DAYS)),
      figures.jobsWaitingForHours(accountId),
      figures.foldersWaitingForHours(accountId),
      monthOf(storage, accountId, monthlyActions, now),
    ]);
  const counted = (
    kind: 'copies_failed' | 'dead_letters' | 'jobs_waiting' | 'watched_folders_waiting',
    count: number,
  ): AttentionItem[] => (count === 0 ? [] : [{ kind, count }]);
  const items: AttentionItem[] = [
    ...failing.map(({ connectionId: id, ...facts }) => ({ kind: 'connection_failing' as const, id, ...facts })),
    ...watch.failing.map((folder) => ({ kind: 'watched_folder_failing' as const, ...folder })),
    ...stopped.map((schedule) => ({ kind: 'schedule_stopped' as const, ...schedule })),
    ...late.map((schedule) => ({ kind: 'schedule_late' as const, ...schedule })),
    ...counted('copies_failed', watch.failedCopies),
    ...counted('dead_letters', watch.deadLetters),
    ...(isShort(month) ? [{ kind: 'quota' as const, used: month.used, limit: month.limit }] : []),
    ...certificates.map((connection) => ({ kind: 'certificate_expiring' as const, ...connection })),
    ...keys.map((key) => ({ kind: 'key_expiring' as const, ...key })),
    ...hostKeys.map((connection) => ({ kind: 'host_keys_waiting' as const, ...connection })),
    ...counted('jobs_waiting', waitingJobs),
    ...counted('watched_folders_waiting', waitingFolders),
  ];
  return items.sort((one, other) => ATTENTION_KINDS.indexOf(one.kind) - ATTENTION_KINDS.indexOf(other.kind));
}

function isShort({ used, limit, runsOutAt }: Month): boolean {
  return limit > 0 && (used >= limit * QUOTA_WARNING || runsOutAt !== null);
}
