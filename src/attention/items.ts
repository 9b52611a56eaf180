/** What needs a person: its kinds, the worst first, and what is known of each. */

import type { AttentionKind } from '../contract/alarm.js';

/** About one thing of the account. */
interface Named<Kind extends AttentionKind> {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
}

export type AttentionItem =
  | (Named<'connection_failing' | 'watched_folder_failing' | 'schedule_stopped'> & { readonly error: string | null })
  | (Named<'schedule_late'> & { readonly dueAt: Date })
  | (Named<'certificate_expiring' | 'key_expiring'> & { readonly expiresAt: Date })
  | (Named<'host_keys_waiting'> & { readonly count: number })
  | { readonly kind: 'dead_letters' | 'copies_failed'; readonly count: number }
  | { readonly kind: 'quota'; readonly used: number; readonly limit: number };

/** The same as long as it is the same trouble, whatever its figures and words are by now. */
export function keyOf(item: AttentionItem): string {
  return 'id' in item ? `${item.kind}:${item.id}` : item.kind;
}

/** Files do not move while it lasts: such may wake somebody. */
export function isUrgent(item: AttentionItem): boolean {
  if (item.kind === 'quota') return item.used >= item.limit;
  return ['connection_failing', 'watched_folder_failing', 'schedule_stopped'].includes(item.kind);
}

/** The ids that the API shows, under the names of their kinds. */
interface AttentionIds {
  readonly connectionId?: string;
  readonly watchedFolderId?: string;
  readonly scheduleId?: string;
  readonly apiKeyId?: string;
}

export function idsOf(item: AttentionItem): AttentionIds {
  switch (item.kind) {
    case 'connection_failing':
    case 'certificate_expiring':
    case 'host_keys_waiting':
      return { connectionId: item.id };
    case 'watched_folder_failing':
      return { watchedFolderId: item.id };
    case 'schedule_stopped':
    case 'schedule_late':
      return { scheduleId: item.id };
    case 'key_expiring':
      return { apiKeyId: item.id };
    default:
      return {};
  }
}

const TIMES: ReadonlySet<string> = new Set(['dueAt', 'expiresAt']);

/** What JSON has made of an item. */
export function itemOf(json: string): AttentionItem {
  return JSON.parse(json, (key: string, value: unknown) =>
    TIMES.has(key) && typeof value === 'string' ? new Date(value) : value,
  ) as AttentionItem;
}
