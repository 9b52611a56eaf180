/** The events of the feed about what needs a person. */
import { idsOf, itemOf, wordsOf } from '../attention/items.js';
import type { AttentionItem } from '../contract/attention.js';
import { eventBody } from '../contract/event.js';
import type { Alarm, AlarmEvent } from '../storage/storage.js';

/** No connection has this id: only callers who may see all connections get what concerns none. */
const WHOLE_ACCOUNT = '*';

export function attentionEvent({ item: json, since, endedAt }: Alarm): AlarmEvent {
  const item: AttentionItem = itemOf(json);
  const data = { kind: item.kind, text: wordsOf(item), since, ...idsOf(item) };
  return {
    ...(endedAt === null
      ? { type: 'attention.raised', body: eventBody('attention.raised', since, data) }
      : { type: 'attention.cleared', body: eventBody('attention.cleared', endedAt, { ...data, endedAt }) }),
    connectionIds: [idsOf(item).connectionId ?? WHOLE_ACCOUNT],
  };
}
