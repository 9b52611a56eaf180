/** Where to go with what needs a person. */
import type { Overview } from '../api/types.ts';

export type Attention = Overview['attention'][number];

export function placeOf(item: Attention): string {
  if (item.connectionId !== undefined) return `/connections/${encodeURIComponent(item.connectionId)}`;
  if (item.watchedFolderId !== undefined) return `/watched/${item.watchedFolderId}`;
  if (item.scheduleId !== undefined) return `/schedules/${item.scheduleId}`;
  if (item.kind === 'dead_letters') return '/deliveries?state=dead';
  if (item.kind === 'copies_failed') return '/watched';
  if (item.kind === 'key_expiring') return '/keys';
  if (item.kind === 'quota') return '/usage';
  return '/transfers?status=failed';
}
