/** What needs a person, in a line, and where to go with it. */
import { segment } from '../../api/client.ts';
import type { Trouble } from '../../api/types.ts';
import { formatNumber } from '../../format.ts';
import { t } from '../../texts/texts.ts';

const words = t.overview.attention;

export function titleOf({ kind, name, count, limit }: Trouble): string {
  switch (kind) {
    case 'dead_letters':
    case 'copies_failed':
      return words[kind](count ?? 0);
    case 'host_keys_waiting':
      return words.host_keys_waiting(name ?? '', count ?? 0);
    case 'quota':
      return words.quota(formatNumber(count ?? 0), formatNumber(limit ?? 0));
    default:
      return words[kind](name ?? '');
  }
}

export function placeOf(item: Trouble): string {
  if (item.connectionId !== undefined) return `/connections/${segment(item.connectionId)}`;
  if (item.watchedFolderId !== undefined) return `/watched/${item.watchedFolderId}`;
  if (item.scheduleId !== undefined) return `/schedules/${item.scheduleId}`;
  if (item.kind === 'dead_letters') return '/deliveries?state=dead';
  if (item.kind === 'copies_failed') return '/watched';
  return item.kind === 'key_expiring' ? '/keys' : '/usage';
}
